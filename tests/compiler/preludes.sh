# shellcheck shell=bash
# What clang reads before each source, and what it tells the linker, are made once and kept.

# What clang would tell the linker is asked once for all links in one way; a mistake is told as clang does.
case_kept_link() {
  local links
  links() { grep -c -e -lwarpbeam asked; }
  mkdir tools own
  export XDG_CACHE_HOME=$PWD/cache
  printf '#!/bin/sh\necho "$@" >>%q\nexec %q "$@"\n' "$PWD/asked" "$(command -v clang++-19)" >tools/clang++-19
  printf '#!/bin/sh\necho "$@" >>%q\nexec ld "$@"\n' "$PWD/linked" >own/ld
  chmod +x tools/clang++-19 own/ld
  echo 'int main() { return 7; }' >one.cu
  for name in two three four 'f i=v"e'; do cp one.cu "$name.cu"; done
  printf '%s\n' 'void missing();' 'int main() { missing(); }' >bad.cu
  old ./*.cu
  export PATH=$PWD/tools:$PATH
  expect 0 nvcc one.cu -o one && [[ $(links) == 1 && $(grep -c '###' asked) == 0 ]] && expect 7 ./one || return 1
  expect 0 nvcc two.cu -o two && [[ $(links) == 2 && $(grep -c '###' asked) == 1 ]] && expect 7 ./two || return 1
  expect 0 nvcc three.cu -o three && expect 0 nvcc 'f i=v"e.cu' -o ' s i=x"' && expect 7 run four.cu && expect 7 run three.cu && [[ $(links) -le 4 ]] &&
    expect 0 nvcc two.cu -o lwarpbeam && expect 7 ./lwarpbeam && expect 7 ./three && expect 7 './ s i=x"' || { cat asked; return 1; }
  rm asked
  expect 0 nvcc four.cu -o four && [[ $(grep -c -e -lwarpbeam asked) == 0 ]] && expect 1 nvcc bad.cu -o bad && has err 'undefined reference to `missing()' 'linker command failed' || return 1
  for name in one two three; do COMPILER_PATH=$PWD/own expect 0 nvcc $name.cu -o $name || return 1; done
  [[ $(wc -l <linked) == 3 ]] || { cat linked; return 1; }
  for name in one two three; do expect 0 nvcc $name.cu -Xlinker -s -o $name && expect 7 ./$name || return 1; done
  expect 0 nvcc -shared -Xcompiler -fPIC two.cu -o libtwo.so && expect 0 nvcc four.cu libtwo.so -o four && expect 7 env LD_LIBRARY_PATH=. ./four
}

# From the second source on the prelude is read once for all that are compiled in one way, and again when a file of it has changed.
case_kept_prelude() {
  local kept
  kept() { ls "$XDG_CACHE_HOME"/warpbeam/programs/results/*/prelude.pch 2>/dev/null | wc -l; }
  mkdir -p tools own
  export XDG_CACHE_HOME=$PWD/cache
  printf '#!/bin/sh\necho "$@" >>%q\nexec %q "$@"\n' "$PWD/asked" "$(command -v clang++-19)" >tools/clang++-19
  chmod +x tools/clang++-19
  printf '%s\n' '#include_next <ctype.h>' '#define OWN 1' >own/ctype.h
  printf '%s\n' '__global__ void k(int* p) { *p = OWN; }' 'int main() { return OWN; }' >a.cu
  cp a.cu b.cu
  cp a.cu c.cu
  old own/ctype.h a.cu b.cu c.cu
  PATH=$PWD/tools:$PATH expect 0 nvcc -Iown -c c.cu -o c.o || return 1
  [[ $(grep -c emit-pch asked) == 0 && $(kept) == 0 ]] || { cat asked; return 1; }
  PATH=$PWD/tools:$PATH expect 0 nvcc -Iown -MD -c a.cu -o a.o || return 1
  [[ $(grep -c emit-pch asked) == 2 && $(kept) == 2 ]] || { cat asked; return 1; }
  [[ $(head -n 1 a.d) == "a.o: a.cu "* ]] && has a.d own/ctype.h cuda_runtime.h || return 1
  PATH=$PWD/tools:$PATH expect 0 nvcc -Iown b.cu -o b || return 1
  [[ $(grep -c emit-pch asked) == 2 && $(grep -c 'include-pch.* b\.cu' asked) == 2 ]] || { cat asked; return 1; }
  expect 1 ./b || return 1
  printf '%s\n' '#include_next <ctype.h>' '#define OWN 23' >own/ctype.h
  touch -d '1 minute ago' own/ctype.h
  expect 0 nvcc -Iown b.cu -o b && expect 23 ./b || return 1
  expect 1 nvcc -Iown -DOWN=4 -Werror=macro-redefined -include own/ctype.h missing.cu && expect 0 nvcc -DOWN=5 b.cu -o b && expect 5 ./b || return 1
  touch -d '30 seconds ago' own/ctype.h  # saved anew, as it was
  expect 0 nvcc -Iown b.cu -o b && expect 23 ./b || return 1
  expect 0 env XDG_CACHE_HOME=/proc/nowhere "$warpbeam" nvcc -Iown b.cu -o b && expect 23 ./b
}

# A package has nothing made ahead: its first program makes the prelude, so that the second starts soon. Other options (of the host here) wait for their second time as ever.
case_kept_prelude_of_a_package() {
  local status=0
  export XDG_CACHE_HOME=$PWD/cache
  printf '#!/bin/sh\necho "$@" >>%q\nexec %q "$@"\n' "$PWD/asked" "$(command -v clang++-19)" >clang++-19
  chmod +x clang++-19
  for name in a b; do echo '__global__ void k() {} int main() {}' >$name.cu; done
  own_tree
  rmdir "$tree/ahead"
  made() { PATH=$PWD:$PATH expect 0 nvcc "$@" && grep -c emit-pch asked; }
  [[ $(made a.cu -o a) == 2 && $(made b.cu -o b) == 2 && $(grep -c 'include-pch.* b\.cu' asked) == 2 && $(made -O1 a.cu -o a) == 2 && $(made -O1 b.cu -o b) == 3 ]] || { cat asked; status=1; }
  return $status
}

# Host's and device's functions of one name come from a kept prelude as they come from the headers.
case_kept_prelude_in_every_language() {
  export XDG_CACHE_HOME=$PWD/cache
  local standard k standards=(11 14 17 20)
  [[ -z ${WARPBEAM_FAST:-} ]] || standards=(17)
  for standard in "${standards[@]}"; do
    for k in 1 2; do
      printf '%s\n' "// $k" 'int main() { return (int)(sinpif(0.5f) + (float)erfcx(0.0)); }' >a.cu
      expect 0 nvcc -std=c++$standard -O1 a.cu -o a && expect 2 ./a || return 1
    done
  done
}

case_damaged_prelude_is_made_anew() {
  export XDG_CACHE_HOME=$PWD/cache
  local file before way
  for k in 1 2; do printf '// %s\n__global__ void k(int* p) { *p = X; }\nint main() { return X; }\n' $k >a.cu && expect 0 nvcc -DX=9 a.cu -o a || return 1; done
  for way in 'dd if=/dev/zero bs=4k seek=300 count=40 conv=notrunc' 'dd if=/dev/urandom bs=1 seek=1000000 count=9 conv=notrunc' 'truncate -s 2000000' 'truncate -s 0'; do
    for file in cache/warpbeam/programs/results/*/prelude.pch; do
      before=$(stat -c %y "$file")
      if [[ $way == dd* ]]; then $way of="$file" 2>/dev/null; else $way "$file"; fi
      touch -d "$before" "$file"
    done
    for _ in 1 2; do rm -f a && expect 0 nvcc -DX=9 a.cu -o a && [[ ! -s err ]] && expect 9 ./a || return 1; done
  done
}

# Headers of Thrust and CUB are read ahead, and never where that would change what a source means.
case_libraries_read_ahead() {
  local header source
  fetched
  export WARPBEAM_CCCL=fetched
  for header in $(sed -n 's/^#include <\(thrust.*\)>/\1/p' "$root/include/warpbeam/libraries.cu") thrust/version.h; do
    mkdir -p "cache/warpbeam/cccl/include/${header%/*}"
    touch "cache/warpbeam/cccl/include/$header"
  done
  printf '#pragma once\nnamespace thrust { struct host_vector; }\n' >cache/warpbeam/cccl/include/thrust/host_vector.h
  printf '#pragma once\n#ifndef THRUST_WAY\n#define THRUST_WAY 0\n#endif\n#include <algorithm>\n' >cache/warpbeam/cccl/include/cub/cub.cuh
  kept() { find cache/warpbeam/programs/results -name prelude.pch -size +1M | wc -l; }
  printf '// A comment.\n#include <cstdio>\n#include <cub/cub.cuh>\nstatic_assert(THRUST_WAY == 0, "");\n__global__ void k() {}\n' >e.cu
  find cache/warpbeam/cccl -type f -exec touch -d '1 hour ago' {} +
  expect 0 nvcc -c e.cu && [[ $(kept) == 2 ]] && expect 0 nvcc -MD -c e.cu && has e.d cub/cub.cuh || { echo "    $(kept) kept"; return 1; }
  printf '#define THRUST_WAY 1\n#include <cub/cub.cuh>\nstatic_assert(THRUST_WAY == 1, "");\n__global__ void k() {}\n' >f.cu
  echo '#define THRUST_WAY 2' >way.h
  printf '#include "way.h"\n#include <cub/cub.cuh>\nstatic_assert(THRUST_WAY == 2, "");\n__global__ void k() {}\n' >g.cu
  # A name that only the libraries bring.
  printf '#include <cub/cub.cuh>\nnamespace thrust { int host_vector; }\n__global__ void k() {}\n' >h.cu
  for source in f g h; do expect 0 nvcc -c $source.cu || return; done
  printf '#include <cub/cub.cuh>\n__global__ void k() { mistake(); }\n' >i.cu
  expect 1 nvcc -c i.cu && has err mistake '1 error generated'
}

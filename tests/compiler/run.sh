#!/usr/bin/env bash
# The driver from the outside: each case is a function case_* that works in a directory of its own and fails with a
# status. Usage: run.sh [filter]; prints a line per case and ends with
# "N passed, N failed, N skipped".
# WARPBEAM_DRIVER names the program to test (default: the one of WARPBEAM_BUILD, or of the release build).
set -u
here=$(cd -- "${BASH_SOURCE[0]%/*}" && pwd -P)
root=$(cd -- "$here/../.." && pwd -P)
driver=${WARPBEAM_DRIVER:-${WARPBEAM_BUILD:-$root/build/release}/bin/warpbeam}
filter=${1:-}
work=$(mktemp -d "${TMPDIR:-/tmp}/warpbeam-driver.XXXXXX")
trap 'rm -rf -- "$work"' EXIT

# An installed tree: this driver, our headers, and a runtime that only records.
mkdir -p "$work/tree/bin" "$work/tree/lib" "$work/tree/ahead"  # a build has something ahead
cp -- "$driver" "$work/tree/bin/warpbeam" || exit 1
ln -s -- "$root/include" "$work/tree/include"
clang++-19 -shared -fPIC -O1 "$here/recording_runtime.cc" -o "$work/tree/lib/libwarpbeam.so" \
  -Wl,-soname,"$work/tree/lib/libwarpbeam.so" || exit 1
for name in libcudart.so libcudart_static.a libcudadevrt.a; do echo "INPUT($work/tree/lib/libwarpbeam.so)" >"$work/tree/lib/$name"; done
ln -s lib "$work/tree/lib64"
warpbeam=$work/tree/bin/warpbeam
printf '#!/bin/sh\nexec "%s" nvcc "$@"\n' "$warpbeam" >"$work/tree/bin/nvcc"
chmod +x "$work/tree/bin/nvcc"
export XDG_CACHE_HOME=$work/cache
unset WARPBEAM_DEVICE WARPBEAM_ENGINE NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS

nvcc() { "$warpbeam" nvcc "$@"; }
run() { "$warpbeam" run "$@"; }

# expect STATUS COMMAND...: runs it with out and err filled; fails when the status is another one.
expect() {
  local wanted=$1 status=0
  shift
  "$@" >out 2>err || status=$?
  if ((status != wanted)); then
    echo "    $* ended with $status instead of $wanted"
    sed "s/^/    /" err; tail -5 out | sed "s/^/    /"
    return 1
  fi
}
# has FILE TEXT...: every text is in the file.
has() {
  local file=$1 text
  shift
  for text in "$@"; do
    grep -qF -e "$text" -- "$file" || {
      echo "    $file lacks: $text"
      sed 's/^/    | /' "$file" | head -20
      return 1
    }
  done
}
hasnt() { ! grep -qF -e "$2" -- "$1" || { echo "    $1 has: $2"; return 1; }; }
# Sources are older than any build, as they are in life.
old() { touch -d '1 hour ago' "$@"; }

hello() {
  cat >hello.cu <<'CU'
#include <cstdio>
__global__ void k(int* p) { p[threadIdx.x] += 1; }
int main(int n, char** v) {
  k<<<1, 32>>>(nullptr);
  for (int i = 1; i < n; ++i) std::printf("[%s]", v[i]);
  int c;
  while ((c = std::getchar()) != EOF) std::putchar(c);
  return n;
}
CU
  old hello.cu
}

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
  rmdir "$work/tree/ahead"
  made() { PATH=$PWD:$PATH expect 0 nvcc "$@" && grep -c emit-pch asked; }
  [[ $(made a.cu -o a) == 2 && $(made b.cu -o b) == 2 && $(grep -c 'include-pch.* b\.cu' asked) == 2 && $(made -O1 a.cu -o a) == 2 && $(made -O1 b.cu -o b) == 3 ]] || { cat asked; status=1; }
  mkdir "$work/tree/ahead"
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

case_compile_and_start() {
  hello
  expect 0 nvcc hello.cu -o hello && RECORD=1 expect 1 ./hello </dev/null && has err 'module ba55ed50: ptx90' 'kernel _Z1kPi' 'launch'
}
case_default_output_is_a_out() { hello && expect 0 nvcc hello.cu && [[ -x a.out ]]; }
case_objects_are_named_after_sources() {
  hello && echo 'int f() { return 0; }' >f.cpp && expect 0 nvcc -c hello.cu f.cpp && [[ -f hello.o && -f f.o ]] &&
    mkdir objects && expect 0 nvcc -c hello.cu -odir objects && [[ -f objects/hello.o ]]
}
case_one_output_for_two_objects_is_refused() { hello && cp hello.cu b.cu && expect 1 nvcc -c hello.cu b.cu -o x.o && has err 'single input file'; }
case_several_architectures() {
  hello
  expect 0 nvcc -gencode arch=compute_70,code=sm_70 -gencode=arch=compute_80,code='[sm_80,compute_80]' hello.cu -o hello &&
    RECORD=1 expect 1 ./hello </dev/null && has err 'ptx70 ptx80'
}
case_old_architectures() {
  cat >arch.cu <<'CU'
__global__ void k(int* p) { *p = __CUDA_ARCH__; }
int main() {}
CU
  expect 0 nvcc -ptx -arch=sm_13 arch.cu && has arch.ptx '.target sm_20' '130' &&
    expect 0 nvcc -ptx -arch=sm_10 arch.cu && has arch.ptx ', 100' &&
    expect 0 nvcc -ptx -arch=sm_35 arch.cu && has arch.ptx '.target sm_35' '350' &&
    expect 0 nvcc -ptx -arch=sm_90a arch.cu && has arch.ptx '.target sm_90a' '900' &&
    expect 0 env WARPBEAM_DEVICE=c2050 "$warpbeam" nvcc -ptx arch.cu && has arch.ptx '.target sm_20'
}
case_ptx_has_lines_and_no_debug_data() {
  hello && expect 0 nvcc -ptx hello.cu && has hello.ptx '.loc' 'hello.cu' && hasnt hello.ptx '.debug_info' &&
    expect 0 nvcc -ptx hello.cu -o - && has out '.entry _Z1kPi'
}
case_templates_that_are_not_used_may_name_what_the_host_has() {
  printf '#include <complex>\ntemplate <class T> __host__ __device__ T f(const T& x) { using ::arg; return arg(x); }\n__global__ void k() {}\n' >t.cu
  expect 0 nvcc -w -ptx t.cu && has t.ptx '.entry _Z1kv' && printf 'template <class T> void f() { nobody(3); }\n__global__ void k() {}\n' >u.cu && expect 1 nvcc -c u.cu
}
case_libraries_mean_nothing_to_who_compiles() {
  hello && expect 0 nvcc --ptx -rdc=true -lcudadevrt hello.cu && has hello.ptx '.entry _Z1kPi' && expect 0 nvcc -cubin -arch=sm_90 -lfoo hello.cu &&
    expect 0 nvcc -c -lfoo hello.cu
}
errors_of_nvcc() {
  cat >e.cu <<'CU'
__constant__ int c, a[4];
__constant__ float4 v;
__global__ void k(int i) { a[i] = 2; v.x = 1; }
__global__ void l(int i) {
  int* p = a;
  p[2] = i;
  if (i) ++p;
  *p = i;
}
CU
  expect 0 nvcc -c e.cu && has err 'e.cu:3:' 'e.cu:6:' 'e.cu:8:' 'the store is left out' && printf '__constant__ int c;\n__global__ void k() { c = 1; }\n' >e.cu &&
    expect 1 nvcc -c e.cu && has err 'e.cu:2:' 'expression must be a modifiable lvalue' &&
    printf '__constant__ int c;\nvoid f() { c++; }\n' >e.cu && expect 1 nvcc -c e.cu && has err 'modifiable lvalue' &&
    printf 'template <class... T> __global__ void good(T...) {}\n__global__ void k(int n, ...) {}\n' >e.cu && expect 1 nvcc -c e.cu &&
    has err 'e.cu:2:' 'a __global__ function cannot have ellipsis' && hasnt err 'e.cu:1:'
}
case_constexpr_functions_may_call_what_is_not_constant() {
  cat >e.cu <<'CU'
#include <cmath>
template <class T> struct Complex { T re, im; constexpr T abs() const { return sqrt(re * re + im * im); } };
constexpr float two() { return log(2.0f); }
__host__ __device__ constexpr double both(double x) { return std::pow(x, 2.0) + sqrt(x); }
__global__ void k(double* o, double x) { o[0] = both(x) + Complex<double>{x, x}.abs(); }
int main() { return two() < both(2); }
CU
  expect 0 nvcc -c e.cu && expect 0 nvcc -std=c++11 -c e.cu && expect 0 nvcc -std=c++20 -c e.cu
}
case_half_numbers_are_there_for_the_first_devices() {
  printf '#include <cublas_v2.h>\n#include <cuda_bf16.h>\n__global__ void k() {}\n' >e.cu
  expect 0 nvcc -arch=sm_20 -c e.cu && expect 0 nvcc -arch=sm_13 -c e.cu
}
case_dependent_templates_need_no_keyword() {
  cat >e.cu <<'CU'
template <class A> struct Base {
  template <int N> static __device__ void cast(A* d, const A* s) { for (int i = 0; i < N; i++) d[i] = s[i]; }
  template <int N> __device__ A get(const A* s) const { return s[N]; }
};
template <class A> struct Derived { __device__ void f(A* d, const A* s) { Base<A>::cast<4>(d, s); } };
template <class A, int M> __device__ void g(A* d, const A* s, Base<A> b, Base<A>* p) {
  if (M > 3) Base<A>::cast<M>(d, s);
  else Base<A>::template cast<2>(d, s);
  d[0] = b.get<1>(s) + p->get<M>(s);
}
__global__ void k(float* d, const float* s) { Base<float> b; Derived<float>().f(d, s); g<float, 3>(d, s, b, &b); g<float, 4>(d, s, b, &b); }
int main() {}
CU
  expect 0 nvcc -c e.cu && expect 0 nvcc -ptx e.cu && hasnt err error
}
case_wrappers_of_the_host_compiler() {
  mkdir -p bin inc lib
  echo '#define N 7' >inc/n.h
  echo 'int seven() { return 7; }' | clang++-19 -x c++ -shared -fPIC - -o lib/libseven.so
  printf '#include <n.h>\nint seven();\n__global__ void k() {}\nint main() { return seven() - N; }\n' >e.cu
  # As Open MPI and MPICH answer, and one that says nothing of itself.
  printf '#!/bin/sh\ncase $1 in\n--showme:compile) echo "-I%s/inc -pthread";;\n--showme:link) echo "-L%s/lib -Wl,-rpath,%s/lib -lseven";;\n*) exit 1;;\nesac\n' "$PWD" "$PWD" "$PWD" >bin/mpicxx
  printf '#!/bin/sh\n[ "$1" = -show ] || exit 1\necho "g++ -I%s/inc -L%s/lib -lseven -Wl,-rpath -Wl,%s/lib"\n' "$PWD" "$PWD" "$PWD" >bin/mpic++
  printf '#!/bin/sh\nexec clang++-19 -I%s/inc -L%s/lib -lseven "$@"\n' "$PWD" "$PWD" >bin/CC
  chmod +x bin/*
  local wrapper
  for wrapper in mpicxx mpic++ CC; do
    expect 0 env PATH="$PWD/bin:$PATH" "$warpbeam" nvcc -ccbin $wrapper -c e.cu && expect 0 env PATH="$PWD/bin:$PATH" "$warpbeam" nvcc -ccbin $wrapper e.o -o e &&
      expect 0 env LD_LIBRARY_PATH="$PWD/lib" ./e || return
  done
  expect 1 nvcc -ccbin nowhere -c e.cu && has err 'no such program'
}
case_missing_headers_name_their_package() {
  printf '#include <CL/no_such_header.h>\n__global__ void k() {}\n' >e.cu
  expect 1 nvcc -c e.cu && has err "'CL/no_such_header.h' file not found" 'opencl-headers'
}
case_other_versions_of_the_libraries() {
  mkdir -p other/include/cccl/cub other/include/cccl/cuda/std
  echo '#define CUB_VERSION 200500' >other/include/cccl/cub/cub.cuh
  touch other/include/cccl/cuda/std/version
  printf '#include <cub/cub.cuh>\nstatic_assert(CUB_VERSION == 200500, "");\n__global__ void k() {}\n' >e.cu
  expect 0 nvcc --cccl other -c e.cu && expect 0 nvcc -cccl=other/include/cccl -c e.cu && expect 0 env WARPBEAM_CCCL="$PWD/other" "$warpbeam" nvcc -c e.cu &&
    expect 1 nvcc --cccl nowhere -c e.cu && has err "CUB, Thrust and libcu++ were to be in 'nowhere'" && expect 1 env WARPBEAM_CCCL="$PWD/other" "$warpbeam" nvcc -std=c++11 -c e.cu
}
# What the script fetches, in the cache.
fetched() {
  export XDG_CACHE_HOME=$PWD/cache
  mkdir -p cache/warpbeam/cccl/include/{cub,cuda/std,thrust}
  echo '#define CUB_VERSION 300600' >cache/warpbeam/cccl/include/cub/cub.cuh
  touch cache/warpbeam/cccl/include/cuda/std/version
}
case_fetched_libraries() {
  expect 1 nvcc --cccl fetched -c e.cu && has err 'there are none' && fetched
  echo '#define OF_CCCL 1' >cache/warpbeam/cccl/include/cuda/std/type_traits
  printf '#include <cuda/std/type_traits>\n#ifndef OF_CCCL\n#error ours\n#endif\n__global__ void k() {}\n' >e.cu
  # Makefiles and CMake name the toolkit's own folders.
  expect 0 nvcc --cccl fetched -c e.cu &&
    expect 0 nvcc -cccl=fetched -I"$work/tree/include" -isystem "$work/tree/include" -isystem="$work/tree/include/cccl" -c e.cu &&
    expect 1 nvcc -c e.cu && has err ours && expect 1 env WARPBEAM_CCCL=fetched "$warpbeam" nvcc -std=c++14 -c e.cu && has err ours &&
    expect 0 env WARPBEAM_CCCL=fetched "$warpbeam" nvcc -c e.cu && expect 1 env WARPBEAM_CCCL=fetched "$warpbeam" nvcc --cccl none -c e.cu && has err ours
}
case_programs_are_kept_for_each_version_of_the_libraries() {
  fetched
  mkdir -p other/cub other/cuda/std
  touch other/cub/cub.cuh
  echo '#define VERSION 300600' >cache/warpbeam/cccl/include/cuda/std/version
  echo '#define VERSION 300500' >other/cuda/std/version
  printf '#include <cstdio>\n#include <cuda/std/version>\nint main() { std::printf("%%d\\n", VERSION); }\n' >e.cu
  old e.cu cache/warpbeam/cccl/include/cuda/std/version other/cuda/std/version
  local place
  for place in fetched "$PWD/other" fetched; do
    expect 0 env WARPBEAM_CCCL="$place" "$warpbeam" run e.cu && has out $([[ $place == fetched ]] && echo 300600 || echo 300500) || return
  done
}
case_programs_that_need_newer_libraries_are_told() {
  printf '#include <cuda/no_such_header>\n__global__ void k() {}\n' >e.cu
  expect 1 nvcc -c e.cu && has err '--cccl fetched' && expect 1 env WARPBEAM_CCCL=none "$warpbeam" nvcc -c e.cu && hasnt err '--cccl fetched'
}
# Nobody has said which.
case_libraries_that_a_source_wants() {
  fetched
  echo '#define OF_CCCL 1' | tee cache/warpbeam/cccl/include/cuda/std/{type_traits,of_today} >cache/warpbeam/cccl/include/thrust/of_today.h
  local source
  printf '#include <thrust/of_today.h>\n#include <cuda/std/type_traits>\n' >own.h
  printf '#include <cuda/std/of_today>\n' >needs.cu
  printf '#include <thrust/of_today.h>\n' >thrust.cu
  printf '#include "own.h"\n' >header.cu
  printf '#include <cuda/std/type_traits>\n' >ours.cu
  for source in needs thrust header ours; do
    printf '#if OF_CCCL != %d\n#error another\n#endif\n__global__ void k() {}\n' $([[ $source == ours ]] && echo 0 || echo 1) >>$source.cu
    expect 0 nvcc -c $source.cu && [[ ! -s err ]] || return
  done
  expect 1 nvcc -std=c++14 -c thrust.cu && expect 1 nvcc --cccl none -c thrust.cu || return
  # The program's own mistakes are told as they are.
  printf '#include <thrust/of_today.h>\n__global__ void k() { mistake(); }\n' >mistake.cu
  expect 1 nvcc -c mistake.cu && has err mistake '1 error generated' && hasnt err note || return
  [[ -e /usr/include/thrust/version.h ]] || return 77
  echo '#error gone' >cache/warpbeam/cccl/include/thrust/version.h
  printf '#include <thrust/version.h>\nstatic_assert(THRUST_VERSION < 200000, "");\n__global__ void k() {}\n' >older.cu
  expect 0 nvcc -c older.cu && has err 'compiled with those of Debian' && hasnt err gone && expect 1 nvcc --cccl fetched -c older.cu && has err gone
}
# With -DNDEBUG, PyTorch's headers do for the host and libcu++'s for both sides.
case_sources_may_declare_assert_fail() {
  local side
  for side in '' '__host__ __device__'; do
    printf '%s\n' "extern \"C\" $side void __assert_fail(const char*, const char*, unsigned int, const char*) noexcept __attribute__((__noreturn__));" \
      '__host__ __device__ void f(int x) { if (x) __assert_fail("x", "f", 1, "f"); }' '__global__ void k(int x) { f(x); }' 'int main() { f(0); }' >e.cu
    expect 0 nvcc -DNDEBUG e.cu -o e && expect 0 nvcc -DNDEBUG -ptx e.cu && has e.ptx __assertfail || return
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
case_libraries_stand_where_toolkit_13_has_them() {
  local library
  for library in cuda/std/type_traits nv/target cub/cub.cuh thrust/version.h; do
    [[ -e $work/tree/include/cccl/$library ]] || { echo "    no $library"; return 1; }
  done
  printf '#include <cuda/std/type_traits>\n#include <nv/target>\n#include <cuda/std/type_traits>\n__global__ void k(cuda::std::conditional<true, int, char>::type* p) { NV_IF_TARGET(NV_IS_DEVICE, (*p = 1;)) }\n' >e.cu
  expect 0 nvcc -I"$work/tree/include/cccl" -c e.cu && expect 0 nvcc -I"$work/tree/include" -isystem "$work/tree/include/cccl" -c e.cu || return
  # Build systems read the versions off the files, and get what programs get.
  printf '#include <thrust/version.h>\n#include <cub/version.cuh>\nstatic_assert(THRUST_VERSION == %s && CUB_VERSION == %s, "");\n' \
    "$(sed -n 's/^#define THRUST_VERSION //p' "$work/tree/include/cccl/thrust/version.h")" \
    "$(sed -n 's/^#define CUB_VERSION //p' "$work/tree/include/cccl/cub/version.cuh")" >e.cu
  expect 0 nvcc -I"$work/tree/include/cccl" -c e.cu
}
static_variables() {
  cat >e.cu <<'CU'
static __constant__ float x[4];
static __device__ int d;
static __device__ const int table[3] = {1, 2, 3};
__global__ void k(float* o, int i) { o[0] = x[i] + d + table[1]; }
CU
  expect 0 nvcc -ptx e.cu && has e.ptx '.const .align 4 .b8 _ZL1x[16]' '.global .align 4 .u32 _ZL1d' 'ld.const' && hasnt e.ptx table
}
case_text_for_the_host_compiler() {
  hello
  cat >m.cu <<'CU'
#include <cstdio>
template <class T> __global__ void twice(T* p) { p[threadIdx.x] *= 2; }
int main() {
  std::printf("\"%s\" {\t}\n", "a\\b");
  twice<<<1, 32>>>((float*)nullptr);
}
CU
  local compiler
  expect 0 nvcc -cuda m.cu -o m.cu.cpp && expect 0 nvcc -g --cuda hello.cu && [[ -s hello.cu.cpp.ii ]] || return
  for compiler in g++ clang++-19; do
    command -v $compiler >/dev/null || continue
    expect 0 $compiler -g -c m.cu.cpp -o m.o && expect 0 nvcc m.o -o m && expect 0 env RECORD=1 ./m && has out '"a\b" {' && has err twice || return
  done
  expect 1 nvcc -cuda -rdc=true m.cu && has err 'relocatable'
}
case_device_debug_is_not_optimised() {
  hello && expect 0 nvcc -G -ptx hello.cu && has hello.ptx '__local_depot' && expect 0 nvcc -G -dopt on -ptx hello.cu &&
    hasnt hello.ptx '__local_depot'
}
case_precision_options() {
  echo '__global__ void k(float* p, float a, float b) { p[0] = a / b + p[1] * a; p[2] = sqrtf(b); }' >p.cu
  expect 0 nvcc -ptx p.cu && has p.ptx div.rn.f32 fma.rn.f32 sqrt.rn.f32 &&
    expect 0 nvcc -ptx --fmad=false p.cu && hasnt p.ptx fma &&
    expect 0 nvcc -ptx -ftz=true p.cu && has p.ptx div.rn.ftz.f32 &&
    expect 0 nvcc -ptx -prec-div=false p.cu && has p.ptx div.full.f32 &&
    expect 0 nvcc -ptx -prec-sqrt=false p.cu && has p.ptx sqrt.approx.f32 &&
    expect 0 nvcc -ptx --use_fast_math p.cu && has p.ptx div.approx.ftz.f32 sqrt.approx.ftz.f32
}
case_register_limit_and_cache_operators() {
  hello && expect 0 nvcc -ptx -maxrregcount=40 -Xptxas -dlcm=cg hello.cu && has hello.ptx '.maxnreg 40' 'ld.global.cg.u32'
}
case_resource_lines() {
  cat >s.cu <<'CU'
__global__ void k(int* p) { __shared__ int s[64]; s[threadIdx.x] = p[threadIdx.x]; __syncthreads(); p[0] = s[63 - threadIdx.x]; }
CU
  expect 0 env PATH=/usr/bin:/bin "$warpbeam" nvcc -c --ptxas-options=-v s.cu && has err "Compiling entry function '_Z1kPi' for 'sm_90'" '256 bytes smem' &&
    expect 0 env PATH=/usr/bin:/bin "$warpbeam" nvcc -c -Xptxas -v -arch=sm_30 s.cu && has err "for 'sm_30'" && hasnt err 'TOP='
}
case_preprocess_and_dependencies() {
  hello && echo '#define N 3' >n.h && echo '#include "n.h"
int n = N;' >d.cu
  expect 0 nvcc -E d.cu && has out 'int n = 3;' && expect 0 nvcc -MM d.cu && has out 'd.o: d.cu' n.h && hasnt out stdlib.h &&
    expect 0 nvcc -M d.cu && has out stdlib.h && expect 0 nvcc -MD -c d.cu -o x.o && has x.d 'x.o:' n.h &&
    expect 0 nvcc -MMD -MP -MF deps -MT target -c d.cu && has deps 'target:' 'n.h:' &&
    expect 0 nvcc -MMD -ptx d.cu && has d.d 'd.ptx:' n.h && expect 0 nvcc -MMD -cubin -o e.bin d.cu && has e.d 'e.bin:' n.h &&
    expect 0 nvcc -MMD -fatbin -MF f.deps d.cu && has f.deps 'd.fatbin:' && expect 0 nvcc -MM -odir out d.cu && has out 'out/d.o:'
}
# What the compiler's second attempts read is nobody's file.
case_failed_compilations_leave_nothing() {
  printf '__global__ void k() {}\nint main() { k < < < 1, 1 >>>(; }\n' >e.cu
  expect 1 nvcc -c e.cu && expect 1 nvcc -x c++ -c e.cu && expect 1 nvcc e.cu -o e && [[ $(ls) == $'e.cu\nerr\nout' ]] || { ls; return 1; }
}
# What products and quotients of complex numbers end in is part of the program, and only where there are some.
case_complex_arithmetic_comes_along_where_it_is_used() {
  printf '#include <complex>\n__global__ void k(std::complex<double>* z, std::complex<float>* w) { z[0] *= z[1]; z[2] /= z[1]; w[0] *= w[1]; w[2] /= w[1]; }\n' >c.cu
  printf '#include <complex>\n__global__ void k(std::complex<double>* z) { z[0] += z[1]; }\n' >s.cu
  expect 0 nvcc -ptx c.cu && has c.ptx __nv_scalbn && ! grep -E '^\.extern .*__(mul|div)[ds]c3' c.ptx && expect 0 nvcc -ptx s.cu && ! grep -E '__(mul|div)[ds]c3|__nv_' s.ptx
}
case_device_code_alone_is_mended_too() {
  cat >spaced.cu <<'CU'
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128, 2) k(int* p) {
#pragma unroll
  int a = *p;
  asm("{ .reg .pred %p; setp.eq.s32 %p, %0, 34; selp.s32 %0, 1, 0, %p; }" : "+r"(a));
  *p = a;
}
int main() { k << <2, 128 >> >(nullptr); }
CU
  local way
  for way in -ptx -cubin -fatbin; do expect 0 nvcc "$way" -arch=sm_90 spaced.cu -o "out$way" || return 1; done
  has out-ptx '.maxntid 128, 1, 1' '.minnctapersm 2'
}
case_questions_of_style_only_with_wall() {
  printf 'struct V { int a; V() : a(0) {} };\nextern "C" V make() { return V(); }\nint lit() { int i = 2.7; return i; }\nint* local() { int a; return &a; }\n' >style.cu
  cp style.cu style.cpp
  local source
  for source in style.cu style.cpp; do
    expect 0 nvcc -c $source && has err 'stack memory' && hasnt err 2.7 && hasnt err linkage &&
      expect 0 nvcc -c -Xcompiler -Wall $source && has err 'stack memory' 2.7 linkage || return 1
  done
}
case_host_calls_from_both_sides_are_warned_of() {
  cat >host_call.cu <<'CU'
template <class T> struct Data { T n; Data() : n(1) {} };
template <class T> struct Unary { __host__ __device__ Data<T> operator()(T x) const { Data<T> r; r.n = x; return r; } };
template <class F> __global__ void k(F f, float* o) { *o = f(3.f).n; }
int main() { k<<<1, 1>>>(Unary<float>(), nullptr); }
CU
  expect 0 nvcc -c host_call.cu && has err "host_call.cu:2:" "warning: reference to __host__ function 'Data'" 'trap' &&
    sed -i '1i #pragma nv_exec_check_disable' host_call.cu && expect 0 nvcc -c host_call.cu && hasnt err Data
}
# Calls a case's part with the plugin that the other cases do without; 77 if it is not built.
with_lowering() {
  local plugin=${driver%/bin/*}/lib/libwarpbeam_lowering.so status=0
  [[ -f $plugin ]] || return 77
  ln -s -- "$plugin" "$work/tree/lib/"
  "$@" || status=$?
  rm -- "$work/tree/lib/libwarpbeam_lowering.so"
  return $status
}
case_errors_of_nvcc_alone() { with_lowering errors_of_nvcc; }
case_static_variables_stay() { with_lowering static_variables; }
case_functions_that_are_nowhere_are_errors() { with_lowering nowhere_functions; }
nowhere_functions() {
  cat >nowhere.cu <<'CU'
extern __device__ int nowhere(int);
__global__ void k(int* p) { *p = nowhere(*p); }
int main() { k<<<1, 1>>>(nullptr); }
CU
  echo '__device__ int nowhere(int i) { return i; }' >here.cu
  expect 1 nvcc nowhere.cu && has err 'nowhere.cu:2:34: error:' 'nowhere(int)' 'defined nowhere' &&
    expect 0 nvcc -ptx nowhere.cu -o nowhere.ptx &&
    expect 1 nvcc -rdc=true nowhere.cu && has err 'nowhere(int)' 'none of the files' &&
    expect 0 nvcc -rdc=true nowhere.cu here.cu
}
# clang forgets the error in the lambda together with its callers.
case_lambdas_of_no_type_are_errors() { with_lowering lost_lambdas; }
lost_lambdas() {
  cat >lost.cu <<'CU'
struct P { int v; };
__host__ __device__ inline int value(P p) { return p.v; }
template <class F> __host__ __device__ void call(F f, int* p) { *p = f(3); }
template <class F> __global__ void k(F f, int* p) { call(f, p); }
int main() { k<<<1, 1>>>([] __host__ __device__(auto t) { return value(t); }, nullptr); }
CU
  sed 's/call(f, p)/*p = f(3)/; s/return value(t)/return LOST/' lost.cu >kernel.cu
  sed -i '1i #ifdef __CUDA_ARCH__\n#define LOST value(t)\n#else\n#define LOST 1\n#endif' kernel.cu
  expect 1 nvcc --extended-lambda lost.cu && has err 'lost.cu:5' 'no matching function' &&
    expect 1 nvcc --extended-lambda -ptx lost.cu && has err 'lost.cu:5' 'no matching function' &&
    expect 1 nvcc --extended-lambda kernel.cu && has err 'kernel.cu:' 'no matching function'
}
case_unrolling_what_is_no_loop() {
  cat >unroll.h <<'CU'
#define UNROLL _Pragma("unroll")
#define FLAT _Pragma("nounroll")
struct Sum { int s; };
#pragma unroll
inline __device__ void add(Sum& sum, int n) {
#pragma unroll
  Sum& same = sum;
  UNROLL FLAT
  for (int i = 0; i < n; i++) same.s += i;
  UNROLL sum.s += 0;
}
CU
  cat >unroll.cu <<'CU'
#include "unroll.h"
#pragma unroll
#pragma nounroll
__global__ void k(int* p, int n) {
  Sum sum = {0};
  add(sum, n);
#pragma unroll 4
#pragma unroll 2
  for (int i = 0; i < n; i++) p[i] = 7;
#pragma unroll -1
  for (int i = 0; i < n; i++) p[i] += sum.s;
}
CU
  expect 0 nvcc -ptx unroll.cu && expect 0 nvcc -c unroll.cu && ! grep -q . err
}
case_arrays_that_loops_count_through_are_registers() { with_lowering counted_arrays; }
# By four where rounds are counted by a shift, not where that takes a division, as ptx of nvcc has it.
unknown_lengths() {
  local step
  loads() { grep -c ld.global.f32 "$1"; }
  for step in 32 256 blockDim.x; do
    echo "__global__ void k(const float* p, float* q, int n) { float s = 0; for (int i = threadIdx.x; i < n; i += $step) s += p[i]; q[threadIdx.x] = s; }" >"loop_$step.cu"
    expect 0 nvcc -ptx "loop_$step.cu" -o "loop_$step.ptx" || return 1
  done
  echo '__global__ void k(const float* p, float* q, const int* b) { float s = 0; for (int i = b[0]; i < b[1]; ++i) s += p[i]; q[threadIdx.x] = s; }' >rows.cu
  # Also where one way through the loop needs the next number itself.
  echo '__global__ void k(const float* p, float* q, int n) { __shared__ float s[99]; for (int i = 0; i < n; ++i) if (threadIdx.x <= i) s[i * (i + 1) / 2 + threadIdx.x] = p[i]; q[n] = s[n]; }' >ways.cu
  expect 0 nvcc -ptx ways.cu && [[ $(loads ways.ptx) == 5 ]] || return 1
  expect 0 nvcc -ptx rows.cu && [[ $(loads loop_32.ptx) == 5 && $(loads loop_256.ptx) == 5 && $(loads loop_blockDim.x.ptx) == 1 && $(loads rows.ptx) == 5 ]]
}
case_loops_of_unknown_length_are_unrolled_by_four() { with_lowering unknown_lengths; }
# By four too where the step is an int that is known at run time alone, which must not wrap.
loops_by_steps() {
  cat >loops.cu <<'END'
__global__ void step_of_int(const float* x, float* y, int n) {
  const int stride = blockDim.x * gridDim.x;
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) s += x[i];
  y[threadIdx.x] = s;
}
END
  cat >rolled.cu <<'END'
__global__ void unsigned_step(const float* x, float* y, int n) {
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) s += x[i];
  y[threadIdx.x] = s;
}
__global__ void filled(const float* x, float* y) {
  __shared__ float s[1600];
  for (int i = threadIdx.x; i < 1600; i += blockDim.x) s[i] = x[i];
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x * 3];
}
END
  expect 0 nvcc -ptx loops.cu && expect 0 nvcc -ptx rolled.cu && [[ $(grep -c ld.global loops.ptx) == 5 && $(grep -c ld.global rolled.ptx) == 2 ]]
}
# warpSize is no constant; programs run as if it were one, and what is to be timed has nvcc's code.
known_warp_size() {
  cat >sum.cu <<'END'
__global__ void sum(float* x) {
  float v = x[threadIdx.x];
  for (int o = warpSize / 2; o > 0; o /= 2) v += __shfl_down_sync(~0u, v, o);
  x[threadIdx.x / warpSize] = v;
}
END
  expect 0 nvcc -ptx sum.cu && [[ $(grep -c shfl sum.ptx) == 5 ]] && ! grep -q WARP_SZ sum.ptx || return 1
  expect 0 run --clock device --emit-ptx -o timed.ptx sum.cu && [[ $(grep -c shfl timed.ptx) == 1 ]] && grep -q 'WARP_SZ' timed.ptx || return 1
  echo '__global__ void k(float* x) { __shared__ float s[warpSize]; s[threadIdx.x] = x[1]; x[0] = s[3]; }' >array.cu
  expect 1 nvcc -ptx array.cu
}
# Places by an unsigned counter: as with nvcc in each turn where times are asked for, else by pointers that move along.
unsigned_counters() {
  cat >rows.cu <<'END'
__global__ void rows(const unsigned* begin, const float* x, float* y) {
  float s = 0;
  for (unsigned e = begin[threadIdx.x]; e < begin[threadIdx.x + 1]; e++) s += x[e];
  y[threadIdx.x] = s;
}
END
  expect 0 nvcc -ptx rows.cu && expect 0 run --clock device --emit-ptx -o timed.ptx rows.cu &&
    (($(grep -c mul.wide.u32 timed.ptx) > $(grep -c mul.wide.u32 rows.ptx)))
}
# Places by part of a number: what is masked is a distance in bytes, as in ptx of nvcc, where times are asked for.
masked_places() {
  cat >table.cu <<'END'
__global__ void low(const float* t, const unsigned* x, float* y) { y[threadIdx.x] = t[x[threadIdx.x] & 31]; }
__global__ void byte(const double* t, const unsigned* x, double* y) { y[threadIdx.x] = t[(unsigned char)x[threadIdx.x]]; }
__global__ void field(const float* t, const unsigned* x, float* y) { y[threadIdx.x] = t[x[threadIdx.x] >> 7 & 63]; }
END
  # A mask that is not known stays where it is.
  echo '__global__ void any(const float* t, unsigned x, unsigned mask, float* y) { *y = t[x * 3 & mask]; }' >any.cu
  expect 0 run --clock device --emit-ptx -o any.ptx any.cu && grep -q 'and.b32' any.ptx && grep -q 'mul.wide.u32' any.ptx || return 1
  expect 0 nvcc -ptx table.cu && expect 0 run --clock device --emit-ptx -o timed.ptx table.cu && has timed.ptx ', 124;' ', 2040;' ', 252;' &&
    ! grep -q ', 124;' table.ptx
}
# A sum of pairs goes round its loop as one word, also where a half of it is looked at behind.
joined_halves() {
  cat >pairs.cu <<'END'
#include <cuda_fp16.h>
__global__ void sum(const __half2* x, float* y, int n) {
  __half2 s = __float2half2_rn(1.f);
#pragma unroll 1
  for (int i = threadIdx.x; i < n; i += 256) s = __hfma2(s, x[i], s);
  y[threadIdx.x] = __low2float(s);
}
END
  expect 0 nvcc -ptx pairs.cu && ! sed -n '/^\$L__BB0_.*Loop/,/bra/p' pairs.ptx | grep -q 'shl.b32'
}
case_pairs_of_halves_go_round_loops_as_one() { with_lowering joined_halves; }
case_masked_numbers_lead_to_places_as_with_nvcc() { with_lowering masked_places; }
case_unsigned_counters_lead_to_places_as_with_nvcc() { with_lowering unsigned_counters; }
case_warpSize_is_known_where_programs_run() { with_lowering known_warp_size; }
case_loops_by_unknown_steps_of_int_are_unrolled() { with_lowering loops_by_steps; }
# As often as in nvcc's ptx: all turns of what is short, a power of two of what is long, two or four of an odd number, four of a number that is
# not known, none of one that is below 24. Rows: turns, pairs of operations in a turn, how often the first of them stands there.
unroll_counts() {
  local turns pairs marks
  while read -r turns pairs marks; do
    {
      echo "__global__ void k(int* o, int n, int m, int c, int d) { int x = o[0]; for (int i = 0; i < n; i++) { asm volatile(\"// round\"); for (int j = 0; j < $turns; j++) {"
      while ((pairs--)); do echo 'x = (x ^ c) + x * d; x = (x >> 3) - c * x;'; done
      echo '} } o[threadIdx.x] = x; }'
    } >counts.cu
    expect 0 nvcc -ptx counts.cu || return 1
    [[ $(grep -c 'xor.b32' counts.ptx) == "$marks" ]] || { echo "$turns turns: $(grep -c 'xor.b32' counts.ptx) of $marks" >&2; return 1; }
  done <<<'60 1 60
64 1 64
72 1 8
80 1 16
1000 1 8
97 1 4
16 4 64
17 4 16
18 4 8
24 4 32
32 4 32
4 16 64
5 16 32
min(m,16) 1 1
min(m,40) 1 5
m 8 40
m 9 27
m 14 42
m 16 16'
}
# What becomes a constant in each turn makes room for more of them. Rows: turns, how many loads stand there, the body.
counts_with_constants() {
  local turns loads body
  while read -r turns loads body; do
    echo "__global__ void k(const int* p, const int* q, int* o, int n, int c) { int x = o[0]; for (int i = 0; i < n; i++) { asm volatile(\"// round\" ::: \"memory\"); for (int j = 0; j < $turns; j++) { $body } } o[threadIdx.x] = x; }" >constants.cu
    expect 0 nvcc -ptx constants.cu || return 1
    [[ $(grep -c 'ld.global' constants.ptx) == "$((loads + 1))" ]] || { echo "$turns turns of $body: $(grep -c 'ld.global' constants.ptx) of $loads" >&2; return 1; }
  done <<<'112 112 x = (x ^ c) + p[j];
144 144 x = (x ^ c) + p[j];
160 32 x = (x ^ c) + p[j];
64 128 x += p[j] * q[j];'
}
case_loops_are_unrolled_as_often_as_by_nvcc() { with_lowering unroll_counts && with_lowering counts_with_constants; }
# Elements that a loop reads at constant distances have one address, also beside another array's; the halves of a half2 are read together.
walks() {
  cat >walks.cu <<'END'
#include <cuda_fp16.h>
__global__ void walk(const float* __restrict__ a, float* o, int n) {
  const int lane = threadIdx.x & 31;
  float s = 0;
#pragma unroll 4
  for (int t = 0; t < n; ++t) s += a[t * 32 + lane] * a[t];
  o[threadIdx.x] = s;
}
__global__ void halves(const __half2* a, float* o) {
  const float2 v = __half22float2(a[threadIdx.x]);
  o[threadIdx.x] = v.x * v.y;
}
END
  expect 0 nvcc -ptx walks.cu && [[ $(grep -c 'mul.wide' walks.ptx) -le 5 ]] && ! grep -q 'ld.global.*u16' walks.ptx
}
long_functions() {
  # Its results are put away where nobody optimises, and nowhere else.
  calls() { printf 'int g(int); int f() {\n'; for ((k = 0; k < $1; ++k)); do echo "int v$k = g($k);"; done; printf 'return 0; }\n__global__ void k() {}\n'; }
  calls 2900 >e.cu && expect 0 nvcc -c e.cu && objdump -d e.o >short && ! grep -qE 'mov +%eax,-0x[0-9a-f]+\(%r[bs]p\)' short &&
    calls 3100 >e.cu && expect 0 nvcc -O3 -c e.cu && objdump -d e.o >long && grep -qE 'mov +%eax,(-0x[0-9a-f]+\(%rbp\)|0x[0-9a-f]+\(%rsp\))' long
}
long_chains() {
  cat >c.cu <<'CU'
template <int I, int N> struct Steps {
  __device__ static void run(float* p) { p[N] = p[N] * I + p[N - 1]; Steps<I, N - 1>::run(p); p[N] += 1; }
};
template <int I> struct Steps<I, 0> { __device__ static void run(float*) {} };
__global__ void k2(float* p) { Steps<2, 500>::run(p); }
__global__ void k3(float* p) { Steps<3, 500>::run(p); }
CU
  # Without the chains joined first: 40 seconds of a core; with them 3.
  (ulimit -t 15; expect 0 nvcc -ptx -ftemplate-depth=1000 c.cu -o c.ptx) && hasnt c.ptx 'call' && [[ $(grep -c 'st.global' c.ptx) -ge 1000 ]]
}
case_long_chains_of_templates_compile_in_linear_time() { with_lowering long_chains; }
case_functions_with_thousands_of_calls_are_left_as_they_are() { with_lowering long_functions; }

case_elements_at_constant_distances_have_one_address() { with_lowering walks; }
# `k % 3` is one value: what lies at constant distances from a tile of a ring is read at such, without arithmetic for each.
rings() {
  cat >ring.cu <<'END'
__global__ void k(const float* a, float* o, int n) {
  __shared__ float tile[3][64][16];
  float s = 0;
  for (int k = 0; k < n; k++) {
    tile[(k + 2) % 3][threadIdx.x][0] = a[k];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 16; j++)
#pragma unroll
      for (int i = 0; i < 4; i++) s += tile[k % 3][threadIdx.x + i][j] * j;
  }
  o[threadIdx.x] = s;
}
END
  expect 0 nvcc -ptx ring.cu && [[ $(grep -cE '(add|sub).s64' ring.ptx) -le 8 ]]
}
case_places_in_rings_are_constant_distances() { with_lowering rings; }
set_arrays() {
  cat >bins.cu <<'END'
__global__ void k(const unsigned* a, unsigned* o, int n) {
  unsigned bins[64] = {};
  for (int k = 0; k < n; k++) bins[a[k] & 63] += k;
  o[threadIdx.x] = bins[n & 63];
}
END
  expect 0 nvcc -ptx bins.cu && [[ $(grep -c 'st.local' bins.ptx) -le 21 ]]
}
case_arrays_are_set_by_words() { with_lowering set_arrays; }
doubled_divisors() {
  cat >tree.cu <<'END'
__global__ void tree(int* s) {
  for (unsigned k = 1; k < blockDim.x; k *= 2) {
    if (threadIdx.x % (2 * k) == 0) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
}
END
  cat >known.cu <<'END'
__device__ int width(int i, int w) { return i / w + i % w; }
__global__ void known(int* s) { s[threadIdx.x] = width(threadIdx.x, 32); }
__global__ void power(unsigned* s, int k) { s[threadIdx.x] %= 1u << k; }
END
  expect 0 nvcc -ptx tree.cu && has tree.ptx rem.u32 && hasnt tree.ptx __warpbeam && expect 0 nvcc -ptx known.cu && hasnt known.ptx rem.u32 && hasnt known.ptx div.
}
case_remainders_by_what_loops_double_divide() { with_lowering doubled_divisors; }
# A long body stays once, where no array becomes registers by copies of it, and a short one is copied as the program says.
long_bodies() {
  local n
  for n in 4 100; do
    { echo '#define ONCE p[threadIdx.x] += p[(p[threadIdx.x + s] ^ s) & 1023] / 3;'
      echo '__global__ void k(int* p) {'
      echo '#pragma unroll'
      echo '  for (int s = 1; s < 400; s *= 2) {'
      for ((k = 0; k < n; ++k)); do echo '    ONCE'; done
      echo '    __syncthreads();'; echo '  }'; echo '}'; } >"body_$n.cu"
    expect 0 nvcc -ptx "body_$n.cu" || return 1
  done
  # Registers that three rounds use by turns.
  cat >turns.cu <<'CU'
__global__ void k(const float* p, float* q) {
  float own[3][12], sums[144] = {};
#pragma unroll
  for (int k = 0; k < 24; ++k) {
#pragma unroll
    for (int i = 0; i < 12; ++i) own[k % 3][i] = p[64 * k + i];
#pragma unroll
    for (int i = 0; i < 144; ++i) sums[i] += own[k % 3][i / 12] * own[(k + 2) % 3][i % 12];
  }
  for (int i = 0; i < 144; ++i) q[i] = sums[i];
}
CU
  expect 0 nvcc -ptx turns.cu && hasnt turns.ptx __local_depot || return 1
  [[ $(grep -c bar.sync body_4.ptx) == 9 && $(grep -c bar.sync body_100.ptx) == 1 ]] && ! grep -q . err
}
case_loops_with_long_bodies_stay() { with_lowering long_bodies; }
counted_arrays() {
  cat >tile.cu <<'CU'
__global__ void k(const float* a, const float* b, float* c) {
  float sums[64] = {};
  for (int k = 0; k < 99; k++)
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 8; j++) sums[8 * i + j] += a[8 * k + i] * b[8 * k + j];
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) c[8 * i + j] = sums[8 * i + j] / (1 + sums[8 * j + i] * sums[8 * j + i]);
}
CU
  expect 0 nvcc -ptx tile.cu && hasnt tile.ptx __local_depot && sed -i 's/^    for (int i/#pragma unroll 1\n&/' tile.cu && expect 0 nvcc -ptx tile.cu && has tile.ptx __local_depot
}
case_launch_marks_apart_in_headers_and_macros() {
  printf '#define LAUNCH(k, ...) k<< <1, 4>> >(__VA_ARGS__)\n__global__ void g(int* p);\ninline void go(int* p) { g << /* grid */ < 1, 4 >> > (p); }\n' >marks.h
  printf '#include "marks.h"\n__global__ void k(int* p) { *p = 1; }\n__global__ void g(int* p) { *p = 2; }\nint main() { LAUNCH(k, nullptr); go(nullptr); }\n' >marks.cu
  expect 0 nvcc -c marks.cu && ! grep -q . err && sed -i 's/go(nullptr)/go(/' marks.cu && expect 1 nvcc -c marks.cu && has err 'marks.cu:4'
}
case_c_sources_are_read_as_c_compilers_do() {
  printf 'static n = 3;\nint nothing() { return; }\nint main() { char* p = n; return undeclared(p) - 4; }\nint undeclared(int a) { return a + 1; }\n' >old.c
  expect 0 run old.c && has err 'undeclared'
}
case_ptx_becomes_a_fat_binary() {
  hello && expect 0 nvcc -ptx hello.cu && expect 0 nvcc -cubin hello.ptx -o h.cubin && grep -qa '.entry _Z1kPi' h.cubin && expect 1 nvcc hello.ptx -o h && has err 'cuModuleLoad'
}
case_fat_binary_files() {
  hello && expect 0 nvcc -fatbin hello.cu && [[ $(od -An -tx4 -N4 hello.fatbin) == ' ba55ed50' ]] &&
    expect 0 nvcc -cubin hello.cu && grep -qa '.entry _Z1kPi' hello.cubin
}
case_keep() {
  hello && mkdir kept && expect 0 nvcc --keep -keep-dir kept hello.cu -o h && has kept/hello.ptx .entry && [[ -f kept/hello.fatbin ]] &&
    grep -qa '.entry _Z1kPi' kept/hello.sm_90.cubin &&
    expect 0 nvcc -save-temps --keep-dir=kept -gencode arch=compute_70,code=sm_70 -gencode arch=compute_80,code=sm_80 -c hello.cu &&
    has kept/hello.compute_70.ptx '.target sm_70' && has kept/hello.compute_80.ptx '.target sm_80' && grep -qa 'sm_80' kept/hello.compute_80.cubin
}
case_options_file_and_environment() {
  hello && echo '-DX=1 "-DY=a b"' >flags && echo 'int x = X; const char* y = "Y";' >f.cu && expect 0 nvcc -E f.cu -optf flags && has out 'int x = 1' &&
    NVCC_APPEND_FLAGS=-DX=7 expect 0 nvcc -E f.cu && has out 'int x = 7'
}
case_xcompiler_reaches_the_host_only() {
  cat >h.cu <<'CU'
#if defined(__CUDA_ARCH__) && defined(FOR_HOST)
#error the device pass saw a host option
#endif
#if !defined(__CUDA_ARCH__) && !defined(FOR_HOST)
#error the host pass did not see it
#endif
int main() {}
CU
  expect 0 nvcc -Xcompiler -DFOR_HOST,-Wall h.cu -o h
}
case_openmp() {
  [[ -e /usr/lib/llvm-19/lib/clang/19/include/omp.h ]] || { echo '    libomp-19-dev is not installed'; return 77; }
  cat >omp.cu <<'CU'
#include <cstdio>
#include <omp.h>
__global__ void k() {}
int main() { int n = 0;
#pragma omp parallel num_threads(3) reduction(+ : n)
  n += 1;
  k<<<1, 1>>>(); std::printf("%d\n", n); }
CU
  expect 0 run -Xcompiler -fopenmp omp.cu && has out 3 && expect 0 run -Xcompiler -fopenmp omp.cu -lgomp && has out 3
}
case_openmp_with_another_linker() {
  [[ -e /usr/lib/llvm-19/lib/clang/19/include/omp.h ]] || { echo '    libomp-19-dev is not installed'; return 77; }
  command -v g++ >/dev/null || { echo '    g++ is not installed'; return 77; }
  cat >k.cu <<'CU'
#include <omp.h>
static int early = omp_get_max_threads();
int from_clang() {
  int seen = 0;
#pragma omp parallel num_threads(4)
  {
#pragma omp critical
    seen |= 1 << omp_get_thread_num();
  }
  return early > 0 ? seen : 0;
}
CU
  cat >m.cpp <<'CPP'
#include <omp.h>
#include <cstdio>
int from_clang();
int main() {
  int seen = 0;
#pragma omp parallel num_threads(3) reduction(| : seen)
  seen |= 1 << omp_get_thread_num();
  std::printf("%d %d\n", seen, from_clang());
}
CPP
  # Each compiler's threads have their own library.
  expect 0 nvcc -Xcompiler -fopenmp -c k.cu && expect 0 g++ -fopenmp m.cpp k.o -o m -L"$work/tree/lib" -lcudart -Wl,-rpath,"$work/tree/lib" &&
    expect 0 ./m && has out '7 15' && expect 0 nvcc -Xcompiler -fopenmp m.cpp k.o -o n && expect 0 ./n && has out '7 15' &&
    expect 0 nvcc -Xcompiler -fopenmp,-fPIC -c k.cu && expect 0 g++ -shared k.o -o libk.so -L"$work/tree/lib" -lcudart &&
    expect 0 g++ -fopenmp m.cpp -L. -lk -Wl,-rpath,.:"$work/tree/lib" -o o && expect 0 ./o && has out '7 15'
}
case_per_thread_stream() {
  hello && expect 0 nvcc -default-stream per-thread hello.cu -o h && RECORD=1 expect 1 ./h </dev/null && has err 'launch per-thread stream'
}
case_shared_library() {
  echo '__global__ void k() {} int f() { k<<<1, 1>>>(); return 5; }' >f.cu
  echo 'int f(); int main() { return f(); }' >m.cpp
  expect 0 nvcc -shared -Xcompiler -fPIC f.cu -o libf.so && expect 0 nvcc m.cpp -L. -lf -Xlinker -rpath,. -o m && expect 5 ./m
}
case_toolkit_libraries() {
  hello && expect 0 nvcc hello.cu -lcudart -lcudadevrt -lcuda -lcudart_static -lnvToolsExt -lpthread -lm -o h &&
    expect 1 nvcc hello.cu -lcudnn -o h && has err 'no cudnn library'
}
case_vendor_headers_are_left_out() {
  hello && mkdir vendor && echo '#error the wrong one' >vendor/cuda_runtime.h && echo '#include <cuda_runtime.h>
int main() {}' >c.cpp && expect 0 nvcc -Ivendor c.cpp -o c && has err "'vendor' is left out"
}

relocatable() {
  mkdir -p a b
  cat >main.cu <<'CU'
#include <cstdio>
extern __device__ int twice(int);
extern __device__ int counter;
static __device__ int hidden = 3;
extern "C" int from_c(int);
int from_library(int);
__global__ void k(int* p) { *p = twice(*p) + counter + hidden; }
int main() { int h; cudaMemcpyFromSymbol(&h, hidden, 4); k<<<1, 1>>>(nullptr); std::printf("%d\n", from_c(1) + from_library(2)); }
CU
  echo '__device__ int counter = 5; __device__ int helper(int); __device__ int twice(int x) { return helper(x) * 2; }' >a/k.cu
  echo '__device__ int helper(int x) { return x + 1; }' >b/k.cu
  echo '__device__ int never(int x) { return x; }' >unused.cu
  echo '__global__ void other() {} int from_library(int x) { other<<<1, 1>>>(); return x; }' >host.cu
  echo 'int from_c(int x) { return x * 10; }' >c.c
}
case_relocatable_in_one_command() {
  relocatable
  expect 0 nvcc -rdc=true main.cu a/k.cu b/k.cu host.cu c.c -o m && RECORD=1 expect 0 ./m && has out 12 &&
    [[ $(grep -c '^linked' err) == 4 ]] && has err 'variable counter' 'variable _ZL6hidden__static__'
}
case_relocatable_with_a_host_linker() {
  relocatable
  # The same file name in two directories must not collide.
  expect 0 nvcc -dc main.cu host.cu && (cd a && expect 0 nvcc -dc k.cu) && (cd b && expect 0 nvcc -dc k.cu) && expect 0 nvcc -c c.c &&
    expect 0 nvcc -dlink main.o a/k.o b/k.o host.o -o link.o &&
    expect 0 clang++-19 main.o a/k.o b/k.o host.o c.o link.o -L"$work/tree/lib" -lcudart -o m &&
    RECORD=1 expect 0 ./m && has out 12 && [[ $(grep -c '^linked' err) == 4 ]]
}
case_relocatable_static_libraries() {
  relocatable
  # Nothing on the host refers to liba's members: device code alone pulls them, and only those that it needs.
  expect 0 nvcc -dc main.cu && expect 0 nvcc -c c.c && expect 0 nvcc -lib -rdc=true a/k.cu unused.cu -o liba.a &&
    expect 0 nvcc -lib -rdc=true b/k.cu host.cu -o libb.a && expect 0 nvcc main.o c.o -L. -la -lb -o m &&
    RECORD=1 expect 0 ./m && has out 12 && [[ $(grep -c '^linked' err) == 4 ]] && expect 0 nvcc main.o c.o -L. -l:liba.a -l:libb.a -o p && expect 0 ./p && has out 12 && expect 0 nvcc main.o c.o liba.a libb.a -o n && expect 0 ./n &&
    expect 0 nvcc -dlink main.o liba.a libb.a -o link.o &&
    expect 0 clang++-19 main.o c.o link.o -L. -la -lb -L"$work/tree/lib" -lcudart -o o && RECORD=1 expect 0 ./o &&
    [[ $(grep -c '^linked' err) == 4 ]]
}
case_relocatable_library_linked_beforehand() {
  relocatable
  # As CMake's CUDA_RESOLVE_DEVICE_SYMBOLS: objects and the object that links them in one archive, nothing on the host refers to some.
  echo 'extern __device__ int helper(int); __global__ void k(int* p) { *p = helper(1); } int run_it() { k<<<1, 1>>>(nullptr); return 6; }' >user.cu
  echo 'int run_it(); int main() { return run_it(); }' >m.cpp
  expect 0 nvcc -dc -Xcompiler -fPIC user.cu && expect 0 nvcc -dc -Xcompiler -fPIC b/k.cu && expect 0 nvcc -dlink -shared k.o user.o -o link.o && ar crs liball.a k.o user.o link.o &&
    expect 0 clang++-19 m.cpp -L. -lall -L"$work/tree/lib" -lcudart -o m && RECORD=1 expect 6 ./m && [[ $(grep -c '^linked' err) == 2 ]]
}
case_static_library_of_whole_programs() {
  hello && echo '__global__ void g() {} void f() { g<<<1, 1>>>(); }' >f.cu && echo 'void f(); int main() { f(); return 4; }' >m.cpp
  expect 0 nvcc -lib f.cu -o libf.a && expect 0 nvcc m.cpp libf.a -o m && RECORD=1 expect 4 ./m && has err 'kernel _Z1gv'
}

case_archives_for_the_host_linker_alone() {
  relocatable
  expect 0 nvcc -dc main.cu a/k.cu host.cu && mv k.o a.o && expect 0 nvcc -dc b/k.cu && echo 'INPUT(-lm)' >libscript.a && ar crs libb.a k.o && echo 'int from_c(int x) { return x * 10; }' >c.c &&
    expect 0 nvcc -c c.c && expect 0 nvcc -dlink main.o a.o host.o libb.a libscript.a -o link.o && expect 0 nvcc main.o a.o host.o c.o -Xlinker=libb.a -Xlinker libscript.a libb.a -o m &&
    RECORD=1 expect 0 ./m && has out 12 && ar crs libc.a c.o && expect 0 nvcc main.o a.o host.o k.o -Xlinker=libc.a -o n && RECORD=1 expect 0 ./n && has out 12
}

case_errors_are_shown_once() {
  printf '#include <cstdio>\n__global__ void k() { undefined_thing(); }\nint main() { host_error; }\n' >e.cu
  expect 1 nvcc e.cu && [[ $(grep -c 'error: use of undeclared identifier .undefined_thing' err) == 1 ]] && has err 'e.cu:2:23: error' 'e.cu:3:14: error' '2 errors generated.' &&
    expect 1 run e.cu && has err 'e.cu:2:23'
}
case_device_only_errors_are_shown() {
  printf 'void host();\n__global__ void k() { host(); }\nint main() {}\n' >e.cu
  expect 1 nvcc e.cu && has err 'e.cu:2:23: error'
}
case_a_device_as_output_stays() {
  hello
  mknod nowhere c 1 3 2>/dev/null || { mkfifo nowhere && cat nowhere >object & }
  local k
  for ((k = 0; k < 50; ++k)); do [[ -e nowhere ]] && break; sleep 0.1; done
  expect 0 nvcc -c -o nowhere hello.cu && [[ ! -f nowhere ]] && wait && [[ ! -e object || -s object ]]
}
case_too_much_static_shared_memory() {
  echo '__global__ void k(int* p) { __shared__ int a[12289]; a[threadIdx.x] = 1; __syncthreads(); p[threadIdx.x] = a[threadIdx.x * 3]; } int main() { k<<<1, 1>>>(nullptr); }' >s.cu
  expect 255 nvcc s.cu -o s && has err "ptxas error   : Entry function '_Z1kPi' uses too much shared data (0xc004 bytes, 0xc000 max)" && [[ ! -e s ]] &&
    expect 0 nvcc -ptx s.cu && sed -i s/12289/12288/ s.cu && expect 0 nvcc s.cu -o s
}
case_failed_objects_are_removed() {
  printf '#if __CUDA_ARCH__\n#error device\n#endif\n' >e.cu && expect 1 nvcc -c e.cu && [[ ! -e e.o ]]
}
case_command_line_errors() {
  hello
  expect 1 nvcc && has err 'No input files' && expect 1 nvcc -foo hello.cu && has err "Unknown option '-foo'" &&
    expect 1 nvcc missing.cu && has err "no such file: 'missing.cu'" && expect 1 nvcc -optix-ir hello.cu && has err 'there is no OptiX here' &&
    expect 2 "$warpbeam" rnu && has err "did you mean 'run'" && expect 1 run && has err 'no source' &&
    expect 1 run --device h2000 hello.cu && has err "did you mean 'h200'" && expect 1 run --engine fast hello.cu && has err 'interpreter, jit or auto' &&
    expect 1 run hello.cu 10 && has err 'go after --' && expect 1 run -c hello.cu && expect 1 run -o x hello.cu
}
case_link_errors() { echo 'void f(); int main() { f(); }' >l.cu && expect 1 nvcc l.cu && has err 'undefined reference'; }

case_run_passes_everything_through() {
  hello
  echo input | expect 3 run hello.cu -- 'a b' --help && [[ $(cat out) == '[a b][--help]input' ]] &&
    echo input | expect 3 run hello.cu -- 'a b' --help && [[ $(cat out) == '[a b][--help]input' ]]
}
case_run_reports_signals() {
  # Built with a sanitizer, the program would report the signal itself.
  export ASAN_OPTIONS=handle_segv=0:handle_abort=0 UBSAN_OPTIONS=handle_segv=0:handle_abort=0 TSAN_OPTIONS=handle_segv=0:handle_abort=0
  printf '#include <csignal>\nint main() { std::raise(SIGSEGV); }\n' >s.cu && expect 139 run s.cu && has err 'signal 11' &&
    printf '#include <cstdlib>\nint main() { std::abort(); }\n' >t.cu && expect 134 run t.cu
}
case_run_sets_the_environment() {
  printf '#include <cstdio>\n#include <cstdlib>\nint main(int, char** v) { std::printf("%%s %%s %%s", v[0], std::getenv("WARPBEAM_DEVICE"), std::getenv("WARPBEAM_ENGINE")); }\n' >e.cu
  expect 0 run --device k40 --engine=interpreter e.cu && [[ $(cat out) == './e k40 interpreter' ]]
}
case_run_leaves_values_of_options_alone() {
  hello && expect 1 run -Xptxas -v hello.cu </dev/null && has err 'Compiling entry function' && hasnt err 'clang'
}
case_run_emits_ptx() { hello && expect 0 run --emit-ptx hello.cu && has out '.entry _Z1kPi' && expect 0 run --emit-ptx --device v100 hello.cu && has out '.target sm_70'; }
case_run_many_sources_and_relative_includes() {
  mkdir -p 'sub dir' inc && echo '#define N 7' >inc/n.h && echo '#include "../inc/n.h"
int f() { return N; }' >'sub dir/f.cpp' && echo 'extern "C" int g(void); int f(); int main() { return f() + g(); }' >m.cu && echo 'int g(void) { return 1; }' >g.c
  old m.cu g.c inc/n.h 'sub dir/f.cpp'
  expect 8 run m.cu 'sub dir/f.cpp' g.c && echo '#define N 17' >inc/n.h && expect 18 run m.cu 'sub dir/f.cpp' g.c
}
case_paths_with_blanks() {
  mkdir 'a b' && cd 'a b' && hello && mv hello.cu 'he llo.cu' && expect 0 nvcc 'he llo.cu' -o 'x y' && expect 1 './x y' </dev/null &&
    expect 0 nvcc -c 'he llo.cu' && [[ -f 'he llo.o' ]] && expect 1 run -v 'he llo.cu' </dev/null && expect 1 run -v 'he llo.cu' </dev/null && has err 'was cached'
}
case_cache() {
  hello && echo '// nothing' >h.h && echo '#include "h.h"' >>hello.cu && old hello.cu h.h
  expect 1 run -v hello.cu </dev/null && hasnt err 'was cached' && expect 1 run -v hello.cu </dev/null && has err 'was cached' &&
    touch h.h && expect 1 run -v hello.cu </dev/null && has err 'was cached' &&
    echo '#error now' >h.h && expect 1 run -v hello.cu </dev/null && has err 'now' &&
    echo '// nothing' >h.h && old h.h && expect 1 run -v hello.cu </dev/null && has err 'was cached' &&
    expect 1 run -v -O3 hello.cu </dev/null && hasnt err 'was cached' && expect 1 run -v --device v100 hello.cu </dev/null && hasnt err 'was cached'
}
case_cached_warnings_come_again() {
  printf 'int main() { const char* s = 0; s + 1; return 0; }\n' >w.cu && old w.cu && expect 0 run w.cu && has err 'warning' && expect 0 run w.cu && has err 'warning'
}
# Scripts write a program and run it at once. What is saved while it is compiled is not kept; it is built once and told of once all the same.
case_sources_saved_just_now() {
  local n
  for n in 1 2 3 4; do
    echo "int main() { const char* s = 0; s + 1; return $n; }" >w.cu
    expect $n run -v w.cu && [[ $(grep -c '#\$ clang' err) == 3 ]] && expect $n run -v w.cu && has err 'was cached' || return 1
  done
  touch -d '1 hour' w.cu
  for n in 1 2; do expect 4 run -v -O1 w.cu && hasnt err 'was cached' && [[ $(grep -c 'warning: ' err) == 1 ]] || return 1; done
}
case_warnings_that_nvcc_does_not_give() {
  cat >w.cu <<'CU'
#include <cstdlib>
int main(int n, char**) {
  float f = (float)rand() / RAND_MAX;
  if (n) if (n > 2) n = 1; else n = 0;
  const struct { int first, second; } pair = {.first = n, .second = 2};
  auto [first, second] = pair;  // lambdas may take them since C++20
  return n << 3 - (n & 1 == 1) + (f > 2) + [second] { return second; }();
}
CU
  expect 0 nvcc --Werror all-warnings w.cu -o w && [[ ! -s err ]] && expect 0 nvcc -Xcompiler -Wall -c w.cu && has err 'Wshift-op-parentheses' 'Wdangling-else'
}
case_templates_of_the_standard_library_do_not_warn() {
  printf '#include <algorithm>\nint main() { int a[] = {2, 1}; std::stable_sort(a, a + 2); return a[0] - 1; }\n' >s.cu && cp s.cu s.cpp
  printf '#include <memory>\nint main() { return std::get_temporary_buffer<int>(1).second < 0; }\n' >g.cu
  expect 0 nvcc -c s.cu && [[ ! -s err ]] && expect 0 nvcc -c s.cpp && [[ ! -s err ]] && expect 0 nvcc -c g.cu && has err 'get_temporary_buffer'
}
case_cache_is_bounded() {
  export XDG_CACHE_HOME=$PWD/cache
  local results=cache/warpbeam/programs/results one
  echo "int main() { return 0; }" >m.cu && old m.cu && expect 0 run m.cu || return 1
  one=$(du -sb $results | cut -f1)
  export WARPBEAM_CACHE_BYTES=$((2 * one))
  for n in 1 2 3 4 5; do echo "int main() { return $n; }" >m.cu && old m.cu && expect $n run m.cu || return 1; done
  (($(du -sb $results | cut -f1) < 4 * one)) && expect 5 run -v m.cu && has err 'was cached'
}
case_cache_that_cannot_be_written() { hello && XDG_CACHE_HOME=/proc/none expect 1 run hello.cu </dev/null; }
case_damaged_cache_is_made_anew() {
  hello && export XDG_CACHE_HOME=$PWD/cache
  expect 1 run hello.cu </dev/null || return 1
  for size in 0 1000 8000; do
    truncate -s $size cache/warpbeam/programs/results/*/hello
    for _ in 1 2; do expect 2 run -v hello.cu -- x </dev/null && has out '[x]' || return 1; done
    has err 'was cached' || return 1
  done
  for key in cache/warpbeam/programs/keys/*; do head -c 3000 /dev/urandom >"$key"; done
  expect 1 run hello.cu </dev/null || return 1
  # As large and as old as it was.
  local file before
  for file in cache/warpbeam/programs/results/*/hello; do
    before=$(stat -c %y "$file")
    dd if=/dev/zero of="$file" bs=1 seek=1000 count=3000 conv=notrunc 2>/dev/null && touch -d "$before" "$file"
  done
  for _ in 1 2; do expect 2 run -v hello.cu -- x </dev/null && has out '[x]' || return 1; done
  has err 'was cached' || return 1
  # Lists of files that end early must not vouch for a program of another source.
  for file in cache/warpbeam/programs/keys/*; do head -n 2 "$file" >short && mv short "$file"; done
  sed -i 's/\[%s\]/<%s>/' hello.cu && old hello.cu && expect 2 run hello.cu -- x </dev/null && has out '<x>'
}
# Programs are run from the cache: one that others can write to is let be.
case_cache_that_others_can_write_to() {
  hello && export XDG_CACHE_HOME=$PWD/cache
  expect 1 run hello.cu </dev/null && [[ $(stat -c %a cache/warpbeam/programs) == 700 ]] && expect 1 run -v hello.cu </dev/null && has err 'was cached' || return 1
  chmod o+w cache/warpbeam/programs/results && expect 1 run -v hello.cu </dev/null && hasnt err 'was cached' || return 1
  chmod 775 cache/warpbeam/programs/results && expect 1 run -v hello.cu </dev/null && has err 'was cached' && [[ $(stat -c %a cache/warpbeam/programs/results) == 755 ]]
}
case_options_files_without_end() {
  echo '@many @many @many @many @many @many @many @many' >many
  expect 1 timeout 20 "$warpbeam" nvcc -optf many a.cu && has err 'without end' && expect 1 timeout 20 "$warpbeam" nvcc -optf /dev/zero a.cu && has err 'more than'
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
case_headers_that_appear_on_the_way() {
  export XDG_CACHE_HOME=$PWD/cache
  mkdir first second && echo '#define N 3' >second/n.h && printf '#include <cmath>\n#include "n.h"\nint main() { return N; }\n' >a.cu && old a.cu second/n.h
  local k
  for k in 1 2 3; do expect 3 run -v -Ifirst -I second a.cu || return 1; done
  has err 'was cached' && echo '#define N 4' >first/n.h && old first/n.h && expect 4 run -Ifirst -I second a.cu &&
    echo '#define N 5' >n.h && old n.h && expect 5 run -Ifirst -I second a.cu && rm n.h && expect 4 run -Ifirst -I second a.cu || return 1
  # One that the prelude includes as well.
  printf '#include_next <ctype.h>\n#undef N\n#define N 6\n' >first/ctype.h
  printf '#include <ctype.h>\nint main() { return N; }\n' >b.cu && old first/ctype.h b.cu && expect 6 run -Ifirst -I second b.cu
}
case_homes_that_cannot_be_used() {
  hello && mkdir locked half && mkdir -p half/warpbeam/programs/keys && touch half/warpbeam/programs/results
  expect 1 env -u HOME -u XDG_CACHE_HOME "$warpbeam" run hello.cu </dev/null && expect 1 env -u XDG_CACHE_HOME HOME=/nonexistent/home "$warpbeam" run hello.cu </dev/null &&
    expect 1 env XDG_CACHE_HOME=/dev/null "$warpbeam" run hello.cu </dev/null && expect 1 env XDG_CACHE_HOME="$PWD/half" "$warpbeam" run hello.cu </dev/null &&
    expect 1 env XDG_CACHE_HOME=relative "$warpbeam" run hello.cu </dev/null || return 1
  chmod a+rx "$work" .
  [[ $EUID == 0 ]] && setpriv --reuid=65534 --clear-groups "$warpbeam" --version >/dev/null 2>&1 || return 0
  # Another user's cache, and one whose files may not be read.
  chmod 700 locked && export XDG_CACHE_HOME=$PWD/open && mkdir open && chmod 777 open && expect 1 env XDG_CACHE_HOME="$PWD/locked" setpriv --reuid=65534 --clear-groups "$warpbeam" run hello.cu </dev/null &&
    expect 1 setpriv --reuid=65534 --clear-groups "$warpbeam" run hello.cu </dev/null && chmod 0 open/warpbeam/programs/results/*/hello &&
    expect 1 setpriv --reuid=65534 --clear-groups "$warpbeam" run hello.cu </dev/null && chmod 0 open/warpbeam/programs/keys/* &&
    expect 1 setpriv --reuid=65534 --clear-groups "$warpbeam" run hello.cu </dev/null
}
case_runs_at_the_same_time() {
  hello && export XDG_CACHE_HOME=$PWD/cache
  for n in 1 2 3 4; do (echo $n | run hello.cu -- $n >out.$n 2>err.$n; echo $? >status.$n) & done
  wait
  for n in 1 2 3 4; do [[ $(cat out.$n status.$n) == "[$n]$n"$'\n2' ]] || { cat err.$n; return 1; }; done
}
case_interrupt_while_running() {
  printf '#include <unistd.h>\nint main() { (void)!write(1, "up", 2); sleep(20); return 0; }\n' >s.cu && old s.cu
  # Job control gives the run its own process group, as a terminal does, and default signal handling.
  (set -m; "$warpbeam" run s.cu >out 2>err & job=$!; for _ in $(seq 100); do [[ -s out ]] && break; sleep 0.1; done; kill -INT -- -$job; wait $job; echo $? >status) 2>/dev/null
  [[ $(cat status) == 130 ]] || { echo "    status $(cat status)"; return 1; }
}
case_interrupt_while_compiling() {
  printf 'template <int N> struct F { static constexpr long v = F<N - 1>::v + F<(N > 2 ? N - 2 : 1)>::v + N; };\ntemplate <> struct F<1> { static constexpr long v = 1; };\ntemplate <> struct F<0> { static constexpr long v = 1; };\ntemplate <int N> long g() { if constexpr (N > 0) return F<N>::v + g<N - 1>() ; else return 0; }\nint main() { return g<900>(); }\n' >c.cu
  mkdir tmp
  (export TMPDIR=$PWD/tmp; set -m; "$warpbeam" nvcc -ftemplate-depth 100000 c.cu >out 2>err & job=$!; for _ in $(seq 300); do compgen -G 'tmp/warpbeam.*' >/dev/null && break; sleep 0.01; done; kill -INT -- -$job; wait $job; echo $? >status) 2>/dev/null
  [[ $(cat status) == 130 && -z $(ls tmp) ]] || { echo "    status $(cat status), left: $(ls tmp)"; return 1; }
}
# As with nvcc: what only one file can call is inlined where it is called once, however large it is, and a `this` in shared
# memory is no generic pointer then. Other files may call it where code is relocatable.
# What a process sends comes to us alone; what was ignored when we began stays so.
case_signals_of_processes() {
  printf '#include <unistd.h>\nint main() { (void)!write(1, "up", 2); sleep(20); return 0; }\n' >s.cu && old s.cu
  signalled() { # signal, words before
    local sent=$1
    shift
    rm -f out status
    (set -m; "$@" "$warpbeam" run s.cu >out 2>err & job=$!; for _ in $(seq 100); do [[ -s out ]] && break; sleep 0.1; done; kill -"$sent" $job; wait $job; echo $? >status) 2>/dev/null
  }
  signalled INT && [[ $(cat status) == 130 ]] || { echo "    INT: status $(cat status)"; return 1; }
  signalled QUIT && [[ $(cat status) == 131 ]] || { echo "    QUIT: status $(cat status)"; return 1; }
  # The hangup is not heeded, and the signal behind it is.
  rm -f out status
  (set -m; nohup "$warpbeam" run s.cu >out 2>err & job=$!; for _ in $(seq 100); do [[ -s out ]] && break; sleep 0.1; done; kill -HUP -- -$job; sleep 0.3; kill -TERM $job; wait $job; echo $? >status) 2>/dev/null
  [[ $(cat status) == 143 ]] || { echo "    HUP: status $(cat status)"; return 1; }
}
case_children_are_waited_for_where_they_are_ignored() {
  hello && expect 1 timeout 60 bash -c 'trap "" CHLD; exec "$@"' - "$warpbeam" run hello.cu </dev/null || return 1
  expect 1 timeout 60 /usr/bin/env --ignore-signal=CHLD "$warpbeam" nvcc nothere.cu && has err "no such file: 'nothere.cu'" || return 1
  expect 1 timeout 60 /usr/bin/env --ignore-signal=CHLD "$warpbeam" run hello.cu -DOTHER </dev/null
}
case_executables_and_commands_find_our_libraries() {
  hello && expect 0 nvcc hello.cu -o hello && expect 3 run hello a b </dev/null && has out '[a][b]' &&
    expect 2 run ./hello -- -v </dev/null && has out '[-v]' && expect 2 run -- ./hello a </dev/null && has out '[a]' &&
    expect 0 run -- sh -c 'echo "$LD_LIBRARY_PATH $WARPBEAM_DEVICE"' && has out "$work/tree/lib" &&
    expect 0 run --device k40 -- sh -c 'echo "$WARPBEAM_DEVICE"' && has out k40 &&
    expect 127 run -- no-such-command && has err "there is no command 'no-such-command'"
}
case_names_of_sources() {
  hello
  mkdir 'a;b' && cp hello.cu 'a;b/messages.cu' && cp hello.cu began.cu && cp hello.cu ...cu && sed 's/<<</<< </' hello.cu >'a;b/é;(x).cu' && old 'a;b'/* *.cu || return 1
  for name in 'a;b/messages.cu' 'a;b/é;(x).cu' began.cu ...cu; do
    for _ in 1 2; do expect 2 run "./$name" -- x </dev/null && has out '[x]' && [[ ! -s err ]] || return 1; done
  done
  cp hello.cu $'a\nb.cu' && expect 1 run $'a\nb.cu' && has err 'line break'
}
case_what_may_have_been_meant() {
  hello
  expect 1 run hell.cu && has err "no such file: 'hell.cu'; did you mean 'hello.cu'?" &&
    expect 1 run hello && has err "did you mean 'hello.cu'?" && expect 1 run . && has err "'.' is a directory" &&
    expect 1 run --engin jit hello.cu && has err "did you mean '--engine'?" &&
    expect 1 "$warpbeam" profile --metric x hello.cu && has err "did you mean '--metrics'?" &&
    expect 1 "$warpbeam" check --leak-chek no hello.cu && has err "did you mean '--leak-check'?" &&
    expect 1 "$warpbeam" profile hell.cu && has err 'no such file' && hasnt err recording &&
    expect 0 "$warpbeam" help check && has out 'Usage: warpbeam check' && expect 0 run --version && has out Warpbeam
}
case_places_that_cannot_be_written() {
  hello
  TMPDIR=/nonexistent expect 0 nvcc hello.cu -o hello || return 1
  for words in 'devices' 'nvcc --help' 'profile --query-metrics'; do
    status=0
    # shellcheck disable=SC2086
    "$warpbeam" $words >/dev/full 2>err || status=$?
    [[ $status == 1 ]] && has err 'cannot write to' || return 1
  done
  printf '#pragma clang __debug crash\n' >crash.cu && mkdir tmp && TMPDIR=$PWD/tmp expect 1 nvcc -c crash.cu && has err 'the compiler crashed' 'crash.cu:1:2' &&
    hasnt err 'Stack dump' && [[ -z $(ls tmp) ]]
}
case_functions_of_one_file() {
  cat >f.cu <<'CU'
#define FOUR(x) x x x x
struct Line {
  float at[64];
  __device__ void turn(int n) { FOUR(FOUR(FOUR(FOUR(at[threadIdx.x] = at[(threadIdx.x + n) % 64] * 2; __syncthreads(); n += at[n] > 1;)))) }
};
__device__ int unused(int a) { return a + 1; }
__device__ __noinline__ int called(int a) { return a * 3; }
__global__ void k(float* out, int n) {
  __shared__ Line line;
  line.at[threadIdx.x] = out[threadIdx.x];
  line.turn(called(n));
  out[threadIdx.x] = line.at[threadIdx.x];
}
CU
  ln -s -- "$(realpath -- "$(dirname -- "$driver")/../lib/libwarpbeam_lowering.so")" "$work/tree/lib/" || return 1
  expect 0 nvcc -ptx f.cu -o f.ptx && expect 0 nvcc -rdc=true -ptx f.cu -o r.ptx
  local status=$?
  rm -- "$work/tree/lib/libwarpbeam_lowering.so"
  ((status == 0)) && [[ $(grep -c '^\.func.*_Z6calledi' f.ptx) == 1 && $(grep -c '\.func' f.ptx) == 1 ]] && has f.ptx 'ld.shared.f32' && has r.ptx '.visible .func  (.param .b32 func_retval0) _Z6unusedi'
}
case_dryrun() {
  hello
  expect 0 nvcc --dryrun hello.cu -o h && [[ ! -e h ]] && has err '#$ TOP=' '#$ INCLUDES=' 'clang++-19 -x cuda' '--cuda-host-only' '--cuda-device-only' '-lwarpbeam' &&
    sed -e "s|$work|WORK|g; s|^#\$ PATH=.*|#$ PATH=|; s| -fsanitize=[a-z]*||" err >commands && diff -u "$here/dryrun.golden" commands
}
case_questions_of_build_systems() { expect 1 nvcc -v __no_such_input && has err '#$ TOP=' "Don't know what to do with"; }
case_version_and_help() {
  expect 0 nvcc --version && has out 'Cuda compilation tools, release 13.0, V13.0.88' && expect 0 nvcc --help && has out '--use_fast_math' &&
    expect 0 "$warpbeam" --help && has out devices && expect 0 "$warpbeam" --version && has out Warpbeam && expect 0 nvcc --list-gpu-arch && has out compute_10 compute_90a
}
case_occupancy_of_a_program() {
  printf '__global__ void __launch_bounds__(256) tile(float* p) {\n  __shared__ float s[1024];\n  s[threadIdx.x] = p[threadIdx.x];\n  __syncthreads();\n  p[threadIdx.x] = s[255 - threadIdx.x];\n}\n__global__ void other(int* p) { *p = 1; }\nint main() {}\n' >occupancy.cu
  expect 0 "$warpbeam" occupancy --device h200 --block 256 --grid 1057 --kernel tile occupancy.cu && has out 'tile(float*): ' &&
    has out '4096 bytes of static shared memory' && has out '8 blocks of 256 threads' && has out 'the last one has 1' &&
    ! grep -q 'other(int' out && expect 1 "$warpbeam" occupancy --kernel nothing occupancy.cu && expect 1 "$warpbeam" occupancy missing.cu
}
case_machine_code_of_a_program() {
  printf '__global__ void scale(float* p, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) p[i] *= 2;\n}\n__global__ void other(int* p) { *p = 1; }\nint main() {}\n' >machine.cu
  expect 0 "$warpbeam" assembly -arch=sm_90 -k scale machine.cu && has out 'scale(float*, int) for sm_90, an estimate: ' 'no spills' '@P0 EXIT' LDG STG 'p[i] *= 2' &&
    ! grep -q 'other(int' out && expect 0 "$warpbeam" assembly --csv -arch=sm_80 machine.cu && has out 'function,registers,block' ',load_global,LDG' &&
    expect 1 "$warpbeam" assembly -k nothing machine.cu && expect 1 "$warpbeam" assembly && expect 1 "$warpbeam" assembly -arch=sm_1000 machine.cu
}
case_devices_and_occupancy() {
  expect 0 "$warpbeam" devices && has out h200 && expect 0 "$warpbeam" devices k40 && has out 3.5 && expect 1 "$warpbeam" devices k4000 &&
    expect 0 "$warpbeam" occupancy --block 256 --regs 32 --device h200 && has out '8 blocks' && expect 1 "$warpbeam" occupancy --regs 3 &&
    expect 0 "$warpbeam" occupancy --block 256 --regs 32 --smem 65536 && has out '3 blocks'
}
case_run_after_linking() {
  hello && expect 3 nvcc --run hello.cu -o h -run-args a,b </dev/null && [[ $(cat out) == '[a][b]' ]] &&
    expect 2 nvcc --run "\"$PWD/h\"" -run-args c </dev/null && [[ $(cat out) == '[c]' ]]
}
case_missing_return_returns() {
  printf 'static int f(int x) { if (x > 100) return 1; }\nint main(int n, char**) { f(n); return 6; }\n' >r.cu && expect 6 run -w r.cu
}
case_entry_point_says_what_is_missing() {
  mkdir -p tree bin && sed 's|/usr/include/fmt/core.h|/nowhere/core.h|' "$root/warpbeam" >tree/warpbeam && chmod +x tree/warpbeam
  printf '#!/bin/sh\necho "apt-get $*" >>%q\nexit 1\n' "$PWD/asked" >bin/apt-get
  printf '#!/bin/sh\nexec "$@"\n' >bin/sudo
  chmod +x bin/apt-get bin/sudo
  expect 1 env PATH="$PWD/bin:$PATH" tree/warpbeam run --no-install a.cu && has err libfmt-dev 'text formatting' 'install them with' && hasnt err clang-19 && [[ ! -e asked ]] &&
    expect 1 env PATH="$PWD/bin:$PATH" tree/warpbeam run a.cu && has err 'could not be installed' && has asked 'install -y --no-install-recommends libfmt-dev' &&
    expect 0 tree/warpbeam --help && has out 'warpbeam run'
}
case_entry_point_builds_libraries_when_asked_for() {
  unset WARPBEAM_PRESET
  mkdir -p tree/src tree/cmake tree/build/release bin && cp "$root/warpbeam" tree/ && touch tree/CMakeLists.txt tree/CMakePresets.json tree/build/release/build.ninja
  # A ninja that tells what it was to build, and makes a driver that does nothing.
  printf '#!/bin/sh\necho "$3" >>%q\nmkdir -p "$2/bin"\nprintf "#!/bin/sh\\n" >"$2/bin/warpbeam"\nchmod +x "$2/bin/warpbeam"\nsleep 0.05\n' "$PWD/asked" >bin/ninja
  chmod +x bin/ninja
  echo 'int main() {}' >plain.cu && echo '#include <cublas_v2.h>' >blas.cu && sleep 0.05
  export PATH="$PWD/bin:$PATH"
  tree/warpbeam run plain.cu -- blas.cu && tree/warpbeam check --device k40 plain.cu && [[ $(cat asked) == first_program ]] &&
    tree/warpbeam run blas.cu 2>err && has err 'libraries and tools' && [[ $(tail -n 1 asked) == product ]] && tree/warpbeam run plain.cu && tree/warpbeam nvcc plain.cu &&
    [[ $(wc -l <asked) == 2 ]] && sleep 0.05 && touch tree/src/x.cc && tree/warpbeam profile plain.cu && [[ $(tail -n 1 asked) == first_program ]] &&
    tree/warpbeam run plain.cu -lcublas && [[ $(tail -n 1 asked) == product && $(wc -l <asked) == 4 ]]
}
case_nvcc_wrapper_and_links() {
  unset WARPBEAM_PRESET
  mkdir -p tree/bin tree/build/release/bin && cp "$root/warpbeam" tree/ && cp "$root/bin/nvcc" tree/bin/ && ln -s "$PWD/tree/bin/nvcc" mynvcc && mkdir tree/src tree/cmake &&
    touch tree/CMakeLists.txt tree/CMakePresets.json && ln -s "$driver" tree/build/release/bin/warpbeam && sleep 0.05 && echo "$PWD/tree" >tree/build/release/.built
  expect 0 ./mynvcc --version && has out 'release 13.0'
}

# A stand-in for build/release in Warpbeam's sources, which is where a CMake project looks.
cmake_home() {
  mkdir -p "$work/home/build/release"
  ln -sfn -- "$root/include" "$work/home/include"
  ln -sfn -- "$root/cmake" "$work/home/cmake"
  ln -sfn -- "$work/tree/bin" "$work/home/build/release/bin"
  ln -sfn -- "$work/tree/lib" "$work/home/build/release/lib"
  mkdir inc && echo '#define H 3' >inc/h.h
  printf '#include <h.h>\n#include <cstdio>\nint f();\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); std::printf("%%d", f() + H + FOO); }\n' >main.cu
  printf '#include <h.h>\nint f() { return H; }\n' >host.cpp
  printf '#include <cuda_runtime.h>\nint main() { int n = 0; cudaGetDeviceCount(&n); return n; }\n' >plain.cpp
  echo '__device__ int d(int x) { return x; }' >dev.cu
  echo '__device__ int d(int x); __global__ void k(int* p) { *p = d(1); } int main() { k<<<1, 1>>>(0); }' >rdc.cu
}
case_cmake_find_package() {
  [[ -z ${WARPBEAM_FAST:-} ]] || { echo '    slow'; return 77; }
  cmake_home
  cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(p LANGUAGES CXX)
find_package(Warpbeam REQUIRED)
warpbeam_add_executable(app main.cu host.cpp)
target_include_directories(app PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/inc)
target_compile_definitions(app PRIVATE FOO=1 "BAR=a b")
warpbeam_add_library(device_library STATIC dev.cu RDC)
warpbeam_add_executable(rdc rdc.cu RDC RDC_LIBRARIES device_library ARCHITECTURES 70 90)
CMAKE
  expect 0 cmake -S . -B b -G Ninja -DWarpbeam_ROOT="$work/home" && expect 0 cmake --build b && expect 0 b/app && has out 7 &&
    RECORD=1 expect 0 b/rdc && [[ $(grep -c '^linked' err) == 2 ]] && has err 'ptx70 ptx90' &&
    sleep 0.1 && echo '#define H 4' >inc/h.h && expect 0 cmake --build b && expect 0 b/app && has out 9
}
case_cmake_cuda_language() {
  [[ -z ${WARPBEAM_FAST:-} ]] || { echo '    slow'; return 77; }
  cmake_home
  cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(p LANGUAGES CXX CUDA)
add_executable(app main.cu host.cpp)
target_include_directories(app PRIVATE inc)
target_compile_definitions(app PRIVATE FOO=1)
add_library(device_library STATIC dev.cu)
set_target_properties(device_library PROPERTIES CUDA_SEPARABLE_COMPILATION ON POSITION_INDEPENDENT_CODE ON)
add_executable(rdc rdc.cu)
set_target_properties(rdc PROPERTIES CUDA_SEPARABLE_COMPILATION ON CUDA_ARCHITECTURES "70;90")
target_link_libraries(rdc device_library)
find_package(CUDAToolkit REQUIRED)
add_executable(plain plain.cpp)
target_link_libraries(plain PRIVATE CUDA::cudart)
target_compile_options(rdc PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--use_fast_math -lineinfo -Xcompiler=-Wall --extended-lambda>)
CMAKE
  expect 0 cmake -S . -B b -G Ninja -DCMAKE_CUDA_COMPILER="$work/tree/bin/nvcc" && has out 'CUDA compiler identification is NVIDIA 13.0' &&
    expect 0 cmake --build b && expect 0 b/app && has out 7 && RECORD=1 expect 0 b/rdc && [[ $(grep -c '^linked' err) == 2 ]] && expect 1 b/plain
}

# A program with a library of a toolkit's under its RPATH, which it loads by its absolute path too; a library of ours of that name.
package_with_libraries() {
  [[ -e ${driver%/bin/*}/lib/libwarpbeam_audit.so && -e /lib64/ld-linux-x86-64.so.2 ]] || return 77
  cp "${driver%/bin/*}/lib/libwarpbeam_audit.so" "$work/tree/lib/"
  mkdir -p package
  echo 'const char* whose(void) { return "ours"; }' >ours.c
  echo 'const char* whose(void) { return "theirs"; }' >theirs.c
  cat >program.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
const char* whose(void);
int main(int count, char** arguments) {
  printf("linked: %s\n", whose());
  for (int i = 1; i < count; ++i) {
    void* library = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
    printf("%s\n", library ? ((const char* (*)(void))dlsym(library, "whose"))() : dlerror());
  }
}
C
  clang-19 -shared ours.c -o "$work/tree/lib/libcudart.so.13" -Wl,-soname,libcudart.so.13 &&
    clang-19 -shared theirs.c -o package/libcudart.so.13 -Wl,-soname,libcudart.so.13 &&
    cp package/libcudart.so.13 package/libcudart-0123abcd.so.13 && clang-19 -shared theirs.c -o package/libcudnn.so.9 -Wl,-soname,libcudnn.so.9 &&
    clang-19 program.c package/libcudart.so.13 -ldl -o program -Wl,--disable-new-dtags,-rpath,"$PWD/package" && [[ $(./program) == 'linked: theirs' ]]
}
forget_package() { rm -f -- "$work/tree/lib/"{libwarpbeam_audit.so,libcudart.so.13}; }
case_libraries_of_packages_come_behind_ours() {
  package_with_libraries || return
  expect 0 run -- ./program "$PWD/package/libcudart.so.13" "$PWD/package/libcudart-0123abcd.so.13" "$PWD/package/libcudnn.so.9" &&
    [[ $(cat out) == $'linked: ours\nours\nours\ntheirs' ]] && [[ ! -s err ]] &&
    expect 0 run -- sh -c './program' && has out 'linked: ours' &&
    expect 0 run -v -- ./program "$PWD/package/libcudart.so.13" "$PWD/package/libcudnn.so.9" && has err "note: $work/tree/lib/libcudart.so.13 for libcudart.so.13" "note: $work/tree/lib/libcudart.so.13 instead of $PWD/package/libcudart.so.13" \
      "note: $PWD/package/libcudnn.so.9 is not Warpbeam's, which has no libcudnn.so.9"
  local status=$?
  forget_package
  return $status
}
case_warpbeam_off_steps_aside() {
  package_with_libraries || return
  expect 0 env WARPBEAM=off "$warpbeam" run -- ./program libcudart.so.13 && [[ $(cat out) == $'linked: theirs\ntheirs' ]] &&
    expect 0 run -- sh -c 'WARPBEAM=off ./program libcudart.so.13' && [[ $(cat out) == $'linked: theirs\ntheirs' ]]
  local status=$?
  forget_package
  return $status
}

case_ptxas_checks_and_packs() {
  cat >k.ptx <<'PTX'
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 to)
{
  .reg .b32 %r<3>; .reg .b64 %a;
  .shared .align 4 .b8 own[256];
  ld.param.u64 %a, [to];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, own;
  bar.sync 0;
  st.shared.u32 [%r2], %r1;
  st.global.u32 [%a], %r1;
  ret;
}
PTX
  expect 0 "$warpbeam" ptxas --version && has out 'Cuda compilation tools, release 13.0, ' Warpbeam &&
    expect 0 "$warpbeam" ptxas -lineinfo -v --regAllocOptLevel=2 --gpu-name=sm_90a k.ptx -o k.cubin && has err "Compiling entry function 'k' for 'sm_90'" 'Used ' ' registers, used 1 barriers, 256 bytes smem' &&
    [[ $(od -An -tx4 -N4 k.cubin) == ' ba55ed50' ]] && grep -aq 'st.global.u32' k.cubin &&
    expect 0 "$warpbeam" ptxas -arch sm_80 k.ptx && [[ -s elf.o && ! -s err ]] &&
    expect 0 "$warpbeam" ptxas -ias "$(cat k.ptx)" -o text.cubin && [[ -s text.cubin ]] &&
    sed 's/st.global.u32/st.globe.u32/' k.ptx >wrong.ptx && expect 255 "$warpbeam" ptxas wrong.ptx -o wrong.cubin && has err 'ptxas wrong.ptx, line 13; error   : ' 'Ptx assembly aborted' && [[ ! -e wrong.cubin ]] &&
    expect 255 "$warpbeam" ptxas -arch=sm_75 k.ptx && has err "is written for sm_80, and code for sm_75 is asked for" &&
    expect 255 "$warpbeam" ptxas nothing.ptx && has err "Could not open input file 'nothing.ptx'" && expect 255 "$warpbeam" ptxas -arch=ninety k.ptx && expect 255 "$warpbeam" ptxas
}
case_cuobjdump_and_fatbinary_read_and_make_containers() {
  hello && expect 0 nvcc -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=compute_90 hello.cu -o hello || return
  expect 0 "$warpbeam" cuobjdump -lptx -lelf hello && [[ $(cat out) == $'PTX file    1: hello.1.sm_80.ptx\nPTX file    2: hello.2.sm_90.ptx' ]] &&
    expect 0 "$warpbeam" cuobjdump --dump-ptx -arch=sm_90 ./hello && has out 'Fatbin ptx code:' 'arch = sm_90' 'code version = [' '.target sm_90' && hasnt out 'arch = sm_80' &&
    expect 0 "$warpbeam" cuobjdump -xptx sm_90 hello && [[ $(ls ./*.ptx) == ./hello.2.sm_90.ptx ]] && grep -q '.target sm_90' hello.2.sm_90.ptx &&
    expect 0 "$warpbeam" ptxas -arch=sm_90 hello.2.sm_90.ptx -o k.cubin &&
    expect 0 "$warpbeam" fatbinary -64 --cmdline= --image3=kind=elf,sm=90,file=k.cubin --image=profile=compute_80,file=hello.2.sm_90.ptx --create=k.fatbin --embedded-fatbin=k.c &&
    expect 0 "$warpbeam" cuobjdump --list-ptx k.fatbin && [[ $(cat out) == $'PTX file    1: k.fatbin.1.sm_90.ptx\nPTX file    2: k.fatbin.2.sm_80.ptx' ]] &&
    expect 0 cc -c k.c && expect 0 "$warpbeam" cuobjdump -lptx k.o && has out 'k.o.2.sm_80.ptx' &&
    expect 0 "$warpbeam" cuobjdump /bin/ls && has err 'does not contain device code' &&
    head -c 200 k.fatbin >cut.fatbin && expect 0 "$warpbeam" cuobjdump -ptx cut.fatbin && [[ ! -s out ]] &&
    expect 255 "$warpbeam" cuobjdump -sass hello && has err "'-sass' is about machine code" && expect 255 "$warpbeam" cuobjdump nothing && expect 255 "$warpbeam" cuobjdump &&
    expect 255 "$warpbeam" fatbinary --create=x --image3=kind=elf,sm=90,file=/bin/ls && has err 'holds no PTX' && [[ ! -e x ]] && expect 255 "$warpbeam" fatbinary --create=x
}
case_nvlink_links_device_code() {
  local real; real=$(realpath -- "$driver")  # the linking is a library's, which the tree of these tests has not
  [[ -e ${real%/bin/*}/lib/libnvJitLink.so ]] || return 77
  printf '%s\n' '__device__ int twice(int x) { return 2 * x; }' >twice.cu
  printf '%s\n' 'extern __device__ int twice(int); extern "C" __global__ void k(int* p) { *p = twice(*p); }' >k.cu
  printf '%s\n' '#include <cuda.h>' '#include <cstdio>' 'int main() {' '  CUdevice d; CUcontext c; CUmodule m; CUfunction f; CUdeviceptr p; int x = 21;' \
    '  cuInit(0); cuDeviceGet(&d, 0); cuDevicePrimaryCtxRetain(&c, d); cuCtxSetCurrent(c); cuMemAlloc(&p, 4); cuMemcpyHtoD(p, &x, 4);' \
    '  if (cuModuleLoad(&m, "linked.cubin") || cuModuleGetFunction(&f, m, "k")) return 1;' '  void* a[] = {&p}; cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, a, 0); cuMemcpyDtoH(&x, p, 4); printf("%d\n", x); }' >load.cu
  "$real" nvlink --version >version && grep -q 'release 13' version &&
    expect 0 "$real" nvcc -arch=sm_90 -rdc=true -ptx k.cu && expect 0 "$real" nvcc -arch=sm_90 -dc twice.cu -o twice.o && expect 0 "$real" ptxas -c -arch=sm_90 k.ptx -o k.cubin &&
    expect 255 "$real" nvlink -arch=sm_90 k.cubin -o linked.cubin && has err 'twice' && [[ ! -e linked.cubin ]] &&
    ar rc libtwice.a twice.o && expect 0 "$real" nvlink -m64 -arch=sm_90 k.cubin -L. -ltwice -lcudadevrt -o linked.cubin &&
    expect 0 "$real" nvcc load.cu -lcuda -o load && expect 0 ./load && [[ $(cat out) == 42 ]] &&
    expect 255 "$real" nvlink -arch=sm_90 k.cubin -lnothing && has err "Could not find library 'nothing'" && expect 255 "$real" nvlink &&
    expect 255 "$real" nvlink -arch=ninety k.cubin && expect 255 "$real" nvlink --register-link-binaries=x k.cubin && has err 'nvcc -dlink'
}
case_commands_find_our_tools() {
  printf '#!/bin/sh\nexec "%s" ptxas "$@"\n' "$warpbeam" >"$work/tree/bin/ptxas" && chmod +x "$work/tree/bin/ptxas" &&
    expect 0 run -- sh -c 'command -v nvcc; command -v ptxas; echo $TRITON_PTXAS_PATH $TRITON_LIBCUDA_PATH' &&
    [[ $(cat out) == "$work/tree/bin/nvcc"$'\n'"$work/tree/bin/ptxas"$'\n'"$work/tree/bin/ptxas $work/tree/lib" ]] &&
    expect 0 env TRITON_PTXAS_PATH=/mine "$warpbeam" run -- sh -c 'echo $TRITON_PTXAS_PATH' && [[ $(cat out) == /mine ]] &&
    expect 0 env WARPBEAM=off TRITON_PTXAS_PATH= "$warpbeam" run -- sh -c 'echo $TRITON_LIBCUDA_PATH' && [[ $(cat out) == '' ]]
}

case_packages_of_python_are_told() {
  command -v python3 >/dev/null || return 77
  mkdir -p "$work/tree/lib/warpbeam" && ln -s -- "$root/src/clients" "$work/tree/lib/warpbeam/clients"
  mkdir -p site/warp
  echo 'cuda_output = None' >site/warp/config.py
  echo 'from . import config' >site/warp/__init__.py
  echo 'print("the next one")' >site/sitecustomize.py
  local program='import warp; print(warp.config.cuda_output)'
  expect 0 env PYTHONPATH="$PWD/site" "$warpbeam" run -- python3 -c "$program" && [[ $(cat out) == $'the next one\nptx' ]] &&
    expect 0 env PYTHONPATH="$PWD/site" "$warpbeam" run -- sh -c "WARPBEAM=off python3 -c '$program'" && [[ $(cat out) == $'the next one\nNone' ]] &&
    expect 0 env PYTHONPATH="$PWD/site" python3 -c "$program" && has out None
  local status=$?
  # JAX looks for a kernel driver's files; XLA reads its flags when jaxlib is imported, and those of the user come first.
  mkdir -p site/jax/_src
  echo 'def has_visible_nvidia_gpu(): return False' >site/jax/_src/hardware_utils.py
  touch site/jax/__init__.py site/jax/_src/__init__.py
  echo 'import os; flags = os.environ.get("XLA_FLAGS")' >site/jaxlib.py
  program='import jaxlib, jax._src.hardware_utils as h; print(h.has_visible_nvidia_gpu(), jaxlib.flags)'
  expect 0 env PYTHONPATH="$PWD/site" XLA_FLAGS=--xla_mine "$warpbeam" run -- python3 -c "$program" && has out 'True --xla_mine --xla_gpu_enable_libnvptxcompiler=false' &&
    expect 0 env PYTHONPATH="$PWD/site" XLA_FLAGS=--xla_mine "$warpbeam" run -- sh -c "WARPBEAM=off python3 -c '$program'" && has out 'False --xla_mine' || status=1
  # Triton before 3.5 chooses no PTX for toolkit 13, and none before 3.2 for 12.8.
  mkdir -p site/triton/backends && touch site/triton/__init__.py
  printf '%s\n' 'def ptx_get_version(cuda):' '  if cuda in ("12.5", NEWEST): return cuda' '  raise RuntimeError("not " + cuda)' \
    'class Backend:' '  def __init__(self): self.ptx = ptx_get_version("13.0")' 'class Pair: compiler = Backend' 'backends = {"nvidia": Pair}' >old.py
  program='from triton.backends import backends; print(backends["nvidia"].compiler().ptx)'
  for newest in 12.4 12.8 13.0; do
    sed "s/NEWEST/'$newest'/" old.py >site/triton/backends/__init__.py
    expect 0 env PYTHONPATH="$PWD/site" PYTHONDONTWRITEBYTECODE=1 "$warpbeam" run -- python3 -c "$program" && has out "${newest/12.4/12.5}" || status=1
  done
  rm -rf -- "$work/tree/lib/warpbeam"
  return $status
}

case_nvcc_warns_of_variables_that_nobody_uses() {
  printf '%s\n' '__global__ void k(int* p) {' '  int unused = 3;' '  *p = 1;' '}' 'const int kSeen = 4;' 'int main() { k<<<1, 1>>>(nullptr); }' >unused.cu
  expect 0 nvcc -c unused.cu -o unused.o && has err "unused.cu:2:7: warning: unused variable 'unused'" && ! grep -q kSeen err &&
    expect 0 nvcc -w -c unused.cu -o unused.o && [[ ! -s err ]]
}

case_the_page_of_clients_is_as_recorded() {
  command -v python3 >/dev/null || return 77
  expect 0 python3 "$root/tests/clients/write_page" --check
}

passed=0 failed=0 skipped=0 number=0
for name in $(declare -F | awk '{print $3}' | grep '^case_'); do
  [[ $name == *"$filter"* ]] || continue
  if [[ -n ${WARPBEAM_FAST:-} ]] && ((number++ % 3)); then continue; fi  # the fast tests take every third
  mkdir "$work/$name"
  report=$(cd "$work/$name" && "$name" 2>&1)
  case $? in
    0) printf 'ok   %s\n' "${name#case_}"; passed=$((passed + 1)) ;;
    77) printf 'skip %s\n' "${name#case_}"; skipped=$((skipped + 1)) ;;
    *) printf 'FAIL %s\n' "${name#case_}"; failed=$((failed + 1)) ;;
  esac
  [[ -z $report ]] || printf '%s\n' "$report"
  rm -rf -- "${work:?}/$name"
done
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0))

#!/bin/bash
# Compiles every source here as the driver does: device and host pass, every language version, old and new
# architectures, warnings as errors. Where ptxas is installed it must accept the PTX. Ends with "N passed, N failed".
#
#   tests/headers/run.sh [directory]
#
# A source may begin with "// arch: 70 90" (the architectures it is for) and "// std: c++17 c++20".
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
sources=${1:-$here}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
ptxas=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null)
passed=0
failed=0

flags=(-x cuda -nocudainc -nocudalib -Xclang -target-sdk-version=12.3 -Xclang -fcuda-allow-variadic-functions -Xclang -fno-cxx-modules -Wno-unknown-cuda-version -isystem "$root/include")

# The prelude is compiled ahead for each set of words, which takes most of the time that a source would.
compile() {  # the set's name, source, words...: log in $scratch/log, PTX in $scratch/out.ptx
  local ahead=$scratch/$1.pch source=$2
  shift 2
  if [ ! -e "$ahead" ]; then
    clang++-19 "${flags[@]}" "${@/#-fsyntax-only/-w}" -w -S -Xclang -emit-pch "$root/include/warpbeam/prelude.cu" -o "$ahead" >"$scratch/log" 2>&1 || return
  fi
  clang++-19 "${flags[@]}" "$@" -Wall -Wextra -Werror -include-pch "$ahead" -S "$source" -o "$scratch/out.ptx" >"$scratch/log" 2>&1
}

report() {  # name, status
  if [ "$2" = 0 ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $1"
    sed 's/^/    /' "$scratch/log" | head -20
  fi
}

named() {  # key, source: the words after "// key:"
  sed -n "1,3s#^// $1: *##p" "$2"
}

number=0
for source in "$sources"/*.cu; do
  if [ -n "${WARPBEAM_FAST:-}" ] && [ $((number++ % 3)) != 0 ]; then continue; fi  # the fast tests take every third
  name=$(basename "$source" .cu)
  archs=$(named arch "$source")
  stds=$(named std "$source")
  host_stds=${stds:-c++11 c++14 c++17 c++20}
  device_archs=${archs:-35 52 70 80 90}
  device_stds=$(printf '%s\n' "${stds%% *}" c++17 | sed 's/^$/c++11/' | sort -u)
  if [ -n "${WARPBEAM_FAST:-}" ]; then  # the first of each
    host_stds=${host_stds%% *} device_archs=${device_archs%% *} device_stds=${host_stds%% *}
  fi
  for std in $host_stds; do
    compile "host.$std" "$source" -std=$std --cuda-host-only --cuda-gpu-arch=sm_90 -fsyntax-only
    report "$name host $std" $?
  done
  for arch in $device_archs; do
    for std in $device_stds; do
      compile "$arch.$std" "$source" -std=$std -O1 --cuda-device-only --cuda-gpu-arch=sm_$arch --cuda-feature=+ptx85
      report "$name sm_$arch $std" $?
    done
    if [ -n "$ptxas" ] && [ "$arch" -ge 75 ]; then
      "$ptxas" -c -arch=sm_$arch "$scratch/out.ptx" -o /dev/null >"$scratch/log" 2>&1
      report "$name ptxas sm_$arch" $?
    fi
  done
done

# Plain C and C++ sources see the types and the host functions.
if [ -z "$1" ]; then
  for std in c++11 c++17 c++20; do
    for compiler in g++ clang++-19; do
      command -v $compiler >/dev/null || continue
      $compiler -std=$std -Wall -Wextra -Werror -isystem "$root/include" -fsyntax-only "$here/host_only.cpp" >"$scratch/log" 2>&1
      report "host_only.cpp $compiler $std" $?
    done
  done
  # Makefiles say -I, which lets the compiler warn of what it finds in the headers.
  for compiler in gcc clang-19; do
    command -v $compiler >/dev/null || continue
    $compiler -std=c99 -Wall -Wextra -Werror -I"$root/include" -fsyntax-only "$here/host_only.c" >"$scratch/log" 2>&1
    report "host_only.c $compiler" $?
  done
  # Libraries' headers bring the runtime API, as NVIDIA's do.
  for header in cublas_v2 cublasLt cusparse cusolverDn cusolverSp curand cufftXt cuda_fp16 cuda_fp8 vector_functions; do
    printf '#include <%s.h>\nint main(void) { void* p; return cudaMalloc(&p, 16) != cudaSuccess || cudaFree(p) != cudaSuccess; }\n' $header >"$scratch/by.c"
    for compiler in 'gcc -x c' 'g++ -x c++' 'clang++-19 -x c++'; do
      command -v ${compiler%% *} >/dev/null || continue
      $compiler -Wall -Wextra -Werror -I"$root/include" -fsyntax-only "$scratch/by.c" >"$scratch/log" 2>&1
      report "$header.h by itself, $compiler" $?
    done
  done
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

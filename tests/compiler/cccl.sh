# shellcheck shell=bash
# CUB, Thrust and libcu++ of several versions.

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
    expect 0 nvcc -cccl=fetched -I"$tree/include" -isystem "$tree/include" -isystem="$tree/include/cccl" -c e.cu &&
    expect 1 nvcc -c e.cu && has err ours && expect 1 env WARPBEAM_CCCL=fetched "$warpbeam" nvcc -std=c++14 -c e.cu && has err ours &&
    expect 0 env WARPBEAM_CCCL=fetched "$warpbeam" nvcc -c e.cu && expect 1 env WARPBEAM_CCCL=fetched "$warpbeam" nvcc --cccl none -c e.cu && has err ours
}

case_other_versions_of_the_libraries() {
  mkdir -p other/include/cccl/cub other/include/cccl/cuda/std
  echo '#define CUB_VERSION 200500' >other/include/cccl/cub/version.cuh
  touch other/include/cccl/cub/cub.cuh other/include/cccl/cuda/std/version
  printf '#include <cub/version.cuh>\nstatic_assert(CUB_VERSION == 200500, "");\n__global__ void k() {}\n' >e.cu
  expect 0 nvcc --cccl other -c e.cu && expect 0 nvcc -cccl=other/include/cccl -c e.cu && expect 0 env WARPBEAM_CCCL="$PWD/other" "$warpbeam" nvcc -c e.cu &&
    expect 1 nvcc --cccl nowhere -c e.cu && has err "CUB, Thrust and libcu++ were to be in 'nowhere'" && expect 1 env WARPBEAM_CCCL="$PWD/other" "$warpbeam" nvcc -std=c++11 -c e.cu
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

case_libraries_stand_where_toolkit_13_has_them() {
  local library
  for library in cuda/std/type_traits nv/target cub/cub.cuh thrust/version.h; do
    [[ -e $tree/include/cccl/$library ]] || { echo "    no $library"; return 1; }
  done
  printf '#include <cuda/std/type_traits>\n#include <nv/target>\n#include <cuda/std/type_traits>\n__global__ void k(cuda::std::conditional<true, int, char>::type* p) { NV_IF_TARGET(NV_IS_DEVICE, (*p = 1;)) }\n' >e.cu
  expect 0 nvcc -I"$tree/include/cccl" -c e.cu && expect 0 nvcc -I"$tree/include" -isystem "$tree/include/cccl" -c e.cu || return
  # Build systems read the versions off the files, and get what programs get.
  printf '#include <thrust/version.h>\n#include <cub/version.cuh>\nstatic_assert(THRUST_VERSION == %s && CUB_VERSION == %s, "");\n' \
    "$(sed -n 's/^#define THRUST_VERSION //p' "$tree/include/cccl/thrust/version.h")" \
    "$(sed -n 's/^#define CUB_VERSION //p' "$tree/include/cccl/cub/version.cuh")" >e.cu
  expect 0 nvcc -I"$tree/include/cccl" -c e.cu
}

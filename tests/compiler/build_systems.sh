# shellcheck shell=bash
# How others call nvcc, and how the entry point builds what is missing.

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
  mkdir -p "$PWD/home/build/release"
  ln -sfn -- "$root/include" "$PWD/home/include"
  ln -sfn -- "$root/cmake" "$PWD/home/cmake"
  ln -sfn -- "$tree/bin" "$PWD/home/build/release/bin"
  ln -sfn -- "$tree/lib" "$PWD/home/build/release/lib"
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
  expect 0 cmake -S . -B b -G Ninja -DWarpbeam_ROOT="$PWD/home" && expect 0 cmake --build b && expect 0 b/app && has out 7 &&
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
  expect 0 cmake -S . -B b -G Ninja -DCMAKE_CUDA_COMPILER="$tree/bin/nvcc" && has out 'CUDA compiler identification is NVIDIA 13.0' &&
    expect 0 cmake --build b && expect 0 b/app && has out 7 && RECORD=1 expect 0 b/rdc && [[ $(grep -c '^linked' err) == 2 ]] && expect 1 b/plain
}

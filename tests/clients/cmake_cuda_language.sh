# CMake's CUDA language with Warpbeam's nvcc: makefiles and Ninja, separable compilation off and on.
set -eu
command -v cmake >/dev/null && command -v make >/dev/null && command -v ninja >/dev/null || {
  echo "needs the packages cmake, make and ninja-build"
  exit 77
}
for generator in "Unix Makefiles" Ninja; do
  for separable in OFF ON; do
    build="${generator// /_}-$separable"
    cmake -S "$WARPBEAM_CLIENTS/cmake_project" -B "$build" -G "$generator" -DSEPARABLE=$separable \
      -DCMAKE_CUDA_COMPILER="$WARPBEAM_BUILD/bin/nvcc" -DCMAKE_BUILD_TYPE=Release
    cmake --build "$build"
    "$build/app"
    "$build/driver"
  done
done

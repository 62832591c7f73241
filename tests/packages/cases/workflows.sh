# The workflows of examples/workflows, as a runner runs them.
# Sourced by ../installed.
# With the tarball where releases are.
workflow() { # name
  mkdir -p "server/some/body/releases/download/v0.2.0" project temp
  cp "$tarball" server/some/body/releases/download/v0.2.0/
  export GITHUB_SERVER_URL=file://$PWD/server GITHUB_ACTION_REPOSITORY=some/body
  "project_of_$1" || return
  python3 "$root/tests/action/workflow.py" "$root/examples/workflows/$1.yml" project "$root" temp
}
# README's step, behind a build of the project.
readme_workflow() {
  cat >readme.yml <<'EOF'
jobs:
  test:
    steps:
      - run: cmake -B build -DCMAKE_CUDA_COMPILER=$CUDA_HOME/bin/nvcc -DCMAKE_CUDA_ARCHITECTURES=80 && cmake --build build
EOF
  sed -nE '/^- uses: warpbeam/,/^```/{/^```/d; s/ +#.*//; s/^/      /p}' "$root/README.md" >step.yml
  [[ $(wc -l <step.yml) == 2 ]]
  cat step.yml >>readme.yml
  mkdir -p "server/some/body/releases/download/v0.2.0" project temp
  cp "$tarball" server/some/body/releases/download/v0.2.0/
  project_of_cmake
  tar xzf "$tarball"
  export GITHUB_SERVER_URL=file://$PWD/server GITHUB_ACTION_REPOSITORY=some/body CUDA_HOME=$PWD/$tree_name
  python3 "$root/tests/action/workflow.py" readme.yml project "$root" temp >out.txt 2>&1 || { cat out.txt; return 1; }
  grep '100% tests passed' out.txt
}
project_of_cmake() {
  cat >project/CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.20)
project(p LANGUAGES CXX CUDA)
enable_testing()
add_executable(tests tests.cu)
add_test(NAME tests COMMAND tests)
EOF
  cat >project/tests.cu <<'EOF'
#include <cstring>
__global__ void twice(int* x) { x[threadIdx.x] *= 2; }
int main() {
  int *x, status;
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  cudaMallocManaged(&x, 8);
  x[0] = 1, x[1] = 2;
  twice<<<1, 2>>>(x);
  status = cudaDeviceSynchronize() || x[1] != 4 || !std::strstr(p.name, "A100");
  cudaFree(x);
  return status;
}
EOF
}
project_of_python() {
  python3 -m venv venv || { echo 'python3 makes no virtual environments'; return 77; }
  export PATH=$PWD/venv/bin:$PATH
  pip download -q --no-deps -d fetched numba >/dev/null 2>&1 || { echo 'no packages can be fetched'; return 77; }
  echo numpy >project/requirements.txt
  cat >project/test_numba.py <<'EOF'
import numpy
from numba import cuda


@cuda.jit
def add(a, b):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += b[i]


def test_add():
    a = cuda.to_device(numpy.arange(100, dtype=numpy.float32))
    add[4, 32](a, a)
    assert a.copy_to_host()[99] == 198
EOF
}
project_of_rust() {
  command -v cargo >/dev/null || { echo 'cargo is not installed'; return 77; }
  cargo --version || { echo 'cargo does not start'; return 77; }
  mkdir -p project/src
  printf '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\nbuild = "build.rs"\n' >project/Cargo.toml
  cat >project/kernel.cu <<'EOF'
__global__ void twice(int* x) { *x *= 2; }
extern "C" int twice_of(int n) {
  int* x;
  if (cudaMallocManaged(&x, sizeof *x)) return -1;
  *x = n;
  twice<<<1, 1>>>(x);
  const int status = cudaDeviceSynchronize() ? -2 : *x;
  cudaFree(x);
  return status;
}
EOF
  cat >project/build.rs <<'EOF'
use std::{env, process::Command};
fn main() {
    let out = env::var("OUT_DIR").unwrap();
    let nvcc = format!("{}/bin/nvcc", env::var("CUDA_HOME").unwrap());
    assert!(Command::new(nvcc).args(["-lib", "kernel.cu", "-o", &format!("{out}/libkernel.a")]).status().unwrap().success());
    println!("cargo:rustc-link-search={out}\ncargo:rustc-link-lib=static=kernel\ncargo:rustc-link-lib=cudart\ncargo:rustc-link-lib=stdc++");
}
EOF
  cat >project/src/lib.rs <<'EOF'
extern "C" { fn twice_of(n: i32) -> i32; }
pub fn twice(n: i32) -> i32 { unsafe { twice_of(n) } }
#[test]
fn twice_is_twice() { assert_eq!(twice(21), 42); }
EOF
}

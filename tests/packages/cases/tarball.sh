# The tarball, and a prefix of cmake --install, used as their users would.
# Sourced by ../installed.
files_ask_for_little() { # everything but what programs are linked with
  tar xzf "$tarball"
  python3 - "$root/package" "$tree_name" "$WARPBEAM_BUILD" <<'EOF'
import os, sys
sys.path.insert(0, sys.argv[1])
import elf
wrong = seen = 0
for folder, _, names in os.walk(sys.argv[2]):
    for name in names:
        file = os.path.join(folder, name)
        if os.path.islink(file):
            continue
        data = open(file, "rb").read()
        if sys.argv[3].encode() in data:
            print(f"{file} names the folder that it was built in"); wrong += 1
        if data[:4] != b"\x7fELF" or "/sysroot/" in file or name.endswith(".o"):
            continue
        seen += 1
        newest = elf.newest_glibc(file)
        print(file, "glibc", ".".join(map(str, newest)))
        if newest > elf.OLDEST:
            print("... which is too new"); wrong += 1
        if folder.endswith("/lib") and not folder.endswith("/warpbeam/lib") and name.startswith(("libLLVM", "libstdc++", "libopenblas", "libfftw", "libgfortran")):
            print("... a name that others have"); wrong += 1
sys.exit(wrong > 0 or seen < 50)
EOF
}

have_the_sizes() { # those that the documents tell, within 5 %
  local document kind size told
  for kind in tarball wheel deb; do
    size=$(($(stat -c %s "${!kind}") / 1000000))
    for document in README.md docs/install.md; do
      told=$(grep -m 1 "^| $kind |" "$root/$document" | grep -oE '[0-9]+ MB' | head -n 1)
      told=${told% MB}
      ((20 * size >= 19 * told - 20 && 20 * size <= 21 * told + 20)) || { echo "$document says that the $kind has $told MB; it has $size"; return 1; }
    done
  done
  [[ $(stat -c %s "$wheel") -lt 300000000 ]]
}

have_the_builds_code() { # byte for byte: kernels are as fast, and results the same
  local folder file seen=0
  tar xzf "$tarball"
  python3 -m zipfile -e "$wheel" wheel
  dpkg-deb -x "$deb" deb
  for folder in "$tree_name" wheel/warpbeam/tree deb/usr/lib/warpbeam; do
    for file in "$WARPBEAM_BUILD"/lib/lib*.so*; do
      [[ ! -L $file && $(head -c 4 "$file") == $'\x7fELF' ]] || continue
      objcopy -O binary --only-section=.text "$file" built
      objcopy -O binary --only-section=.text "$folder/lib/${file##*/}" packed
      cmp built packed || { echo "$folder/lib/${file##*/} is not the build's"; return 1; }
      seen=$((seen + 1))
    done
  done
  ((seen > 40)) || { echo "only $seen libraries were compared"; return 1; }
}

# Every example with the tarball's own compiler, headers and libraries says what it says with the build, but for times and addresses.
has_the_builds_results() {
  local example needs words args folder headers wrong=0 place=$PWD
  tar xzf "$tarball"
  cd "$root/examples"
  for example in *.cu; do
    needs=$(sed -nE 's,^// needs: (.*),\1,p' "$example") words=$(sed -nE 's,^// build: (.*),\1,p' "$example") args=$(sed -nE 's,^// args: (.*),\1,p' "$example")
    [[ -z $needs || -e $needs ]] || continue
    [[ -z $needs ]] && headers=own || headers=system
    for folder in "$WARPBEAM_BUILD" "$place/$tree_name"; do
      # shellcheck disable=SC2086
      if ! WARPBEAM_HEADERS=$headers "$folder/bin/warpbeam" run $words "$example" ${args:+-- $args} >"$place/out.txt" 2>&1 </dev/null; then
        echo "$example fails with $folder"
        tail -n 5 "$place/out.txt"
        wrong=1
      fi
      sed -E 's/0x[0-9a-f]{6,}/ADDRESS/g; s/[-+]?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)? *(ns|us|µs|ms|s|x|%|[KMGT]?i?B\/s|[GT]FLOPS?|[GT]FLOP\/s|times)\b/TIME/g' "$place/out.txt" >"$place/${folder##*/}.txt"
    done
    diff "$place/${WARPBEAM_BUILD##*/}.txt" "$place/$tree_name.txt" || { echo "$example says something else"; wrong=1; }
  done
  return "$wrong"
}

unpacked() { # anywhere, read-only
  local place='my "own" tools, $HOME;#1'
  mkdir -p "$place"
  tar xzf "$tarball" -C "$place"
  chmod -R a-w "$place"
  w="$PWD/$place/$tree_name"
}

# A user who is not root, where this is root.
as_user() {
  if ((EUID)); then "$@"; else setpriv --reuid 12345 --regid 12345 --clear-groups -- "$@"; fi
}
open_folder() {
  chmod a+x "$work"
  mkdir -p home
  chmod -R a+rwX home .
  cp "$work/hello.cu" "$work/bad.cu" .
  chmod a+r ./*.cu
  export HOME=$PWD/home XDG_CACHE_HOME=$PWD/home/cache
}

tarball_runs() {
  open_folder
  unpacked
  expect 0 '^sum 20$' as_user "$w/bin/warpbeam" run hello.cu -lcublas -lcufft
  expect 0 '^sum 20$' as_user env WARPBEAM_HEADERS=own "$w/bin/warpbeam" run hello.cu -lcublas -lcufft
  local other='home/temporary "files", and kept ones'
  mkdir "$other"
  chmod a+rwX "$other"
  expect 0 '^sum 20$' as_user env TMPDIR="$PWD/$other" XDG_CACHE_HOME=/nowhere "$w/bin/warpbeam" run hello.cu -lcublas -lcufft
  expect 0 '^sum 20$' as_user env TMPDIR="$PWD/$other" XDG_CACHE_HOME="$PWD/$other" "$w/bin/warpbeam" run hello.cu -lcublas -lcufft
  (cd home && expect 0 '' as_user "$w/bin/nvcc" ../hello.cu -lcublas -lcufft -o hello && expect 0 '^sum 20$' as_user ./hello && expect 0 '' as_user "$w/bin/nvcc" ../bad.cu -o bad)
  expect 1 'Invalid __global__ write' as_user "$w/bin/warpbeam" check bad.cu
  expect 0 'launch__registers_per_thread' as_user "$w/bin/warpbeam" profile --set exact hello.cu -lcublas -lcufft
  expect 0 '^GPU 0: NVIDIA H200 ' as_user "$w/bin/nvidia-smi" -L
  expect 1 'Invalid __global__ write' as_user "$w/bin/compute-sanitizer" --error-exitcode 1 home/bad
  expect 0 'launch__registers_per_thread' as_user "$w/bin/ncu" --metrics launch__registers_per_thread home/bad
  expect 0 'warp instructions' as_user "$w/bin/warpbeam" bench interpreter
}

nothing_is_writable() {
  open_folder
  unpacked
  expect 0 '^sum 20$' as_user env HOME=/nowhere XDG_CACHE_HOME=/nowhere "$w/bin/warpbeam" run hello.cu -lcublas -lcufft
}

no_room() { # a disk of 8 KiB for the cache, then for temporary files too
  ((EUID)) && { echo 'only root makes such disks'; return 77; }
  open_folder
  unpacked
  cat >small.sh <<'EOF'
mkdir -p small && mount -t tmpfs -o size=8k none small || { echo 'no disk can be made'; exit 77; }
export XDG_CACHE_HOME=$PWD/small
"$1/bin/warpbeam" run hello.cu -lcublas -lcufft || exit 1
mkdir -p /mnt
if unshare -m sh -c 'mount --bind "$1" /mnt && mount --bind small /tmp && export TMPDIR=/tmp XDG_CACHE_HOME=/tmp && /mnt/bin/warpbeam run hello.cu -lcublas -lcufft' _ "$1" >full.txt 2>&1; then exit 2; fi
grep -q 'no room for temporary files; TMPDIR' full.txt && exit 0
cat full.txt
exit 3
EOF
  unshare -m bash small.sh "$w"
  expect 1 '/proc is not there' unshare -m bash -c 'mount -t tmpfs none /proc && exec "$1" devices' _ "$w/bin/warpbeam"
}

moved() { # what was compiled before runs from the new place, and says so when it is gone
  open_folder
  mkdir one && tar xzf "$tarball" -C one
  expect 0 '^sum 20$' "one/$tree_name/bin/warpbeam" run hello.cu -lcublas -lcufft
  mv one two
  expect 0 '^sum 20$' "two/$tree_name/bin/warpbeam" run hello.cu -lcublas -lcufft
  expect 0 '^sum 20$' "two/$tree_name/bin/warpbeam" run hello.cu -lcublas -lcufft
}

side_by_side() { # each uses its own files only, the caches are shared
  open_folder
  mkdir one two && tar xzf "$tarball" -C one && tar xzf "$tarball" -C two
  touch "two/$tree_name/bin/warpbeam.program"
  local k
  for k in one two one two; do
    expect 0 '^sum 20$' which_files "$k"
    grep -q "$PWD/$k/" maps.txt
    if grep -E '/(one|two)/' maps.txt | grep -v "$PWD/$k/"; then return 1; fi
  done
  # An update over it: a newer driver does not take what the older one compiled.
  expect 0 'was cached' "one/$tree_name/bin/warpbeam" run -v maps.cu
  touch -d '+1 minute' "one/$tree_name/bin/warpbeam.program"
  "one/$tree_name/bin/warpbeam" run -v maps.cu >out.txt 2>&1
  if grep -q 'was cached' out.txt; then return 1; fi
  # Uninstalled: the folder is gone, and nothing but the cache was left anywhere.
  rm -rf one
  [[ $(ls -A home) == cache ]]
}
which_files() { # which files are in the process
  cat >maps.cu <<'EOF'
#include <cstdio>
#include <cstring>
__global__ void k() {}
int main() {
  k<<<1, 1>>>();
  if (cudaDeviceSynchronize()) return 1;
  std::FILE *in = std::fopen("/proc/self/maps", "r"), *out = std::fopen("maps.txt", "w");
  for (char line[4096]; std::fgets(line, sizeof line, in);)
    if (std::strstr(line, ".so")) std::fputs(line, out);
  std::puts("sum 20");
}
EOF
  "$1/$tree_name/bin/warpbeam" run maps.cu
}

another_cuda() {
  open_folder
  unpacked
  mkdir -p cuda/bin cuda/lib64
  printf '#!/bin/sh\necho another nvcc\n' >cuda/bin/nvcc
  cp cuda/bin/nvcc cuda/bin/nvidia-smi
  chmod -R a+rx cuda
  chmod a+x cuda/bin/*
  export PATH=$PWD/cuda/bin:$PATH LD_LIBRARY_PATH=$PWD/cuda/lib64
  expect 0 'Warpbeam' "$w/bin/warpbeam" run -- nvcc --version
  expect 0 '^GPU 0: ' "$w/bin/warpbeam" run -- sh -c 'nvidia-smi -L'
  expect 0 '^another nvcc$' env WARPBEAM=off "$w/bin/warpbeam" run -- nvcc --version
}

a_gpu_is_there() { # its driver's library in the path, where a GPU is: -v tells which one wins
  open_folder
  unpacked
  mkdir driver
  echo 'int cuInit(unsigned flags) { return 100; }' >driver.c
  clang-19 -shared -fPIC driver.c -o driver/libcuda.so.1 -Wl,-soname,libcuda.so.1
  printf '%s\n' '#include <dlfcn.h>' '#include <stdio.h>' 'int main() {' '  void* cuda = dlopen("libcuda.so.1", RTLD_NOW);' \
    '  int (*init)(unsigned) = cuda ? (int (*)(unsigned))dlsym(cuda, "cuInit") : 0;' '  printf("cuInit %d\n", init ? init(0) : -1);' '}' >user.c
  clang-19 user.c -o user -Wl,--disable-new-dtags,-rpath,"$PWD/driver"
  chmod -R a+rX driver user
  expect 0 '^cuInit 100$' ./user
  expect 0 '^cuInit 0$' as_user "$w/bin/warpbeam" run -v -- ./user
  grep -F "$w/lib/libcuda.so.1" out.txt
  expect 0 '^cuInit 100$' as_user env WARPBEAM=off "$w/bin/warpbeam" run -- ./user
}

another_llvm() { # in the process first, and seen by all: PyTorch, Triton and Mesa bring one
  open_folder
  unpacked
  local llvm=/usr/lib/llvm-19/lib/libLLVM.so.19.1
  [[ -e $llvm ]] || llvm=$(ls /usr/lib/x86_64-linux-gnu/libLLVM-*.so* | head -n 1)
  cat >both.cu <<'EOF'
#include <dlfcn.h>
#include <cstdio>
__global__ void twice(float* x) { x[threadIdx.x + blockIdx.x * blockDim.x] *= 2; }
int main(int, char** words) {
  void* llvm = dlopen(words[1], RTLD_NOW | RTLD_GLOBAL);
  void* strangers = dlopen(words[2], RTLD_NOW | RTLD_GLOBAL);
  if (!llvm || !strangers) { std::puts(dlerror()); return 2; }
  float* x;
  cudaMallocManaged(&x, 4096 * sizeof *x);
  for (int i = 0; i < 4096; ++i) x[i] = i;
  twice<<<16, 256>>>(x);
  if (cudaDeviceSynchronize() || x[4095] != 8190) return 3;
  auto parse = reinterpret_cast<void (*)()>(dlsym(llvm, "LLVMShutdown"));
  parse();
  std::puts("both");
}
EOF
  # And a library whose functions have the names of LLVM's and fmt's, and end the process.
  cat >strangers.c <<'EOF'
#include <stdlib.h>
#define END(name) void name() { abort(); }
END(LLVMInitializeX86Target) END(LLVMInitializeX86TargetInfo) END(LLVMInitializeX86TargetMC) END(LLVMInitializeX86AsmPrinter)
END(_ZN4llvm11LLVMContextC1Ev) END(_ZN4llvm11LLVMContextC2Ev) END(_ZN3fmt2v97vformatB5cxx11ENS0_17basic_string_viewIcEENS0_17basic_format_argsINS0_20basic_format_contextINS0_8appenderEcEEEE)
EOF
  clang-19 -shared -fPIC strangers.c -o strangers.so
  chmod a+rx strangers.so
  expect 0 '^both$' as_user "$w/bin/warpbeam" run --engine jit both.cu -- "$llvm" "$PWD/strangers.so"
}

an_emulated_processor() { # without AVX2, and with
  command -v qemu-x86_64-static >/dev/null || { echo 'qemu-user-static is not installed'; return 77; }
  unpacked
  expect 1 'no AVX2' qemu-x86_64-static -cpu Nehalem "$w/bin/warpbeam.program" devices
  grep -c . out.txt | grep -qx 1
  expect 0 h200 qemu-x86_64-static -cpu Haswell "$w/bin/warpbeam.program" devices
}

one_home_for_many() { # two machines at the same time with one cache; then one whose processor is another
  open_folder
  unpacked
  cat >kernel.cu <<'EOF'
#include <cstdio>
__global__ void twice(float* x) { x[threadIdx.x + blockIdx.x * blockDim.x] *= 2; }
int main() {
  float* x;
  cudaMallocManaged(&x, 4096 * sizeof *x);
  for (int i = 0; i < 4096; ++i) x[i] = i;
  twice<<<16, 256>>>(x);
  if (cudaDeviceSynchronize() || x[4095] != 8190) return 3;
  std::puts("right");
}
EOF
  local k pids=()
  for k in 1 2 3 4; do as_user "$w/bin/warpbeam" run --engine jit kernel.cu >"$k.txt" 2>&1 & pids+=($!); done
  for k in 1 2 3 4; do wait "${pids[k - 1]}"; grep -qx right "$k.txt"; done
  local before
  before=$(find home/cache -name 'llvmcache-*' | wc -l)
  [[ $before -gt 0 ]]
  expect 0 '^right$' as_user "$w/bin/warpbeam" run --engine jit kernel.cu
  [[ $(find home/cache -name 'llvmcache-*' | wc -l) == "$before" ]]  # found again
  expect 0 '^right$' as_user env WARPBEAM_JIT_CPU=haswell "$w/bin/warpbeam" run --engine jit kernel.cu
  [[ $(find home/cache -name 'llvmcache-*' | wc -l) -gt $before ]]  # code of its own
}

nvvm_is_found() { # tree's program: what Numba looks for where CUDA_HOME says
  cat >nvvm.py <<'EOF'
import ctypes, os
home = os.environ["CUDA_HOME"]
nvvm = ctypes.CDLL(os.path.join(home, "nvvm", "lib64", "libnvvm.so"))
major, minor = ctypes.c_int(), ctypes.c_int()
assert nvvm.nvvmVersion(ctypes.byref(major), ctypes.byref(minor)) == 0 and major.value >= 1
assert open(os.path.join(home, "nvvm", "libdevice", "libdevice.10.bc"), "rb").read(2) == b"BC"
for name in ("cuda_runtime.h", "cuda_fp16.h", "cuda.h", "nvrtc.h"):
    assert os.path.exists(os.path.join(home, "include", name)), name
print("found in", home)
EOF
  expect 0 '^found in ' env -u CUDA_HOME -u CUDA_PATH "$1" run -- python3 nvvm.py
}
tarball_nvvm() {
  unpacked
  nvvm_is_found "$w/bin/warpbeam"
}

no_avx2() {
  unpacked
  expect 1 'no AVX2' env WARPBEAM_CPU=x86-64-v2 "$w/bin/warpbeam" devices
  [[ $(wc -l <out.txt) == 1 ]]
}

a_prefix_of_cmake() {
  local prefix="$PWD/the prefix"
  cmake --install "$WARPBEAM_BUILD" --prefix "$PWD/first" >/dev/null
  mv first "$prefix"
  mkdir project && cd project
  cp "$work/hello.cu" .
  cat >app.cpp <<'EOF'
#include <cuda_runtime.h>
#include <cstdio>
int main() { int n = 0; cudaGetDeviceCount(&n); std::printf("devices %d\n", n); }
EOF
  cat >CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.20)
project(test LANGUAGES CXX CUDA)
find_package(Warpbeam @version@ REQUIRED)
warpbeam_add_executable(kernels hello.cu)
target_link_libraries(kernels PRIVATE cublas cufft)
target_link_directories(kernels PRIVATE "${Warpbeam_ROOT}/lib")
find_package(CUDAToolkit 12 REQUIRED)
add_executable(app app.cpp)
target_link_libraries(app PRIVATE CUDA::cudart)
add_executable(cuda_language hello.cu)
target_link_libraries(cuda_language PRIVATE CUDA::cublas CUDA::cufft)
EOF
  sed -i "s/@version@/$(grep -oE '[0-9]+\.[0-9]+' <<<"$tree_name" | head -n 1)/" CMakeLists.txt
  cmake -B out -DWarpbeam_ROOT="$prefix" -DCUDAToolkit_ROOT="$prefix" -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_CUDA_COMPILER="$prefix/bin/nvcc" -DCMAKE_CUDA_ARCHITECTURES=80
  cmake --build out
  expect 0 '^sum 20$' out/kernels
  expect 0 '^sum 20$' out/cuda_language
  expect 0 '^devices 1$' out/app
  ldd out/app | grep -F "$prefix/lib"
}

# shellcheck shell=bash
# Relocatable device code, and other compilers that take part.

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
    expect 0 clang++-19 main.o a/k.o b/k.o host.o c.o link.o -L"$tree/lib" -lcudart -o m &&
    RECORD=1 expect 0 ./m && has out 12 && [[ $(grep -c '^linked' err) == 4 ]]
}

case_relocatable_static_libraries() {
  relocatable
  # Nothing on the host refers to liba's members: device code alone pulls them, and only those that it needs.
  expect 0 nvcc -dc main.cu && expect 0 nvcc -c c.c && expect 0 nvcc -lib -rdc=true a/k.cu unused.cu -o liba.a &&
    expect 0 nvcc -lib -rdc=true b/k.cu host.cu -o libb.a && expect 0 nvcc main.o c.o -L. -la -lb -o m &&
    RECORD=1 expect 0 ./m && has out 12 && [[ $(grep -c '^linked' err) == 4 ]] && expect 0 nvcc main.o c.o -L. -l:liba.a -l:libb.a -o p && expect 0 ./p && has out 12 && expect 0 nvcc main.o c.o liba.a libb.a -o n && expect 0 ./n &&
    expect 0 nvcc -dlink main.o liba.a libb.a -o link.o &&
    expect 0 clang++-19 main.o c.o link.o -L. -la -lb -L"$tree/lib" -lcudart -o o && RECORD=1 expect 0 ./o &&
    [[ $(grep -c '^linked' err) == 4 ]]
}

case_relocatable_library_linked_beforehand() {
  relocatable
  # As CMake's CUDA_RESOLVE_DEVICE_SYMBOLS: objects and the object that links them in one archive, nothing on the host refers to some.
  echo 'extern __device__ int helper(int); __global__ void k(int* p) { *p = helper(1); } int run_it() { k<<<1, 1>>>(nullptr); return 6; }' >user.cu
  echo 'int run_it(); int main() { return run_it(); }' >m.cpp
  expect 0 nvcc -dc -Xcompiler -fPIC user.cu && expect 0 nvcc -dc -Xcompiler -fPIC b/k.cu && expect 0 nvcc -dlink -shared k.o user.o -o link.o && ar crs liball.a k.o user.o link.o &&
    expect 0 clang++-19 m.cpp -L. -lall -L"$tree/lib" -lcudart -o m && RECORD=1 expect 6 ./m && [[ $(grep -c '^linked' err) == 2 ]]
}

case_archives_for_the_host_linker_alone() {
  relocatable
  expect 0 nvcc -dc main.cu a/k.cu host.cu && mv k.o a.o && expect 0 nvcc -dc b/k.cu && echo 'INPUT(-lm)' >libscript.a && ar crs libb.a k.o && echo 'int from_c(int x) { return x * 10; }' >c.c &&
    expect 0 nvcc -c c.c && expect 0 nvcc -dlink main.o a.o host.o libb.a libscript.a -o link.o && expect 0 nvcc main.o a.o host.o c.o -Xlinker=libb.a -Xlinker libscript.a libb.a -o m &&
    RECORD=1 expect 0 ./m && has out 12 && ar crs libc.a c.o && expect 0 nvcc main.o a.o host.o k.o -Xlinker=libc.a -o n && RECORD=1 expect 0 ./n && has out 12
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

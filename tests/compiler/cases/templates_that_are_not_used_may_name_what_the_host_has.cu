// A template that no kernel uses is not checked for the device.
// run: nvcc -w -ptx %s
// expect: ptx has .entry _Z1kv
// run: nvcc -c u.cu
// expect: status 1
#include <complex>
template <class T> __host__ __device__ T f(const T& x) { using ::arg; return arg(x); }
__global__ void k() {}
//--- u.cu
template <class T> void f() { nobody(3); }
__global__ void k() {}

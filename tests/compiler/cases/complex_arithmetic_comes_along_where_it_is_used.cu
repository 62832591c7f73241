// What products and quotients of complex numbers end in is part of the program, and only where there are some.
// run: nvcc -ptx %s
// expect: ptx has __nv_scalbn
// expect: ptx lacks /^\.extern .*__(mul|div)[ds]c3/
// run: nvcc -ptx s.cu
// expect: s.ptx lacks /__(mul|div)[ds]c3|__nv_/
#include <complex>
__global__ void k(std::complex<double>* z, std::complex<float>* w) { z[0] *= z[1]; z[2] /= z[1]; w[0] *= w[1]; w[2] /= w[1]; }
//--- s.cu
#include <complex>
__global__ void k(std::complex<double>* z) { z[0] += z[1]; }

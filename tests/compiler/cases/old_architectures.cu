// Architectures that clang does not know are compiled for the next, and __CUDA_ARCH__ is what was asked for.
// run: nvcc -ptx -arch=sm_13 %s
// expect: ptx has .target sm_20
// expect: ptx has 130
// run: nvcc -ptx -arch=sm_10 %s
// expect: ptx has , 100
// run: nvcc -ptx -arch=sm_35 %s
// expect: ptx has .target sm_35
// expect: ptx has 350
// run: nvcc -ptx -arch=sm_90a %s
// expect: ptx has .target sm_90a
// expect: ptx has 900
// run: WARPBEAM_DEVICE=c2050 nvcc -ptx %s
// expect: ptx has .target sm_20
__global__ void k(int* p) { *p = __CUDA_ARCH__; }
int main() {}

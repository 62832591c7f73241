// -Xcompiler's options reach the host's pass and not the device's.
// run: nvcc -Xcompiler -DFOR_HOST,-Wall %s -o h
#if defined(__CUDA_ARCH__) && defined(FOR_HOST)
#error the device pass saw a host option
#endif
#if !defined(__CUDA_ARCH__) && !defined(FOR_HOST)
#error the host pass did not see it
#endif
int main() {}

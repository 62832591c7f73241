// No object is left where the device's pass failed.
// run: nvcc -c %s
// expect: status 1
// expect: %n.o is missing
#if __CUDA_ARCH__
#error device
#endif

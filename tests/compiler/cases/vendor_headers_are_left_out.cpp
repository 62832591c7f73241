// A folder with the vendor's headers is left out and told of.
// run: nvcc -Ivendor %s -o c
// expect: err has 'vendor' is left out
#include <cuda_runtime.h>
int main() {}
//--- vendor/cuda_runtime.h
#error the wrong one

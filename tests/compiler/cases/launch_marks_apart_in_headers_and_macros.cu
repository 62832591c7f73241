// nvcc takes `<< <` and `>> >` apart as launches too, and errors behind them have their lines.
// run: nvcc -c %s
// expect: err is empty
// run: nvcc -c broken.cu
// expect: status 1
// expect: err has broken.cu:4
#include "marks.h"
__global__ void k(int* p) { *p = 1; }
__global__ void g(int* p) { *p = 2; }
int main() { LAUNCH(k, nullptr); go(nullptr); }
//--- broken.cu
#include "marks.h"
__global__ void k(int* p) { *p = 1; }
__global__ void g(int* p) { *p = 2; }
int main() { LAUNCH(k, nullptr); go(; }
//--- marks.h
#define LAUNCH(k, ...) k<< <1, 4>> >(__VA_ARGS__)
__global__ void g(int* p);
inline void go(int* p) { g << /* grid */ < 1, 4 >> > (p); }

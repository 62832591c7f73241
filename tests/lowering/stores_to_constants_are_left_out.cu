// A kernel that stores to a __constant__ array, also by way of a local pointer, is told of as by nvcc, and the store is left out.
// run: nvcc -c %s
// expect: err has %s:16:
// expect: err has %s:19:
// expect: err has %s:21:
// expect: err has the store is left out
// run: nvcc -c single.cu
// expect: status 1
// expect: err has single.cu:2:
// expect: err has expression must be a modifiable lvalue
// run: nvcc -c host.cu
// expect: status 1
// expect: err has modifiable lvalue
__constant__ int c, a[4];
__constant__ float4 v;
__global__ void k(int i) { a[i] = 2; v.x = 1; }
__global__ void l(int i) {
  int* p = a;
  p[2] = i;
  if (i) ++p;
  *p = i;
}
//--- single.cu
__constant__ int c;
__global__ void k() { c = 1; }
//--- host.cu
__constant__ int c;
void f() { c++; }

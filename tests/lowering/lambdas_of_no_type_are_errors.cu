// clang forgets the error in the lambda together with its callers.
// run: nvcc --extended-lambda %s
// expect: status 1
// expect: err has %s:18
// expect: err has no matching function
// run: nvcc --extended-lambda -ptx %s
// expect: status 1
// expect: err has %s:18
// expect: err has no matching function
// run: nvcc --extended-lambda kernel.cu
// expect: status 1
// expect: err has kernel.cu:
// expect: err has no matching function
struct P { int v; };
__host__ __device__ inline int value(P p) { return p.v; }
template <class F> __host__ __device__ void call(F f, int* p) { *p = f(3); }
template <class F> __global__ void k(F f, int* p) { call(f, p); }
int main() { k<<<1, 1>>>([] __host__ __device__(auto t) { return value(t); }, nullptr); }
//--- kernel.cu
#ifdef __CUDA_ARCH__
#define LOST value(t)
#else
#define LOST 1
#endif
struct P { int v; };
__host__ __device__ inline int value(P p) { return p.v; }
template <class F> __host__ __device__ void call(F f, int* p) { *p = f(3); }
template <class F> __global__ void k(F f, int* p) { *p = f(3); }
int main() { k<<<1, 1>>>([] __host__ __device__(auto t) { return LOST; }, nullptr); }

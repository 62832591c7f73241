// Every atomic function, type and scope.
#define EACH_INTEGER(X) X(int) X(unsigned) X(unsigned long long)
#define SCOPE(s)                                                                                                    \
  template <class T>                                                                                                \
  __device__ void integers##s(T* p) {                                                                               \
    atomicAdd##s(p, (T)1);                                                                                          \
    atomicExch##s(p, atomicMin##s(p, (T)1));                                                                        \
    atomicMax##s(p, (T)1);                                                                                          \
    atomicAnd##s(p, (T)1);                                                                                          \
    atomicOr##s(p, (T)1);                                                                                           \
    atomicXor##s(p, (T)1);                                                                                          \
    atomicCAS##s(p, (T)1, (T)2);                                                                                    \
  }                                                                                                                 \
  __global__ void scope##s(int* i, unsigned* u, unsigned long long* ull, long long* ll, float* f) {                  \
    integers##s(i);                                                                                                 \
    integers##s(u);                                                                                                 \
    integers##s(ull);                                                                                               \
    atomicSub##s(i, 1);                                                                                             \
    atomicSub##s(u, 1u);                                                                                            \
    atomicInc##s(u, 7);                                                                                             \
    atomicDec##s(u, 7);                                                                                             \
    atomicMin##s(ll, 1);                                                                                            \
    atomicMax##s(ll, 1);                                                                                            \
    atomicAnd##s(ll, 1);                                                                                            \
    atomicOr##s(ll, 1);                                                                                             \
    atomicXor##s(ll, 1);                                                                                            \
    *f = atomicAdd##s(f, 1.0f) + atomicExch##s(f, 2.0f);                                                            \
  }
SCOPE()
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
SCOPE(_block)
SCOPE(_system)
__global__ void doubles(double* d) { *d = atomicAdd(d, 1.0) + atomicAdd_block(d, 1.0) + atomicAdd_system(d, 1.0); }

__global__ void ordered(int* i, float* f, unsigned char* c, double* d, unsigned long long* u) {
  const int x = __nv_atomic_load_n(i, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_store_n(i, x, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
  __nv_atomic_fetch_add(i, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_add(f, 1.0f, __NV_ATOMIC_SEQ_CST);
  __nv_atomic_add(c, (unsigned char)1, __NV_ATOMIC_RELAXED);
  __nv_atomic_max(d, 2.0, __NV_ATOMIC_ACQ_REL);
  int expected = 3;
  __nv_atomic_compare_exchange_n(i, &expected, 4, false, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_RELAXED);
  *u = __nv_atomic_exchange_n(u, 5ull, __NV_ATOMIC_RELAXED);
  __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST);
}
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
__global__ void halfwords(unsigned short* s) { *s = atomicCAS(s, 1, 2) + atomicCAS_block(s, 1, 2) + atomicCAS_system(s, 1, 2); }
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
struct alignas(16) Pair {
  long long a, b;
};
__global__ void wide(float2* f2, float4* f4, Pair* p) {
  atomicAdd(f2, *f2);
  atomicAdd_block(f4, atomicAdd_system(f4, *f4));
  *p = atomicCAS(p, Pair{1, 2}, atomicExch(p, Pair{3, 4}));
}
#endif

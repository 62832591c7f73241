// Votes, shuffles with and without a mask, matches, reductions, barriers, fences, clocks, address spaces.
__device__ int i;
__device__ unsigned u;

template <class T>
__device__ T shuffles(T v) {
  v += __shfl_sync(0xffffffff, v, 3) + __shfl_up_sync(0xffffffff, v, 1) + __shfl_down_sync(0xffffffff, v, 1, 16) +
       __shfl_xor_sync(0xffffffff, v, 1, 8);
  return v + __shfl(v, 3) + __shfl_up(v, 1) + __shfl_down(v, 1, 16) + __shfl_xor(v, 1);
}

__global__ void all() {
  i += shuffles(1) + (int)shuffles(1u) + (int)shuffles(1l) + (int)shuffles(1ul) + (int)shuffles(1ll) + (int)shuffles(1ull) +
       (int)shuffles(1.0f) + (int)shuffles(1.0);
  u += __ballot_sync(0xffffffff, i) + __activemask() + __ballot(i);
  i += __all_sync(0xffffffff, i) + __any_sync(0xffffffff, i) + __uni_sync(0xffffffff, i) + __all(i) + __any(i);
  __syncwarp();
  __syncwarp(0xff);
  i += __syncthreads_count(i) + __syncthreads_and(i) + __syncthreads_or(i);
  __barrier_sync(1);
  __barrier_sync_count(2, 64);
#if __CUDA_ARCH__ >= 700
  int p;
  u += __match_any_sync(0xffffffff, i) + __match_any_sync(0xffffffff, 1.0) + __match_all_sync(0xffffffff, 1.0f, &p) +
       __match_all_sync(0xffffffff, 1ull, &p) + p;
  __nanosleep(100);
#endif
#if __CUDA_ARCH__ >= 800
  i += __reduce_add_sync(0xffffffff, i) + __reduce_min_sync(0xffffffff, i) + __reduce_max_sync(0xffffffff, i);
  u += __reduce_add_sync(0xffffffff, u) + __reduce_min_sync(0xffffffff, u) + __reduce_max_sync(0xffffffff, u) +
       __reduce_and_sync(0xffffffff, u) + __reduce_or_sync(0xffffffff, u) + __reduce_xor_sync(0xffffffff, u);
#endif
  __threadfence_block();
  __threadfence();
  __threadfence_system();
  i += clock() + (int)clock64();
  __shared__ int s;
  u += __isGlobal(&i) + __isShared(&s) + __isLocal(&i) + __isConstant(&i);
  u += (unsigned)__cvta_generic_to_shared(&s) + (unsigned)__cvta_generic_to_global(&i);
  *(int*)__cvta_shared_to_generic(__cvta_generic_to_shared(&s)) = 3;
  __prof_trigger(1);
  if (i == 12345) __brkpt();
  if (i == 54321) __trap();
}

// Atomic operations on shared memory for which a GPU goes round a loop: sums of floats and of doubles, and 8 bytes. One warp each,
// whose lanes meet in words and banks in every way. An H100's counters for these launches, in this order, are in
// h100/shared_loops.csv.
// args: check
#include <cstdio>

enum Places { Apart, Same, Pairs, Far, Stride2, Stride4, TwoFar, Eight, Backwards, Stride16, Halves };

__device__ int place(Places places, int t) {
  switch (places) {
    case Apart: return t;
    case Pairs: return t / 2;
    case Far: return t % 2 * 32;
    case Stride2: return t * 2;
    case Stride4: return t * 4;
    case TwoFar: return t / 2 * 32 % 1024;
    case Eight: return t % 8;
    case Backwards: return 31 - t;
    case Stride16: return t * 16;
    case Halves: return t < 16 ? t * 32 : t;
    default: return 0;
  }
}

#define LOOP(name, T, operation)                                      \
  template <Places kPlaces>                                           \
  __global__ void name(T* out) {                                      \
    __shared__ T s[1056];                                             \
    const int t = threadIdx.x;                                        \
    for (int k = t; k < 1056; k += 32) s[k] = 0;                      \
    __syncthreads();                                                  \
    const int p = place(kPlaces, t);                                  \
    operation;                                                        \
    __syncthreads();                                                  \
    out[t] = s[t];                                                    \
  }
LOOP(floats, float, atomicAdd(&s[p], 3.0f))
LOOP(doubles, double, atomicAdd(&s[p], 3.0))
LOOP(words, unsigned long long, atomicAdd(&s[p], 3ull))
LOOP(integers, int, atomicAdd(&s[p], 3))
LOOP(some_floats, float, if (t % 3) atomicAdd(&s[p], 3.0f))

template <class T, class... Kernel>
void launch(Kernel... kernels) {
  T* out;
  cudaMalloc(&out, 32 * sizeof(T));
  (kernels<<<1, 32>>>(out), ...);
  cudaFree(out);
}

#define ALL(name) name<Apart>, name<Same>, name<Pairs>, name<Far>, name<Stride2>, name<Stride4>, name<TwoFar>, name<Eight>, name<Backwards>, name<Stride16>, name<Halves>
int main() {
  launch<float>(ALL(floats));
  launch<double>(ALL(doubles));
  launch<unsigned long long>(ALL(words));
  launch<int>(ALL(integers));
  launch<float>(some_floats<Apart>, some_floats<Pairs>);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}

// A library whose classes are of the host there and of the device here, as big-number libraries have them: a kernel asks for the one
// side what only the other has. Of the device's templates one that nobody uses names what there is not.
#include <cstdio>

#ifdef __CUDA_ARCH__
class Context {
 public:
  __device__ Context(int kind, unsigned instance) : at_(kind + instance) {}
  __device__ unsigned at() const { return at_; }

 private:
  unsigned at_;
};

template <int N>
struct Resolver {
  __device__ static unsigned resolve(unsigned x) {
    undeclared = x * N;
    return undeclared;
  }
  __device__ static unsigned add(unsigned x) { return x + N; }
};
#else
class Context {
 public:
  __host__ Context(int, unsigned) {}
  __host__ unsigned at() const { return 0; }
};

template <int N>
struct Resolver {
  __host__ static unsigned add(unsigned x) { return x - N; }
};
#endif

template <class T>
struct Places {
  template <class U>
  static __host__ __device__ void put(U* p, unsigned v) {
    *p = v;
  }
  static __host__ __device__ void put_next(T* p, unsigned v) { Places<T>::template put(p, v + 1); }
};

__global__ void add(unsigned* out) {
  Context context(40, threadIdx.x);
  Places<unsigned>::put_next(out + threadIdx.x, Resolver<1>::add(context.at()));
}

int main() {
  unsigned *out, got[4], bad = 0;
  bad += cudaMalloc(&out, sizeof got) != cudaSuccess;
  add<<<1, 4>>>(out);
  bad += cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess;
  for (unsigned t = 0; t < 4; ++t) bad += got[t] != 42 + t;
  std::printf("sides_apart: %s\n", bad ? "FAILED" : "PASSED");
  return bad != 0;
}

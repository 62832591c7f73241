// What nvcc compiles, most of it with a warning: shared variables whose constructors are not run, void pointers that count in
// bytes, calls of host functions that no thread reaches, and templates that only the host, or only the device, can read.
// build: --expt-extended-lambda
#include <cstdio>
#include <cstdlib>
#include <string>

struct Vector {
  float x, y, z;
  __host__ __device__ Vector(float x = 1, float y = 2, float z = 3) : x(x), y(y), z(z) {}
  __host__ __device__ Vector operator+(const Vector& o) const { return Vector(x + o.x, y + o.y, z + o.z); }
};

template <class T, int kCount>
struct Ring {
  T items[kCount];
  int head;
  __device__ Ring() : head(0) {}
};

template <class F>
__device__ float apply(F f) {
  return f();
}

template <class T>
__global__ void sums(const T* in, T* out, float* captured) {
  __shared__ T tile[32], total;
  __shared__ Ring<T, 4> ring;
  __shared__ struct {
    T sum;
    int count;
  } both, *place;
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    total = T(0, 0, 0);
    for (int i = 0; i < 32; ++i) total = total + tile[i];
    ring.head = 3;
    ring.items[ring.head] = total;
    place = &both;
    place->count = 1;
    place->sum = total;
  }
  __syncthreads();
  // A lambda that captures by value still means the shared variable itself.
  auto read = [=] { return tile[31 - threadIdx.x].x; };
  auto write = [=] { tile[threadIdx.x].y = 7; };
  *captured = sizeof(tile) == 32 * sizeof(T) ? apply(read) : -1;
  if (threadIdx.x == 5) write();
  __syncthreads();
  out[threadIdx.x] = place->count == 1 ? both.sum + ring.items[3] + T(tile[5].y - total.x, -total.y, -total.z) : T();
}

__global__ void offsets(void* data, const void* from, int bytes) {
  void* mine = data + threadIdx.x * 4;
  *(int*)mine = *(const int*)(from + bytes + 4 * threadIdx.x);
  mine += 128;
  *(char*)mine = 5;
}

int on_host(int x) { return x * 3; }
template <class T>
struct Text {
  static T length(T x) { return T(std::to_string(x).size()); }
};

__host__ __device__ int checked(int x) {
  if (x < 0) {
    printf("negative\n");
    exit(1);
  }
  if (x > 1000) return on_host(x) + Text<int>::length(x);
  return x + 1;
}

// On the device nobody uses Half.
#ifndef __CUDA_ARCH__
template <class T>
T only_on_the_host(T x) {
  return x / 2;
}
#endif
template <class T>
struct Half {
  static T of(T x) {
    using ::only_on_the_host;
    return only_on_the_host(x);
  }
};

__global__ void check(int* p) { *p = checked(*p); }

// On the host there is no `above`, and `twice` takes another number of arguments.
#if __CUDA_ARCH__ >= 300
template <class T>
__device__ T above(T x) {
  return x + 1;
}
template <class T>
__device__ T twice(T x) {
  return 2 * x;
}
#else
template <class T>
__device__ T twice(T x, int*) {
  return 2 * x;
}
#endif
template <class T>
struct Steps {
  __device__ T next(T x) const { return above(x); }
};
template <class T>
__device__ T both(T x) {
  return above(twice(x)) + Steps<T>().next(x);
}
template <class T>
__global__ void step(T* p) {
  *p = twice(both(*p));
}

int main() {
  Vector *in, *out;
  float* captured;
  cudaMallocManaged(&in, 32 * sizeof(Vector));
  cudaMallocManaged(&out, 32 * sizeof(Vector));
  cudaMallocManaged(&captured, sizeof(float));
  for (int i = 0; i < 32; ++i) in[i] = Vector(i, 2 * i, 1);
  sums<<<1, 32>>>(in, out, captured);
  bool good = cudaDeviceSynchronize() == cudaSuccess;
  good = good && out[9].x == 496 + 7 && out[9].y == 992 && out[9].z == 32 && *captured >= 0;

  *captured = 5;
  step<<<1, 1>>>(captured);
  good = good && cudaDeviceSynchronize() == cudaSuccess && *captured == 2 * (11 + 6);

  void *bytes, *numbers;
  cudaMallocManaged(&bytes, 256);
  cudaMallocManaged(&numbers, 256);
  for (int i = 0; i < 64; ++i) ((int*)numbers)[i] = i;
  offsets<<<1, 32>>>(bytes + 0, numbers, 8);
  good = good && cudaDeviceSynchronize() == cudaSuccess;
  good = good && ((int*)bytes)[7] == 9 && *((char*)bytes + 128 + 4) == 5 && *(int*)(numbers + 12) == 3;

  int* p = (int*)numbers;
  *p = 41;
  check<<<1, 1>>>(p);
  good = good && cudaDeviceSynchronize() == cudaSuccess && *p == 42 && checked(2000) == 6004;
  *p = 2000;
  check<<<1, 1>>>(p);
  good = good && cudaDeviceSynchronize() == cudaErrorLaunchFailure;
  puts(good ? "passed" : "failed");
  return good ? 0 : 1;
}

// The qualifiers, built-in variables and vector types, without including anything.
static_assert(__CUDACC_VER_MAJOR__ == 13 && CUDART_VERSION == 13000, "the toolkit");
#if !defined(__CUDACC__) || !defined(__NVCC__)
#error "programs ask for these"
#endif

static_assert(sizeof(float3) == 12 && alignof(float3) == 4, "");
static_assert(sizeof(float4) == 16 && alignof(float4) == 16, "");
static_assert(alignof(char2) == 2 && alignof(char3) == 1 && alignof(char4) == 4 && alignof(short4) == 8, "");
static_assert(alignof(double2) == 16 && alignof(double4) == 16 && alignof(longlong3) == 8, "");
static_assert(alignof(double4_16a) == 16 && alignof(double4_32a) == 32, "");

struct __align__(16) Aligned {
  float x;
};
static_assert(sizeof(Aligned) == 16, "");

__constant__ float table[16];
__device__ int counter = 3;
__managed__ int shared_by_both = 5;
static __managed__ double also_by_both[4];

__device__ __noinline__ int slow(int x) { return x + 1; }
__device__ __forceinline__ int quick(int x) { return x + 1; }
__host__ __device__ inline dim3 twice(dim3 d) { return dim3(2 * d.x, 2 * d.y, 2 * d.z); }

template <class T>
__device__ T first(const T& value) {
  return value;
}

__global__ void kernel(float* out, const __grid_constant__ int n) {
  extern __shared__ float dynamic[];
  __shared__ float fixed[32];
  const dim3 block = blockDim;
  const uint3 thread = threadIdx;
  const auto copy = threadIdx;
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  dynamic[threadIdx.x] = fixed[threadIdx.x % warpSize] = table[threadIdx.x % 16];
  __syncthreads();
  if (index < n) {
    out[index] = dynamic[0] + slow(quick(index)) + block.x + thread.y + copy.z + twice(gridDim).z + first(blockIdx).y +
                 min(threadIdx.x, 3) + shared_by_both + (float)also_by_both[0] + counter;
  }
}
__global__ void __launch_bounds__(128) one(int*) {}
__global__ void __launch_bounds__(128, 2) two(int*) {}

template <class F>
__global__ void apply(F f, int* out) {
  out[threadIdx.x] = f(threadIdx.x);
}

int run() {
  // Names of built-in variables are free for locals in host code, and used so everywhere.
  dim3 blockDim(16, 16), gridDim(2);
  shared_by_both = 7;
  kernel<<<gridDim, blockDim, 64, 0>>>(nullptr, shared_by_both);
  one<<<1, 1>>>(nullptr);
  two<<<1, 1>>>(nullptr);
  int k = 3;
  apply<<<1, 32>>>([k] __device__(int x) { return x * k; }, (int*)nullptr);
  const float4 v = make_float4(1, 2, 3, 4);
  const uint3 u = twice(dim3(1, 2, 3));
  printf("%g %u\n", v.x + v.w, u.z);
  return cudaDeviceSynchronize();
}

// The programming guides' examples of memory access, each a kernel: what they cost on a device is worked out by hand in
// run.sh.
// args: eight
#include <cstdio>
#include <string>

constexpr int kThreads = 1 << 14;

__global__ void copy_from(float* out, const float* in, int offset) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i + offset];
}

__global__ void copy_to(float* out, const float* in, int offset) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i + offset] = in[i];
}

__global__ void copy_strided(float* out, const float* in, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i * stride];
}

// Every lane of a warp reads the same word, warps read words of different lines.
__global__ void copy_broadcast(float* out, const float* in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i / 32 * 32];
}

struct Pair {
  float x, y;
};
__global__ void move_aos(Pair* points) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile float* x = &points[i].x;
  volatile float* y = &points[i].y;
  *x = *x + 10;
  *y = *y + 20;
}
__global__ void move_soa(float* xs, float* ys) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  xs[i] = xs[i] + 10;
  ys[i] = ys[i] + 20;
}

__global__ void by_rows(int* out) {
  __shared__ volatile int tile[32][32];
  int i = threadIdx.y * 32 + threadIdx.x;
  tile[threadIdx.y][threadIdx.x] = i;
  __syncthreads();
  out[i] = tile[threadIdx.y][threadIdx.x];
}
__global__ void by_columns(int* out) {
  __shared__ volatile int tile[32][32];
  int i = threadIdx.y * 32 + threadIdx.x;
  tile[threadIdx.x][threadIdx.y] = i;
  __syncthreads();
  out[i] = tile[threadIdx.x][threadIdx.y];
}
__global__ void by_narrow_columns(int* out) {
  __shared__ volatile int tile[32][16];
  int i = threadIdx.y * 32 + threadIdx.x;
  tile[threadIdx.x][threadIdx.y] = i;
  __syncthreads();
  out[i] = tile[threadIdx.x][threadIdx.y];
}
__global__ void by_padded_columns(int* out) {
  __shared__ volatile int tile[32][33];
  int i = threadIdx.y * 32 + threadIdx.x;
  tile[threadIdx.x][threadIdx.y] = i;
  __syncthreads();
  out[i] = tile[threadIdx.x][threadIdx.y];
}
__global__ void doubles(double* out) {
  __shared__ volatile double line[32];
  line[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = line[threadIdx.x];
}

// One to four segments of a line: the first `lanes` lanes store.
__global__ void store_some(float* out, int lanes) {
  if (threadIdx.x < lanes) out[threadIdx.x] = 1;
}

__global__ void odd_and_even(float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 2 == 0) asm volatile("st.global.f32 [%0], 0f3F800000;" ::"l"(out + i) : "memory");
  else asm volatile("st.global.f32 [%0], 0f40000000;" ::"l"(out + i) : "memory");
}

// Sixteen bytes are one access, whatever is done with some of them.
__global__ void quads_copied(float4* out, const float4* in) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void quads_changed(float4* out, const float4* in) {
  float4 v = in[threadIdx.x];
  v.x *= 2;
  out[threadIdx.x] = v;
}
// Through casts of arrays that are declared as floats, as products of matrices in courses do it; one is a member of a template.
template <class T>
struct Rows {
  T at[4][32];
  __device__ void put(int row, int k, T* from) { reinterpret_cast<float4&>(at[row][k]) = *(float4*)&from[0]; }
};
__global__ void quads_cast(float* out, float* in) {
  __shared__ float one, left[4][32];
  __shared__ Rows<float> right;
  float both[8];
  const int t = threadIdx.x;
  if (t == 0) one = 1;
  reinterpret_cast<float4*>(&(left[t / 8][t % 8 * 4]))[0] = reinterpret_cast<float4*>(&(in[4 * t]))[0];
  right.put(t / 8, t % 8 * 4, in + 4 * t);
  __syncthreads();
  *(float4*)&both[0] = *(float4*)&left[3 - t / 8][t % 8 * 4];
  *(float4*)&both[4] = ((float4*)right.at)[31 - t];
  float sum = one;
  for (int k = 0; k < 8; ++k) sum += both[k];
  out[t] = sum;
}
// Members that stand apart, and three of four: the whole vector in one access.
__global__ void quads_measured(float* out, const float4* in) {
  const float4 v = in[threadIdx.x];
  out[threadIdx.x] = v.x * v.x + v.y * v.y + v.z * v.z;
}
__global__ void quads_outer(float* out, const float4* in) { out[threadIdx.x] = in[threadIdx.x].x + in[threadIdx.x].w; }
__global__ void quads_second(float* out, const float4* in) { out[threadIdx.x] = in[threadIdx.x].y; }
__global__ void colours_inverted(uchar4* colours) {
  uchar4 v = colours[threadIdx.x];
  v.x = 255 - v.x, v.y = 255 - v.y, v.z = 255 - v.z;
  colours[threadIdx.x] = v;
}
__global__ void quads_turned(float4* out, const float4* in) {
  __shared__ float4 line[32];
  line[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = line[31 - threadIdx.x];
}
// A double and a float, which ptxas leaves apart, and two doubles, which it does not.
struct Unequal {
  double x;
  float y;
};
struct Doubles {
  double x, y;
};
template <class T>
__device__ void turn(T* out, const T* in) {
  __shared__ T line[32];
  line[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const T v = line[31 - threadIdx.x];
  out[threadIdx.x].x = v.x * v.y;
}
__global__ void unequal_turned(Unequal* out, const Unequal* in) { turn(out, in); }
__global__ void doubles_turned(Doubles* out, const Doubles* in) { turn(out, in); }
// Three words that are aligned as one word is.
struct Triple {
  float x, y, z;
};
__global__ void triples(Triple* out, const Triple* in) {
  Triple v = in[threadIdx.x];
  v.y += 1;
  out[threadIdx.x] = v;
}

// One lane does the sum for all where the address is plainly the same for all.
__global__ void count_all(int* out) { atomicAdd(out, 1); }
__global__ void count_some(int* out, int shift) { atomicAdd(out + (threadIdx.x >> shift), 1); }

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "eight") cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte);
  float *in, *out;
  cudaMalloc(&in, kThreads * 64 * sizeof(float));
  cudaMalloc(&out, kThreads * 64 * sizeof(float));
  cudaMemset(in, 0, kThreads * 64 * sizeof(float));
  const dim3 grid(kThreads / 512), block(512);
  copy_from<<<grid, block>>>(out, in, 0);
  copy_from<<<grid, block>>>(out, in, 11);
  copy_from<<<grid, block>>>(out, in, 32);
  copy_to<<<grid, block>>>(out, in, 11);
  copy_strided<<<grid, block>>>(out, in, 2);
  copy_strided<<<grid, block>>>(out, in, 32);
  copy_broadcast<<<grid, block>>>(out, in);
  cudaMemset(in, 0, kThreads * 64 * sizeof(float));
  move_aos<<<grid, block>>>(reinterpret_cast<Pair*>(in));
  move_soa<<<grid, block>>>(in, out);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  int threads = 0;
  cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, 0);
  const dim3 tile(32, threads < 1024 ? 16 : 32);
  by_rows<<<1, tile>>>(reinterpret_cast<int*>(out));
  by_columns<<<1, tile>>>(reinterpret_cast<int*>(out));
  by_narrow_columns<<<1, dim3(32, 16)>>>(reinterpret_cast<int*>(out));
  by_padded_columns<<<1, tile>>>(reinterpret_cast<int*>(out));
  for (int lanes : {8, 16, 24, 32}) store_some<<<1, 32>>>(out, lanes);
  odd_and_even<<<grid, block>>>(out);
  count_all<<<1, 32>>>(reinterpret_cast<int*>(out));
  count_some<<<1, 32>>>(reinterpret_cast<int*>(out), 5);
  quads_copied<<<1, 32>>>(reinterpret_cast<float4*>(out), reinterpret_cast<float4*>(in));
  quads_changed<<<1, 32>>>(reinterpret_cast<float4*>(out), reinterpret_cast<float4*>(in));
  quads_cast<<<1, 32>>>(out, in);
  quads_measured<<<1, 32>>>(out, reinterpret_cast<float4*>(in));
  quads_outer<<<1, 32>>>(out, reinterpret_cast<float4*>(in));
  quads_second<<<1, 32>>>(out, reinterpret_cast<float4*>(in));
  colours_inverted<<<1, 32>>>(reinterpret_cast<uchar4*>(in));
  quads_turned<<<1, 32>>>(reinterpret_cast<float4*>(out), reinterpret_cast<float4*>(in));
  unequal_turned<<<1, 32>>>(reinterpret_cast<Unequal*>(out), reinterpret_cast<Unequal*>(in));
  doubles_turned<<<1, 32>>>(reinterpret_cast<Doubles*>(out), reinterpret_cast<Doubles*>(in));
  triples<<<1, 32>>>(reinterpret_cast<Triple*>(out), reinterpret_cast<Triple*>(in));
  if (argc <= 1 || std::string(argv[1]) != "single") doubles<<<1, 32>>>(reinterpret_cast<double*>(out));
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  std::puts("done");
  return 0;
}

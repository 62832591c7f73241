// Whole kernels as textbooks and courses have them.
#include <cooperative_groups.h>

#include <algorithm>

#include "pattern.h"

namespace cg = cooperative_groups;

constexpr int n = 1 << 16, kThreads = 256, kSide = 512;

__device__ int me() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void load(const float* in, float* out) { out[me()] = in[me()] * 0.5f + 1; }

__global__ void warp_a_row(const float* a, float* sums, int columns) {
  const int row = me() / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int c = lane; c < columns; c += 32) sum += a[row * columns + c];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0) sums[row] = sum;
}

__global__ void tree(const float* in, float* out) {
  __shared__ float s[kThreads];
  const int t = threadIdx.x;
  s[t] = in[me()];
  __syncthreads();
  for (int d = kThreads / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}
__device__ void last_warp(volatile float* s, int t) {
  s[t] += s[t + 32];
  s[t] += s[t + 16];
  s[t] += s[t + 8];
  s[t] += s[t + 4];
  s[t] += s[t + 2];
  s[t] += s[t + 1];
}
__global__ void tree_volatile(const float* in, float* out) {
  __shared__ float s[kThreads];
  const int t = threadIdx.x;
  s[t] = in[me()];
  __syncthreads();
  for (int d = kThreads / 2; d > 32; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t < 32) last_warp(s, t);
  if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void scan_two_buffers(const float* in, float* out) {
  __shared__ float s[2][kThreads];
  const int t = threadIdx.x;
  int from = 0;
  s[0][t] = in[me()];
  __syncthreads();
  for (int d = 1; d < kThreads; d *= 2) {
    s[1 - from][t] = t >= d ? s[from][t] + s[from][t - d] : s[from][t];
    from = 1 - from;
    __syncthreads();
  }
  out[me()] = s[from][t];
}

__global__ void stencil_bordered(const float* in, float* out) {  // tiles in shared memory, with what lies around them
  __shared__ float s[18][18];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int k = threadIdx.y * 16 + threadIdx.x; k < 18 * 18; k += 256) {
    const int gx = min(max(int(blockIdx.x * 16 + k % 18) - 1, 0), kSide - 1), gy = min(max(int(blockIdx.y * 16 + k / 18) - 1, 0), kSide - 1);
    s[k / 18][k % 18] = in[gy * kSide + gx];
  }
  __syncthreads();
  float sum = 0;
  for (int dy = 0; dy < 3; ++dy)
    for (int dx = 0; dx < 3; ++dx) sum += s[threadIdx.y + dy][threadIdx.x + dx];
  out[y * kSide + x] = sum / 9;
}
__global__ void stencil_clamped(const float* in, float* out) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) sum += in[min(max(y + dy, 0), kSide - 1) * kSide + min(max(x + dx, 0), kSide - 1)];
  out[y * kSide + x] = sum / 9;
}
__global__ void stencil_inside(const float* in, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= kSide - 1 || y >= kSide - 1) return;
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) sum += in[(y + dy) * kSide + x + dx];
  out[y * kSide + x] = sum / 9;
}

__global__ void histogram(const unsigned char* in, unsigned* out, int count) {
  __shared__ unsigned s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = me(); i < count; i += gridDim.x * blockDim.x) atomicAdd(&s[in[i]], 1);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], s[threadIdx.x]);
}

__host__ __device__ unsigned mixed(unsigned x) {
  x = (x ^ x >> 16) * 0x85ebca6bu;
  x = (x ^ x >> 13) * 0xc2b2ae35u;
  return x ^ x >> 16;
}
__global__ void bitonic(unsigned* out) {
  __shared__ unsigned s[kThreads];
  const int t = threadIdx.x;
  s[t] = mixed(me());
  __syncthreads();
  for (int k = 2; k <= kThreads; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      const int other = t ^ j;
      if (other > t) {
        const unsigned a = s[t], b = s[other];
        if ((t & k) == 0 ? a > b : a < b) s[t] = b, s[other] = a;
      }
      __syncthreads();
    }
  out[me()] = s[t];
}
void sort_on_host(unsigned* out) {
  for (int i = 0; i < n; ++i) out[i] = mixed(i);
  for (int i = 0; i < n; i += kThreads) std::sort(out + i, out + i + kThreads);
}

struct Body {
  float x, y, z, vx, vy, vz, mass;
};
__global__ void bodies(Body* all) {
  Body b = all[me()];
  b.x += b.vx * 0.1f;
  b.y += b.vy * 0.1f;
  b.z += b.vz * 0.1f;
  all[me()] = b;
}
__global__ void arrays(float* p, const float* v) {
  for (int k = 0; k < 3; ++k) p[k * n + me()] += v[k * n + me()] * 0.1f;
}

__host__ __device__ unsigned char gray_of(const unsigned char* p) { return 0.299f * p[0] + 0.587f * p[1] + 0.114f * p[2]; }
__host__ __device__ unsigned long long hash_of(unsigned long long x) {
  for (int k = 0; k < 8; ++k) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    x ^= x >> 31;
  }
  return x;
}
template <class T> __host__ __device__ T quotients_of(T x, T by) {
  T sum = 0;
  for (int k = 1; k < 9; ++k) sum += x / (by + k) + x % (by + k);
  return sum;
}
__host__ __device__ int collatz_of(unsigned x) {
  int steps = 0;
  for (; x != 1; ++steps) x = x & 1 ? 3 * x + 1 : x / 2;
  return steps;
}
__host__ __device__ float switched(float x, int op) {
  for (int k = 0; k < 8; ++k) switch (op + k & 7) {
      case 0: x = x + 0.5f; break;
      case 1: x = x - 0.5f; break;
      case 2: x = x * 0.5f; break;
      case 3: x = x / 1.5f; break;
      case 4: x = x > 0.5f ? x : 0.5f; break;
      case 5: x = x * x; break;
      case 6: x = -x; break;
      default: x = 0.5f;
    }
  return x;
}
__host__ __device__ int most_frequent(const unsigned char* in) {
  int counts[16] = {}, best = 0;
  for (int k = 0; k < 64; ++k) ++counts[in[k] & 15];
  for (int k = 1; k < 16; ++k)
    if (counts[k] > counts[best]) best = k;
  return best;
}
__global__ void gray(const unsigned char* in, unsigned char* out) { out[me()] = gray_of(in + 3 * me()); }
__global__ void hash(unsigned long long* out) { out[me()] = hash_of(me()); }
template <class T> __global__ void quotients(const unsigned char* by, T* out) { out[me()] = quotients_of<T>(T(77777777777) * me(), by[me()]); }
__global__ void collatz(int* out) { out[me()] = collatz_of(me() + 1); }
__global__ void switches(const unsigned char* ops, float* out) { out[me()] = switched(me(), ops[me()]); }
__global__ void own_counts(const unsigned char* in, int* out) { out[me()] = most_frequent(in + 4 * me()); }

struct Shape {
  __host__ __device__ virtual float area(float s) const = 0;
};
struct Square : Shape {
  __host__ __device__ float area(float s) const override { return s * s; }
};
struct Circle : Shape {
  __host__ __device__ float area(float s) const override { return s * s * 3.14159f; }
};
__host__ __device__ void make(Shape** all) {
  for (int k = 0; k < 8; ++k) all[k] = k % 3 ? static_cast<Shape*>(new Circle) : new Square;
}
__host__ __device__ float areas_of(Shape* const* all, int i) {
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += all[(i * 5 + k) % 8]->area(i + k);
  return sum;
}
__global__ void make_shapes(Shape** all) { make(all); }
__global__ void areas(Shape* const* all, float* out) { out[me()] = areas_of(all, me()); }

__global__ void tile(const float* in, float* out) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  float v = in[me()];
  for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
  if (tile.thread_rank() == 0) out[me() / 16] = v;
}
__global__ void shuffles(const float* in, float* out) {
  float v = in[me()];
  for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d, 16);
  if (me() % 16 == 0) out[me() / 16] = v;
}
__global__ void append(const unsigned char* in, int* count, int* out) {
  if (in[me()] & 1) out[atomicAdd(count, 1) & 0xffff] = me();
}
__global__ void append_coalesced(const unsigned char* in, int* count, int* out) {
  if (!(in[me()] & 1)) return;
  const auto group = cg::coalesced_threads();
  const int first = group.thread_rank() == 0 ? atomicAdd(count, group.size()) : 0;
  out[(group.shfl(first, 0) + group.thread_rank()) & 0xffff] = me();
}

__global__ void product(const float* a, const float* b, float* c, int size, bool x_is_row) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, row = x_is_row ? x : y, column = x_is_row ? y : x;
  float sum = 0;
  for (int k = 0; k < size; ++k) sum += a[row * size + k] * b[k * size + column];
  c[row * size + column] = sum;
}
__global__ void softmax(const float* in, float* out, int columns) {  // a thread a row
  in += me() * columns, out += me() * columns;
  float most = -1e30f, sum = 0;
  for (int k = 0; k < columns; ++k) most = fmaxf(most, in[k]);
  for (int k = 0; k < columns; ++k) sum += expf(in[k] - most);
  for (int k = 0; k < columns; ++k) out[k] = expf(in[k] - most) / sum;
}

// A form that goes through n elements on the host.
template <class T, class F> pattern::Form on_host(F f, int elements = n) {
  return {double(elements), [=] {
            static std::vector<T> out(n);
            for (int i = 0; i < elements; ++i) out[i] = f(i);
          }};
}

void rows() {
  using pattern::Form;
  constexpr int kBlocks = n / kThreads;
  const float* in = array<float>(1 << 20, 1, 0.25f);
  float* out = array<float>(1 << 20);
  static std::vector<unsigned char> host(1 << 18);
  for (size_t k = 0; k < host.size(); ++k) host[k] = mixed(k);
  unsigned char *bytes, *bytes_out = array<unsigned char>(n);
  CHECK(cudaMalloc(&bytes, host.size()));
  CHECK(cudaMemcpy(bytes, host.data(), host.size(), cudaMemcpyHostToDevice));
  int *ints = array<int>(n), *count = array<int>(1);
  long long* longs = array<long long>(n);
  const dim3 square(16, 16), grid(kSide / 16, kSide / 16);
  constexpr double kPixels = kSide * kSide;

  const Form one_load{n, [=] { load<<<kBlocks, kThreads>>>(in, out); }}, plain_tree{n, [=] { tree<<<kBlocks, kThreads>>>(in, out); }};
  const Form inside{kPixels, [=] { stencil_inside<<<grid, square>>>(in, out); }};
  row("a warp a row of 256", "element", {1024 * 256, [=] { warp_a_row<<<128, 256>>>(in, out, 256); }}, "a load", one_load);
  row("tree: volatile for the last warp", "thread", {n, [=] { tree_volatile<<<kBlocks, kThreads>>>(in, out); }}, "a loop", plain_tree);
  row("scan: two buffers", "thread", {n, [=] { scan_two_buffers<<<kBlocks, kThreads>>>(in, out); }}, "a tree", plain_tree, 4);
  row("stencil: blocks of 16 by 16", "pixel", inside, "of 32 by 8", {kPixels, [=] { stencil_inside<<<dim3(kSide / 32, kSide / 8), dim3(32, 8)>>>(in, out); }}, 2);
  row("stencil: tiles with a border", "pixel", {kPixels, [=] { stencil_bordered<<<grid, square>>>(in, out); }}, "only inside", inside);
  row("stencil: places are clamped", "pixel", {kPixels, [=] { stencil_clamped<<<grid, square>>>(in, out); }}, "only inside", inside);
  row("histogram in shared memory", "element", {1 << 18, [=] { histogram<<<64, 256>>>(bytes, reinterpret_cast<unsigned*>(ints), 1 << 18); }}, "the host's", {1 << 18, [=] {
        static unsigned counts[256];
        for (const unsigned char b : host) ++counts[b];
      }});
  row("bitonic sort of 256", "element", {n, [=] { bitonic<<<kBlocks, kThreads>>>(reinterpret_cast<unsigned*>(ints)); }}, "std::sort", {n, [=] {
        static std::vector<unsigned> sorted(n);
        sort_on_host(sorted.data());
      }});
  row("array of structures", "thread", {n, [=] { bodies<<<kBlocks, kThreads>>>(reinterpret_cast<Body*>(out)); }}, "of arrays", {n, [=] { arrays<<<kBlocks, kThreads>>>(out, in); }});
  row("colours of three bytes", "pixel", {n, [=] { gray<<<kBlocks, kThreads>>>(bytes, bytes_out); }}, "the host's", on_host<unsigned char>([](int i) { return gray_of(&host[3 * i]); }));
  row("hash of 64 bits", "thread", {n, [=] { hash<<<kBlocks, kThreads>>>(reinterpret_cast<unsigned long long*>(longs)); }}, "the host's", on_host<unsigned long long>([](int i) { return hash_of(i); }));
  row("quotients of lanes, 32 bits", "thread", {n, [=] { quotients<int><<<kBlocks, kThreads>>>(bytes, ints); }}, "the host's", on_host<int>([](int i) { return quotients_of<int>(int(77777777777) * i, host[i]); }));
  row("quotients of lanes, 64 bits", "thread", {n, [=] { quotients<long long><<<kBlocks, kThreads>>>(bytes, longs); }}, "the host's", on_host<long long>([](int i) { return quotients_of<long long>(77777777777 * i, host[i]); }));
  row("loops of unequal lengths", "thread", {n, [=] { collatz<<<kBlocks, kThreads>>>(ints); }}, "the host's", on_host<int>([](int i) { return collatz_of(i + 1); }));
  row("switch, another in each lane", "thread", {n, [=] { switches<<<kBlocks, kThreads>>>(bytes, out); }}, "the host's", on_host<float>([](int i) { return switched(i, host[i]); }));
  row("array of a thread's own", "thread", {n / 2, [=] { own_counts<<<kBlocks / 2, kThreads>>>(bytes, ints); }}, "the host's", on_host<int>([](int i) { return most_frequent(&host[4 * i]); }, n / 2));
  static Shape* on_host_shapes[8];
  make(on_host_shapes);
  Shape** shapes;
  CHECK(cudaMalloc(&shapes, 64));
  make_shapes<<<1, 1>>>(shapes);
  row("virtual functions, another in each lane", "thread", {n, [=] { areas<<<kBlocks, kThreads>>>(shapes, out); }}, "the host's", on_host<float>([](int i) { return areas_of(on_host_shapes, i); }));
  row("cooperative groups: tiles of 16", "thread", {n, [=] { tile<<<kBlocks, kThreads>>>(in, out); }}, "shuffles", {n, [=] { shuffles<<<kBlocks, kThreads>>>(in, out); }});
  row("cooperative groups: coalesced threads", "thread", {n, [=] { append_coalesced<<<kBlocks, kThreads>>>(bytes, count, ints); }}, "atomicAdd", {n, [=] { append<<<kBlocks, kThreads>>>(bytes, count, ints); }});
  const auto by = [=](bool x_is_row) { return Form{256. * 256 * 256 / 500, [=] { product<<<dim3(16, 16), square>>>(in, in, out, 256, x_is_row); }}; };
  row("matrix product: x is the row", "1000 op", by(true), "the column", by(false));
  row("softmax: a thread a row", "element", {1024 * 64, [=] { softmax<<<4, 256>>>(in, out, 64); }}, "the host's", {1024 * 64, [=] {
        static std::vector<float> a(1024 * 64, 1.5f), b(1024 * 64);
        for (int r = 0; r < 1024; ++r) {
          const float* from = &a[r * 64];
          float most = -1e30f, sum = 0;
          for (int k = 0; k < 64; ++k) most = std::max(most, from[k]);
          for (int k = 0; k < 64; ++k) sum += std::exp(from[k] - most);
          for (int k = 0; k < 64; ++k) b[r * 64 + k] = std::exp(from[k] - most) / sum;
        }
      }});
}

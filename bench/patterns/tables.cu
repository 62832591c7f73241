// Places that data decides: tables, graphs, sorting, searching, backtracking, against the host's loops, with atomic operations where the
// kernel has them.
#include <algorithm>
#include <cmath>

#include "pattern.h"

constexpr int n = 1 << 16, kThreads = 256, kBlocks = n / kThreads;
constexpr unsigned kSlots = 1 << 18, kNone = ~0u;

__device__ int me() { return blockIdx.x * blockDim.x + threadIdx.x; }
__host__ __device__ unsigned mixed(unsigned x) {
  x = (x ^ x >> 16) * 0x85ebca6bu;
  x = (x ^ x >> 13) * 0xc2b2ae35u;
  return x ^ x >> 16;
}

__global__ void insert(const unsigned* keys, unsigned* table) {
  const unsigned key = keys[me()];
  for (unsigned at = mixed(key) & (kSlots - 1);; at = (at + 1) & (kSlots - 1)) {
    const unsigned old = atomicCAS(&table[at], kNone, key);
    if (old == kNone || old == key) return;
  }
}
void insert_on_host(const unsigned* keys, unsigned* table) {
  std::fill(table, table + kSlots, kNone);
  for (int i = 0; i < n; ++i)
    for (unsigned at = mixed(keys[i]) & (kSlots - 1);; at = (at + 1) & (kSlots - 1)) {
      unsigned old = kNone;
      if (__atomic_compare_exchange_n(&table[at], &old, keys[i], false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) || old == keys[i]) break;
    }
}
__host__ __device__ unsigned found(const unsigned* table, unsigned key) {
  unsigned at = mixed(key) & (kSlots - 1);
  while (table[at] != key && table[at] != kNone) at = (at + 1) & (kSlots - 1);
  return at;
}
__global__ void look_up(const unsigned* keys, const unsigned* table, unsigned* out) { out[me()] = found(table, keys[me()]); }
__global__ void link(const unsigned* keys, int* heads, int* next) { next[me()] = atomicExch(&heads[mixed(keys[me()]) & 4095], me()); }
__global__ void count(const unsigned* keys, unsigned* bins) { atomicAdd(&bins[keys[me()] & 255], 1); }
__global__ void add(const unsigned* keys, double* sums) { atomicAdd(&sums[keys[me()] & 4095], 0.5); }

__host__ __device__ int first_above(const unsigned* sorted, unsigned wanted) {
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (sorted[middle] <= wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
__global__ void search(const unsigned* sorted, const unsigned* wanted, unsigned* out) { out[me()] = first_above(sorted, wanted[me()]); }

__global__ void relax(const int* first, const int* to, const int* from_distance, int* distance) {
  const int d = from_distance[me()] + 1;
  for (int k = first[me()]; k < first[me() + 1]; ++k) atomicMin(&distance[to[k]], d);
}
__global__ void sparse_product(const int* first, const int* column, const float* value, const float* x, float* y) {
  float sum = 0;
  for (int k = first[me()]; k < first[me() + 1]; ++k) sum += value[k] * x[column[k]];
  y[me()] = sum;
}

// Four bits, one after the other, each by a scan whose addresses are known before the loop (and below zero in some lanes).
__global__ void split(const unsigned* in, unsigned* out, int bit) {
  __shared__ unsigned s[kThreads], zeros_to[kThreads];
  const int t = threadIdx.x;
  unsigned v = in[me()];
  for (int b = bit; b < bit + 4; ++b) {
    const unsigned one = v >> b & 1;
    zeros_to[t] = 1 - one;
    __syncthreads();
    for (int d = 1; d < kThreads; d *= 2) {
      const unsigned before = t >= d ? zeros_to[t - d] : 0;
      __syncthreads();
      zeros_to[t] += before;
      __syncthreads();
    }
    const unsigned zeros = zeros_to[kThreads - 1], at = one ? zeros + t - zeros_to[t] : zeros_to[t] - 1;
    s[at] = v;
    __syncthreads();
    v = s[t];
    __syncthreads();
  }
  out[me()] = v;
}

__host__ __device__ int queens_of(unsigned two) {  // whose first two queens are given
  int column[8], count = 0, row = 2;
  column[0] = two & 7, column[1] = two >> 3 & 7, column[2] = -1;
  if (column[0] == column[1] || abs(column[0] - column[1]) == 1) return 0;
  while (row >= 2) {
    const int c = ++column[row];
    if (c == 8) {
      --row;
      continue;
    }
    bool good = true;
    for (int r = 0; r < row; ++r) good = good && column[r] != c && abs(column[r] - c) != row - r;
    if (good && row == 7) ++count;
    else if (good) column[++row] = -1;
  }
  return count;
}
__global__ void queens(unsigned* out) { out[me()] = queens_of(me() & 63); }
__host__ __device__ unsigned middle_of(const unsigned* in, int i) {  // by insertion
  unsigned own[16];
  for (int k = 0; k < 16; ++k) {
    const unsigned x = in[(i * 5 + k * 77) & (n - 1)];
    int j = k;
    for (; j > 0 && own[j - 1] > x; --j) own[j] = own[j - 1];
    own[j] = x;
  }
  return own[8];
}
__global__ void sort_own(const unsigned* in, unsigned* out) { out[me()] = middle_of(in, me()); }
__host__ __device__ unsigned smallest_divisor(unsigned i) {
  for (unsigned d = 2; d * d <= i; ++d)
    if (i % d == 0) return d;
  return 1;
}
__global__ void divisors(unsigned* out) { out[me()] = smallest_divisor(me()); }
__host__ __device__ unsigned char lives(const unsigned char* in, int x, int y) {
  int neighbours = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx || dy) neighbours += in[((y + dy + 256) & 255) * 256 + ((x + dx + 256) & 255)];
  return neighbours == 3 || (neighbours == 2 && in[y * 256 + x]);
}
__global__ void life(const unsigned char* in, unsigned char* out) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  out[y * 256 + x] = lives(in, x, y);
}

template <class F> pattern::Form on_host(F f, int elements = n) {
  static std::vector<unsigned> out(n);
  return {double(elements), [=] {
            for (int i = 0; i < elements; ++i) out[i] = f(i);
          }};
}
template <class T> const T* on_device(const std::vector<T>& host) {
  T* device = nullptr;
  CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
  CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

void rows() {
  using pattern::Form;
  static std::vector<unsigned> keys(n), sorted(n), table(kSlots), bins(4096);
  static std::vector<int> first{0}, to, distances(n, 5), heads(4096);
  static std::vector<float> values, x(n, 1.5f), y(n);
  static std::vector<double> sums(4096);
  static std::vector<unsigned char> cells(n);
  for (int i = 0; i < n; ++i) {
    keys[i] = mixed(3 * i + 1), sorted[i] = 65521u * i, cells[i] = mixed(i) & 1;
    for (unsigned k = 0; k < 4 + mixed(i) % 9; ++k) to.push_back(mixed(16 * i + k) % n);
    first.push_back(int(to.size()));
  }
  values.assign(to.size(), 0.5f);
  const double edges = double(to.size());
  const unsigned *device_keys = on_device(keys), *device_sorted = on_device(sorted);
  const int *device_first = on_device(first), *device_to = on_device(to), *from_distance = on_device(distances);
  const float *device_values = on_device(values), *device_x = on_device(x);
  const unsigned char* device_cells = on_device(cells);
  unsigned *device_table = array<unsigned>(kSlots), *out = array<unsigned>(n);
  int *ints = array<int>(n), *device_heads = array<int>(4096);
  float* device_y = array<float>(n);
  double* device_sums = array<double>(4096);

  row("hash table: inserts", "key", {n, [=] {
        CHECK(cudaMemset(device_table, 255, kSlots * sizeof(unsigned)));
        insert<<<kBlocks, kThreads>>>(device_keys, device_table);
      }}, "the host's", {n, [] { insert_on_host(keys.data(), table.data()); }});
  row("hash table: look-ups", "key", {n, [=] { look_up<<<kBlocks, kThreads>>>(device_keys, device_table, out); }}, "the host's", on_host([](int i) { return found(table.data(), keys[i]); }));
  row("lists by atomicExch", "element", {n, [=] { link<<<kBlocks, kThreads>>>(device_keys, device_heads, ints); }}, "the host's", on_host([](int i) { return unsigned(__atomic_exchange_n(&heads[mixed(keys[i]) & 4095], i, __ATOMIC_RELAXED)); }));
  row("histogram in global memory", "element", {n, [=] { count<<<kBlocks, kThreads>>>(device_keys, out); }}, "the host's", on_host([](int i) { return __atomic_fetch_add(&bins[keys[i] & 255], 1, __ATOMIC_RELAXED); }));
  row("atomicAdd of doubles, here and there", "element", {n, [=] { add<<<kBlocks, kThreads>>>(device_keys, device_sums); }}, "the host's", on_host([](int i) {
        double *at = &sums[keys[i] & 4095], old = *at, then = old + 0.5;
        while (!__atomic_compare_exchange(at, &old, &then, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) then = old + 0.5;
        return unsigned(old);
      }));
  row("binary search", "search", {n, [=] { search<<<kBlocks, kThreads>>>(device_sorted, device_keys, out); }}, "the host's", on_host([](int i) { return unsigned(first_above(sorted.data(), keys[i])); }));
  row("graph: atomicMin along edges", "edge", {edges, [=] { relax<<<kBlocks, kThreads>>>(device_first, device_to, from_distance, ints); }}, "the host's", {edges, [] {
        for (int i = 0; i < n; ++i)
          for (int k = first[i]; k < first[i + 1]; ++k) distances[to[k]] = std::min(distances[to[k]], distances[i] + 1);
      }});
  row("sparse matrix: a thread a row", "element", {edges, [=] { sparse_product<<<kBlocks, kThreads>>>(device_first, device_to, device_values, device_x, device_y); }}, "the host's", {edges, [] {
        for (int i = 0; i < n; ++i) {
          float sum = 0;
          for (int k = first[i]; k < first[i + 1]; ++k) sum += values[k] * x[to[k]];
          y[i] = sum;
        }
      }});
  row("radix sort: four bits by scans", "element", {n, [=] { split<<<kBlocks, kThreads>>>(device_keys, out, 4); }}, "std::sort", {n, [] {
        static std::vector<unsigned> all;
        all = keys;
        for (int i = 0; i < n; i += kThreads) std::sort(all.begin() + i, all.begin() + i + kThreads);
      }});
  row("eight queens by backtracking", "thread", {4096, [=] { queens<<<4096 / kThreads, kThreads>>>(out); }}, "the host's", on_host([](int i) { return unsigned(queens_of(i & 63)); }, 4096));
  row("insertion sort of a thread's own array", "thread", {n, [=] { sort_own<<<kBlocks, kThreads>>>(device_keys, out); }}, "the host's", on_host([](int i) { return middle_of(keys.data(), i); }));
  row("smallest divisors", "thread", {n, [=] { divisors<<<kBlocks, kThreads>>>(out); }}, "the host's", on_host([](int i) { return smallest_divisor(i); }));
  row("game of life, bytes", "cell", {n, [=] { life<<<dim3(16, 16), dim3(16, 16)>>>(device_cells, reinterpret_cast<unsigned char*>(out)); }}, "the host's", on_host([](int i) { return unsigned(lives(cells.data(), i & 255, i >> 8)); }));
}

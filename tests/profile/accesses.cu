// Single warp instructions with known addresses, a launch for each: what a profiler must count for them does not depend on
// a compiler. The argument names a group; the order of the launches is that of the recorded counters in accesses_*.csv.
// args: check
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

struct Pattern {
  uint32_t at[32];  // bytes from the start of the buffer
  uint32_t mask;    // lanes that take part
};

__constant__ Pattern pattern;

constexpr uint32_t kMagic = 0x5ca1ab1e;  // not in any buffer, so that nothing is stored for it
constexpr uint32_t kSharedBytes = 40960;
// As much of it as such a load can give, so that no compiler knows better.
__device__ constexpr uint32_t magic_of(int bytes) { return bytes < 4 ? kMagic & ((1u << 8 * bytes) - 1) : kMagic; }

template <int bytes>
__device__ uint32_t load_global(const char* p) {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if constexpr (bytes == 1) asm volatile("ld.global.u8 %0, [%1];" : "=r"(a) : "l"(p) : "memory");
  if constexpr (bytes == 2) asm volatile("ld.global.u16 %0, [%1];" : "=r"(a) : "l"(p) : "memory");
  if constexpr (bytes == 4) asm volatile("ld.global.u32 %0, [%1];" : "=r"(a) : "l"(p) : "memory");
  if constexpr (bytes == 8) asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(p) : "memory");
  if constexpr (bytes == 16) asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p) : "memory");
  return a + b + c + d;
}

template <int bytes>
__device__ void store_global(char* p, uint32_t v) {
  if constexpr (bytes == 1) asm volatile("st.global.u8 [%0], %1;" ::"l"(p), "r"(v) : "memory");
  if constexpr (bytes == 2) asm volatile("st.global.u16 [%0], %1;" ::"l"(p), "r"(v) : "memory");
  if constexpr (bytes == 4) asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
  if constexpr (bytes == 8) asm volatile("st.global.v2.u32 [%0], {%1, %1};" ::"l"(p), "r"(v) : "memory");
  if constexpr (bytes == 16) asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(p), "r"(v) : "memory");
}

template <int bytes>
__device__ uint32_t load_shared(uint32_t p) {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if constexpr (bytes == 1) asm volatile("ld.shared.u8 %0, [%1];" : "=r"(a) : "r"(p) : "memory");
  if constexpr (bytes == 2) asm volatile("ld.shared.u16 %0, [%1];" : "=r"(a) : "r"(p) : "memory");
  if constexpr (bytes == 4) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(a) : "r"(p) : "memory");
  if constexpr (bytes == 8) asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(p) : "memory");
  if constexpr (bytes == 16) asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(p) : "memory");
  return a + b + c + d;
}

template <int bytes>
__device__ void store_shared(uint32_t p, uint32_t v) {
  if constexpr (bytes == 1) asm volatile("st.shared.u8 [%0], %1;" ::"r"(p), "r"(v) : "memory");
  if constexpr (bytes == 2) asm volatile("st.shared.u16 [%0], %1;" ::"r"(p), "r"(v) : "memory");
  if constexpr (bytes == 4) asm volatile("st.shared.u32 [%0], %1;" ::"r"(p), "r"(v) : "memory");
  if constexpr (bytes == 8) asm volatile("st.shared.v2.u32 [%0], {%1, %1};" ::"r"(p), "r"(v) : "memory");
  if constexpr (bytes == 16) asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(p), "r"(v) : "memory");
}

#define LANE_TAKES_PART ((pattern.mask >> threadIdx.x & 1) != 0)

template <int bytes>
__global__ void global_load(char* buffer, uint32_t* sink) {
  if (LANE_TAKES_PART) {
    uint32_t v = load_global<bytes>(buffer + pattern.at[threadIdx.x]);
    if (v == magic_of(bytes)) *sink = v;
  }
}

template <int bytes>
__global__ void global_store(char* buffer, uint32_t*) {
  if (LANE_TAKES_PART) store_global<bytes>(buffer + pattern.at[threadIdx.x], threadIdx.x);
}

template <int bytes>
__global__ void shared_load(char*, uint32_t* sink) {
  __shared__ __align__(1024) char tile[kSharedBytes];
  if (LANE_TAKES_PART) {
    uint32_t v = load_shared<bytes>(static_cast<uint32_t>(__cvta_generic_to_shared(tile)) + pattern.at[threadIdx.x]);
    if (v == magic_of(bytes)) *sink = v;
  }
}

template <int bytes>
__global__ void shared_store(char*, uint32_t*) {
  __shared__ __align__(1024) char tile[kSharedBytes];
  if (LANE_TAKES_PART) store_shared<bytes>(static_cast<uint32_t>(__cvta_generic_to_shared(tile)) + pattern.at[threadIdx.x], threadIdx.x);
}

enum { kAddUsed, kAddUnused, kRed, kExch, kCas, kMinUnused, kFloatUsed, kFloatUnused, kAdd64Used, kAdd64Unused, kDoubleUnused, kCas64 };

template <int op>
__global__ void global_atomic(char* buffer, uint32_t* sink) {
  if (LANE_TAKES_PART) {
    char* at = buffer + pattern.at[threadIdx.x];
    auto* word = reinterpret_cast<unsigned*>(at);
    auto* wide = reinterpret_cast<unsigned long long*>(at);
    unsigned long long v = 0;
    if constexpr (op == kAddUsed) v = atomicAdd(word, 1u);
    if constexpr (op == kAddUnused) atomicAdd(word, 1u);
    if constexpr (op == kRed) asm volatile("red.global.add.u32 [%0], 1;" ::"l"(at) : "memory");
    if constexpr (op == kExch) v = atomicExch(word, 3u);
    if constexpr (op == kCas) v = atomicCAS(word, 1u, 2u);
    if constexpr (op == kMinUnused) atomicMin(word, 5u);
    if constexpr (op == kFloatUsed) v = static_cast<unsigned long long>(atomicAdd(reinterpret_cast<float*>(at), 1.0f));
    if constexpr (op == kFloatUnused) atomicAdd(reinterpret_cast<float*>(at), 1.0f);
    if constexpr (op == kAdd64Used) v = atomicAdd(wide, 1ull);
    if constexpr (op == kAdd64Unused) atomicAdd(wide, 1ull);
    if constexpr (op == kDoubleUnused) atomicAdd(reinterpret_cast<double*>(at), 1.0);
    if constexpr (op == kCas64) v = atomicCAS(wide, 1ull, 2ull);
    if (v == kMagic) *sink = static_cast<uint32_t>(v);
  }
}

template <int op>
__global__ void shared_atomic(char*, uint32_t* sink) {
  __shared__ __align__(1024) char tile[kSharedBytes];
  if (LANE_TAKES_PART) {
    const uint32_t at = static_cast<uint32_t>(__cvta_generic_to_shared(tile)) + pattern.at[threadIdx.x];
    uint32_t v = 0;
    if constexpr (op == kAddUsed) asm volatile("atom.shared.add.u32 %0, [%1], 1;" : "=r"(v) : "r"(at) : "memory");
    if constexpr (op == kRed) asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(at) : "memory");
    if constexpr (op == kMinUnused) asm volatile("red.shared.min.u32 [%0], 1;" ::"r"(at) : "memory");
    if constexpr (op == kExch) asm volatile("atom.shared.exch.b32 %0, [%1], 3;" : "=r"(v) : "r"(at) : "memory");
    if constexpr (op == kCas) asm volatile("atom.shared.cas.b32 %0, [%1], 1, 2;" : "=r"(v) : "r"(at) : "memory");
    if (v == kMagic) *sink = v;
  }
}

template <int bytes>
__global__ void async_copy(char* buffer, uint32_t*) {
  __shared__ __align__(1024) char tile[kSharedBytes];
  if (LANE_TAKES_PART) {
    const uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(tile)) + threadIdx.x * bytes;
    const char* from = buffer + pattern.at[threadIdx.x];
    if constexpr (bytes == 4) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
    if constexpr (bytes == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
    if constexpr (bytes == 16) asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
  }
}

// Sums that no compiler may simplify: 8 rounds, each an instruction of every kind.
__global__ void arithmetic(float* f, double* d, int rounds) {
  float x = f[threadIdx.x], y = x;
  double u = d[threadIdx.x], v = u;
#pragma unroll 1
  for (int k = 0; k < rounds; ++k) {
    asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(y));
    asm volatile("mul.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(y));
    asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(y));
    asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(y));
    asm volatile("add.rn.f64 %0, %0, %1;" : "+d"(u) : "d"(v));
    asm volatile("mul.rn.f64 %0, %0, %1;" : "+d"(u) : "d"(v));
    asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(u) : "d"(v));
  }
  f[threadIdx.x] = x;
  d[threadIdx.x] = u;
}

struct Case {
  std::string label;
  Pattern pattern;
};

uint32_t random_state = 1;
uint32_t next_random() { return (random_state = random_state * 1664525u + 1013904223u) >> 8; }

template <class At>
void add(std::vector<Case>& cases, const std::string& label, uint32_t mask, At at) {
  Case c{label, {}};
  c.pattern.mask = mask;
  for (uint32_t lane = 0; lane < 32; ++lane) c.pattern.at[lane] = at(lane);
  cases.push_back(c);
}

// Every pattern keeps lanes aligned to `size` and inside `room` bytes.
std::vector<Case> cases_of(uint32_t size, uint32_t room, bool brief) {
  std::vector<Case> cases;
  const uint32_t all = ~0u;
  random_state = 1;
  auto seq = [=](uint32_t l) { return l * size; };
  add(cases, "sequential", all, seq);
  add(cases, "broadcast", all, [=](uint32_t) { return 0u; });
  add(cases, "shifted by one", all, [=](uint32_t l) { return (l + 1) * size; });
  add(cases, "reversed", all, [=](uint32_t l) { return (31 - l) * size; });
  add(cases, "pairs", all, [=](uint32_t l) { return l / 2 * size; });
  add(cases, "fours", all, [=](uint32_t l) { return l / 4 * size; });
  add(cases, "halves alike", all, [=](uint32_t l) { return l % 16 * size; });
  add(cases, "quarters alike", all, [=](uint32_t l) { return l % 8 * size; });
  add(cases, "two addresses", all, [=](uint32_t l) { return l % 2 * size; });
  add(cases, "two addresses, one bank", all, [=](uint32_t l) { return l % 2 * 128; });
  for (uint32_t stride : {2u, 3u, 4u, 8u, 32u, 33u})
    if (32 * stride * size <= room) add(cases, "stride " + std::to_string(stride), all, [=](uint32_t l) { return l * stride * size; });
  add(cases, "random near", all, [=](uint32_t) { return next_random() % (1024 / size) * size; });
  add(cases, "random far", all, [=](uint32_t) { return next_random() % (32768 / size) * size; });
  for (uint32_t mask : {0x0000ffffu, 0x55555555u, 0x80000001u, 0x000000ffu}) add(cases, "sequential, some lanes", mask, seq);
  if (brief) return cases;
  add(cases, "neighbours swapped", all, [=](uint32_t l) { return (l ^ 1) * size; });
  add(cases, "shuffled", all, [=](uint32_t l) { return l * 13 % 32 * size; });
  add(cases, "swizzled column", all, [=](uint32_t l) { return (l * 32 + (l ^ 5)) * size % room; });
  add(cases, "shifted by three", all, [=](uint32_t l) { return (l + 3) * size; });
  add(cases, "lanes n and n^2 alike", all, [=](uint32_t l) { return (l & ~2u) * size; });
  add(cases, "lanes n and n^4 alike", all, [=](uint32_t l) { return (l & ~4u) * size; });
  add(cases, "lanes n and n^8 alike", all, [=](uint32_t l) { return (l & ~8u) * size; });
  add(cases, "pairs apart", all, [=](uint32_t l) { return l / 2 * 2 * size; });
  add(cases, "pairs, column", all, [=](uint32_t l) { return l / 2 * 128; });
  add(cases, "four addresses, one bank", all, [=](uint32_t l) { return l % 4 * 128; });
  add(cases, "eight addresses, one bank", all, [=](uint32_t l) { return l / 4 * 128; });
  add(cases, "random words", all, [=](uint32_t) { return next_random() % (256 / size) * size; });
  for (int k = 0; k < 4; ++k) add(cases, "random, some lanes", next_random() ^ next_random() << 12, [=](uint32_t) { return next_random() % (4096 / size) * size; });
  for (uint32_t mask : {0x00000001u, 0xffff0000u, 0x0f0f0f0fu, 0x33333333u, 0x7fffffffu, 0x00010001u, 0xaaaaaaaau, 0x00ff00ffu}) {
    add(cases, "sequential, some lanes", mask, seq);
    add(cases, "pairs, some lanes", mask, [=](uint32_t l) { return l / 2 * size; });
    add(cases, "stride 2, some lanes", mask, [=](uint32_t l) { return l * 2 * size; });
  }
  return cases;
}

char* buffer = nullptr;
uint32_t* sink = nullptr;
int count = 0;

void run(void (*kernel)(char*, uint32_t*), const char* name, uint32_t size, bool shared, bool brief = false) {
  for (const Case& c : cases_of(size, shared ? kSharedBytes : 65536, brief)) {
    cudaMemset(buffer, 0, 1 << 20);
    cudaMemcpyToSymbol(pattern, &c.pattern, sizeof c.pattern);
    kernel<<<1, 32>>>(buffer, sink);
    if (cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
      std::printf("%s %s: %s\n", name, c.label.c_str(), cudaGetErrorString(error));
      std::exit(1);
    }
    std::printf("%d %s %u: %s, lanes %08x\n", count++, name, size, c.label.c_str(), c.pattern.mask);
  }
}

int main(int argc, char** argv) {
  const std::string group = argc > 1 ? argv[1] : "";
  const bool check = group == "check";
  cudaMalloc(&buffer, 1 << 20);
  cudaMalloc(&sink, 1 << 16);
  cudaMemset(sink, 0, 1 << 16);
  if (check || group == "global_load") {
    run(global_load<1>, "global_load", 1, false, true);
    run(global_load<2>, "global_load", 2, false, true);
    run(global_load<4>, "global_load", 4, false);
    run(global_load<8>, "global_load", 8, false);
    run(global_load<16>, "global_load", 16, false);
  }
  if (check || group == "global_store") {
    run(global_store<1>, "global_store", 1, false, true);
    run(global_store<2>, "global_store", 2, false, true);
    run(global_store<4>, "global_store", 4, false);
    run(global_store<8>, "global_store", 8, false);
    run(global_store<16>, "global_store", 16, false);
  }
  if (check || group == "global_atomic") {
    run(global_atomic<kAddUsed>, "atomicAdd used", 4, false);
    run(global_atomic<kRed>, "red.add", 4, false);
    run(global_atomic<kAddUnused>, "atomicAdd", 4, false, true);
    run(global_atomic<kExch>, "atomicExch", 4, false, true);
    run(global_atomic<kCas>, "atomicCAS", 4, false, true);
    run(global_atomic<kMinUnused>, "atomicMin", 4, false, true);
    run(global_atomic<kFloatUsed>, "atomicAdd float used", 4, false, true);
    run(global_atomic<kFloatUnused>, "atomicAdd float", 4, false, true);
    run(global_atomic<kAdd64Used>, "atomicAdd 64 used", 8, false, true);
    run(global_atomic<kAdd64Unused>, "atomicAdd 64", 8, false, true);
    run(global_atomic<kDoubleUnused>, "atomicAdd double", 8, false, true);
    run(global_atomic<kCas64>, "atomicCAS 64", 8, false, true);
  }
  if (check || group == "shared_load") {
    run(shared_load<1>, "shared_load", 1, true, true);
    run(shared_load<2>, "shared_load", 2, true, true);
    run(shared_load<4>, "shared_load", 4, true);
    run(shared_load<8>, "shared_load", 8, true);
    run(shared_load<16>, "shared_load", 16, true);
  }
  if (check || group == "shared_store") {
    run(shared_store<1>, "shared_store", 1, true, true);
    run(shared_store<2>, "shared_store", 2, true, true);
    run(shared_store<4>, "shared_store", 4, true);
    run(shared_store<8>, "shared_store", 8, true);
    run(shared_store<16>, "shared_store", 16, true);
  }
  if (check || group == "shared_atomic") {
    run(shared_atomic<kAddUsed>, "shared atom.add", 4, true, true);
    run(shared_atomic<kRed>, "shared red.add", 4, true, true);
    run(shared_atomic<kMinUnused>, "shared red.min", 4, true, true);
    run(shared_atomic<kExch>, "shared atom.exch", 4, true, true);
    run(shared_atomic<kCas>, "shared atom.cas", 4, true, true);
  }
  if (check || group == "async_copy") {
    run(async_copy<4>, "cp.async.ca 4", 4, false, true);
    run(async_copy<8>, "cp.async.ca 8", 8, false, true);
    run(async_copy<16>, "cp.async.ca 16", 16, false, true);
  }
  if (check || group == "arithmetic") {
    auto* f = reinterpret_cast<float*>(buffer);
    auto* d = reinterpret_cast<double*>(buffer + 65536);
    cudaMemset(buffer, 0, 1 << 20);
    arithmetic<<<3, 96>>>(f, d, 8);
    arithmetic<<<2, 33>>>(f, d, 5);
    arithmetic<<<1000, 256>>>(f, d, 1);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  }
  std::printf("done\n");
  return 0;
}

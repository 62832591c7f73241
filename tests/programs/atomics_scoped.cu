// Atomic functions of a block's and of the system's scope: numbers without a sign have none, whatever memory they are in.
#include <cstdio>
#include <cstring>

struct Values {
  unsigned u[10];
  int i[10];
  unsigned long long ull[10];
  long long ll[4];
  float f[3];
  double d[2];
};

#define OPERATIONS(scope)                                                                                     \
  template <class V>                                                                                          \
  __device__ void change##scope(V* a) {                                                                       \
    atomicMax##scope(&a->u[0], 0x80000001u), atomicMin##scope(&a->u[1], 0x80000001u);                         \
    atomicAdd##scope(&a->u[2], 0xffffffffu), atomicSub##scope(&a->u[3], 7u);                                  \
    atomicExch##scope(&a->u[4], 0xdeadbeefu), atomicAnd##scope(&a->u[5], 0xf0f0f0f4u);                        \
    atomicOr##scope(&a->u[6], 0x80000000u), atomicXor##scope(&a->u[7], 0x80000001u);                          \
    atomicInc##scope(&a->u[8], 5u), atomicDec##scope(&a->u[9], 0x80000000u);                                  \
    atomicMax##scope(&a->i[0], -3), atomicMin##scope(&a->i[1], -3), atomicAdd##scope(&a->i[2], -9);           \
    atomicSub##scope(&a->i[3], -9), atomicExch##scope(&a->i[4], -1), atomicAnd##scope(&a->i[5], -4);          \
    atomicOr##scope(&a->i[6], -8), atomicXor##scope(&a->i[7], -1);                                            \
    a->i[8] = atomicCAS##scope(&a->i[9], 5, -5);                                                              \
    atomicMax##scope(&a->ull[0], 0x8000000000000001ull), atomicMin##scope(&a->ull[1], 0x8000000000000001ull); \
    atomicAdd##scope(&a->ull[2], ~0ull), atomicExch##scope(&a->ull[3], 1ull << 63);                           \
    atomicAnd##scope(&a->ull[4], 4ull), atomicOr##scope(&a->ull[5], 1ull << 63);                              \
    atomicXor##scope(&a->ull[6], ~0ull), a->ull[7] = atomicCAS##scope(&a->ull[8], 5ull, 1ull << 60);          \
    a->ull[9] = atomicMax##scope(&a->ull[0], 3ull);                                                           \
    atomicMax##scope(&a->ll[0], -3ll), atomicMin##scope(&a->ll[1], -3ll);                                     \
    atomicAnd##scope(&a->ll[2], -4ll), atomicXor##scope(&a->ll[3], -1ll);                                     \
    atomicAdd##scope(&a->f[0], 0.5f), a->f[1] = atomicExch##scope(&a->f[2], -2.5f);                           \
    a->d[1] = atomicAdd##scope(&a->d[0], 0.25);                                                               \
  }
OPERATIONS(_block)
OPERATIONS(_system)

template <bool system, class V>
__device__ void change(V* a) {
  if (system) change_system(a);
  else change_block(a);
}

template <bool system>
__global__ void in_global(Values* a) {
  change<system>(a);
}
template <bool system>
__global__ void in_shared(Values* a) {
  __shared__ Values s;
  s = *a;
  change<system>(&s);
  *a = s;
}
template <bool system>
__global__ void wherever(Values* a, int shared) {
  __shared__ Values s;
  s = *a;
  change<system>(shared ? &s : a);
  if (shared) *a = s;
}

// Some name their memory in the text: those of vectors, and those that programs write themselves. In the last
// ones the value comes before the address.
struct Named {
  float2 pair, pair_before;
  float4 four, four_before;
  unsigned global, shared, exchanged;
  Named* place;
};
__global__ void named(Named* a) {
#if __CUDA_ARCH__ >= 900
  a->pair_before = atomicAdd_block(&a->pair, float2{1, 2});
  atomicAdd_system(&a->pair, float2{4, 8});
  a->four_before = atomicAdd_system(&a->four, float4{1, 2, 3, 4});
  atomicAdd_block(&a->four, float4{16, 16, 16, 16});
#endif
  __shared__ unsigned s;
  s = 7;
  unsigned before;
  asm volatile("atom.cta.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(&a->global), "r"(3u) : "memory");
  asm volatile("atom.cta.shared.add.u32 %0, [%1], %2;" : "=r"(before) : "r"((unsigned)__cvta_generic_to_shared(&s)), "r"(before) : "memory");
  asm volatile("atom.sys.exch.b32 %0, [%2], %1;" : "=r"(before) : "r"(s), "l"(&a->exchanged) : "memory");
  a->shared = s + before;
  Named* old;
  asm volatile("atom.cta.exch.b64 %0, [%2], %1;" : "=l"(old) : "l"(a), "l"(&a->place) : "memory");
  if (old) a->shared = 0;
}

Values fives() {
  Values v;
  for (auto& x : v.u) x = 5;
  for (auto& x : v.i) x = 5;
  for (auto& x : v.ull) x = 5;
  for (auto& x : v.ll) x = 5;
  for (auto& x : v.f) x = 5;
  for (auto& x : v.d) x = 5;
  return v;
}

int main() {
  const Values wanted = {{0x80000001u, 5, 4, 0xfffffffeu, 0xdeadbeefu, 4, 0x80000005u, 0x80000004u, 0, 4},
                         {5, -3, -4, 14, -1, 4, -3, -6, 5, -5},
                         {0x8000000000000001ull, 5, 4, 1ull << 63, 4, 0x8000000000000005ull, ~5ull, 5, 1ull << 60, 0x8000000000000001ull},
                         {5, -3, 4, -6},
                         {5.5f, 5, -2.5f},
                         {5.25, 5}};
  Values v, *device;
  cudaMalloc(&device, sizeof v);
  int wrong = 0;
  const auto look = [&](const char* name, auto launch) {
    v = fives();
    cudaMemcpy(device, &v, sizeof v, cudaMemcpyHostToDevice);
    launch();
    cudaMemcpy(&v, device, sizeof v, cudaMemcpyDeviceToHost);
    const auto compare = [&](const char* kind, const auto& got, const auto& want) {
      for (size_t k = 0; k < sizeof got / sizeof got[0]; ++k)
        if (got[k] != want[k]) printf("%s: %s[%zu] is %g, not %g\n", name, kind, k, (double)got[k], (double)want[k]), ++wrong;
    };
    compare("u", v.u, wanted.u), compare("i", v.i, wanted.i), compare("ull", v.ull, wanted.ull);
    compare("ll", v.ll, wanted.ll), compare("f", v.f, wanted.f), compare("d", v.d, wanted.d);
  };
  look("global, block", [&] { in_global<false><<<1, 1>>>(device); });
  look("global, system", [&] { in_global<true><<<1, 1>>>(device); });
  look("shared, block", [&] { in_shared<false><<<1, 1>>>(device); });
  look("shared, system", [&] { in_shared<true><<<1, 1>>>(device); });
  for (int shared = 0; shared < 2; ++shared) {
    look("anywhere, block", [&] { wherever<false><<<1, 1>>>(device, shared); });
    look("anywhere, system", [&] { wherever<true><<<1, 1>>>(device, shared); });
  }
  Named n = {{10, 20}, {}, {1, 2, 3, 4}, {}, 5, 0, 9, nullptr}, *memory;
  cudaMalloc(&memory, sizeof n);
  cudaMemcpy(memory, &n, sizeof n, cudaMemcpyHostToDevice);
  named<<<1, 1>>>(memory);
  cudaMemcpy(&n, memory, sizeof n, cudaMemcpyDeviceToHost);
  cudaDeviceProp device_is;
  cudaGetDeviceProperties(&device_is, 0);
  const bool vectors = device_is.major < 9 || (n.pair.x == 15 && n.pair.y == 30 && n.pair_before.x == 10 && n.pair_before.y == 20 &&
                                               n.four.x == 18 && n.four.w == 24 && n.four_before.y == 2 && n.four_before.z == 3);
  if (!vectors || n.global != 8 || n.shared != 12 + 9 || n.exchanged != 12 || n.place != memory) printf("memory named in the text: %u %u %u\n", n.global, n.shared, n.exchanged), ++wrong;
  printf("atomics_scoped: %s %s\n", wrong ? "FAILED" : "PASSED", cudaGetErrorString(cudaDeviceSynchronize()));
  return wrong != 0;
}

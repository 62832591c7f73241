// Every member of cuda::atomic for objects that are volatile, the functions of the same names, atomic pointers, and structures of a
// word or less; on the host and on the device.
#include <cuda/atomic>
#include <cuda/std/atomic>
#include <cstdio>
#include <new>

namespace s = cuda::std;

struct Bytes {
  unsigned char x, y, z;
};
struct Pair {
  int x, y;
};
struct Node {
  s::atomic<Node*> next = LIBCUDACXX_ATOMIC_VAR_INIT(nullptr);
  s::atomic_flag locked = LIBCUDACXX_ATOMIC_FLAG_INIT;
};
static_assert(sizeof(Node) == 16, "");
static_assert(sizeof(cuda::atomic<bool>) == 4 && sizeof(s::atomic<short>) == 4 && sizeof(s::atomic_flag) == 4, "");
static_assert(sizeof(cuda::atomic<Bytes>) == 4 && alignof(cuda::atomic<Pair>) == 8, "");

#define EXPECT(what) \
  if (!(what)) return __LINE__

template <class T, cuda::thread_scope S>
__host__ __device__ int integers(volatile cuda::atomic<T, S>& a) {
  a = 5;
  EXPECT(a == 5 && a.is_lock_free());
  a.store(6, s::memory_order_release);
  EXPECT(a.load(s::memory_order_acquire) == 6 && a.exchange(7) == 6);
  EXPECT(a.fetch_add(1) == 7 && a.fetch_sub(2) == 8 && a.fetch_and(~2) == 6 && a.fetch_or(3) == 4 && a.fetch_xor(1) == 7);
  EXPECT(a.fetch_min(2) == 6 && a.fetch_max(9) == 2);
  T seen = 1;
  EXPECT(!a.compare_exchange_weak(seen, 4) && seen == 9);
  while (!a.compare_exchange_weak(seen, 10, s::memory_order_relaxed, s::memory_order_relaxed)) {
  }
  EXPECT(!a.compare_exchange_strong(seen, 11) && seen == 10);
  EXPECT(a.compare_exchange_strong(seen, 11, s::memory_order_acq_rel, s::memory_order_relaxed));
  EXPECT(++a == 12 && a++ == 12 && --a == 12 && a-- == 12);
  EXPECT((a += 4) == 15 && (a -= 1) == 14 && (a &= 12) == 12 && (a |= 1) == 13 && (a ^= 5) == 8);
  a.wait(7);
  a.notify_one();
  a.notify_all();
  return 0;
}

__host__ __device__ int functions(volatile s::atomic<int>* a, volatile s::atomic_flag* f) {
  s::atomic_init(a, 3);
  EXPECT(s::atomic_load(a) == 3 && s::atomic_is_lock_free(a));
  s::atomic_store(a, 4);
  s::atomic_store_explicit(a, 5, s::memory_order_release);
  EXPECT(s::atomic_load_explicit(a, s::memory_order_acquire) == 5 && s::atomic_exchange(a, 6) == 5);
  EXPECT(s::atomic_fetch_add(a, 2) == 6 && s::atomic_fetch_sub_explicit(a, 1, s::memory_order_relaxed) == 8);
  EXPECT(s::atomic_fetch_or(a, 8) == 7 && s::atomic_fetch_and(a, 3) == 15 && s::atomic_fetch_xor(a, 1) == 3);
  int seen = 1;
  EXPECT(!s::atomic_compare_exchange_strong(a, &seen, 2) && seen == 2);
  EXPECT(s::atomic_compare_exchange_strong_explicit(a, &seen, 3, s::memory_order_relaxed, s::memory_order_relaxed));
  s::atomic_wait(a, 2);
  s::atomic_notify_all(a);
  EXPECT(!f->test() && !f->test_and_set() && f->test_and_set() && s::atomic_flag_test(f));
  f->clear();
  EXPECT(!s::atomic_flag_test_and_set_explicit(f, s::memory_order_acquire));
  s::atomic_flag_clear_explicit(f, s::memory_order_release);
  f->wait(true);
  f->notify_one();
  EXPECT(!f->test());
  return 0;
}

__host__ __device__ int floats(volatile cuda::atomic<float, cuda::thread_scope_block>& a) {
  a = 1.5f;
  a += 2;
  EXPECT(a == 3.5f && a.fetch_max(4) == 3.5f && a.exchange(0) == 4);
  return 0;
}

__host__ __device__ int pointers(volatile s::atomic<int*>& p, int* base) {
  p = base;
  EXPECT(++p == base + 1 && p++ == base + 1 && (p += 3) == base + 5 && (p -= 2) == base + 3);
  EXPECT(p.fetch_sub(1, s::memory_order_relaxed) == base + 3 && p-- == base + 2 && --p == base);
  EXPECT(s::atomic_fetch_add(&p, 2) == base && s::atomic_fetch_sub(&p, 1) == base + 2);
  int* seen = base;
  EXPECT(!p.compare_exchange_strong(seen, nullptr) && seen == base + 1);
  EXPECT(p.compare_exchange_strong(seen, nullptr) && p.load() == nullptr);
  return 0;
}

template <class T>
__host__ __device__ int structures(cuda::atomic<T>& a, T one, T other) {
  a.store(one);
  T seen = a.load();
  EXPECT(seen.x == one.x && seen.y == one.y);
  seen = other;
  EXPECT(!a.compare_exchange_strong(seen, other) && seen.y == one.y);
  EXPECT(a.compare_exchange_strong(seen, other) && a.exchange(one).y == other.y);
  return 0;
}

struct Everything {
  cuda::atomic<int> whole;
  cuda::atomic<short, cuda::thread_scope_device> half;
  s::atomic<int> number;
  s::atomic_flag flag;
  cuda::atomic<float, cuda::thread_scope_block> real;
  s::atomic<int*> pointer;
  cuda::atomic<Bytes> bytes;
  cuda::atomic<Pair> pair;
  int items[8], line;
};

__host__ __device__ int all(Everything* e) {
  if (int line = integers(e->whole)) return line;
  if (int line = integers(e->half)) return line;
  if (int line = functions(&e->number, &e->flag)) return line;
  if (int line = floats(e->real)) return line;
  if (int line = pointers(e->pointer, e->items)) return line;
  if (int line = structures(e->bytes, Bytes{1, 2, 3}, Bytes{4, 5, 6})) return line;
  return structures(e->pair, Pair{1, 2}, Pair{3, 4});
}

__global__ void check(Everything* e) { e->line = all(e); }

// Threads take items one after the other, each its own.
__global__ void take(s::atomic<int*>* next, const int* base) {
  int* mine = next->fetch_add(1, s::memory_order_relaxed);
  *mine = (int)(mine - base) + 1;
}

int main() {
  Everything* e;
  cudaMallocManaged(&e, sizeof(*e));
  new (e) Everything();
  const int on_host = all(e);
  check<<<1, 1>>>(e);
  bool good = cudaDeviceSynchronize() == cudaSuccess;
  printf("host %d, device %d\n", on_host, e->line);

  int* items;
  cudaMallocManaged(&items, 256 * sizeof(int));
  e->pointer.store(items);
  take<<<4, 64>>>(&e->pointer, items);
  good = good && cudaDeviceSynchronize() == cudaSuccess && e->pointer.load() == items + 256;
  for (int i = 0; i < 256; ++i) good = good && items[i] == i + 1;
  return good && on_host == 0 && e->line == 0 ? 0 : 1;
}

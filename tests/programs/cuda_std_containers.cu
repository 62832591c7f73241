// build: -std=c++17
// cuda::std::bitset and cuda::std::inplace_vector, in kernels and on the host, against what the host's library says.
#include <cuda/std/bitset>
#include <cuda/std/inplace_vector>

#include <bitset>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <vector>

constexpr int kBits = 100;
constexpr int kOut = 24;

// One function for both sides and both libraries; the numbers say what became of the bits.
template <class Bits>
__host__ __device__ void bits(Bits a, unsigned long long* out) {
  int n = 0;
  Bits b(0xf0f0f0f0f0f0f0f0ull), c("1100101");
  a.set(3).set(64).set(99);
  a[70] = true;
  a[3] = a[4];
  a[99].flip();
  out[n++] = a.count();
  out[n++] = a.test(64) + 2 * a.test(70) + 4 * a[3] + 8 * a[99];
  out[n++] = (a << 5).count() * 1000 + (a << 36).count();
  out[n++] = ((a | b) >> 61).to_ullong();
  out[n++] = (b >> 4).to_ullong();
  out[n++] = (b << 60 >> 60).to_ullong();
  out[n++] = c.to_ulong();
  out[n++] = (a ^ b).count() * 1000 + (a & b).count();
  out[n++] = (~a).count();
  out[n++] = Bits().set().all() + 2 * Bits().none() + 4 * a.any() + 8 * (a == b) + 16 * (a != b);
  out[n++] = a.flip(0).flip().reset(1).count();
  out[n++] = a.reset().size() + a.none();
  a = b;
  a <<= 100;
  out[n++] = a.any();
}

struct Counted {
  int value;
  int* live;
  __host__ __device__ Counted(int v, int* l) : value(v), live(l) { ++*live; }
  __host__ __device__ Counted(const Counted& o) : value(o.value), live(o.live) { ++*live; }
  Counted& operator=(const Counted&) = default;
  __host__ __device__ ~Counted() { --*live; }
};

template <class Vector>
__host__ __device__ int total(const Vector& v) {
  int sum = 0, place = 1;
  for (auto it = v.begin(); it != v.end(); ++it) sum += *it * place++;
  return sum * 100 + static_cast<int>(v.size());
}
template <class Vector>
__host__ __device__ void vectors(unsigned long long* out) {
  int n = 0;
  Vector v{5, 6, 7};
  v.push_back(8);
  v.insert(v.begin() + 1, 9);
  out[n++] = total(v);
  v.erase(v.begin() + 2);
  out[n++] = total(v);
  v.insert(v.begin() + 2, 2u, 4);
  out[n++] = total(v);
  const int more[] = {1, 2};
  v.insert(v.end(), more, more + 2);
  out[n++] = total(v);
  v.erase(v.begin(), v.begin() + 3);
  out[n++] = total(v) + v.front() + v.back();
  Vector w(v), x(3u, 2);
  w.pop_back();
  out[n++] = (v == w) + 2 * (w < v) + 4 * (x != w);
  w.swap(x);
  w.resize(5, 1);
  x.resize(1);
  out[n++] = total(w) * 7 + total(x);
  x.assign(v.begin(), v.end());
  out[n++] = total(x) + *x.rbegin();
}

__global__ void kernel(unsigned long long* out, int* live, cuda::std::inplace_vector<int, 4> given) {
  bits(cuda::std::bitset<kBits>(21), out);
  vectors<cuda::std::inplace_vector<int, 10>>(out + 14);
  {
    cuda::std::inplace_vector<Counted, 3> v;
    for (int i = 0; i < 3; ++i) v.emplace_back(i, live);
    const bool full = v.try_emplace_back(9, live) == nullptr;
    v.erase(v.begin());
    live[1] = full * 1000 + *live * 100 + v[0].value * 10 + v[1].value;
  }
  live[2] = total(given);
}
__global__ void overrun() {
  cuda::std::inplace_vector<int, 1> v;
  v.push_back(1);
  v.push_back(2);
}

int main() {
  unsigned long long *out, want[kOut] = {};
  int* live;
  cudaMallocManaged(&out, kOut * sizeof *out);
  cudaMallocManaged(&live, 3 * sizeof *live);
  *live = 0;
  kernel<<<1, 1>>>(out, live, {3, 4, 5});
  bool right = cudaDeviceSynchronize() == cudaSuccess && *live == 0 && live[1] == 1212 && live[2] == 2603;
  bits(std::bitset<kBits>(21), want);
  vectors<std::vector<int>>(want + 14);
  for (int i = 0; i < 22; ++i)
    if (i != 13 && out[i] != want[i]) std::printf("%d: %llu instead of %llu\n", i, out[i], want[i]), right = false;
  unsigned long long here[kOut] = {};
  bits(cuda::std::bitset<kBits>(21), here);
  vectors<cuda::std::inplace_vector<int, 10>>(here + 14);
  for (int i = 0; i < 22; ++i) right &= i == 13 || here[i] == want[i];
  int caught = 0;
  try {
    cuda::std::bitset<8>().test(8);
  } catch (const std::out_of_range&) {
    ++caught;
  }
  try {
    (cuda::std::bitset<70>().set()).to_ullong();
  } catch (const std::overflow_error&) {
    ++caught;
  }
  try {
    cuda::std::inplace_vector<int, 2> v(3);
  } catch (const std::bad_alloc&) {
    ++caught;
  }
  try {
    cuda::std::inplace_vector<int, 2> v{1};
    v.at(1) = 2;
  } catch (const std::out_of_range&) {
    ++caught;
  }
  static_assert(cuda::std::bitset<65>(5).count() == 2, "");
  right &= cuda::std::inplace_vector<int, 7>().capacity() == 7;
  overrun<<<1, 1>>>();
  right &= caught == 4 && cudaDeviceSynchronize() != cudaSuccess;
  std::puts(right ? "PASSED" : "FAILED");
  return !right;
}

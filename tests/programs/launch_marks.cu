// Launches as some tools format them, with the marks apart, and other things that nvcc takes without a word.
// build: -rdc=true
// clang-format off
#include <cstdio>
#include <vector>

__global__ void set(int *out, int value) { register int copy = value; *out = copy; }
template <class T> __global__ void set_any(T *out, int value) { *out = value; }
__global__ void launches(int *out) { if (threadIdx.x == 0) set<< <1, 1>> >(out, 8); }

#pragma unroll
__global__ void unrolled(int *out) {
#pragma unroll
  int sum = 0;
#pragma unroll 2  // kept
  /* a comment */
  for (int i = 0; i < 4; ++i) sum += i;
#pragma nounroll
  *out = sum + 3;
}

template <class T> struct W {};
template <class T> int operator<<(W<T>, T t) { return t; }

int main() {
  int *o, wrong = 0;
  cudaMallocManaged(&o, sizeof *o);
  auto is = [&](int value) { cudaDeviceSynchronize(); if (*o != value) printf("%d instead of %d\n", *o, value), ++wrong; };
  set<< <1, 1>> >(o, 1); is(1);
  set<< <1, 1 >> > (o, 2); is(2);
  set << <dim3(1), dim3(1), 0, 0>> >(o, 3); is(3);
  set<< <1, (2 >> 1)>> >(o, 4); is(4);
  set_any<int><< <1, 1>> >(o, 5); is(5);
  set<<<1, 1>> >(o, 6); is(6);
  set<< <1, 1>>>(o, 7); is(7);
  launches<< <1, 32>> >(o); is(8);
  unrolled<< <1, 1>> >(o); is(9);
  set<<<{1, 1}, {1}>>>(o, 10); is(10);
  set<< <1, {1, 1, 1}, 0>> >(o, 11); is(11);
  set<<<dim3{1}, dim3{1}>>>(o, 12); is(12);
  const char *text = "set<< <1, 1>> >(o, 9)";  // not a launch
  if (text[5] != ' ') ++wrong;
  std::vector<std::vector<std::vector<int>> > nested(3);
  if (operator<< <int>(W<int>(), 9) != 9 || nested.size() != 3) ++wrong;
  puts(wrong ? "FAILED" : "PASSED");
  return wrong;
}

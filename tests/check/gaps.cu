// Structures that are set member by member and copied to the host whole. An argument picks the case.
#include "cases.h"
// options: --extended-lambda

struct Pair { int key; double value; };
struct Tail { double value; int key; };
struct Base { double weight; short kind; };
struct Derived : Base { double length; Pair pairs[2]; };
union Either { int number; double real; };
struct Tagged { int which; Either either; };
struct alignas(16) Wide { float x; };
struct View { Pair* pairs; int n; };

__global__ void set_pairs(Pair* p, bool all) {
  p[threadIdx.x].value = 2;
  if (all) p[threadIdx.x].key = 1;
}
__global__ void set_in_view(View v) { v.pairs[threadIdx.x] = {int(threadIdx.x), 1.0}; }
__global__ void set_tails(Tail* p) { Tail t; t.value = threadIdx.x; t.key = 3; p[threadIdx.x] = t; }
__global__ void set_derived(Derived* p, bool all) {
  Derived& d = p[threadIdx.x];
  d.weight = d.length = 1;
  d.kind = 2;
  for (int k = 0; k < (all ? 2 : 1); ++k) d.pairs[k].key = k, d.pairs[k].value = k;
}
__global__ void set_tagged(Tagged* p) {
  p[threadIdx.x].which = threadIdx.x % 2;
  if (threadIdx.x % 2) p[threadIdx.x].either.number = 1;
  else p[threadIdx.x].either.real = 1;
}
__global__ void set_wide(Wide* p) { p[threadIdx.x].x = 1; }
template <class T> __global__ void set_values(T* p) { p[threadIdx.x].value = 1; }
template <class F> __global__ void each(F f) { f(threadIdx.x); }
static __global__ void set_in_this_file(Pair* p) { p[threadIdx.x].value = 2; p[threadIdx.x].key = 1; }

template <class T, class F>
void fill_and_copy(F fill, int skip = 0) {
  T* p;
  cudaMalloc(&p, 64 * sizeof(T));
  T* host = (T*)malloc(64 * sizeof(T));
  fill(p);
  cudaMemcpy(host, p + skip, (64 - skip) * sizeof(T), cudaMemcpyDeviceToHost);  // warn pairs_unset uninitialized_copy; warn base_and_one_pair uninitialized_copy; warn tails_unset uninitialized_copy; warn pairs_too_few uninitialized_copy
  cudaFree(p);
  free(host);
}
CASE(pairs_set) { fill_and_copy<Pair>([](Pair* p) { set_pairs<<<1, 64>>>(p, true); }); }
CASE(pairs_unset) { fill_and_copy<Pair>([](Pair* p) { set_pairs<<<1, 64>>>(p, false); }); }
CASE(pairs_too_few) { fill_and_copy<Pair>([](Pair* p) { set_pairs<<<1, 32>>>(p, true); }); }
CASE(pairs_from_the_third) { fill_and_copy<Pair>([](Pair* p) { set_pairs<<<1, 64>>>(p, true); }, 3); }
CASE(pairs_in_view) { fill_and_copy<Pair>([](Pair* p) { set_in_view<<<1, 64>>>({p, 64}); }); }
CASE(pairs_by_static_kernel) { fill_and_copy<Pair>([](Pair* p) { set_in_this_file<<<1, 64>>>(p); }); }
CASE(tails_set) { fill_and_copy<Tail>([](Tail* p) { set_tails<<<1, 64>>>(p); }); }
CASE(tails_unset) { fill_and_copy<Tail>([](Tail* p) { set_values<<<1, 64>>>(p); }); }
CASE(base_and_pairs) { fill_and_copy<Derived>([](Derived* p) { set_derived<<<1, 64>>>(p, true); }); }
CASE(base_and_one_pair) { fill_and_copy<Derived>([](Derived* p) { set_derived<<<1, 64>>>(p, false); }); }
CASE(one_of_union) { fill_and_copy<Tagged>([](Tagged* p) { set_tagged<<<1, 64>>>(p); }); }
CASE(wide_alignment) { fill_and_copy<Wide>([](Wide* p) { set_wide<<<1, 64>>>(p); }); }
CASE(by_lambda) { fill_and_copy<Pair>([](Pair* p) { each<<<1, 64>>>([=] __device__(int k) { p[k].key = k; p[k].value = k; }); }); }

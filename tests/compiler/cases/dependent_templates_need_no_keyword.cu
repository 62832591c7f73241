// nvcc takes a member template of a dependent type without `template` before it, and a conversion to its type without `typename`.
// run: nvcc -c %s
// run: nvcc -ptx %s
// expect: err lacks error
template <class A> struct Base {
  typedef A number;
  template <int N> static __device__ void cast(A* d, const A* s) { for (int i = 0; i < N; i++) d[i] = s[i]; }
  template <int N> __device__ A get(const A* s) const { return s[N]; }
};
template <class A> struct Derived { __device__ void f(A* d, const A* s) { Base<A>::cast<4>(d, s); } };
template <class A, int M> __device__ void g(A* d, const A* s, Base<A> b, Base<A>* p) {
  if (M > 3) Base<A>::cast<M>(d, s);
  else Base<A>::template cast<2>(d, s);
  d[0] = b.get<1>(s) + p->get<M>(s) + Base<A>::number(!!M);
}
__global__ void k(float* d, const float* s) { Base<float> b; Derived<float>().f(d, s); g<float, 3>(d, s, b, &b); g<float, 4>(d, s, b, &b); }
int main() {}

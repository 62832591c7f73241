// Without the chains joined first: 40 seconds of a core; with them 3.
// run: (ulimit -t 15; nvcc -ptx -ftemplate-depth=1000 %s)
// expect: ptx lacks call
// expect: ptx at least 1000 of st.global
template <int I, int N> struct Steps {
  __device__ static void run(float* p) { p[N] = p[N] * I + p[N - 1]; Steps<I, N - 1>::run(p); p[N] += 1; }
};
template <int I> struct Steps<I, 0> { __device__ static void run(float*) {} };
__global__ void k2(float* p) { Steps<2, 500>::run(p); }
__global__ void k3(float* p) { Steps<3, 500>::run(p); }

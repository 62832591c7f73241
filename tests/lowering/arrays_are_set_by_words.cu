// Two bins are set to zero by one store.
// run: nvcc -ptx %s
// expect: ptx at most 21 of st.local
__global__ void k(const unsigned* a, unsigned* o, int n) {
  unsigned bins[64] = {};
  for (int k = 0; k < n; k++) bins[a[k] & 63] += k;
  o[threadIdx.x] = bins[n & 63];
}

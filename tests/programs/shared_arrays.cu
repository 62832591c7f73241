// Dynamic shared memory cut into several arrays of different types, static and dynamic together, structures and 2-D and
// 3-D arrays in shared memory, 3-D blocks, early exits before a barrier, barriers in uniform branches and loops.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

struct Cell {
  char tag;
  double weight;
  short id[3];
};

__global__ void several(int nf, int ni, int nc, double* out) {
  extern __shared__ __align__(16) unsigned char raw[];
  __shared__ Cell cells[8];
  __shared__ int counter;
  double* d = (double*)raw;
  float* f = (float*)&d[nf];
  int* n = (int*)&f[nf];
  char* c = (char*)&n[ni];
  int t = threadIdx.x;
  if (t == 0) counter = 0;
  if (t < 8) cells[t].tag = (char)('a' + t), cells[t].weight = t * 0.5, cells[t].id[2] = (short)(t * t);
  for (int i = t; i < nf; i += blockDim.x) d[i] = i * 0.25, f[i] = i * 2.0f;
  for (int i = t; i < ni; i += blockDim.x) n[i] = i * 3;
  for (int i = t; i < nc; i += blockDim.x) c[i] = (char)(i % 50);
  __syncthreads();
  Cell mine = cells[(t + 1) % 8];
  atomicAdd(&counter, (int)mine.id[2]);
  double sum = mine.weight + mine.tag;
  for (int i = 0; i < nf; i++) sum += d[i] + f[i];
  for (int i = 0; i < ni; i++) sum += n[i];
  for (int i = 0; i < nc; i++) sum += c[i];
  __syncthreads();
  out[t] = sum + counter;
}

__global__ void cube(int* out) {  // a 3-D block and a 3-D shared array
  __shared__ int s[4][5][6];
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  s[z][y][x] = x + 10 * y + 100 * z + 1000 * blockIdx.z;
  __syncthreads();
  int o = s[3 - z][4 - y][5 - x];
  out[((blockIdx.z * 4 + z) * 5 + y) * 6 + x] = o;
}

__global__ void early_exit(int* out, int n) {  // threads that have left do not hold up a barrier
  __shared__ int s[128];
  int t = threadIdx.x;
  if (t >= n) return;
  s[t] = t * 2;
  __syncthreads();
  out[t] = s[n - 1 - t];
  if (t % 32 > 7) return;
  __syncthreads();
  s[t] = out[t] + 1;
  __syncthreads();
  out[t] = s[t / 32 * 32 + (7 - t % 32 < n - t / 32 * 32 ? 7 - t % 32 : 0)];
}

__global__ void uniform_branches(int* out, int mode) {
  __shared__ int s[64];
  int t = threadIdx.x, v = t;
  if (mode & 1) {
    s[t] = v;
    __syncthreads();
    v = s[63 - t];
    __syncthreads();
  } else {
    s[t] = v * 2;
    __syncthreads();
    v = s[(t + 1) % 64];
    __syncthreads();
  }
  for (int i = 0; i < mode; i++) {
    s[t] = v;
    __syncthreads();
    if (i == 2) {  // the whole block leaves together
      out[t] = s[t ^ 1] + 1000;
      return;
    }
    v = s[(t + i) % 64];
    __syncthreads();
  }
  out[t] = v;
}

// Each half of a warp stops at its own barrier; all barriers of a block are one barrier.
__global__ void divergent_barriers(int* out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t % 2 == 0) {
    s[t] = t + 1;
    __syncthreads();
  } else {
    s[t] = t + 2;
    __syncthreads();
  }
  out[t] = s[31 - t];
}

int main() {
  const int nf = 33, ni = 17, nc = 100, threads = 64;
  double out[threads], *d_out, want = 0;
  CHECK(cudaMalloc(&d_out, sizeof out));
  several<<<1, threads, nf * 12 + ni * 4 + nc>>>(nf, ni, nc, d_out);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  for (int i = 0; i < nf; i++) want += i * 2.25;
  for (int i = 0; i < ni; i++) want += i * 3;
  for (int i = 0; i < nc; i++) want += i % 50;
  int bad = 0;
  for (int t = 0; t < threads; t++) {
    int m = (t + 1) % 8;
    bad += out[t] != want + m * 0.5 + 'a' + m + 8 * (0 + 1 + 4 + 9 + 16 + 25 + 36 + 49);
  }
  int h[240], *d;
  CHECK(cudaMalloc(&d, sizeof h));
  cube<<<dim3(1, 1, 2), dim3(6, 5, 4)>>>(d);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 240; i++)
    bad += h[i] != 5 - i % 6 + 10 * (4 - i / 6 % 5) + 100 * (3 - i / 30 % 4) + 1000 * (i / 120);
  printf("after arrays: %d wrong\n", bad);
  early_exit<<<1, 128>>>(d, 100);
  CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  for (int t = 0; t < 100; t++) {
    int base = t / 32 * 32, from = base + (7 - t % 32 < 100 - base ? 7 - t % 32 : 0);
    // In the last warp only four threads are left, so some slots still hold their first value.
    int first = 2 * (99 - t), slot = from < 100 ? 2 * (99 - from) + 1 : 2 * from;
    bad += h[t] != (t % 32 > 7 ? first : slot);
  }
  printf("after early exits: %d wrong\n", bad);
  for (int mode = 0; mode < 5; mode++) {
    uniform_branches<<<1, 64>>>(d, mode);
    CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    int v[64], w[64];
    for (int t = 0; t < 64; t++) v[t] = mode & 1 ? 63 - t : ((t + 1) % 64) * 2;
    for (int i = 0; i < mode; i++) {
      for (int t = 0; t < 64; t++) w[t] = i == 2 ? v[t ^ 1] + 1000 : v[(t + i) % 64];
      for (int t = 0; t < 64; t++) v[t] = w[t];
      if (i == 2) break;
    }
    for (int t = 0; t < 64; t++) bad += h[t] != v[t];
  }
  printf("after uniform branches: %d wrong\n", bad);
  divergent_barriers<<<1, 32>>>(d);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  for (int t = 0; t < 32; t++) bad += h[t] != (31 - t) + ((31 - t) % 2 == 0 ? 1 : 2);
  printf("shared_arrays: %d wrong, %s\n", bad, bad ? "FAILED" : "PASSED");
  return bad != 0;
}

// C = alpha*A*B + beta*C, and D = (A*B)*C as two launches, PolyBench fashion.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

typedef float DATA_TYPE;
#define NI 96
#define NJ 112
#define NK 80
#define NL 64
#define DIM_X 32
#define DIM_Y 8

__global__ void gemm_kernel(int ni, int nj, int nk, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE* a, DATA_TYPE* b,
                            DATA_TYPE* c) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if ((i < ni) && (j < nj)) {
    c[i * nj + j] *= beta;
    for (int k = 0; k < nk; k++) c[i * nj + j] += alpha * a[i * nk + k] * b[k * nj + j];
  }
}

static std::vector<DATA_TYPE> init(int rows, int cols, int f) {
  std::vector<DATA_TYPE> m(rows * cols);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) m[i * cols + j] = ((DATA_TYPE)((i * f + j) % 97)) / 97;
  return m;
}

static DATA_TYPE* up(const std::vector<DATA_TYPE>& v) {
  DATA_TYPE* d;
  CHECK(cudaMalloc(&d, v.size() * sizeof(DATA_TYPE)));
  CHECK(cudaMemcpy(d, v.data(), v.size() * sizeof(DATA_TYPE), cudaMemcpyHostToDevice));
  return d;
}

static int compare(const char* name, DATA_TYPE* d, const std::vector<double>& want) {
  std::vector<DATA_TYPE> got(want.size());
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), d, got.size() * sizeof(DATA_TYPE), cudaMemcpyDeviceToHost));
  int bad = 0;
  for (size_t i = 0; i < want.size(); i++) bad += !(fabs(got[i] - want[i]) <= 1e-4 * fabs(want[i]) + 1e-4);
  printf("%s: [0] %.4f, %d wrong\n", name, got[0], bad);
  return bad;
}

static std::vector<double> ref(const std::vector<double>& a, const std::vector<double>& b, int n, int m, int k) {
  std::vector<double> c(n * m, 0.0);
  for (int i = 0; i < n; i++)
    for (int x = 0; x < k; x++)
      for (int j = 0; j < m; j++) c[i * m + j] += a[i * k + x] * b[x * m + j];
  return c;
}
static std::vector<double> wide(const std::vector<DATA_TYPE>& v) { return std::vector<double>(v.begin(), v.end()); }

int main() {
  auto A = init(NI, NK, 3), B = init(NK, NJ, 5), C = init(NI, NJ, 7), E = init(NJ, NL, 2);
  DATA_TYPE *a = up(A), *b = up(B), *c = up(C), *e = up(E), *tmp = up(std::vector<DATA_TYPE>(NI * NJ)),
            *d = up(std::vector<DATA_TYPE>(NI * NL));
  dim3 block(DIM_X, DIM_Y), grid((NJ + DIM_X - 1) / DIM_X, (NI + DIM_Y - 1) / DIM_Y),
      grid2((NL + DIM_X - 1) / DIM_X, (NI + DIM_Y - 1) / DIM_Y);
  const float alpha = 1.5f, beta = 1.2f;
  gemm_kernel<<<grid, block>>>(NI, NJ, NK, alpha, beta, a, b, c);
  gemm_kernel<<<grid, block>>>(NI, NJ, NK, 1.0f, 0.0f, a, b, tmp);
  gemm_kernel<<<grid2, block>>>(NI, NL, NJ, 1.0f, 0.0f, tmp, e, d);
  auto AB = ref(wide(A), wide(B), NI, NJ, NK);
  std::vector<double> G(AB.size());
  for (size_t i = 0; i < G.size(); i++) G[i] = alpha * AB[i] + (double)beta * C[i];
  int bad = compare("gemm", c, G) + compare("2mm", d, ref(AB, wide(E), NI, NL, NJ));
  printf("gemm_2mm: %s\n", bad ? "FAILED" : "PASSED");
  return bad != 0;
}

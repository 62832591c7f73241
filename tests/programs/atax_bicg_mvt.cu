// Matrix-vector kernels: y = A'(Ax), s = A'r with q = Ap, and x1 += A y1 with x2 += A' y2, in double precision.
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

#define NX 200
#define NY 170

__global__ void rows(const double* A, const double* x, double* y, int nx, int ny, bool add) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nx) {
    double sum = add ? y[i] : 0;
    for (int j = 0; j < ny; j++) sum += A[i * ny + j] * x[j];
    y[i] = sum;
  }
}
__global__ void columns(const double* A, const double* x, double* y, int nx, int ny, bool add) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < ny) {
    double sum = add ? y[j] : 0;
    for (int i = 0; i < nx; i++) sum += A[i * ny + j] * x[i];
    y[j] = sum;
  }
}

static std::vector<double> mul(const std::vector<double>& A, const std::vector<double>& x, bool transposed) {
  std::vector<double> y(transposed ? NY : NX, 0.0);
  for (int i = 0; i < NX; i++)
    for (int j = 0; j < NY; j++) (transposed ? y[j] : y[i]) += A[i * NY + j] * (transposed ? x[i] : x[j]);
  return y;
}
static double* up(const std::vector<double>& v) {
  double* d;
  CHECK(cudaMalloc(&d, v.size() * 8));
  CHECK(cudaMemcpy(d, v.data(), v.size() * 8, cudaMemcpyHostToDevice));
  return d;
}
static int compare(const char* name, const double* d, const std::vector<double>& want) {
  std::vector<double> got(want.size());
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got.data(), d, got.size() * 8, cudaMemcpyDeviceToHost));
  int bad = 0;
  for (size_t i = 0; i < want.size(); i++) bad += !(fabs(got[i] - want[i]) <= 1e-10 * (1 + fabs(want[i])));
  printf("%-8s [1] %.6f, %d wrong\n", name, got[1], bad);
  return bad;
}

int main() {
  std::vector<double> A(NX * NY), x(NY), r(NX), y1(NX, 2.0), y2(NY, 3.0);
  for (int i = 0; i < NX * NY; i++) A[i] = sin(i * 0.37);
  for (int j = 0; j < NY; j++) x[j] = j * M_PI / NY;
  for (int i = 0; i < NX; i++) r[i] = 1.0 + i / (double)NX;
  double *d_A = up(A), *d_x = up(x), *d_r = up(r), *d_t = up(std::vector<double>(NX)),
         *d_y = up(std::vector<double>(NY)), *d_q = up(std::vector<double>(NX)), *d_s = up(std::vector<double>(NY)),
         *d_y1 = up(y1), *d_y2 = up(y2);
  int bx = (NX + 255) / 256, by = (NY + 255) / 256;
  rows<<<bx, 256>>>(d_A, d_x, d_t, NX, NY, false);
  columns<<<by, 256>>>(d_A, d_t, d_y, NX, NY, false);
  rows<<<bx, 256>>>(d_A, d_x, d_q, NX, NY, false);
  columns<<<by, 256>>>(d_A, d_r, d_s, NX, NY, false);
  rows<<<bx, 256>>>(d_A, d_x, d_y1, NX, NY, true);
  columns<<<by, 256>>>(d_A, d_r, d_y2, NX, NY, true);
  std::vector<double> Ax = mul(A, x, false), Ar = mul(A, r, true), m1 = Ax, m2 = Ar;
  for (double& v : m1) v += 2.0;
  for (double& v : m2) v += 3.0;
  int bad = compare("atax", d_y, mul(A, Ax, true)) + compare("bicg q", d_q, Ax) + compare("bicg s", d_s, Ar) +
            compare("mvt x1", d_y1, m1) + compare("mvt x2", d_y2, m2);
  printf("atax_bicg_mvt: %s\n", bad ? "FAILED" : "PASSED");
  return bad != 0;
}

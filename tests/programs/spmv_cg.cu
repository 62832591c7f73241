// Sparse matrix-vector products (CSR scalar, CSR vector, ELL, COO with atomics) and conjugate gradients with them.
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

__global__ void csr_scalar(int n, const int* ptr, const int* col, const double* val, const double* x, double* y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n) {
    double sum = 0;
    for (int j = ptr[row]; j < ptr[row + 1]; j++) sum += val[j] * x[col[j]];
    y[row] = sum;
  }
}
__global__ void csr_vector(int n, const int* ptr, const int* col, const double* val, const double* x, double* y) {
  __shared__ volatile double vals[128];
  int thread = blockDim.x * blockIdx.x + threadIdx.x, warp = thread / 32, lane = thread & 31;
  if (warp < n) {
    vals[threadIdx.x] = 0;
    for (int j = ptr[warp] + lane; j < ptr[warp + 1]; j += 32) vals[threadIdx.x] += val[j] * x[col[j]];
    if (lane < 16) vals[threadIdx.x] += vals[threadIdx.x + 16];
    if (lane < 8) vals[threadIdx.x] += vals[threadIdx.x + 8];
    if (lane < 4) vals[threadIdx.x] += vals[threadIdx.x + 4];
    if (lane < 2) vals[threadIdx.x] += vals[threadIdx.x + 2];
    if (lane < 1) vals[threadIdx.x] += vals[threadIdx.x + 1];
    if (lane == 0) y[warp] = vals[threadIdx.x];
  }
}
__global__ void ell(int n, int width, const int* col, const double* val, const double* x, double* y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  double sum = 0;
  for (int k = 0; k < width; k++) {
    int c = col[k * n + row];
    if (c >= 0) sum += val[k * n + row] * x[c];
  }
  y[row] = sum;
}
__global__ void coo(int nnz, const int* row, const int* col, const double* val, const double* x, double* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nnz) atomicAdd(&y[row[i]], val[i] * x[col[i]]);
}
__global__ void dot(int n, const double* a, const double* b, double* out) {
  double sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += a[i] * b[i];
  for (int o = 16; o; o >>= 1) sum += __shfl_down_sync(~0u, sum, o);
  __shared__ double part[8];
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; w++) sum += part[w];
    *out = sum;
  }
}
__global__ void axpy(int n, double a, const double* x, double* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
}
__global__ void xpay(int n, const double* x, double a, double* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] + a * y[i];
}

template <class T>
static T* up(const std::vector<T>& v) {
  T* d;
  CHECK(cudaMalloc(&d, v.size() * sizeof(T)));
  CHECK(cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return d;
}

int main() {
  const int side = 24, n = side * side, width = 5;
  std::vector<int> ptr(1, 0), col, row, ecol(width * n, -1);
  std::vector<double> val, eval(width * n, 0.0), x(n), y(n), want(n, 0.0);
  for (int i = 0; i < n; i++) {
    x[i] = sin(i * 0.1);
    int r = i / side, c = i % side, k = 0;
    auto add = [&](int j, double v) {
      col.push_back(j), row.push_back(i), val.push_back(v);
      ecol[k * n + i] = j, eval[k++ * n + i] = v;
    };
    if (r > 0) add(i - side, -1);
    if (c > 0) add(i - 1, -1);
    add(i, 4.5);
    if (c < side - 1) add(i + 1, -1);
    if (r < side - 1) add(i + side, -1);
    ptr.push_back((int)col.size());
  }
  for (size_t j = 0; j < val.size(); j++) want[row[j]] += val[j] * x[col[j]];
  int *dptr = up(ptr), *dcol = up(col), *drow = up(row), *decol = up(ecol), bad = 0;
  double *dval = up(val), *deval = up(eval), *dx = up(x), *dy = up(y);
  for (int v = 0; v < 4; v++) {
    CHECK(cudaMemset(dy, 0, n * 8));
    if (v == 0) csr_scalar<<<(n + 127) / 128, 128>>>(n, dptr, dcol, dval, dx, dy);
    if (v == 1) csr_vector<<<(n * 32 + 127) / 128, 128>>>(n, dptr, dcol, dval, dx, dy);
    if (v == 2) ell<<<(n + 127) / 128, 128>>>(n, width, decol, deval, dx, dy);
    if (v == 3) coo<<<((int)val.size() + 127) / 128, 128>>>((int)val.size(), drow, dcol, dval, dx, dy);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(y.data(), dy, n * 8, cudaMemcpyDeviceToHost));
    int w = 0;
    for (int i = 0; i < n; i++) w += !(fabs(y[i] - want[i]) < 1e-12);
    const char* names[] = {"csr scalar", "csr vector", "ell", "coo"};
    printf("%-10s %d wrong\n", names[v], w);
    bad += w;
  }
  // Solve A z = want; the answer is x.
  std::vector<double> zero(n, 0.0);
  double *z = up(zero), *r = up(want), *p = up(want), *q = up(zero), *d_s, rr, pq, first;
  CHECK(cudaMalloc(&d_s, 8));
  auto product = [&](double* a, double* b) {
    double h;
    dot<<<1, 256>>>(n, a, b, d_s);
    CHECK(cudaMemcpy(&h, d_s, 8, cudaMemcpyDeviceToHost));
    return h;
  };
  first = rr = product(r, r);
  int it = 0;
  for (; it < 500 && rr > 1e-24 * first; it++) {
    csr_scalar<<<(n + 127) / 128, 128>>>(n, dptr, dcol, dval, p, q);
    pq = product(p, q);
    axpy<<<4, 128>>>(n, rr / pq, p, z);
    axpy<<<4, 128>>>(n, -rr / pq, q, r);
    double next = product(r, r);
    xpay<<<4, 128>>>(n, r, next / rr, p);
    rr = next;
  }
  CHECK(cudaMemcpy(y.data(), z, n * 8, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) bad += !(fabs(y[i] - x[i]) < 1e-9);
  printf("spmv_cg: converged %s, %s\n", it < 100 ? "quickly" : "slowly", bad ? "FAILED" : "PASSED");
  return bad != 0;
}

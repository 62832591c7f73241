// build: -lcusolverMg
// cusolverMg: matrices dealt out to devices by columns. Factorisations, inverses, eigenvalues, parts that begin inside of a
// matrix, what is refused. One device may stand for several.
#include <cusolverMg.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define REQUIRE(holds)                                            \
  do {                                                            \
    if (!(holds)) {                                               \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #holds);     \
      std::exit(1);                                               \
    }                                                             \
  } while (0)
#define CUDA(call) REQUIRE((call) == cudaSuccess)
#define SOLVER(call) REQUIRE((call) == CUSOLVER_STATUS_SUCCESS)

static const int kDevices = 3;
static cusolverMgHandle_t handle;
static cudaLibMgGrid_t grid;

// A matrix of the host's and its tiles on the devices.
template <class T>
struct Dealt {
  int rows, columns, tile;
  std::vector<T*> places;
  cudaLibMgMatrixDesc_t descriptor = nullptr;
  Dealt(int rows, int columns, int tile, const std::vector<T>& from) : rows(rows), columns(columns), tile(tile) {
    const int rounds = (columns + tile * kDevices - 1) / (tile * kDevices);
    for (int d = 0; d < kDevices; ++d) {
      places.push_back(nullptr);
      CUDA(cudaMalloc(&places.back(), sizeof(T) * rows * rounds * tile));
    }
    if (sizeof(T) == sizeof(double)) SOLVER(cusolverMgCreateMatrixDesc(&descriptor, rows, columns, rows, tile, CUDA_R_64F, grid));
    for (int j = 0; j < columns && !from.empty(); ++j)
      CUDA(cudaMemcpy(column(j), from.data() + size_t(j) * rows, rows * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Dealt() {
    for (T* p : places) cudaFree(p);
    cusolverMgDestroyMatrixDesc(descriptor);
  }
  T* column(int j) { return places[j / tile % kDevices] + size_t(j / tile / kDevices * tile + j % tile) * rows; }
  std::vector<T> get() {
    std::vector<T> out(size_t(rows) * columns);
    for (int j = 0; j < columns; ++j) CUDA(cudaMemcpy(out.data() + size_t(j) * rows, column(j), rows * sizeof(T), cudaMemcpyDeviceToHost));
    return out;
  }
  void** all() { return reinterpret_cast<void**>(places.data()); }
};

static std::vector<double> numbers(size_t n) {
  static unsigned seed = 11;
  std::vector<double> out(n);
  for (double& x : out) seed = seed * 1664525u + 1013904223u, x = (seed >> 8) / double(1 << 24) - 0.5;
  return out;
}
static std::vector<double> times(const std::vector<double>& a, const std::vector<double>& b, int m, int n, int k) {
  std::vector<double> out(size_t(m) * n);
  for (int j = 0; j < n; ++j)
    for (int l = 0; l < k; ++l)
      for (int i = 0; i < m; ++i) out[j * m + i] += a[l * m + i] * b[j * k + l];
  return out;
}
static double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = a.size() == b.size() ? 0 : 1e9;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) most = std::fmax(most, std::fabs(a[i] - b[i]));
  return most;
}
static std::vector<double> positive(int n) {
  const std::vector<double> a = numbers(n * n);
  std::vector<double> out(n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < n; ++k) out[j * n + i] += a[k * n + i] * a[k * n + j];
      if (i == j) out[j * n + i] += 1;
    }
  return out;
}

int main() {
  const int n = 23, right = 5;
  int devices[kDevices] = {0, 0, 0}, info = -1;
  int64_t size = 0;
  SOLVER(cusolverMgCreate(&handle));
  SOLVER(cusolverMgDeviceSelect(handle, kDevices, devices));
  SOLVER(cusolverMgCreateDeviceGrid(&grid, 1, kDevices, devices, CUDALIBMG_GRID_MAPPING_COL_MAJOR));

  {  // LU, with a right side in tiles of another width
    const std::vector<double> a = numbers(n * n), want = numbers(n * right);
    Dealt<double> A(n, n, 4, a), B(n, right, 2, times(a, want, n, right, n));
    Dealt<int> pivots(1, n, 4, {});
    SOLVER(cusolverMgGetrf_bufferSize(handle, n, n, A.all(), 1, 1, A.descriptor, pivots.places.data(), CUDA_R_64F, &size));
    SOLVER(cusolverMgGetrf(handle, n, n, A.all(), 1, 1, A.descriptor, pivots.places.data(), CUDA_R_64F, nullptr, size, &info));
    REQUIRE(info == 0);
    for (const int row : pivots.get()) REQUIRE(row >= 1 && row <= n);
    SOLVER(cusolverMgGetrs(handle, CUBLAS_OP_N, n, right, A.all(), 1, 1, A.descriptor, pivots.places.data(), B.all(), 1, 1, B.descriptor,
                           CUDA_R_64F, nullptr, size, &info));
    REQUIRE(info == 0 && distance(B.get(), want) < 1e-10);
    REQUIRE(cusolverMgGetrs(handle, CUBLAS_OP_T, n, right, A.all(), 1, 1, A.descriptor, pivots.places.data(), B.all(), 1, 1, B.descriptor,
                            CUDA_R_64F, nullptr, size, &info) == CUSOLVER_STATUS_NOT_SUPPORTED);
    REQUIRE(cusolverMgGetrf(handle, n, n, A.all(), 2, 1, A.descriptor, pivots.places.data(), CUDA_R_64F, nullptr, size, &info) ==
            CUSOLVER_STATUS_INVALID_VALUE);
  }
  {  // Cholesky, and the inverse from it
    const std::vector<double> a = positive(n), want = numbers(n * right);
    Dealt<double> A(n, n, 5, a), B(n, right, 5, times(a, want, n, right, n));
    SOLVER(cusolverMgPotrf(handle, CUBLAS_FILL_MODE_LOWER, n, A.all(), 1, 1, A.descriptor, CUDA_R_64F, nullptr, size, &info));
    SOLVER(cusolverMgPotrs(handle, CUBLAS_FILL_MODE_LOWER, n, right, A.all(), 1, 1, A.descriptor, B.all(), 1, 1, B.descriptor, CUDA_R_64F,
                           nullptr, size, &info));
    REQUIRE(info == 0 && distance(B.get(), want) < 1e-10);
    SOLVER(cusolverMgPotri(handle, CUBLAS_FILL_MODE_LOWER, n, A.all(), 1, 1, A.descriptor, CUDA_R_64F, nullptr, size, &info));
    std::vector<double> inverse = A.get(), one(n * n);
    for (int j = 0; j < n; ++j) {
      one[j * n + j] = 1;
      for (int i = 0; i < j; ++i) inverse[j * n + i] = inverse[i * n + j];
    }
    REQUIRE(distance(times(a, inverse, n, n, n), one) < 1e-10);
    REQUIRE(cusolverMgPotrf(handle, CUBLAS_FILL_MODE_UPPER, n, A.all(), 1, 1, A.descriptor, CUDA_R_64F, nullptr, size, &info) ==
            CUSOLVER_STATUS_NOT_SUPPORTED);
  }
  {  // Eigenvalues of a part in the middle, beside which nothing changes
    const int edge = 3, part = n - 2 * edge;
    const std::vector<double> whole = positive(n);
    Dealt<double> A(n, n, 4, whole);
    std::vector<double> w(part), inner(part * part), vectors(part * part);
    SOLVER(cusolverMgSyevd_bufferSize(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, part, A.all(), edge + 1, edge + 1, A.descriptor,
                                      w.data(), CUDA_R_64F, CUDA_R_64F, &size));
    SOLVER(cusolverMgSyevd(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, part, A.all(), edge + 1, edge + 1, A.descriptor, w.data(),
                           CUDA_R_64F, CUDA_R_64F, nullptr, size, &info));
    REQUIRE(info == 0);
    const std::vector<double> after = A.get();
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        const bool inside = i >= edge && j >= edge && i < edge + part && j < edge + part;
        if (!inside) REQUIRE(after[j * n + i] == whole[j * n + i]);
        if (inside) inner[(j - edge) * part + i - edge] = whole[j * n + i], vectors[(j - edge) * part + i - edge] = after[j * n + i];
      }
    std::vector<double> scaled = vectors;
    for (int i = 0; i < part * part; ++i) scaled[i] *= w[i / part];
    REQUIRE(distance(times(inner, vectors, part, part, part), scaled) < 1e-10 && w[0] <= w[1]);
  }
  cudaLibMgGrid_t none;
  cudaLibMgMatrixDesc_t descriptor;
  REQUIRE(cusolverMgCreateDeviceGrid(&none, 2, 2, devices, CUDALIBMG_GRID_MAPPING_COL_MAJOR) == CUSOLVER_STATUS_NOT_SUPPORTED);
  REQUIRE(cusolverMgCreateMatrixDesc(&descriptor, n, n, n / 2, 4, CUDA_R_64F, grid) == CUSOLVER_STATUS_NOT_SUPPORTED);
  SOLVER(cusolverMgDestroyGrid(grid));
  SOLVER(cusolverMgDestroy(handle));
  std::puts("PASSED");
}

// Escape-time fractals: integer iteration counts compared with the host, plus a checksum and a thumbnail in text.
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

struct cuComplex {
  float r, i;
  __host__ __device__ cuComplex(float a, float b) : r(a), i(b) {}
  __host__ __device__ float magnitude2(void) { return r * r + i * i; }
  __host__ __device__ cuComplex operator*(const cuComplex& a) {
    return cuComplex(r * a.r - i * a.i, i * a.r + r * a.i);
  }
  __host__ __device__ cuComplex operator+(const cuComplex& a) { return cuComplex(r + a.r, i + a.i); }
};

// Double precision and no fused multiply-add, so host and device must count alike.
__host__ __device__ int mandel(double cr, double ci, int limit) {
  double zr = 0, zi = 0;
  int k = 0;
  for (; k < limit; k++) {
#ifdef __CUDA_ARCH__
    double rr = __dmul_rn(zr, zr), ii = __dmul_rn(zi, zi), ri = __dmul_rn(zr, zi);
    if (__dadd_rn(rr, ii) > 4.0) break;
    zr = __dadd_rn(__dsub_rn(rr, ii), cr);
    zi = __dadd_rn(__dmul_rn(2.0, ri), ci);
#else
    volatile double rr = zr * zr, ii = zi * zi, ri = zr * zi;
    if (rr + ii > 4.0) break;
    zr = (rr - ii) + cr;
    zi = 2.0 * ri + ci;
#endif
  }
  return k;
}

__global__ void mandelbrot(int* out, int w, int h, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) out[y * w + x] = mandel(-2.2 + 3.2 * x / w, -1.2 + 2.4 * y / h, limit);
}

__device__ int julia(int x, int y, int dim) {
  float jx = 1.5f * (float)(dim / 2 - x) / (dim / 2), jy = 1.5f * (float)(dim / 2 - y) / (dim / 2);
  cuComplex c(-0.8f, 0.156f), a(jx, jy);
  for (int i = 0; i < 100; i++) {
    a = a * a + c;
    if (a.magnitude2() > 1000) return 0;
  }
  return 1;
}

__global__ void kernel(unsigned char* ptr, int dim) {
  int x = blockIdx.x, y = blockIdx.y, offset = x + y * gridDim.x;
  int juliaValue = julia(x, y, dim);
  ptr[offset * 4 + 0] = 255 * juliaValue;
  ptr[offset * 4 + 1] = 0;
  ptr[offset * 4 + 2] = 0;
  ptr[offset * 4 + 3] = 255;
}

int main() {
  const int w = 160, h = 120, limit = 64, dim = 100;
  int* d_out;
  std::vector<int> out(w * h);
  CHECK(cudaMalloc(&d_out, w * h * sizeof(int)));
  mandelbrot<<<dim3((w + 15) / 16, (h + 7) / 8), dim3(16, 8)>>>(d_out, w, h, limit);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), d_out, w * h * sizeof(int), cudaMemcpyDeviceToHost));
  int bad = 0, inside = 0;
  long sum = 0;
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      // The pixel coordinates may round differently; allow a boundary pixel here and there.
      bad += out[y * w + x] != mandel(-2.2 + 3.2 * x / w, -1.2 + 2.4 * y / h, limit);
      inside += out[y * w + x] == limit;
      sum += out[y * w + x];
    }
  for (int y = 5; y < h; y += 10) {
    for (int x = 0; x < w; x += 4) putchar(out[y * w + x] == limit ? '#' : out[y * w + x] > 8 ? '+' : '.');
    putchar('\n');
  }
  unsigned char* d_bits;
  std::vector<unsigned char> bits(dim * dim * 4);
  CHECK(cudaMalloc(&d_bits, bits.size()));
  kernel<<<dim3(dim, dim), 1>>>(d_bits, dim);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(bits.data(), d_bits, bits.size(), cudaMemcpyDeviceToHost));
  int set = 0, asymmetric = 0;
  for (int y = 1; y < dim; y++)
    for (int x = 1; x < dim; x++) {  // the set is symmetric about the origin
      set += bits[(y * dim + x) * 4] == 255;
      asymmetric += bits[(y * dim + x) * 4] != bits[((dim - y) * dim + dim - x) * 4];
      bad += bits[(y * dim + x) * 4 + 3] != 255 && 1000;
    }
  bool ok = bad < 20 && inside > 1000 && inside < w * h / 2 && set > 50 && set < 5000 && asymmetric < 20 && sum > 0;
  printf("mandelbrot_julia: %d inside, %d in the Julia set, %s\n", inside, set, ok ? "PASSED" : "FAILED");
  return !ok;
}

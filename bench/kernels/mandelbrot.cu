// The Mandelbrot set: neighbouring threads leave the loop at different times.
#include "cpu/work.h"
#include "reference/reference.h"

__global__ void mandelbrot(int* iterations, int width, int height, float left, float top, float step, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float cr = left + step * x, ci = top + step * y;
  float zr = 0, zi = 0;
  int count = 0;
  while (count < limit && zr * zr + zi * zi <= 4.0f) {
    float next = zr * zr - zi * zi + cr;
    zi = 2.0f * zr * zi + ci;
    zr = next;
    ++count;
  }
  iterations[y * width + x] = count;
}

namespace bench {
namespace {

struct Mandelbrot : Work {
  explicit Mandelbrot(bool quick) : n(quick ? 256 : 2048), result(n * n), d_result(n * n) {}
  void ours() override {
    const int side = static_cast<int>(n);
    mandelbrot<<<dim3(blocks_for(n, 32), blocks_for(n, 8)), dim3(32, 8)>>>(d_result.data(), side, side, -2.0f, -1.25f,
                                                                           2.5f / side, 256);
  }
  void reference() override {
    const int side = static_cast<int>(n);
    ::reference::mandelbrot(result.data(), side, side, -2.0f, -1.25f, 2.5f / side, 256);
  }
  // Near the border of the set, a rounding decides: a few points of a million may differ.
  std::string difference() override {
    std::vector<int> ours = d_result.download();
    size_t different = 0;
    for (size_t k = 0; k < ours.size(); ++k) different += ours[k] != result[k];
    return different * 200 <= ours.size() ? "" : std::to_string(different) + " points differ";
  }

  size_t n;
  HostArray<int> result;
  DeviceArray<int> d_result;
};

}  // namespace

std::unique_ptr<Work> make_mandelbrot(bool quick) { return std::make_unique<Mandelbrot>(quick); }

}  // namespace bench

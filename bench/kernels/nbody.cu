// Accelerations of n bodies: each block brings tiles of bodies into shared memory.
#include "cpu/work.h"
#include "reference/reference.h"

#define TILE 256

__global__ void nbody(const float4* bodies, float4* accelerations, int n, float softening) {
  __shared__ float4 tile[TILE];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = bodies[i];
  float3 sum = {0, 0, 0};
  for (int begin = 0; begin < n; begin += TILE) {
    tile[threadIdx.x] = bodies[begin + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < TILE; ++j) {
      float4 other = tile[j];
      float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      float square = dx * dx + dy * dy + dz * dz + softening;
      float inverse = rsqrtf(square);
      float pull = other.w * inverse * inverse * inverse;
      sum.x += dx * pull;
      sum.y += dy * pull;
      sum.z += dz * pull;
    }
    __syncthreads();
  }
  accelerations[i] = make_float4(sum.x, sum.y, sum.z, 0);
}

namespace bench {
namespace {

constexpr float kSoftening = 1e-3f;

struct NBody : Work {
  explicit NBody(bool quick)
      : n(quick ? 2048 : 16384), bodies(n), x(n), y(n), z(n), mass(n), ax(n), ay(n), az(n), d_bodies(n), d_result(n) {
    for (size_t k = 0; k < n; ++k) {
      x[k] = unit(4 * k), y[k] = unit(4 * k + 1), z[k] = unit(4 * k + 2), mass[k] = unit(4 * k + 3);
      bodies[k] = make_float4(x[k], y[k], z[k], mass[k]);
    }
    d_bodies.upload(bodies);
  }
  void ours() override { nbody<<<n / TILE, TILE>>>(d_bodies.data(), d_result.data(), static_cast<int>(n), kSoftening); }
  void reference() override {
    ::reference::nbody({x.data(), y.data(), z.data(), mass.data()}, static_cast<int>(n), kSoftening, ax.data(),
                       ay.data(), az.data());
  }
  std::string difference() override {
    std::vector<float4> result = d_result.download();
    std::vector<float> one(n);
    std::string text;
    // Near bodies pull with up to mass / softening; sums of 16k such terms in two orders.
    for (auto [member, expected] : {std::pair{&float4::x, &ax}, {&float4::y, &ay}, {&float4::z, &az}}) {
      for (size_t k = 0; k < n; ++k) one[k] = result[k].*member;
      if (text.empty()) text = compare_closely(one, expected->data(), n, 2e-3, n * 0.1);
    }
    return text;
  }

  size_t n;
  HostArray<float4> bodies;
  HostArray<float> x, y, z, mass, ax, ay, az;
  DeviceArray<float4> d_bodies, d_result;
};

}  // namespace

std::unique_ptr<Work> make_nbody(bool quick) { return std::make_unique<NBody>(quick); }

}  // namespace bench

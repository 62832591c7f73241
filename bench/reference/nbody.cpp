// All pairs; the inner loop runs over bodies in separate arrays, so it vectorises.
#include <cmath>

#include "reference/reference.h"

namespace reference {

void nbody(const Bodies& bodies, int n, float softening, float* ax, float* ay, float* az) {
  const float* __restrict x = bodies.x;
  const float* __restrict y = bodies.y;
  const float* __restrict z = bodies.z;
  const float* __restrict mass = bodies.mass;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; ++i) {
    const float xi = x[i], yi = y[i], zi = z[i];
    float sum_x = 0, sum_y = 0, sum_z = 0;
#pragma omp simd reduction(+ : sum_x, sum_y, sum_z)
    for (int j = 0; j < n; ++j) {
      const float dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
      const float square = dx * dx + dy * dy + dz * dz + softening;
      const float inverse = 1.0f / std::sqrt(square);
      const float pull = mass[j] * inverse * inverse * inverse;
      sum_x += dx * pull;
      sum_y += dy * pull;
      sum_z += dz * pull;
    }
    ax[i] = sum_x;
    ay[i] = sum_y;
    az[i] = sum_z;
  }
}

}  // namespace reference

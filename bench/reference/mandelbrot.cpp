// Sixteen points at a time, until the last of them has escaped: the loop over points vectorises, which one loop for
// each point would not. Rows differ in cost, so threads take them one by one.
#include "reference/by_hand.h"
#include "reference/reference.h"

namespace reference {

void mandelbrot(int* iterations, int width, int height, float left, float top, float step, int limit) {
  if (by_hand::wanted) return by_hand::mandelbrot(iterations, width, height, left, top, step, limit);
  constexpr int kLanes = 16;
#pragma omp parallel for schedule(dynamic, 1)
  for (int row = 0; row < height; ++row) {
    const float ci = top + step * row;
    for (int first = 0; first < width; first += kLanes) {
      float cr[kLanes], zr[kLanes] = {}, zi[kLanes] = {};
      int count[kLanes] = {};
      for (int k = 0; k < kLanes; ++k) cr[k] = left + step * (first + k);
      int inside = kLanes;
      for (int round = 0; round < limit && inside; ++round) {
        inside = 0;
#pragma omp simd reduction(+ : inside)
        for (int k = 0; k < kLanes; ++k) {
          const float rr = zr[k] * zr[k], ii = zi[k] * zi[k];
          const int stays = rr + ii <= 4.0f;
          zi[k] = 2.0f * zr[k] * zi[k] + ci;
          zr[k] = rr - ii + cr[k];
          count[k] += stays;
          inside += stays;
        }
      }
      for (int k = 0; k < kLanes && first + k < width; ++k) iterations[row * width + first + k] = count[k];
    }
  }
}

}  // namespace reference

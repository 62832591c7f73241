// Some of the jobs as one writes them for AVX-512 by hand, for `bench cpu --by-hand`: how far compiled kernels are from that.
#pragma once

#include <cstddef>

namespace reference::by_hand {

inline bool wanted = false;  // the functions of reference.h that have a twin here become it
bool possible();             // on this machine

void vector_add(const float* a, const float* b, float* c, size_t n);
void saxpy(float factor, const float* x, float* y, size_t n);
float sum(const float* data, size_t n);
void mandelbrot(int* iterations, int width, int height, float left, float top, float step, int limit);

}  // namespace reference::by_hand

// Small constructors for the structs of 2D and 3D copies.
#ifndef WARPBEAM_DRIVER_FUNCTIONS_H
#define WARPBEAM_DRIVER_FUNCTIONS_H

#include "host_defines.h"
#include "driver_types.h"

static inline struct cudaPitchedPtr make_cudaPitchedPtr(void* d, size_t p, size_t xsz, size_t ysz) {
  struct cudaPitchedPtr s;
  s.ptr = d;
  s.pitch = p;
  s.xsize = xsz;
  s.ysize = ysz;
  return s;
}

static inline struct cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
  struct cudaPos s;
  s.x = x;
  s.y = y;
  s.z = z;
  return s;
}

static inline struct cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) {
  struct cudaExtent s;
  s.width = w;
  s.height = h;
  s.depth = d;
  return s;
}

#endif

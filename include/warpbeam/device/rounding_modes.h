// Arithmetic and conversions of doubles with the rounding mode as an argument: dadd, double2int …
#ifndef WARPBEAM_DEVICE_ROUNDING_MODES_H
#define WARPBEAM_DEVICE_ROUNDING_MODES_H

#include "../../device_types.h"
#include "rounding.h"

#define WB_BY_MODE(mode, f, ...)                       \
  ((mode) == cudaRoundZero     ? f##_rz(__VA_ARGS__)   \
   : (mode) == cudaRoundPosInf ? f##_ru(__VA_ARGS__)   \
   : (mode) == cudaRoundMinInf ? f##_rd(__VA_ARGS__)   \
                               : f##_rn(__VA_ARGS__))
WB_DEVICE double fma(double x, double y, double z, cudaRoundMode mode) { return WB_BY_MODE(mode, __fma, x, y, z); }
WB_DEVICE double dmul(double x, double y, cudaRoundMode mode = cudaRoundNearest) { return WB_BY_MODE(mode, __dmul, x, y); }
WB_DEVICE double dadd(double x, double y, cudaRoundMode mode = cudaRoundNearest) { return WB_BY_MODE(mode, __dadd, x, y); }
WB_DEVICE double dsub(double x, double y, cudaRoundMode mode = cudaRoundNearest) { return WB_BY_MODE(mode, __dsub, x, y); }
WB_DEVICE int double2int(double x, cudaRoundMode mode = cudaRoundZero) { return WB_BY_MODE(mode, __double2int, x); }
WB_DEVICE unsigned int double2uint(double x, cudaRoundMode mode = cudaRoundZero) { return WB_BY_MODE(mode, __double2uint, x); }
WB_DEVICE long long double2ll(double x, cudaRoundMode mode = cudaRoundZero) { return WB_BY_MODE(mode, __double2ll, x); }
WB_DEVICE unsigned long long double2ull(double x, cudaRoundMode mode = cudaRoundZero) { return WB_BY_MODE(mode, __double2ull, x); }
WB_DEVICE double ll2double(long long x, cudaRoundMode mode = cudaRoundNearest) { return WB_BY_MODE(mode, __ll2double, x); }
WB_DEVICE double ull2double(unsigned long long x, cudaRoundMode mode = cudaRoundNearest) { return WB_BY_MODE(mode, __ull2double, x); }
#undef WB_BY_MODE

// Every one of these is a double.
WB_DEVICE double int2double(int x, cudaRoundMode = cudaRoundNearest) { return (double)x; }
WB_DEVICE double uint2double(unsigned int x, cudaRoundMode = cudaRoundNearest) { return (double)x; }
WB_DEVICE double float2double(float x, cudaRoundMode = cudaRoundNearest) { return (double)x; }

#endif

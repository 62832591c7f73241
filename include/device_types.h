// Rounding modes as a type, which a few old sources name.
#ifndef WARPBEAM_DEVICE_TYPES_H
#define WARPBEAM_DEVICE_TYPES_H

enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };

#endif

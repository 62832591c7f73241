// cuSOLVER for matrices whose columns lie on several devices. The functions are listed in warpbeam/cusolver/several_gpus.inc.
#ifndef WARPBEAM_CUSOLVERMG_H
#define WARPBEAM_CUSOLVERMG_H
#define CUSOLVERMG_H_

#include <stdint.h>

#include "cublas_api.h"
#include "cusolverDn.h"
#include "library_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cusolverMgContext* cusolverMgHandle_t;
typedef enum { CUDALIBMG_GRID_MAPPING_ROW_MAJOR = 1, CUDALIBMG_GRID_MAPPING_COL_MAJOR = 0 } cusolverMgGridMapping_t;
typedef void* cudaLibMgGrid_t;
typedef void* cudaLibMgMatrixDesc_t;

cusolverStatus_t cusolverMgCreate(cusolverMgHandle_t* handle);
cusolverStatus_t cusolverMgDestroy(cusolverMgHandle_t handle);
cusolverStatus_t cusolverMgDeviceSelect(cusolverMgHandle_t handle, int nbDevices, int deviceId[]);
cusolverStatus_t cusolverMgCreateDeviceGrid(cudaLibMgGrid_t* grid, int32_t numRowDevices, int32_t numColDevices,
                                            const int32_t deviceId[], cusolverMgGridMapping_t mapping);
cusolverStatus_t cusolverMgDestroyGrid(cudaLibMgGrid_t grid);
cusolverStatus_t cusolverMgCreateMatrixDesc(cudaLibMgMatrixDesc_t* desc, int64_t numRows, int64_t numCols, int64_t rowBlockSize,
                                            int64_t colBlockSize, cudaDataType dataType, const cudaLibMgGrid_t grid);
cusolverStatus_t cusolverMgDestroyMatrixDesc(cudaLibMgMatrixDesc_t desc);

#define WB_CUSOLVER(name, parameters, ...) cusolverStatus_t cusolver##name parameters;
#include "warpbeam/cusolver/several_gpus.inc"
#undef WB_CUSOLVER

#ifdef __cplusplus
}
#endif
#endif

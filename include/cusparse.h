// cuSPARSE: sparse matrices (libcusparse). The functions are listed in warpbeam/cusparse/.
#ifndef WARPBEAM_CUSPARSE_H
#define WARPBEAM_CUSPARSE_H
#define CUSPARSE_H_

#include <stdint.h>
#include <stdio.h>

#include "cuComplex.h"
#include "cuda_runtime_api.h"
#include "library_types.h"
#ifdef __cplusplus
#include "cuda_fp16.h"
#endif

#ifndef CUSPARSEAPI
#define CUSPARSEAPI
#endif

#define CUSPARSE_VER_MAJOR 12
#define CUSPARSE_VER_MINOR 6
#define CUSPARSE_VER_PATCH 3
#define CUSPARSE_VER_BUILD 3
#define CUSPARSE_VERSION (CUSPARSE_VER_MAJOR * 1000 + CUSPARSE_VER_MINOR * 100 + CUSPARSE_VER_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  CUSPARSE_STATUS_SUCCESS = 0, CUSPARSE_STATUS_NOT_INITIALIZED = 1, CUSPARSE_STATUS_ALLOC_FAILED = 2,
  CUSPARSE_STATUS_INVALID_VALUE = 3, CUSPARSE_STATUS_ARCH_MISMATCH = 4, CUSPARSE_STATUS_MAPPING_ERROR = 5,
  CUSPARSE_STATUS_EXECUTION_FAILED = 6, CUSPARSE_STATUS_INTERNAL_ERROR = 7,
  CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8, CUSPARSE_STATUS_ZERO_PIVOT = 9, CUSPARSE_STATUS_NOT_SUPPORTED = 10,
  CUSPARSE_STATUS_INSUFFICIENT_RESOURCES = 11
} cusparseStatus_t;

typedef enum { CUSPARSE_POINTER_MODE_HOST = 0, CUSPARSE_POINTER_MODE_DEVICE = 1 } cusparsePointerMode_t;
typedef enum { CUSPARSE_ACTION_SYMBOLIC = 0, CUSPARSE_ACTION_NUMERIC = 1 } cusparseAction_t;
typedef enum {
  CUSPARSE_MATRIX_TYPE_GENERAL = 0, CUSPARSE_MATRIX_TYPE_SYMMETRIC = 1, CUSPARSE_MATRIX_TYPE_HERMITIAN = 2,
  CUSPARSE_MATRIX_TYPE_TRIANGULAR = 3
} cusparseMatrixType_t;
typedef enum { CUSPARSE_FILL_MODE_LOWER = 0, CUSPARSE_FILL_MODE_UPPER = 1 } cusparseFillMode_t;
typedef enum { CUSPARSE_DIAG_TYPE_NON_UNIT = 0, CUSPARSE_DIAG_TYPE_UNIT = 1 } cusparseDiagType_t;
typedef enum { CUSPARSE_INDEX_BASE_ZERO = 0, CUSPARSE_INDEX_BASE_ONE = 1 } cusparseIndexBase_t;
typedef enum {
  CUSPARSE_OPERATION_NON_TRANSPOSE = 0, CUSPARSE_OPERATION_TRANSPOSE = 1, CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE = 2
} cusparseOperation_t;
typedef enum { CUSPARSE_DIRECTION_ROW = 0, CUSPARSE_DIRECTION_COLUMN = 1 } cusparseDirection_t;
typedef enum { CUSPARSE_SOLVE_POLICY_NO_LEVEL = 0, CUSPARSE_SOLVE_POLICY_USE_LEVEL = 1 } cusparseSolvePolicy_t;
typedef enum { CUSPARSE_CSR2CSC_ALG_DEFAULT = 1, CUSPARSE_CSR2CSC_ALG1 = 1, CUSPARSE_CSR2CSC_ALG2 = 2 } cusparseCsr2CscAlg_t;
typedef enum {
  CUSPARSE_FORMAT_CSR = 1, CUSPARSE_FORMAT_CSC = 2, CUSPARSE_FORMAT_COO = 3, CUSPARSE_FORMAT_BLOCKED_ELL = 5,
  CUSPARSE_FORMAT_BSR = 6, CUSPARSE_FORMAT_SLICED_ELLPACK = 7
} cusparseFormat_t;
typedef enum { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 } cusparseOrder_t;
typedef enum { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I = 2, CUSPARSE_INDEX_64I = 3 } cusparseIndexType_t;
typedef enum { CUSPARSE_SPMAT_FILL_MODE, CUSPARSE_SPMAT_DIAG_TYPE } cusparseSpMatAttribute_t;
typedef enum { CUSPARSE_SPARSETODENSE_ALG_DEFAULT = 0 } cusparseSparseToDenseAlg_t;
typedef enum { CUSPARSE_DENSETOSPARSE_ALG_DEFAULT = 0 } cusparseDenseToSparseAlg_t;
typedef enum {
  CUSPARSE_SPMV_ALG_DEFAULT = 0, CUSPARSE_SPMV_CSR_ALG1 = 2, CUSPARSE_SPMV_CSR_ALG2 = 3, CUSPARSE_SPMV_COO_ALG1 = 1,
  CUSPARSE_SPMV_COO_ALG2 = 4, CUSPARSE_SPMV_SELL_ALG1 = 5, CUSPARSE_SPMV_BSR_ALG1 = 6,
  // of toolkits before 12
  CUSPARSE_MV_ALG_DEFAULT = 0, CUSPARSE_COOMV_ALG = 1, CUSPARSE_CSRMV_ALG1 = 2, CUSPARSE_CSRMV_ALG2 = 3
} cusparseSpMVAlg_t;
typedef enum { CUSPARSE_SPSV_ALG_DEFAULT = 0 } cusparseSpSVAlg_t;
typedef enum { CUSPARSE_SPSV_UPDATE_GENERAL = 0, CUSPARSE_SPSV_UPDATE_DIAGONAL = 1 } cusparseSpSVUpdate_t;
typedef enum { CUSPARSE_SPSM_ALG_DEFAULT = 0 } cusparseSpSMAlg_t;
typedef enum { CUSPARSE_SPSM_UPDATE_GENERAL = 0, CUSPARSE_SPSM_UPDATE_DIAGONAL = 1 } cusparseSpSMUpdate_t;
typedef enum {
  CUSPARSE_SPMM_ALG_DEFAULT = 0, CUSPARSE_SPMM_COO_ALG1 = 1, CUSPARSE_SPMM_COO_ALG2 = 2, CUSPARSE_SPMM_COO_ALG3 = 3,
  CUSPARSE_SPMM_COO_ALG4 = 5, CUSPARSE_SPMM_CSR_ALG1 = 4, CUSPARSE_SPMM_CSR_ALG2 = 6, CUSPARSE_SPMM_CSR_ALG3 = 12,
  CUSPARSE_SPMM_BLOCKED_ELL_ALG1 = 13, CUSPARSE_SPMM_BSR_ALG1 = 14
} cusparseSpMMAlg_t;
typedef enum {
  CUSPARSE_SPGEMM_DEFAULT = 0, CUSPARSE_SPGEMM_CSR_ALG_DETERMINITIC = 1, CUSPARSE_SPGEMM_CSR_ALG_NONDETERMINITIC = 2,
  CUSPARSE_SPGEMM_ALG1 = 3, CUSPARSE_SPGEMM_ALG2 = 4, CUSPARSE_SPGEMM_ALG3 = 5
} cusparseSpGEMMAlg_t;
typedef enum { CUSPARSE_SPMM_OP_ALG_DEFAULT = 0 } cusparseSpMMOpAlg_t;
typedef enum { CUSPARSE_COLOR_ALG0 = 0, CUSPARSE_COLOR_ALG1 = 1 } cusparseColorAlg_t;
typedef enum { CUSPARSE_SDDMM_ALG_DEFAULT = 0 } cusparseSDDMMAlg_t;

typedef struct cusparseContext* cusparseHandle_t;
typedef struct cusparseMatDescr* cusparseMatDescr_t;
typedef struct csric02Info* csric02Info_t;
typedef struct csrilu02Info* csrilu02Info_t;
typedef struct csrsv2Info* csrsv2Info_t;
typedef struct cusparseSpVecDescr* cusparseSpVecDescr_t;
typedef struct cusparseDnVecDescr* cusparseDnVecDescr_t;
typedef struct cusparseSpMatDescr* cusparseSpMatDescr_t;
typedef struct cusparseDnMatDescr* cusparseDnMatDescr_t;
typedef struct cusparseSpVecDescr const* cusparseConstSpVecDescr_t;
typedef struct cusparseDnVecDescr const* cusparseConstDnVecDescr_t;
typedef struct cusparseSpMatDescr const* cusparseConstSpMatDescr_t;
typedef struct cusparseDnMatDescr const* cusparseConstDnMatDescr_t;
typedef struct cusparseSpSVDescr* cusparseSpSVDescr_t;
typedef struct cusparseSpSMDescr* cusparseSpSMDescr_t;
typedef struct cusparseSpGEMMDescr* cusparseSpGEMMDescr_t;
typedef struct pruneInfo* pruneInfo_t;
typedef void (*cusparseLoggerCallback_t)(int logLevel, const char* functionName, const char* message);

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle);
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle);
cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int* version);
cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int* value);
const char* cusparseGetErrorName(cusparseStatus_t status);
const char* cusparseGetErrorString(cusparseStatus_t status);
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t streamId);
cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t* streamId);
cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t* mode);
cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode);

cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* descrA);
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descrA);
cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t descrA, cusparseMatrixType_t type);
cusparseMatrixType_t cusparseGetMatType(const cusparseMatDescr_t descrA);
cusparseStatus_t cusparseSetMatFillMode(cusparseMatDescr_t descrA, cusparseFillMode_t fillMode);
cusparseFillMode_t cusparseGetMatFillMode(const cusparseMatDescr_t descrA);
cusparseStatus_t cusparseSetMatDiagType(cusparseMatDescr_t descrA, cusparseDiagType_t diagType);
cusparseDiagType_t cusparseGetMatDiagType(const cusparseMatDescr_t descrA);
cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t descrA, cusparseIndexBase_t base);
cusparseIndexBase_t cusparseGetMatIndexBase(const cusparseMatDescr_t descrA);
cusparseStatus_t cusparseCreateCsric02Info(csric02Info_t* info);
cusparseStatus_t cusparseDestroyCsric02Info(csric02Info_t info);
cusparseStatus_t cusparseCreateCsrilu02Info(csrilu02Info_t* info);
cusparseStatus_t cusparseDestroyCsrilu02Info(csrilu02Info_t info);
cusparseStatus_t cusparseXcsric02_zeroPivot(cusparseHandle_t handle, csric02Info_t info, int* position);
cusparseStatus_t cusparseXcsrilu02_zeroPivot(cusparseHandle_t handle, csrilu02Info_t info, int* position);

// --- descriptors of the generic functions, each for constant and for other data ---------------------------------------

#define WB_DESCRIPTORS(CONST, Const)                                                                                   \
  cusparseStatus_t cusparseCreate##Const##SpVec(cusparse##Const##SpVecDescr_t* spVecDescr, int64_t size, int64_t nnz,  \
                                                CONST void* indices, CONST void* values, cusparseIndexType_t idxType,  \
                                                cusparseIndexBase_t idxBase, cudaDataType valueType);                  \
  cusparseStatus_t cusparse##Const##SpVecGet(cusparse##Const##SpVecDescr_t spVecDescr, int64_t* size, int64_t* nnz,    \
                                             CONST void** indices, CONST void** values, cusparseIndexType_t* idxType,  \
                                             cusparseIndexBase_t* idxBase, cudaDataType* valueType);                   \
  cusparseStatus_t cusparse##Const##SpVecGetValues(cusparse##Const##SpVecDescr_t spVecDescr, CONST void** values);     \
  cusparseStatus_t cusparseCreate##Const##DnVec(cusparse##Const##DnVecDescr_t* dnVecDescr, int64_t size,               \
                                                CONST void* values, cudaDataType valueType);                           \
  cusparseStatus_t cusparse##Const##DnVecGet(cusparse##Const##DnVecDescr_t dnVecDescr, int64_t* size,                  \
                                             CONST void** values, cudaDataType* valueType);                            \
  cusparseStatus_t cusparse##Const##DnVecGetValues(cusparse##Const##DnVecDescr_t dnVecDescr, CONST void** values);     \
  cusparseStatus_t cusparse##Const##SpMatGetValues(cusparse##Const##SpMatDescr_t spMatDescr, CONST void** values);     \
  cusparseStatus_t cusparseCreate##Const##Csr(cusparse##Const##SpMatDescr_t* spMatDescr, int64_t rows, int64_t cols,   \
                                              int64_t nnz, CONST void* csrRowOffsets, CONST void* csrColInd,           \
                                              CONST void* csrValues, cusparseIndexType_t csrRowOffsetsType,            \
                                              cusparseIndexType_t csrColIndType, cusparseIndexBase_t idxBase,          \
                                              cudaDataType valueType);                                                 \
  cusparseStatus_t cusparseCreate##Const##Csc(cusparse##Const##SpMatDescr_t* spMatDescr, int64_t rows, int64_t cols,   \
                                              int64_t nnz, CONST void* cscColOffsets, CONST void* cscRowInd,           \
                                              CONST void* cscValues, cusparseIndexType_t cscColOffsetsType,            \
                                              cusparseIndexType_t cscRowIndType, cusparseIndexBase_t idxBase,          \
                                              cudaDataType valueType);                                                 \
  cusparseStatus_t cusparseCreate##Const##Coo(cusparse##Const##SpMatDescr_t* spMatDescr, int64_t rows, int64_t cols,   \
                                              int64_t nnz, CONST void* cooRowInd, CONST void* cooColInd,               \
                                              CONST void* cooValues, cusparseIndexType_t cooIdxType,                   \
                                              cusparseIndexBase_t idxBase, cudaDataType valueType);                    \
  cusparseStatus_t cusparse##Const##CsrGet(cusparse##Const##SpMatDescr_t spMatDescr, int64_t* rows, int64_t* cols,     \
                                           int64_t* nnz, CONST void** csrRowOffsets, CONST void** csrColInd,           \
                                           CONST void** csrValues, cusparseIndexType_t* csrRowOffsetsType,             \
                                           cusparseIndexType_t* csrColIndType, cusparseIndexBase_t* idxBase,           \
                                           cudaDataType* valueType);                                                   \
  cusparseStatus_t cusparse##Const##CscGet(cusparse##Const##SpMatDescr_t spMatDescr, int64_t* rows, int64_t* cols,     \
                                           int64_t* nnz, CONST void** cscColOffsets, CONST void** cscRowInd,           \
                                           CONST void** cscValues, cusparseIndexType_t* cscColOffsetsType,             \
                                           cusparseIndexType_t* cscRowIndType, cusparseIndexBase_t* idxBase,           \
                                           cudaDataType* valueType);                                                   \
  cusparseStatus_t cusparse##Const##CooGet(cusparse##Const##SpMatDescr_t spMatDescr, int64_t* rows, int64_t* cols,     \
                                           int64_t* nnz, CONST void** cooRowInd, CONST void** cooColInd,               \
                                           CONST void** cooValues, cusparseIndexType_t* idxType,                       \
                                           cusparseIndexBase_t* idxBase, cudaDataType* valueType);                     \
  cusparseStatus_t cusparseCreate##Const##BlockedEll(cusparse##Const##SpMatDescr_t* spMatDescr, int64_t rows,          \
                                                     int64_t cols, int64_t ellBlockSize, int64_t ellCols,              \
                                                     CONST void* ellColInd, CONST void* ellValue,                      \
                                                     cusparseIndexType_t ellIdxType, cusparseIndexBase_t idxBase,      \
                                                     cudaDataType valueType);                                          \
  cusparseStatus_t cusparse##Const##BlockedEllGet(cusparse##Const##SpMatDescr_t spMatDescr, int64_t* rows,             \
                                                  int64_t* cols, int64_t* ellBlockSize, int64_t* ellCols,              \
                                                  CONST void** ellColInd, CONST void** ellValue,                       \
                                                  cusparseIndexType_t* ellIdxType, cusparseIndexBase_t* idxBase,       \
                                                  cudaDataType* valueType);                                            \
  cusparseStatus_t cusparseCreate##Const##Bsr(cusparse##Const##SpMatDescr_t* spMatDescr, int64_t brows, int64_t bcols, \
                                              int64_t bnnz, int64_t rowBlockSize, int64_t colBlockSize,                \
                                              CONST void* bsrRowOffsets, CONST void* bsrColInd, CONST void* bsrValues, \
                                              cusparseIndexType_t bsrRowOffsetsType,                                   \
                                              cusparseIndexType_t bsrColIndType, cusparseIndexBase_t idxBase,          \
                                              cudaDataType valueType, cusparseOrder_t order);                          \
  cusparseStatus_t cusparseCreate##Const##SlicedEll(cusparse##Const##SpMatDescr_t* spMatDescr, int64_t rows,           \
                                                    int64_t cols, int64_t nnz, int64_t sellValuesSize,                 \
                                                    int64_t sliceSize, CONST void* sellSliceOffsets,                   \
                                                    CONST void* sellColInd, CONST void* sellValues,                    \
                                                    cusparseIndexType_t sellSliceOffsetsType,                          \
                                                    cusparseIndexType_t sellColIndType,                                \
                                                    cusparseIndexBase_t idxBase, cudaDataType valueType);              \
  cusparseStatus_t cusparseCreate##Const##DnMat(cusparse##Const##DnMatDescr_t* dnMatDescr, int64_t rows, int64_t cols, \
                                                int64_t ld, CONST void* values, cudaDataType valueType,                \
                                                cusparseOrder_t order);                                                \
  cusparseStatus_t cusparse##Const##DnMatGet(cusparse##Const##DnMatDescr_t dnMatDescr, int64_t* rows, int64_t* cols,   \
                                             int64_t* ld, CONST void** values, cudaDataType* type,                     \
                                             cusparseOrder_t* order);                                                  \
  cusparseStatus_t cusparse##Const##DnMatGetValues(cusparse##Const##DnMatDescr_t dnMatDescr, CONST void** values);
WB_DESCRIPTORS(, )
WB_DESCRIPTORS(const, Const)
#undef WB_DESCRIPTORS
cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t spVecDescr);
cusparseStatus_t cusparseSpVecGetIndexBase(cusparseConstSpVecDescr_t spVecDescr, cusparseIndexBase_t* idxBase);
cusparseStatus_t cusparseSpVecSetValues(cusparseSpVecDescr_t spVecDescr, void* values);
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t dnVecDescr);
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t dnVecDescr, void* values);
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t spMatDescr);
cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t spMatDescr, cusparseFormat_t* format);
cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t spMatDescr, cusparseIndexBase_t* idxBase);
cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t spMatDescr, void* values);
cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t spMatDescr, int64_t* rows, int64_t* cols, int64_t* nnz);
cusparseStatus_t cusparseSpMatGetAttribute(cusparseConstSpMatDescr_t spMatDescr, cusparseSpMatAttribute_t attribute,
                                           void* data, size_t dataSize);
cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t spMatDescr, cusparseSpMatAttribute_t attribute,
                                           void* data, size_t dataSize);
cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t spMatDescr, void* csrRowOffsets, void* csrColInd,
                                        void* csrValues);
cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t spMatDescr, void* cscColOffsets, void* cscRowInd,
                                        void* cscValues);
cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t spMatDescr, void* cooRows, void* cooColumns, void* cooValues);
cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t spMatDescr, int batchCount, int64_t offsetsBatchStride,
                                            int64_t columnsValuesBatchStride);
cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t spMatDescr, int batchCount, int64_t batchStride);
cusparseStatus_t cusparseBsrSetStridedBatch(cusparseSpMatDescr_t spMatDescr, int batchCount, int64_t offsetsBatchStride,
                                            int64_t columnsBatchStride, int64_t valuesBatchStride);
cusparseStatus_t cusparseSpMatGetStridedBatch(cusparseConstSpMatDescr_t spMatDescr, int* batchCount);
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t dnMatDescr);
cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t dnMatDescr, void* values);
cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t dnMatDescr, int batchCount, int64_t batchStride);
cusparseStatus_t cusparseDnMatGetStridedBatch(cusparseConstDnMatDescr_t dnMatDescr, int* batchCount, int64_t* batchStride);
cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t* descr);
cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t descr);
cusparseStatus_t cusparseSpSM_createDescr(cusparseSpSMDescr_t* descr);
cusparseStatus_t cusparseSpSM_destroyDescr(cusparseSpSMDescr_t descr);
cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t* descr);
cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descr);
cusparseStatus_t cusparseCreatePruneInfo(pruneInfo_t* info);
cusparseStatus_t cusparseDestroyPruneInfo(pruneInfo_t info);
cusparseStatus_t cusparseLoggerSetCallback(cusparseLoggerCallback_t callback);
cusparseStatus_t cusparseLoggerSetFile(FILE* file);
cusparseStatus_t cusparseLoggerOpenFile(const char* logFile);
cusparseStatus_t cusparseLoggerSetLevel(int level);
cusparseStatus_t cusparseLoggerSetMask(int mask);
cusparseStatus_t cusparseLoggerForceDisable(void);
cusparseStatus_t cusparseSpGEMM_getNumProducts(cusparseSpGEMMDescr_t spgemmDescr, int64_t* num_prods);

#define WB_CUSPARSE(name, parameters, ...) cusparseStatus_t cusparse##name parameters;
#include "warpbeam/cusparse/generic.inc"
#include "warpbeam/cusparse/typed.inc"
#include "warpbeam/cusparse/blocks.inc"
#include "warpbeam/cusparse/chosen.inc"
#undef WB_CUSPARSE

#ifdef __cplusplus
}
#endif
#endif

// Handles and callbacks of the driver API.
#ifndef WARPBEAM_DRIVER_HANDLES_H
#define WARPBEAM_DRIVER_HANDLES_H

#include <stddef.h>
#include <stdint.h>

#ifndef CUDA_CB
#define CUDA_CB
#endif

#if defined(__cplusplus) && __cplusplus >= 201103L
#define WB_ALIGN(bytes) alignas(bytes)
#else
#define WB_ALIGN(bytes) __attribute__((aligned(bytes)))
#endif

#define CU_IPC_HANDLE_SIZE 64
#define CU_STREAM_LEGACY ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)

typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;
typedef unsigned long long CUdeviceptr_v2;
typedef CUdeviceptr_v2 CUdeviceptr;
typedef int CUdevice_v1;
typedef CUdevice_v1 CUdevice;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUlib_st* CUlibrary;
typedef struct CUkern_st* CUkernel;
typedef struct CUarray_st* CUarray;
typedef struct CUmipmappedArray_st* CUmipmappedArray;
typedef struct CUtexref_st* CUtexref;
typedef struct CUsurfref_st* CUsurfref;
typedef struct CUevent_st* CUevent;
typedef struct CUstream_st* CUstream;
typedef struct CUgraphicsResource_st* CUgraphicsResource;
typedef unsigned long long CUtexObject_v1;
typedef CUtexObject_v1 CUtexObject;
typedef unsigned long long CUsurfObject_v1;
typedef CUsurfObject_v1 CUsurfObject;
typedef struct CUextMemory_st* CUexternalMemory;
typedef struct CUextSemaphore_st* CUexternalSemaphore;
typedef struct CUgraph_st* CUgraph;
typedef struct CUgraphNode_st* CUgraphNode;
typedef struct CUgraphExec_st* CUgraphExec;
typedef struct CUmemPoolHandle_st* CUmemoryPool;
typedef struct CUuserObject_st* CUuserObject;
typedef cuuint64_t CUgraphConditionalHandle;
typedef struct CUgraphDeviceUpdatableNode_st* CUgraphDeviceNode;
typedef struct CUasyncCallbackEntry_st* CUasyncCallbackHandle;
typedef struct CUgreenCtx_st* CUgreenCtx;

#ifndef CU_UUID_HAS_BEEN_DEFINED
#define CU_UUID_HAS_BEEN_DEFINED
typedef struct CUuuid_st {
  char bytes[16];
} CUuuid;
#endif

typedef struct CUmemFabricHandle_st {
  unsigned char data[64];
} CUmemFabricHandle_v1;

typedef CUmemFabricHandle_v1 CUmemFabricHandle;

typedef struct CUipcEventHandle_st {
  char reserved[64];
} CUipcEventHandle_v1;

typedef CUipcEventHandle_v1 CUipcEventHandle;

typedef struct CUipcMemHandle_st {
  char reserved[64];
} CUipcMemHandle_v1;

typedef CUipcMemHandle_v1 CUipcMemHandle;
typedef struct CUlinkState_st* CUlinkState;
typedef void (*CUhostFn)(void* userData);
typedef size_t(*CUoccupancyB2DSize)(int blockSize);
typedef unsigned long long CUmemGenericAllocationHandle_v1;
typedef CUmemGenericAllocationHandle_v1 CUmemGenericAllocationHandle;
typedef struct CUdevResourceDesc_st* CUdevResourceDesc;
typedef struct CUlogsCallbackEntry_st* CUlogsCallbackHandle;
typedef unsigned int CUlogIterator;

#endif

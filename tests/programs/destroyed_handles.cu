// What destroyed streams, events, graphs and contexts answer, what a capture refuses, and descriptors that do not fit.
// build: -lcuda
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
static int bad = 0;
#define IS(x, w)                                                                     \
  do {                                                                               \
    cudaError_t e_ = (x);                                                            \
    cudaGetLastError();                                                              \
    if (e_ != (w)) {                                                                 \
      bad++;                                                                         \
      printf("%d: %s gave %s, wanted %s\n", __LINE__, #x, cudaGetErrorName(e_), #w); \
    }                                                                                \
  } while (0)
#define CUIS(x, w)                                                \
  do {                                                            \
    CUresult e_ = (x);                                            \
    if (e_ != (w)) {                                              \
      const char* n = "?";                                        \
      cuGetErrorName(e_, &n);                                     \
      bad++;                                                      \
      printf("%d: %s gave %s, wanted %s\n", __LINE__, #x, n, #w); \
    }                                                             \
  } while (0)
__global__ void k(int* p) {
  if (p) *p = 1;
}
void cb(void*) {}
void scb(cudaStream_t, cudaError_t, void*) {}
int main() {
  int* d;
  IS(cudaMalloc(&d, 256), cudaSuccess);
  // destroyed stream
  {
    cudaStream_t s, o;
    IS(cudaStreamCreate(&s), cudaSuccess);
    IS(cudaStreamCreate(&o), cudaSuccess);
    IS(cudaStreamDestroy(s), cudaSuccess);
    IS(cudaStreamDestroy(s), cudaErrorInvalidResourceHandle);
    IS(cudaStreamSynchronize(s), cudaErrorInvalidResourceHandle);
    IS(cudaStreamQuery(s), cudaErrorInvalidResourceHandle);
    k<<<1, 1, 0, s>>>(d);
    IS(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    IS(cudaMemcpyAsync(d, d, 4, cudaMemcpyDeviceToDevice, s), cudaErrorInvalidResourceHandle);
    IS(cudaMemsetAsync(d, 0, 4, s), cudaErrorInvalidResourceHandle);
    cudaEvent_t e;
    IS(cudaEventCreate(&e), cudaSuccess);
    IS(cudaEventRecord(e, s), cudaErrorInvalidResourceHandle);
    IS(cudaStreamWaitEvent(s, e, 0), cudaErrorInvalidResourceHandle);
    IS(cudaStreamAddCallback(s, scb, 0, 0), cudaErrorInvalidResourceHandle);
    IS(cudaLaunchHostFunc(s, cb, 0), cudaErrorInvalidResourceHandle);
    unsigned f;
    int p;
    IS(cudaStreamGetFlags(s, &f), cudaErrorInvalidResourceHandle);
    IS(cudaStreamGetPriority(s, &p), cudaErrorInvalidResourceHandle);
    IS(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaErrorInvalidResourceHandle);
    cudaGraph_t g;
    IS(cudaStreamEndCapture(s, &g), cudaErrorInvalidResourceHandle);
    cudaStreamCaptureStatus st;
    IS(cudaStreamIsCapturing(s, &st), cudaErrorInvalidResourceHandle);
    IS(cudaMemPrefetchAsync(d, 4, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, s), cudaErrorInvalidValue);
    void* q;
    IS(cudaMallocAsync(&q, 4, s), cudaErrorInvalidResourceHandle);
    IS(cudaStreamAttachMemAsync(s, d, 0, cudaMemAttachSingle), cudaErrorInvalidValue);
    IS(cudaEventDestroy(e), cudaSuccess);
    IS(cudaEventDestroy(e), cudaErrorInvalidResourceHandle);
    IS(cudaEventQuery(e), cudaErrorInvalidResourceHandle);
    IS(cudaEventSynchronize(e), cudaErrorInvalidResourceHandle);
    IS(cudaEventRecord(e, 0), cudaErrorInvalidResourceHandle);
    IS(cudaStreamWaitEvent(0, e, 0), cudaErrorInvalidResourceHandle);
    float ms;
    IS(cudaEventElapsedTime(&ms, e, e), cudaErrorInvalidResourceHandle);
    IS(cudaStreamDestroy(o), cudaSuccess);
    IS(cudaStreamDestroy(0), cudaErrorInvalidResourceHandle);
    IS(cudaEventDestroy(0), cudaErrorInvalidResourceHandle);
  }
  // graphs
  {
    cudaGraph_t g, c;
    IS(cudaGraphCreate(&g, 0), cudaSuccess);
    cudaGraphNode_t n, n2;
    IS(cudaGraphAddEmptyNode(&n, g, 0, 0), cudaSuccess);
    cudaGraphExec_t x;
    IS(cudaGraphInstantiate(&x, g, 0), cudaSuccess);
    IS(cudaGraphDestroy(g), cudaSuccess);
    IS(cudaGraphDestroy(g), cudaErrorInvalidValue);
    IS(cudaGraphAddEmptyNode(&n2, g, 0, 0), cudaErrorInvalidValue);
    IS(cudaGraphClone(&c, g), cudaErrorInvalidValue);
    cudaGraphExec_t y;
    IS(cudaGraphInstantiate(&y, g, 0), cudaErrorInvalidValue);
    size_t cnt;
    IS(cudaGraphGetNodes(g, 0, &cnt), cudaErrorInvalidValue);
    IS(cudaGraphDestroyNode(n), cudaErrorInvalidValue);
    cudaGraphNodeType ty;
    IS(cudaGraphNodeGetType(n, &ty), cudaErrorInvalidValue);
    IS(cudaGraphLaunch(x, 0), cudaSuccess);
    IS(cudaStreamSynchronize(0), cudaSuccess);
    IS(cudaGraphExecDestroy(x), cudaSuccess);
    IS(cudaGraphExecDestroy(x), cudaErrorInvalidValue);
    IS(cudaGraphLaunch(x, 0), cudaErrorInvalidValue);
    IS(cudaGraphUpload(x, 0), cudaErrorInvalidValue);
  }
  // capture of what cannot be captured
  {
    cudaStream_t s;
    IS(cudaStreamCreate(&s), cudaSuccess);
    cudaGraph_t g;
    auto begin = [&](cudaStreamCaptureMode m = cudaStreamCaptureModeGlobal) {
      IS(cudaStreamBeginCapture(s, m), cudaSuccess);
    };
    auto end = [&](cudaError_t w) {
      g = 0;
      IS(cudaStreamEndCapture(s, &g), w);
      if (w != cudaSuccess && g) {
        bad++;
        puts("graph not null");
      }
      if (g) cudaGraphDestroy(g);
    };
    begin();
    IS(cudaStreamSynchronize(s), cudaErrorStreamCaptureUnsupported);
    end(cudaErrorStreamCaptureInvalidated);
    begin();
    IS(cudaStreamQuery(s), cudaErrorStreamCaptureUnsupported);
    end(cudaErrorStreamCaptureInvalidated);
    begin();
    IS(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
    end(cudaErrorStreamCaptureInvalidated);
    begin();
    void* q;
    IS(cudaMalloc(&q, 16), cudaErrorStreamCaptureUnsupported);
    end(cudaErrorStreamCaptureInvalidated);
    begin(cudaStreamCaptureModeRelaxed);
    IS(cudaMalloc(&q, 16), cudaSuccess);
    end(cudaSuccess);
    begin();
    IS(cudaMemcpy(d, d, 4, cudaMemcpyDeviceToDevice), cudaErrorStreamCaptureImplicit);
    end(cudaErrorStreamCaptureInvalidated);
    begin();
    k<<<1, 1>>>(d);
    IS(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
    end(cudaErrorStreamCaptureInvalidated);
    begin();
    IS(cudaStreamAddCallback(s, scb, 0, 0), cudaErrorStreamCaptureUnsupported);
    end(cudaErrorStreamCaptureInvalidated);
    begin();
    IS(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
    end(cudaSuccess);
    IS(cudaStreamEndCapture(s, &g), cudaErrorIllegalState);
    IS(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
    {
      cudaEvent_t e;
      cudaEventCreate(&e);
      begin();
      IS(cudaEventRecord(e, s), cudaSuccess);
      IS(cudaEventSynchronize(e), cudaErrorCapturedEvent);
      end(cudaErrorStreamCaptureInvalidated);
      IS(cudaEventDestroy(e), cudaSuccess);
    }
    {
      cudaEvent_t e;
      cudaEventCreate(&e);
      begin();
      IS(cudaEventRecord(e, s), cudaSuccess);
      IS(cudaEventQuery(e), cudaErrorCapturedEvent);
      end(cudaErrorStreamCaptureInvalidated);
      IS(cudaEventDestroy(e), cudaSuccess);
    }
    {
      cudaEvent_t e;
      cudaStream_t t;
      cudaEventCreate(&e);
      cudaStreamCreate(&t);
      begin();
      IS(cudaEventRecord(e, s), cudaSuccess);
      IS(cudaStreamWaitEvent(t, e, 0), cudaSuccess);
      k<<<1, 1, 0, t>>>(d);
      end(cudaErrorStreamCaptureUnjoined);
      IS(cudaStreamDestroy(t), cudaSuccess);
    }
    {
      cudaEvent_t e;
      cudaStream_t t;
      cudaEventCreate(&e);
      cudaStreamCreate(&t);
      begin();
      IS(cudaEventRecord(e, s), cudaSuccess);
      IS(cudaStreamWaitEvent(t, e, 0), cudaSuccess);
      IS(cudaStreamEndCapture(t, &g), cudaErrorStreamCaptureUnmatched);
      end(cudaErrorStreamCaptureInvalidated);
      IS(cudaStreamDestroy(t), cudaSuccess);
    }
    {
      cudaEvent_t e;
      cudaStream_t t;
      cudaEventCreate(&e);
      cudaStreamCreate(&t);
      IS(cudaEventRecord(e, t), cudaSuccess);
      begin();
      IS(cudaStreamWaitEvent(s, e, 0), cudaErrorStreamCaptureIsolation);
      end(cudaErrorStreamCaptureInvalidated);
      cudaStreamDestroy(t);
    }
    begin();
    int h[4];
    IS(cudaMemcpyAsync(h, d, 16, cudaMemcpyDeviceToHost, s), cudaSuccess);
    end(cudaSuccess);
  }
  cudaGetLastError();
  // textures
  {
    cudaArray_t a;
    cudaChannelFormatDesc f32 = cudaCreateChannelDesc<float>(), u8 = cudaCreateChannelDesc<unsigned char>(),
                          three = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned),
                          odd = cudaCreateChannelDesc(32, 16, 0, 0, cudaChannelFormatKindFloat);
    cudaTextureObject_t t;
    cudaResourceDesc r;
    cudaTextureDesc td;
    memset(&r, 0, sizeof r);
    memset(&td, 0, sizeof td);
    IS(cudaMallocArray(&a, &three, 8, 8), cudaErrorInvalidChannelDescriptor);
    IS(cudaMallocArray(&a, &odd, 8, 8), cudaErrorInvalidChannelDescriptor);
    IS(cudaMallocArray(&a, &f32, 0, 0), cudaErrorInvalidValue);
    IS(cudaMallocArray(&a, &f32, 1 << 20, 1 << 20), cudaErrorInvalidValue);
    IS(cudaMallocArray(&a, &u8, 16, 16), cudaSuccess);
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    td.filterMode = cudaFilterModeLinear;
    td.readMode = cudaReadModeElementType;
    IS(cudaCreateTextureObject(&t, &r, &td, 0), cudaErrorInvalidFilterSetting);
    td.readMode = cudaReadModeNormalizedFloat;
    IS(cudaCreateTextureObject(&t, &r, &td, 0), cudaSuccess);
    IS(cudaDestroyTextureObject(t), cudaSuccess);
    cudaResourceViewDesc v;
    memset(&v, 0, sizeof v);
    v.format = cudaResViewFormatFloat4;
    v.width = 16;
    v.height = 16;
    td.filterMode = cudaFilterModePoint;
    IS(cudaCreateTextureObject(&t, &r, &td, &v), cudaErrorInvalidValue);
    memset(&r, 0, sizeof r);
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = (char*)d + 1;
    r.res.linear.desc = f32;
    r.res.linear.sizeInBytes = 64;
    td.readMode = cudaReadModeElementType;
    IS(cudaCreateTextureObject(&t, &r, &td, 0), cudaErrorInvalidValue);
    r.res.linear.devPtr = d;
    r.res.linear.desc = three;
    IS(cudaCreateTextureObject(&t, &r, &td, 0), cudaErrorInvalidChannelDescriptor);
    r.res.linear.desc = f32;
    td.readMode = cudaReadModeNormalizedFloat;
    IS(cudaCreateTextureObject(&t, &r, &td, 0), cudaErrorInvalidNormSetting);
    td.readMode = cudaReadModeElementType;
    td.normalizedCoords = 0;
    r.res.linear.devPtr = 0;
    IS(cudaCreateTextureObject(&t, &r, &td, 0), cudaErrorInvalidValue);
    r.resType = cudaResourceTypeArray;
    r.res.array.array = 0;
    IS(cudaCreateTextureObject(&t, &r, &td, 0), cudaErrorInvalidResourceHandle);
    r.res.array.array = a;
    IS(cudaFreeArray(a), cudaSuccess);
    if (cudaFreeArray(a) == cudaSuccess) bad++;
    cudaGetLastError();
    IS(cudaCreateTextureObject(&t, &r, &td, 0), cudaErrorInvalidResourceHandle);
  }
  // contexts
  {
    CUcontext c;
    CUdevice dev;
    cuInit(0);
    cuDeviceGet(&dev, 0);
    CUIS(cuCtxCreate(&c, 0, 0, dev), CUDA_SUCCESS);
    CUdeviceptr p;
    CUIS(cuMemAlloc(&p, 16), CUDA_SUCCESS);
    CUstream s;
    CUIS(cuStreamCreate(&s, 0), CUDA_SUCCESS);
    CUevent e;
    CUIS(cuEventCreate(&e, 0), CUDA_SUCCESS);
    CUIS(cuCtxDestroy(c), CUDA_SUCCESS);
    CUIS(cuCtxDestroy(c), CUDA_ERROR_INVALID_CONTEXT);
    CUIS(cuCtxSetCurrent(c), CUDA_ERROR_INVALID_CONTEXT);
    CUIS(cuCtxPushCurrent(c), CUDA_ERROR_INVALID_CONTEXT);
    cudaSetDevice(0);
    CUIS(cuStreamSynchronize(s), CUDA_ERROR_INVALID_HANDLE);
    CUIS(cuEventQuery(e), CUDA_ERROR_INVALID_HANDLE);
    CUIS(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
    CUcontext now = (CUcontext)1;
    CUIS(cuCtxPopCurrent(&now), CUDA_SUCCESS);
  }
  puts(bad ? "FAILED" : "PASSED");
  return bad != 0;
}

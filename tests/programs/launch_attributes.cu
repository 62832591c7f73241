// Launch attributes: clusters that are captured or that a kernel demands, and events a launch records.
#include <cooperative_groups.h>

#include <cstdio>
#include <cstdlib>
#define CK(x)                                                                     \
  do {                                                                            \
    auto e_ = (x);                                                                \
    if (e_ != cudaSuccess) {                                                      \
      printf("%s:%d %s -> %s\n", __FILE__, __LINE__, #x, cudaGetErrorString(e_)); \
      exit(1);                                                                    \
    }                                                                             \
  } while (0)
#define REQ(c)                                              \
  do {                                                      \
    if (!(c)) {                                             \
      printf("%s:%d failed: %s\n", __FILE__, __LINE__, #c); \
      exit(1);                                              \
    }                                                       \
  } while (0)
namespace cg = cooperative_groups;
__global__ void say(int* o) {
  if (threadIdx.x == 0) o[blockIdx.x] = cg::this_cluster().num_blocks() * 10 + cg::this_cluster().block_rank();
}
__global__ void __cluster_dims__(2, 1, 1) says_two(int* o) { o[0] = cg::this_cluster().num_blocks(); }

// A kernel may get the cluster that all its launches have to have at run time, in three parts.
void demand(int* o) {
  const auto launch = [&](int blocks) {
    say<<<blocks, 32>>>(o);
    return cudaGetLastError();
  };
  CK(cudaFuncSetAttribute(say, cudaFuncAttributeRequiredClusterWidth, 2));
  REQ(launch(4) == cudaErrorInvalidClusterSize);
  CK(cudaFuncSetAttribute(say, cudaFuncAttributeRequiredClusterHeight, 1));
  CK(cudaFuncSetAttribute(say, cudaFuncAttributeRequiredClusterDepth, 1));
  REQ(launch(3) == cudaErrorInvalidClusterSize);
  CK(launch(4));
  CK(cudaDeviceSynchronize());
  REQ(o[0] == 20 && o[3] == 21);
  cudaFuncAttributes f;
  CK(cudaFuncGetAttributes(&f, say));
  REQ(f.requiredClusterWidth == 2 && !f.clusterDimMustBeSet);
  for (int part = 0; part < 3; ++part)
    CK(cudaFuncSetAttribute(say, (cudaFuncAttribute)(cudaFuncAttributeRequiredClusterWidth + part), 0));
  CK(launch(3));
  CK(cudaDeviceSynchronize());
  // Code that says its own can only be confirmed.
  CK(cudaFuncSetAttribute(says_two, cudaFuncAttributeRequiredClusterWidth, 2));
  REQ(cudaFuncSetAttribute(says_two, cudaFuncAttributeRequiredClusterWidth, 4) == cudaErrorInvalidValue);
  REQ(cudaFuncSetAttribute(says_two, cudaFuncAttributeClusterDimMustBeSet, 1) == cudaErrorInvalidValue);
  cudaGetLastError();
}

int main() {
  int* o;
  CK(cudaMallocManaged(&o, 64));
  demand(o);
  cudaStream_t s, t;
  CK(cudaStreamCreate(&s));
  CK(cudaStreamCreate(&t));
  cudaLaunchConfig_t c = {};
  c.gridDim = 4;
  c.blockDim = 32;
  c.stream = s;
  cudaLaunchAttribute a[2];
  a[0].id = cudaLaunchAttributeClusterDimension;
  a[0].val.clusterDim = {2, 1, 1};
  c.attrs = a;
  c.numAttrs = 1;
  cudaGraph_t g;
  CK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  CK(cudaLaunchKernelEx(&c, say, o));
  CK(cudaStreamEndCapture(s, &g));
  cudaGraphExec_t x;
  CK(cudaGraphInstantiate(&x, g, 0));
  memset(o, 0, 64);
  CK(cudaGraphLaunch(x, s));
  CK(cudaStreamSynchronize(s));
  REQ(o[0] == 20 && o[1] == 21 && o[3] == 21);
  cudaGraphNode_t n;
  size_t k = 1;
  CK(cudaGraphGetNodes(g, &n, &k));
  cudaLaunchAttributeValue v;
  CK(cudaGraphKernelNodeGetAttribute(n, cudaLaunchAttributeClusterDimension, &v));
  REQ(v.clusterDim.x == 2);
  v.clusterDim = {4, 1, 1};
  CK(cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeClusterDimension, &v));
  cudaGraphExec_t y;
  CK(cudaGraphInstantiate(&y, g, 0));
  CK(cudaGraphLaunch(y, s));
  CK(cudaStreamSynchronize(s));
  REQ(o[0] == 40 && o[3] == 43);
  cudaGraph_t cl;
  CK(cudaGraphClone(&cl, g));
  cudaGraphExec_t z;
  CK(cudaGraphInstantiate(&z, cl, 0));
  memset(o, 0, 64);
  CK(cudaGraphLaunch(z, s));
  CK(cudaStreamSynchronize(s));
  REQ(o[3] == 43);
  CK(cudaGraphExecDestroy(x));
  cudaEvent_t e, timed;
  CK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  CK(cudaEventCreate(&timed));
  a[0].id = cudaLaunchAttributeLaunchCompletionEvent;
  a[0].val.launchCompletionEvent.event = e;
  a[0].val.launchCompletionEvent.flags = 0;
  memset(o, 0, 64);
  CK(cudaLaunchKernelEx(&c, say, o));
  CK(cudaStreamWaitEvent(t, e, 0));
  CK(cudaStreamSynchronize(t));
  CK(cudaEventSynchronize(e));
  REQ(o[0] == 10);
  a[0].id = cudaLaunchAttributeProgrammaticEvent;
  a[0].val.programmaticEvent.event = e;
  a[0].val.programmaticEvent.flags = 0;
  a[0].val.programmaticEvent.triggerAtBlockStart = 0;
  CK(cudaLaunchKernelEx(&c, say, o));
  CK(cudaEventSynchronize(e));
  a[0].val.programmaticEvent.event = timed;
  REQ(cudaLaunchKernelEx(&c, say, o) == cudaErrorInvalidValue);
  CK(cudaEventDestroy(e));
  a[0].val.programmaticEvent.event = e;
  REQ(cudaLaunchKernelEx(&c, say, o) == cudaErrorInvalidResourceHandle);
  puts("PASSED");
}

// graph_capture: a chain of kernels and copies is recorded once by capturing a stream, with a fork into a second stream and
// back, and then launched many times with one call each.
// Look at the number of nodes, and at what changes when the instance is updated from a second capture.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

constexpr int kN = 1 << 12;

__global__ void scale(float* x, float by) { x[blockIdx.x * blockDim.x + threadIdx.x] *= by; }
__global__ void add(float* to, const float* a, const float* b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = a[i] + b[i];
}

struct Buffers {
  float *host, *a, *b, *sum;
};

// host -> a; then a *= factor on one side and b = 10 * a on the other; then sum = a + b -> host.
cudaGraph_t record(const Buffers& m, float factor, cudaStream_t stream, cudaStream_t side) {
  cudaEvent_t forked, joined;
  CHECK(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemcpyAsync(m.a, m.host, kN * sizeof(float), cudaMemcpyHostToDevice, stream));
  CHECK(cudaMemcpyAsync(m.b, m.a, kN * sizeof(float), cudaMemcpyDeviceToDevice, stream));
  CHECK(cudaEventRecord(forked, stream));
  CHECK(cudaStreamWaitEvent(side, forked));
  scale<<<kN / 256, 256, 0, stream>>>(m.a, factor);
  scale<<<kN / 256, 256, 0, side>>>(m.b, 10.0f);
  CHECK(cudaEventRecord(joined, side));
  CHECK(cudaStreamWaitEvent(stream, joined));
  add<<<kN / 256, 256, 0, stream>>>(m.sum, m.a, m.b);
  CHECK(cudaMemcpyAsync(m.host, m.sum, kN * sizeof(float), cudaMemcpyDeviceToHost, stream));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaEventDestroy(forked));
  CHECK(cudaEventDestroy(joined));
  return graph;
}

int main() {
  Buffers m;
  CHECK(cudaMallocHost(&m.host, kN * sizeof(float)));
  for (float** p : {&m.a, &m.b, &m.sum}) CHECK(cudaMalloc(p, kN * sizeof(float)));
  cudaStream_t stream, side;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamCreate(&side));
  for (int i = 0; i < kN; ++i) m.host[i] = 1.0f;

  cudaGraph_t graph = record(m, 2.0f, stream, side);
  size_t nodes = 0, edges = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  std::printf("recorded %zu nodes and %zu edges; nothing has run: %g\n", nodes, edges, m.host[0]);
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  bool right = m.host[0] == 144.0f && m.host[kN - 1] == 144.0f;
  std::printf("two launches, each times (2 + 10): %g\n", m.host[0]);

  // The same shape with another factor: the instance takes the new parameters over.
  cudaGraph_t other = record(m, -9.0f, stream, side);
  cudaGraphExecUpdateResultInfo result;
  CHECK(cudaGraphExecUpdate(exec, other, &result));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  std::printf("updated, times (-9 + 10): %g\n", m.host[0]);
  right = right && m.host[0] == 144.0f;

  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphDestroy(other));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaStreamDestroy(side));
  for (float* p : {m.a, m.b, m.sum}) CHECK(cudaFree(p));
  CHECK(cudaFreeHost(m.host));
  return right ? 0 : 1;
}

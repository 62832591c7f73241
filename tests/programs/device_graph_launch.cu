// Graphs that kernels of graphs launch: beside themselves, after themselves, and themselves again.
// build: -rdc=true
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                     \
  do {                                                                                  \
    cudaError_t status_ = (call);                                                       \
    if (status_ != cudaSuccess) {                                                       \
      printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(status_));          \
      exit(1);                                                                          \
    }                                                                                   \
  } while (0)
#define REQUIRE(condition)                                    \
  do {                                                        \
    if (!(condition)) {                                       \
      printf("line %d: not so: %s\n", __LINE__, #condition);  \
      exit(1);                                                \
    }                                                         \
  } while (0)

// Every kernel writes its name at the next place of the log.
struct Log {
  int count;
  char names[60];
  int error;
};
__device__ void say(Log* log, char name) { log->names[atomicAdd(&log->count, 1)] = name; }

__global__ void plain(Log* log, char name) { say(log, name); }
__global__ void launches(Log* log, char name, cudaGraphExec_t beside, cudaGraphExec_t after) {
  say(log, name);
  if (after) log->error |= cudaGraphLaunch(after, cudaStreamGraphTailLaunch);
  if (beside) log->error |= cudaGraphLaunch(beside, cudaStreamGraphFireAndForget);
}
__global__ void again(Log* log, int times) {
  say(log, 'a');
  if (log->count < times) log->error |= cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}
__global__ void wrong(Log* log, cudaGraphExec_t not_for_devices, cudaStream_t stream) {
  log->error = cudaGraphLaunch(not_for_devices, stream) == cudaSuccess;
}

cudaStream_t stream;
template <class Body>
cudaGraphExec_t make(unsigned long long flags, Body body) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  body();
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, flags));
  CHECK(cudaGraphDestroy(graph));
  if (flags) CHECK(cudaGraphUpload(exec, stream));
  return exec;
}

int main() {
  CHECK(cudaStreamCreate(&stream));
  Log* log;
  CHECK(cudaMallocManaged(&log, sizeof *log));
  auto run = [&](cudaGraphExec_t exec, const char* wanted) {
    *log = {};
    CHECK(cudaGraphLaunch(exec, stream));
    plain<<<1, 1, 0, stream>>>(log, '.');
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(log->error == 0);
    bool right = true;
    for (int i = 0; wanted[i] || log->names[i]; ++i) right &= wanted[i] == log->names[i];
    if (!right) printf("%.60s instead of %s\n", log->names, wanted);
    REQUIRE(right);
  };
  const auto device = cudaGraphInstantiateFlagDeviceLaunch;
  cudaGraphExec_t b = make(device, [&] { plain<<<1, 1, 0, stream>>>(log, 'b'); });
  cudaGraphExec_t t = make(device, [&] { plain<<<1, 1, 0, stream>>>(log, 't'); });
  // What runs after a graph waits for all of it and for what runs beside it; the stream waits for everything.
  run(make(0, [&] {
        launches<<<1, 1, 0, stream>>>(log, '1', b, t);
        plain<<<1, 1, 0, stream>>>(log, '2');
      }), "12bt.");
  // A graph launched at the end launches in its turn, and comes before what older graphs still have to launch.
  cudaGraphExec_t u = make(device, [&] { launches<<<1, 1, 0, stream>>>(log, 'u', nullptr, t); });
  run(make(device, [&] {
        launches<<<1, 1, 0, stream>>>(log, '1', nullptr, u);
        launches<<<1, 1, 0, stream>>>(log, '2', nullptr, b);
      }), "12utb.");
  run(make(device, [&] { again<<<1, 1, 0, stream>>>(log, 40); }), "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.");
  // Only graphs made for it are launched, only from graphs, only into the streams meant for it.
  cudaGraphExec_t host = make(0, [&] { plain<<<1, 1, 0, stream>>>(log, 'h'); });
  run(make(0, [&] { wrong<<<1, 1, 0, stream>>>(log, host, cudaStreamGraphTailLaunch); }), ".");
  run(make(0, [&] { wrong<<<1, 1, 0, stream>>>(log, b, cudaStreamPerThread); }), ".");
  *log = {};
  wrong<<<1, 1, 0, stream>>>(log, b, cudaStreamGraphTailLaunch);
  CHECK(cudaStreamSynchronize(stream));
  REQUIRE(log->error == 0 && log->count == 0);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t node;
  CHECK(cudaGraphCreate(&graph, 0));
  REQUIRE(cudaGraphInstantiate(&exec, graph, device) == cudaErrorNotSupported);  // nothing in it
  CHECK(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
  REQUIRE(cudaGraphInstantiate(&exec, graph, device) == cudaErrorNotSupported);
  puts("PASSED");
}

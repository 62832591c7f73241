// A graph made by hand, node by node: memory that lives only while the graph runs, a fill, two kernels side by side, a copy
// and a call on the host. What to see: the graph is instantiated once and launched many times; one kernel's argument is
// changed in the executable without making it anew; the picture of the graph is text for Graphviz.
#include <cstdio>
#include <cstring>
#include <string>

__global__ void add(int* data, int n, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += value;
}

int kernel_node(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, int count, int* data, int n, int value) {
  void* arguments[] = {&data, &n, &value};
  cudaKernelNodeParams p = {};
  p.func = (void*)add;
  p.gridDim = dim3((n + 127) / 128);
  p.blockDim = dim3(128);
  p.kernelParams = arguments;  // copied here and now
  return cudaGraphAddKernelNode(node, graph, after, count, &p) != cudaSuccess;
}

int main() {
  const int n = 1000;
  static int host[2 * n];
  int calls = 0, bad = 0;
  cudaGraph_t graph;
  cudaGraphCreate(&graph, 0);

  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location.type = cudaMemLocationTypeDevice;
  memory.bytesize = sizeof host;
  cudaGraphNode_t allocate, fill, left, right, copy, call, release;
  bad += cudaGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &memory) != cudaSuccess;
  int* data = (int*)memory.dptr;
  cudaMemsetParams zero = {};
  zero.dst = data;
  zero.elementSize = 4;
  zero.width = 2 * n;
  zero.height = 1;
  bad += cudaGraphAddMemsetNode(&fill, graph, &allocate, 1, &zero) != cudaSuccess;
  bad += kernel_node(&left, graph, &fill, 1, data, n, 1);
  bad += kernel_node(&right, graph, &fill, 1, data + n, n, 2);  // may run beside `left`: no path leads from one to the other
  const cudaGraphNode_t both[] = {left, right};
  bad += cudaGraphAddMemcpyNode1D(&copy, graph, both, 2, host, data, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess;
  cudaHostNodeParams count = {};
  count.fn = [](void* n) { ++*(int*)n; };
  count.userData = &calls;
  bad += cudaGraphAddHostNode(&call, graph, &copy, 1, &count) != cudaSuccess;
  bad += cudaGraphAddMemFreeNode(&release, graph, &call, 1, data) != cudaSuccess;

  size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphExec_t executable;
  bad += cudaGraphInstantiate(&executable, graph, nullptr, nullptr, 0) != cudaSuccess;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  for (int round = 0; round < 5; ++round) {
    bad += cudaGraphLaunch(executable, stream) != cudaSuccess || cudaStreamSynchronize(stream) != cudaSuccess;
    for (int i = 0; i < n; ++i) bad += host[i] != 1 || host[n + i] != 2;
  }

  cudaKernelNodeParams p = {};
  cudaGraphKernelNodeGetParams(right, &p);
  int *second = data + n, size = n, value = 40;
  void* arguments[] = {&second, &size, &value};
  p.kernelParams = arguments;
  bad += cudaGraphExecKernelNodeSetParams(executable, right, &p) != cudaSuccess;
  bad += cudaGraphLaunch(executable, stream) != cudaSuccess || cudaStreamSynchronize(stream) != cudaSuccess;
  for (int i = 0; i < n; ++i) bad += host[i] != 1 || host[n + i] != 40;
  bad += calls != 6;

  cudaGraph_t twin;
  bad += cudaGraphClone(&twin, graph) != cudaErrorNotSupported;  // for it owns memory
  const char* picture = "/tmp/graph_nodes.dot";
  bad += cudaGraphDebugDotPrint(graph, picture, cudaGraphDebugDotFlagsVerbose) != cudaSuccess;
  char line[256];
  bool drawn = false;
  if (FILE* file = std::fopen(picture, "r")) {
    drawn = std::fgets(line, sizeof line, file) && std::strncmp(line, "digraph", 7) == 0;
    std::fclose(file);
    std::remove(picture);
  }
  std::printf("%zu nodes, launched %d times, last value %d, drawn: %s, %d wrong\n%s\n", nodes, calls, host[n], drawn ? "yes" : "no", bad, bad || !drawn ? "FAIL" : "PASS");
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  return bad || !drawn;
}

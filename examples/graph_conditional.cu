// graph_conditional: a loop inside a graph. A kernel halves a number and tells the while node with cudaGraphSetConditional
// whether to go round again; the host launches once and learns of nothing in between.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

__global__ void collatz(unsigned* number, unsigned* steps, cudaGraphConditionalHandle again) {
  unsigned n = *number;
  if (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    ++*steps;
  }
  *number = n;
  cudaGraphSetConditional(again, n != 1);
}

int main(int argc, char** argv) {
  unsigned start = argc > 1 ? unsigned(std::atoi(argv[1])) : 27, expected = 0;
  for (unsigned n = start; n != 1; n = n % 2 ? 3 * n + 1 : n / 2) ++expected;

  unsigned* data;
  CHECK(cudaMalloc(&data, 2 * sizeof(unsigned)));
  unsigned values[2] = {start, 0};
  CHECK(cudaMemcpy(data, values, sizeof values, cudaMemcpyHostToDevice));

  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle again;
  CHECK(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams loop{};
  loop.type = cudaGraphNodeTypeConditional;
  loop.conditional.handle = again;
  loop.conditional.type = cudaGraphCondTypeWhile;
  loop.conditional.size = 1;
  cudaGraphNode_t node, step;
  CHECK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &loop));
  cudaGraph_t body = loop.conditional.phGraph_out[0];

  unsigned *number = data, *steps = data + 1;
  void* arguments[] = {&number, &steps, &again};
  cudaKernelNodeParams kernel{};
  kernel.func = reinterpret_cast<void*>(collatz);
  kernel.gridDim = kernel.blockDim = 1;
  kernel.kernelParams = arguments;
  CHECK(cudaGraphAddKernelNode(&step, body, nullptr, 0, &kernel));

  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, nullptr));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(values, data, sizeof values, cudaMemcpyDeviceToHost));
  std::printf("%u reaches %u after %u steps (%u expected)\n", start, values[0], values[1], expected);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFree(data));
  return values[0] == 1 && values[1] == expected ? 0 : 1;
}

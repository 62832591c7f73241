// What graph nodes hold can be asked and changed, before and after instantiation: copies, fills, host calls, events,
// children, memory and kernels.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call) EXPECT(call, cudaSuccess)
#define EXPECT(call, wanted)                                                                     \
  do {                                                                                           \
    cudaError_t status_ = (call);                                                                \
    if (status_ != (wanted)) {                                                                   \
      printf("line %d: %s gave %s\n", __LINE__, #call, cudaGetErrorName(status_));               \
      exit(1);                                                                                   \
    }                                                                                            \
    cudaGetLastError();                                                                          \
  } while (0)
#define REQUIRE(condition)                                    \
  do {                                                        \
    if (!(condition)) {                                       \
      printf("line %d: not so: %s\n", __LINE__, #condition);  \
      exit(1);                                                \
    }                                                         \
  } while (0)

constexpr int kN = 64;
__device__ int symbol[kN], other_symbol[kN];
__global__ void add(int* p, int value) { p[threadIdx.x] += value; }
__global__ void twice(int* p, int) { p[threadIdx.x] *= 2; }

int *a, *b, host[kN], host2[kN];
cudaStream_t stream;

cudaGraphExec_t instantiate(cudaGraph_t graph) {
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiateWithFlags(&exec, graph, cudaGraphInstantiateFlagUseNodePriority));
  unsigned long long flags = 0;
  CHECK(cudaGraphExecGetFlags(exec, &flags));
  REQUIRE(flags == cudaGraphInstantiateFlagUseNodePriority);
  return exec;
}
void run(cudaGraphExec_t exec) {
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
}
void run(cudaGraph_t graph) {
  cudaGraphExec_t exec = instantiate(graph);
  run(exec);
  CHECK(cudaGraphExecDestroy(exec));
}
void set(int* p, int first) {
  int values[kN];
  for (int i = 0; i < kN; ++i) values[i] = first + i;
  CHECK(cudaMemcpy(p, values, sizeof values, cudaMemcpyDefault));
}
bool holds(const void* p, int first) {
  int values[kN];
  CHECK(cudaMemcpy(values, p, sizeof values, cudaMemcpyDefault));
  for (int i = 0; i < kN; ++i)
    if (values[i] != first + i) return false;
  return true;
}
cudaMemcpy3DParms flat(void* to, void* from, size_t bytes) {
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(from, bytes, bytes, 1);
  p.dstPtr = make_cudaPitchedPtr(to, bytes, bytes, 1);
  p.extent = make_cudaExtent(bytes, 1, 1);
  p.kind = cudaMemcpyDefault;
  return p;
}

void copies() {
  cudaGraph_t graph;
  cudaGraphNode_t node;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaMemcpy3DParms p = flat(b, a, sizeof host), back;
  CHECK(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &p));
  CHECK(cudaGraphMemcpyNodeGetParams(node, &back));
  REQUIRE(back.srcPtr.ptr == a && back.dstPtr.ptr == b && back.extent.width == sizeof host);
  set(a, 100), set(b, 0), set(host, 500);
  run(graph);
  REQUIRE(holds(b, 100));
  cudaGraphExec_t exec = instantiate(graph);
  p = flat(b, host, sizeof host);
  CHECK(cudaGraphExecMemcpyNodeSetParams(exec, node, &p));
  run(exec);
  REQUIRE(holds(b, 500));
  run(graph);  // the graph itself is as it was
  REQUIRE(holds(b, 100));
  CHECK(cudaGraphMemcpyNodeSetParams(node, &p));
  run(graph);
  REQUIRE(holds(b, 500));
  CHECK(cudaGraphMemcpyNodeSetParams1D(node, b, a, sizeof host, cudaMemcpyDeviceToDevice));
  run(graph);
  REQUIRE(holds(b, 100));
  CHECK(cudaGraphExecMemcpyNodeSetParams1D(exec, node, host2, a, sizeof host, cudaMemcpyDefault));
  run(exec);
  REQUIRE(holds(host2, 100));
  EXPECT(cudaGraphExecMemcpyNodeSetParams1D(exec, node, host2, a, sizeof host, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);

  cudaGraphNode_t to, from;
  set(a, 7);
  CHECK(cudaGraphAddMemcpyNodeToSymbol(&to, graph, &node, 1, symbol, a, sizeof host, 0, cudaMemcpyDeviceToDevice));
  CHECK(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, host2, symbol, sizeof host, 0, cudaMemcpyDeviceToHost));
  run(graph);
  REQUIRE(holds(host2, 7));
  CHECK(cudaGraphMemcpyNodeSetParamsToSymbol(to, other_symbol, a, sizeof host, 0, cudaMemcpyDeviceToDevice));
  CHECK(cudaGraphMemcpyNodeSetParamsFromSymbol(from, host2, other_symbol, sizeof host, 0, cudaMemcpyDeviceToHost));
  set(a, 8);
  run(graph);
  REQUIRE(holds(host2, 8));
  CHECK(cudaGraphExecDestroy(exec));
  exec = instantiate(graph);
  set(a, 9);
  CHECK(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, to, symbol, a, sizeof host, 0, cudaMemcpyDeviceToDevice));
  CHECK(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, host, symbol, sizeof host, 0, cudaMemcpyDeviceToHost));
  run(exec);
  REQUIRE(holds(host, 9));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

cudaGraph_t one_copy(void* to, void* from, cudaMemcpyKind kind) {
  cudaGraph_t graph;
  cudaGraphNode_t node;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, to, from, sizeof host, kind));
  return graph;
}

// An instantiated graph's copies keep the direction they were given; pinned and pageable memory are alike.
void directions() {
  int* pinned;
  CHECK(cudaMallocHost(&pinned, sizeof host));
  cudaGraph_t down = one_copy(host2, a, cudaMemcpyDeviceToHost), to_pinned = one_copy(pinned, a, cudaMemcpyDeviceToHost),
              any = one_copy(host2, a, cudaMemcpyDefault), up = one_copy(a, host, cudaMemcpyHostToDevice);
  cudaGraphExec_t exec = instantiate(down);
  cudaGraphExecUpdateResultInfo result;
  for (cudaGraph_t other : {any, up}) {
    EXPECT(cudaGraphExecUpdate(exec, other, &result), cudaErrorGraphExecUpdateFailure);
    REQUIRE(result.result == cudaGraphExecUpdateErrorParametersChanged);
  }
  CHECK(cudaGraphExecUpdate(exec, to_pinned, &result));
  set(a, 30);
  run(exec);
  REQUIRE(holds(pinned, 30));
  CHECK(cudaGraphExecDestroy(exec));
  for (cudaGraph_t graph : {down, to_pinned, any, up}) CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFreeHost(pinned));
}

// Copies into, between and out of arrays, one of them a layered one.
void array_copies() {
  const cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
  cudaArray_t box, layers;
  CHECK(cudaMalloc3DArray(&box, &ints, make_cudaExtent(8, 4, 2)));
  CHECK(cudaMalloc3DArray(&layers, &ints, make_cudaExtent(8, 4, 3), cudaArrayLayered));
  cudaGraph_t graph;
  cudaGraphNode_t in, across, out;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaMemcpy3DParms p = {}, back;
  p.srcPtr = make_cudaPitchedPtr(host, 32, 8, 4);
  p.dstArray = box;
  p.extent = make_cudaExtent(8, 4, 2);
  p.kind = cudaMemcpyHostToDevice;
  CHECK(cudaGraphAddMemcpyNode(&in, graph, nullptr, 0, &p));
  CHECK(cudaGraphMemcpyNodeGetParams(in, &back));
  REQUIRE(back.dstArray == box && back.srcPtr.ptr == host && back.extent.depth == 2);
  p = {};
  p.srcArray = box;
  p.dstArray = layers;
  p.dstPos.z = 1;
  p.extent = make_cudaExtent(8, 4, 2);
  p.kind = cudaMemcpyDeviceToDevice;
  CHECK(cudaGraphAddMemcpyNode(&across, graph, &in, 1, &p));
  p = {};
  p.srcArray = layers;
  p.srcPos = make_cudaPos(0, 0, 1);
  p.dstPtr = make_cudaPitchedPtr(b, 32, 8, 4);
  p.extent = make_cudaExtent(8, 4, 2);
  p.kind = cudaMemcpyDeviceToDevice;
  CHECK(cudaGraphAddMemcpyNode(&out, graph, &across, 1, &p));
  set(host, 70), set(b, 0);
  run(graph);
  REQUIRE(holds(b, 70));
  cudaGraphExec_t exec = instantiate(graph);
  p.srcArray = box, p.srcPos.z = 0;
  CHECK(cudaGraphExecMemcpyNodeSetParams(exec, out, &p));
  set(host, 80);
  run(exec);
  REQUIRE(holds(b, 80));
  p.srcPos.z = 1;
  EXPECT(cudaGraphExecMemcpyNodeSetParams(exec, out, &p), cudaErrorInvalidValue);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFreeArray(box));
  CHECK(cudaFreeArray(layers));
}

void fills() {
  cudaGraph_t graph;
  cudaGraphNode_t node;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams p = {}, back;
  p.dst = a;
  p.elementSize = 4;
  p.width = kN;
  p.height = 1;
  p.value = 3;
  CHECK(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &p));
  CHECK(cudaGraphMemsetNodeGetParams(node, &back));
  REQUIRE(back.dst == a && back.value == 3 && back.elementSize == 4 && back.width == kN);
  cudaGraphExec_t exec = instantiate(graph);
  auto first = [] {
    int value;
    CHECK(cudaMemcpy(&value, a, 4, cudaMemcpyDeviceToHost));
    return value;
  };
  run(exec);
  REQUIRE(first() == 3);
  p.value = 4;
  CHECK(cudaGraphExecMemsetNodeSetParams(exec, node, &p));
  run(exec);
  REQUIRE(first() == 4);
  p.value = 5;
  CHECK(cudaGraphMemsetNodeSetParams(node, &p));
  run(graph);
  REQUIRE(first() == 5);
  cudaGraphNodeParams any = {};
  any.type = cudaGraphNodeTypeMemset;
  any.memset.dst = a;
  any.memset.value = 6;
  any.memset.elementSize = 4;
  any.memset.width = kN;
  any.memset.height = 1;
  CHECK(cudaGraphNodeSetParams(node, &any));
  run(graph);
  REQUIRE(first() == 6);
  any.memset.value = 7;
  CHECK(cudaGraphExecNodeSetParams(exec, node, &any));
  run(exec);
  REQUIRE(first() == 7);
  any.type = cudaGraphNodeTypeKernel;
  EXPECT(cudaGraphNodeSetParams(node, &any), cudaErrorInvalidValue);  // of another kind
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

void count(void* data) { ++*(int*)data; }
void count_ten(void* data) { *(int*)data += 10; }

void host_calls() {
  cudaGraph_t graph;
  cudaGraphNode_t node;
  int number = 0, second = 0;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaHostNodeParams p = {count, &number}, back;
  CHECK(cudaGraphAddHostNode(&node, graph, nullptr, 0, &p));
  CHECK(cudaGraphHostNodeGetParams(node, &back));
  REQUIRE(back.fn == count && back.userData == &number);
  cudaGraphExec_t exec = instantiate(graph);
  run(exec);
  p.fn = count_ten;
  CHECK(cudaGraphExecHostNodeSetParams(exec, node, &p));
  run(exec);
  REQUIRE(number == 11);
  p.userData = &second;
  CHECK(cudaGraphHostNodeSetParams(node, &p));
  run(graph);
  REQUIRE(number == 11 && second == 10);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

void events() {
  cudaGraph_t graph;
  cudaGraphNode_t record, wait;
  cudaEvent_t first, second, got;
  CHECK(cudaEventCreate(&first));
  CHECK(cudaEventCreate(&second));
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphAddEventRecordNode(&record, graph, nullptr, 0, first));
  CHECK(cudaGraphAddEventWaitNode(&wait, graph, &record, 1, first));
  CHECK(cudaGraphEventRecordNodeGetEvent(record, &got));
  REQUIRE(got == first);
  CHECK(cudaGraphEventWaitNodeGetEvent(wait, &got));
  REQUIRE(got == first);
  CHECK(cudaGraphEventWaitNodeSetEvent(wait, second));
  CHECK(cudaGraphEventWaitNodeGetEvent(wait, &got));
  REQUIRE(got == second);
  cudaGraphExec_t exec = instantiate(graph);
  CHECK(cudaEventRecord(second, stream));
  run(exec);
  float ms = -1;
  CHECK(cudaEventElapsedTime(&ms, second, first));  // both are recorded
  CHECK(cudaGraphExecEventRecordNodeSetEvent(exec, record, second));
  CHECK(cudaGraphExecEventWaitNodeSetEvent(exec, wait, first));
  CHECK(cudaGraphEventRecordNodeSetEvent(record, second));
  CHECK(cudaGraphEventRecordNodeGetEvent(record, &got));
  REQUIRE(got == second);
  run(exec);
  CHECK(cudaEventElapsedTime(&ms, first, second));
  REQUIRE(ms >= 0);
  EXPECT(cudaGraphEventWaitNodeGetEvent(record, &got), cudaErrorInvalidValue);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaEventDestroy(first));
  CHECK(cudaEventDestroy(second));
}

cudaGraph_t kernel_graph(cudaGraphNode_t* node, void (*kernel)(int*, int), int value) {
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  void* arguments[] = {&a, &value};
  cudaKernelNodeParams p = {};
  p.func = (void*)kernel;
  p.gridDim = dim3(1);
  p.blockDim = dim3(kN);
  p.kernelParams = arguments;
  CHECK(cudaGraphAddKernelNode(node, graph, nullptr, 0, &p));
  return graph;
}

void kernels_and_children() {
  cudaGraphNode_t node, other_node, child;
  cudaGraph_t graph = kernel_graph(&node, add, 5), other = kernel_graph(&other_node, twice, 0), parent;
  cudaKernelNodeParams p;
  CHECK(cudaGraphKernelNodeGetParams(node, &p));
  REQUIRE(p.func == (void*)add && p.blockDim.x == kN && *(int*)p.kernelParams[1] == 5);
  set(a, 0);
  run(graph);
  REQUIRE(holds(a, 5));
  int value = 100;
  void* arguments[] = {&a, &value};
  p.kernelParams = arguments;
  CHECK(cudaGraphKernelNodeSetParams(node, &p));
  run(graph);
  REQUIRE(holds(a, 105));
  cudaLaunchAttributeValue priority = {};
  priority.priority = -1;
  CHECK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &priority));
  CHECK(cudaGraphKernelNodeCopyAttributes(other_node, node));
  priority.priority = 0;
  CHECK(cudaGraphKernelNodeGetAttribute(other_node, cudaLaunchAttributePriority, &priority));
  REQUIRE(priority.priority == -1);

  CHECK(cudaGraphCreate(&parent, 0));
  CHECK(cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, graph));
  cudaGraphExec_t exec = instantiate(parent);
  run(exec);
  REQUIRE(holds(a, 205));
  cudaGraph_t inner;
  CHECK(cudaGraphChildGraphNodeGetGraph(child, &inner));
  REQUIRE(inner != graph);
  value = 1;
  cudaGraphNode_t inner_node;
  size_t one = 1;
  CHECK(cudaGraphGetNodes(inner, &inner_node, &one));
  CHECK(cudaGraphKernelNodeSetParams(inner_node, &p));
  CHECK(cudaGraphExecChildGraphNodeSetParams(exec, child, inner));
  run(exec);
  REQUIRE(holds(a, 206));
  cudaGraph_t unlike;
  CHECK(cudaGraphCreate(&unlike, 0));
  if (cudaGraphExecChildGraphNodeSetParams(exec, child, unlike) == cudaSuccess) exit(1);
  cudaGetLastError();
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(unlike));
  CHECK(cudaGraphDestroy(parent));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphDestroy(other));
}

void memory() {
  cudaGraph_t graph;
  cudaGraphNode_t alloc, fill, free_node;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams p = {}, back;
  p.poolProps.allocType = cudaMemAllocationTypePinned;
  p.poolProps.location = {cudaMemLocationTypeDevice, 0};
  p.bytesize = sizeof host;
  CHECK(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &p));
  cudaMemsetParams m = {};
  m.dst = p.dptr;
  m.elementSize = 1;
  m.width = sizeof host;
  m.height = 1;
  CHECK(cudaGraphAddMemsetNode(&fill, graph, &alloc, 1, &m));
  CHECK(cudaGraphAddMemFreeNode(&free_node, graph, &fill, 1, p.dptr));
  EXPECT(cudaGraphAddMemFreeNode(&free_node, graph, &fill, 1, p.dptr), cudaErrorInvalidValue);  // twice
  CHECK(cudaGraphMemAllocNodeGetParams(alloc, &back));
  REQUIRE(back.dptr == p.dptr && back.bytesize == sizeof host);
  cudaGraphNode_t nodes[3];
  size_t count = 3;
  CHECK(cudaGraphGetNodes(graph, nodes, &count));
  void* freed = nullptr;
  CHECK(cudaGraphMemFreeNodeGetParams(nodes[2], &freed));
  REQUIRE(freed == p.dptr);
  run(graph);
  size_t high = 0, zero = 0;
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &high));
  REQUIRE(high > 0);
  // What the graph has freed is used until it is trimmed.
  size_t used = 0;
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  REQUIRE(used > 0);
  CHECK(cudaDeviceGraphMemTrim(0));
  CHECK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero));
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &high));
  REQUIRE(high == 0);
  EXPECT(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &zero), cudaErrorInvalidValue);
  CHECK(cudaGraphDestroy(graph));
}

void user_objects() {
  static int destroyed = 0;
  cudaUserObject_t object;
  CHECK(cudaUserObjectCreate(&object, &destroyed, count, 1, cudaUserObjectNoDestructorSync));
  CHECK(cudaUserObjectRetain(object, 2));
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphRetainUserObject(graph, object, 2, 0));
  CHECK(cudaUserObjectRelease(object, 3));
  REQUIRE(destroyed == 0);
  CHECK(cudaGraphReleaseUserObject(graph, object, 1));
  REQUIRE(destroyed == 0);
  CHECK(cudaGraphReleaseUserObject(graph, object, 1));
  for (int i = 0; i < 1000 && !*(volatile int*)&destroyed; ++i) CHECK(cudaDeviceSynchronize());
  REQUIRE(destroyed == 1);
  CHECK(cudaGraphDestroy(graph));
}

int main() {
  CHECK(cudaMalloc(&a, sizeof host));
  CHECK(cudaMalloc(&b, sizeof host));
  CHECK(cudaStreamCreate(&stream));
  copies();
  directions();
  array_copies();
  fills();
  host_calls();
  events();
  kernels_and_children();
  memory();
  user_objects();
  puts("PASSED");
}

// Graphs and capture through the driver API.
#include <dlfcn.h>

#include <atomic>
#include <fstream>

#include "fixture.h"

namespace {

class Graphs : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuGraphCreate(&graph, 0));
    to = allocate(256);
  }
  // A node in which one thread writes *to = value.
  CUgraphNode put_node(CUdeviceptr address, int value, std::vector<CUgraphNode> after = {}) {
    void* arguments[] = {&address, &value};
    CUDA_KERNEL_NODE_PARAMS p{};
    p.func = function("put");
    p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimX = p.blockDimY = p.blockDimZ = 1;
    p.kernelParams = arguments;
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &p), CUDA_SUCCESS);
    return node;
  }
  // What describes such a node to the general functions.
  CUgraphNodeParams put_parameters(void** arguments) {
    CUgraphNodeParams p{};
    p.type = CU_GRAPH_NODE_TYPE_KERNEL;
    p.kernel.func = function("put");
    p.kernel.gridDimX = p.kernel.gridDimY = p.kernel.gridDimZ = 1;
    p.kernel.blockDimX = p.kernel.blockDimY = p.kernel.blockDimZ = 1;
    p.kernel.kernelParams = arguments;
    return p;
  }
  void run() {
    CUgraphExec exec;
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphUpload(exec, stream));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuGraphExecDestroy(exec));
  }
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUdeviceptr to = 0;
};

TEST_F(Graphs, nodes_run_in_order) {
  CUgraphNode first = put_node(to, 5), set, copy, host, empty;
  CUDA_MEMSET_NODE_PARAMS fill{to + 4, 0, 0x0a, 1, 4, 1};
  OK(cuGraphAddMemsetNode(&set, graph, &first, 1, &fill, context));
  int back[2] = {};
  CUDA_MEMCPY3D p{};
  p.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  p.srcDevice = to;
  p.dstMemoryType = CU_MEMORYTYPE_HOST;
  p.dstHost = back;
  p.WidthInBytes = 8;
  p.Height = p.Depth = 1;
  OK(cuGraphAddMemcpyNode(&copy, graph, &set, 1, &p, context));
  std::atomic<int> calls{0};
  CUDA_HOST_NODE_PARAMS call{[](void* data) { ++*static_cast<std::atomic<int>*>(data); }, &calls};
  OK(cuGraphAddHostNode(&host, graph, &copy, 1, &call));
  OK(cuGraphAddEmptyNode(&empty, graph, &host, 1));
  run();
  EXPECT_EQ(back[0], 5);
  EXPECT_EQ(back[1], 0x0a0a0a0a);
  EXPECT_EQ(calls, 1);

  CUgraphNodeType type;
  OK(cuGraphNodeGetType(copy, &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_MEMCPY);
  size_t count = 0;
  OK(cuGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 5u);
  OK(cuGraphGetRootNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 1u);
  OK(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  EXPECT_EQ(count, 4u);
  OK(cuGraphNodeGetDependencies(copy, nullptr, nullptr, &count));
  EXPECT_EQ(count, 1u);
  OK(cuGraphNodeGetDependentNodes(copy, nullptr, nullptr, &count));
  EXPECT_EQ(count, 1u);
  CUDA_KERNEL_NODE_PARAMS kernel{};
  OK(cuGraphKernelNodeGetParams(first, &kernel));
  EXPECT_EQ(kernel.func, function("put"));
  OK(cuGraphKernelNodeSetParams(first, &kernel));
  OK(cuGraphMemsetNodeGetParams(set, &fill));
  EXPECT_EQ(fill.dst, to + 4);
  fill.value = 0x0b;
  OK(cuGraphMemsetNodeSetParams(set, &fill));
  CUDA_MEMCPY3D facts{};
  OK(cuGraphMemcpyNodeGetParams(copy, &facts));
  EXPECT_EQ(facts.WidthInBytes, 8u);
  OK(cuGraphMemcpyNodeSetParams(copy, &p));
  OK(cuGraphHostNodeGetParams(host, &call));
  OK(cuGraphHostNodeSetParams(host, &call));
  run();
  EXPECT_EQ(back[1], 0x0b0b0b0b);
  OK(cuGraphDestroyNode(empty));
  std::string path = testing::TempDir() + "/graph.dot";
  OK(cuGraphDebugDotPrint(graph, path.c_str(), 0));
  EXPECT_TRUE(std::ifstream(path).good());
}

TEST_F(Graphs, are_captured) {
  CUstreamCaptureStatus status;
  cuuint64_t id = 0;
  CUgraph captured = nullptr;
  OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuStreamIsCapturing(stream, &status));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  OK(cuStreamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr, nullptr));
  OK(put(to, 15, stream));
  OK(cuStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));  // of the next node
  OK(cuMemsetD32Async(to + 4, 16, 1, stream));
  OK(cuStreamEndCapture(stream, &captured));
  size_t edges = 9;
  OK(cuGraphGetEdges(captured, nullptr, nullptr, nullptr, &edges));
  EXPECT_EQ(edges, 0u);
  EXPECT_EQ(read(to), 0) << "captured work does not run";
  std::swap(graph, captured);
  run();
  EXPECT_EQ(read(to), 15);
  EXPECT_EQ(read(to + 4), 16);
  OK(cuGraphDestroy(captured));
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  OK(cuThreadExchangeStreamCaptureMode(&mode));
}

// Arguments as one buffer: in a node that is added, in one that is changed, and in an executable's.
TEST_F(Graphs, arguments_come_in_a_buffer) {
  struct {
    CUdeviceptr to;
    int value;
  } buffer{to, 31};
  size_t size = sizeof buffer.to + sizeof buffer.value;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  CUDA_KERNEL_NODE_PARAMS p{};
  p.func = function("put");
  p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimX = p.blockDimY = p.blockDimZ = 1;
  p.extra = extra;
  CUgraphNode node;
  OK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &p));
  run();
  EXPECT_EQ(read(to), 31);
  buffer.value = 32;
  OK(cuGraphKernelNodeSetParams(node, &p));
  run();
  EXPECT_EQ(read(to), 32);
  CUgraphExec exec;
  OK(cuGraphInstantiate(&exec, graph, 0));
  buffer.value = 33;
  OK(cuGraphExecKernelNodeSetParams(exec, node, &p));
  buffer.value = 34;  // the executable has its copy
  OK(cuGraphLaunch(exec, stream));
  OK(cuStreamSynchronize(stream));
  EXPECT_EQ(read(to), 33);
  OK(cuGraphExecDestroy(exec));
  CUgraphNodeParams any{};
  any.type = CU_GRAPH_NODE_TYPE_KERNEL;
  any.kernel.func = p.func;
  any.kernel.gridDimX = any.kernel.gridDimY = any.kernel.gridDimZ = any.kernel.blockDimX = any.kernel.blockDimY = any.kernel.blockDimZ = 1;
  any.kernel.extra = extra;
  OK(cuGraphNodeSetParams(node, &any));
  run();
  EXPECT_EQ(read(to), 34);
  void* arguments[] = {&buffer.to, &buffer.value};
  p.kernelParams = arguments;
  EXPECT_EQ(cuGraphKernelNodeSetParams(node, &p), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Graphs, executables_are_changed) {
  CUgraphNode node = put_node(to, 1);
  CUgraphExec exec;
  CUDA_GRAPH_INSTANTIATE_PARAMS how{};
  OK(cuGraphInstantiateWithParams(&exec, graph, &how));
  CUDA_KERNEL_NODE_PARAMS p{};
  OK(cuGraphKernelNodeGetParams(node, &p));
  int value = 2;
  void* arguments[] = {&to, &value};
  p.kernelParams = arguments;
  OK(cuGraphExecKernelNodeSetParams(exec, node, &p));
  OK(cuGraphLaunch(exec, stream));
  OK(cuStreamSynchronize(stream));
  EXPECT_EQ(read(to), 2);
  unsigned enabled = 9;
  OK(cuGraphNodeSetEnabled(exec, node, 0));
  OK(cuGraphNodeGetEnabled(exec, node, &enabled));
  EXPECT_EQ(enabled, 0u);
  cuuint64_t flags = 9;
  OK(cuGraphExecGetFlags(exec, &flags));
  EXPECT_EQ(flags, 0u);
  CUgraphExecUpdateResultInfo info{};
  OK(cuGraphExecUpdate(exec, graph, &info));
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  CUgraph clone;
  CUgraphNode there;
  OK(cuGraphClone(&clone, graph));
  OK(cuGraphNodeFindInClone(&there, node, clone));
  OK(cuGraphDestroy(clone));
  OK(cuGraphExecDestroy(exec));
  EXPECT_NE(cuGraphLaunch(exec, stream), CUDA_SUCCESS) << "destroyed";
  EXPECT_NE(cuGraphExecDestroy(exec), CUDA_SUCCESS);
}

TEST_F(Graphs, have_children_events_memory_and_general_nodes) {
  CUgraph child;
  CUgraphNode nodes[6];
  OK(cuGraphCreate(&child, 0));
  OK(cuGraphAddEmptyNode(&nodes[0], child, nullptr, 0));
  OK(cuGraphAddChildGraphNode(&nodes[0], graph, nullptr, 0, child));
  CUgraph inner;
  OK(cuGraphChildGraphNodeGetGraph(nodes[0], &inner));
  CUevent event, same;
  OK(cuEventCreate(&event, 0));
  OK(cuGraphAddEventRecordNode(&nodes[1], graph, nodes, 1, event));
  OK(cuGraphEventRecordNodeGetEvent(nodes[1], &same));
  EXPECT_EQ(same, event);
  OK(cuGraphEventRecordNodeSetEvent(nodes[1], event));
  OK(cuGraphAddEventWaitNode(&nodes[2], graph, &nodes[1], 1, event));
  OK(cuGraphEventWaitNodeGetEvent(nodes[2], &same));
  EXPECT_EQ(same, event);
  OK(cuGraphEventWaitNodeSetEvent(nodes[2], event));
  CUDA_MEM_ALLOC_NODE_PARAMS memory{};
  memory.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  memory.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  memory.bytesize = 256;
  OK(cuGraphAddMemAllocNode(&nodes[3], graph, &nodes[2], 1, &memory));
  ASSERT_NE(memory.dptr, 0u);
  OK(cuGraphAddMemFreeNode(&nodes[4], graph, &nodes[3], 1, memory.dptr));
  CUdeviceptr freed = 0;
  OK(cuGraphMemFreeNodeGetParams(nodes[4], &freed));
  EXPECT_EQ(freed, memory.dptr);
  OK(cuGraphMemAllocNodeGetParams(nodes[3], &memory));
  int value = 33;
  void* arguments[] = {&to, &value};
  CUgraphNodeParams p = put_parameters(arguments);
  OK(cuGraphAddNode(&nodes[5], graph, &nodes[4], nullptr, 1, &p));
  CUgraphNodeParams told{};
  OK(cuGraphNodeGetParams(nodes[1], &told));
  EXPECT_EQ(told.type, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
  EXPECT_EQ(told.eventRecord.event, event);
  OK(cuGraphNodeGetParams(nodes[3], &told));
  EXPECT_EQ(told.type, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
  EXPECT_EQ(told.alloc.dptr, memory.dptr);
  OK(cuGraphNodeGetParams(nodes[4], &told));
  EXPECT_EQ(told.free.dptr, memory.dptr);
  OK(cuGraphNodeGetParams(nodes[5], &told));
  EXPECT_EQ(told.type, CU_GRAPH_NODE_TYPE_KERNEL);
  EXPECT_EQ(told.kernel.func, p.kernel.func);
  EXPECT_EQ(*static_cast<int*>(told.kernel.kernelParams[1]), 33);
  EXPECT_EQ(cuGraphNodeGetParams(nodes[5], nullptr), CUDA_ERROR_INVALID_VALUE);
  run();
  EXPECT_EQ(read(to), 33);
  OK(cuGraphRemoveDependencies(graph, &nodes[4], &nodes[5], nullptr, 1));
  OK(cuGraphAddDependencies(graph, &nodes[4], &nodes[5], nullptr, 1));
  value = 34;
  OK(cuGraphNodeSetParams(nodes[5], &p));
  run();
  EXPECT_EQ(read(to), 34);
  cuuint64_t used = 1;
  OK(cuDeviceGetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
  OK(cuDeviceGraphMemTrim(device));
  static int destroyed = 0;
  CUuserObject object;
  OK(cuUserObjectCreate(&object, &destroyed, [](void* data) { ++*static_cast<int*>(data); }, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  OK(cuUserObjectRetain(object, 1));
  OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  OK(cuUserObjectRelease(object, 1));
  OK(cuGraphDestroy(graph));
  EXPECT_EQ(destroyed, 1);
}

TEST_F(Graphs, executables_take_other_events_calls_and_parameters) {
  CUevent first, second;
  OK(cuEventCreate(&first, 0));
  OK(cuEventCreate(&second, 0));
  std::atomic<int> calls{0};
  CUDA_HOST_NODE_PARAMS call{[](void* data) { *static_cast<std::atomic<int>*>(data) += 1; }, &calls};
  CUgraphNode host, wait, record, put = put_node(to, 1);
  OK(cuGraphAddHostNode(&host, graph, &put, 1, &call));
  OK(cuGraphAddEventWaitNode(&wait, graph, &host, 1, first));
  OK(cuGraphAddEventRecordNode(&record, graph, &wait, 1, first));
  CUgraphExec exec;
  OK(cuGraphInstantiate(&exec, graph, 0));
  call.fn = [](void* data) { *static_cast<std::atomic<int>*>(data) += 10; };
  OK(cuGraphExecHostNodeSetParams(exec, host, &call));
  OK(cuGraphExecEventWaitNodeSetEvent(exec, wait, second));
  OK(cuGraphExecEventRecordNodeSetEvent(exec, record, second));
  int value = 2;
  void* arguments[] = {&to, &value};
  CUgraphNodeParams p = put_parameters(arguments);
  OK(cuGraphExecNodeSetParams(exec, put, &p));
  OK(cuGraphLaunch(exec, stream));
  OK(cuStreamSynchronize(stream));
  EXPECT_EQ(read(to), 2);
  EXPECT_EQ(calls, 10);
  float ms = 0;
  EXPECT_EQ(cuEventElapsedTime(&ms, first, first), CUDA_ERROR_INVALID_HANDLE) << "never recorded";
  EXPECT_EQ(cuEventElapsedTime(&ms, second, second), CUDA_SUCCESS);
  OK(cuGraphExecDestroy(exec));
}

TEST_F(Graphs, kernel_nodes_have_attributes) {
  CUgraphNode one = put_node(to, 1), other = put_node(to + 4, 1, {one});
  CUkernelNodeAttrValue set{}, got{};
  set.priority = -1;
  OK(cuGraphKernelNodeSetAttribute(one, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &set));
  OK(cuGraphKernelNodeGetAttribute(one, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &got));
  EXPECT_EQ(got.priority, -1);
  OK(cuGraphKernelNodeGetAttribute(other, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &got));
  EXPECT_EQ(got.priority, 0);
  OK(cuGraphKernelNodeCopyAttributes(other, one));
  OK(cuGraphKernelNodeGetAttribute(other, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &got));
  EXPECT_EQ(got.priority, -1);
}

TEST_F(Graphs, give_user_objects_back) {
  static int destroyed = 0;
  CUuserObject object;
  OK(cuUserObjectCreate(&object, &destroyed, [](void* data) { ++*static_cast<int*>(data); }, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  OK(cuGraphRetainUserObject(graph, object, 2, 0));
  OK(cuUserObjectRelease(object, 1));
  OK(cuGraphReleaseUserObject(graph, object, 1));
  EXPECT_EQ(destroyed, 0);
  OK(cuGraphReleaseUserObject(graph, object, 1));
  EXPECT_EQ(destroyed, 1);
}

TEST_F(Graphs, memory_marks_are_set_back) {
  cuuint64_t high = 1;
  OK(cuDeviceSetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &(high = 0)));
  OK(cuDeviceGetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &high));
  cuuint64_t used = 1;
  OK(cuDeviceGetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
  EXPECT_EQ(high, used);
  EXPECT_EQ(cuDeviceSetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &(high = 0)), CUDA_ERROR_INVALID_VALUE)
      << "a state, not a mark";
}

}  // namespace

// Graphs and capture: what is built, what runs, and what every mistake gives. The errors are those of an H200 with toolkit 13.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>
#include <vector>

#include "kernels.h"

namespace {

class Graphs : public testing::Test {
 protected:
  void SetUp() override {
    OK(cudaMalloc(reinterpret_cast<void**>(&data), 4096));
    OK(cudaMemset(data, 0, 4096));
    OK(cudaStreamCreate(&s));
    OK(cudaStreamCreate(&t));
    OK(cudaEventCreate(&e));
    OK(cudaEventCreate(&f));
  }
  void TearDown() override {
    cudaGetLastError();
    cudaDeviceReset();
  }
  int read(int at = 0) {
    int value = -1;
    EXPECT_EQ(cudaStreamSynchronize(s), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(&value, data + at, sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
    return value;
  }
  cudaError_t begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) { return cudaStreamBeginCapture(s, mode); }
  cudaError_t end() { return cudaStreamEndCapture(s, &graph); }
  cudaStreamCaptureStatus status(cudaStream_t stream) {
    cudaStreamCaptureStatus value{};
    EXPECT_EQ(cudaStreamIsCapturing(stream, &value), cudaSuccess);
    return value;
  }
  size_t nodes(cudaGraph_t g) {
    size_t count = 0;
    EXPECT_EQ(cudaGraphGetNodes(g, nullptr, &count), cudaSuccess);
    return count;
  }
  cudaKernelNodeParams add_params(int* to, int value) {
    arguments_to = to;
    arguments_value = value;
    arguments_count = 1;
    pointers[0] = &arguments_to;
    pointers[1] = &arguments_value;
    pointers[2] = &arguments_count;
    cudaKernelNodeParams p{};
    p.func = reinterpret_cast<void*>(kernels::add);
    p.gridDim = 1;
    p.blockDim = 1;
    p.kernelParams = pointers;
    return p;
  }
  int *data = nullptr, *arguments_to = nullptr;
  int arguments_value = 0, arguments_count = 1;
  void* pointers[3]{};
  cudaStream_t s{}, t{};
  cudaEvent_t e{}, f{};
  cudaGraph_t graph{};
  cudaGraphExec_t exec{};
  cudaGraphNode_t a{}, b{}, c{};
};

TEST_F(Graphs, captured_work_runs_at_each_launch_and_not_before) {
  OK(begin());
  OK(kernels::launch(kernels::add, 1, 1, s, 0, data, 5, 1));
  OK(cudaMemcpyAsync(data + 1, data, 4, cudaMemcpyDeviceToDevice, s));
  OK(cudaMemsetAsync(data + 2, 1, 4, s));
  EXPECT_EQ(status(s), cudaStreamCaptureStatusActive);
  OK(end());
  EXPECT_EQ(status(s), cudaStreamCaptureStatusNone);
  EXPECT_EQ(nodes(graph), 3u);
  EXPECT_EQ(read(), 0);
  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) OK(cudaGraphLaunch(exec, s));
  EXPECT_EQ(read(), 15);
  EXPECT_EQ(read(1), 15);
  EXPECT_EQ(read(2), 0x01010101);
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphLaunch(exec, s));  // the instance is a copy
  EXPECT_EQ(read(), 20);
  OK(cudaGraphExecDestroy(exec));
  EXPECT_EQ(cudaGraphLaunch(exec, s), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaErrorInvalidValue);
}

TEST_F(Graphs, forks_join_through_events) {
  OK(begin());
  OK(kernels::launch(kernels::store, 1, 1, s, 0, data, 1));
  OK(cudaEventRecord(e, s));
  OK(cudaStreamWaitEvent(t, e, 0));
  EXPECT_EQ(status(t), cudaStreamCaptureStatusActive);
  OK(kernels::launch(kernels::add, 1, 1, t, 0, data, 10, 1));
  OK(kernels::launch(kernels::store, 1, 1, s, 0, data + 1, 7));
  OK(cudaEventRecord(f, t));
  OK(cudaStreamWaitEvent(s, f, 0));
  OK(kernels::launch(kernels::add, 1, 1, s, 0, data, 100, 1));
  OK(end());
  EXPECT_EQ(status(t), cudaStreamCaptureStatusNone);
  cudaGraphNode_t list[8];
  size_t count = 8;
  OK(cudaGraphGetNodes(graph, list, &count));
  ASSERT_EQ(count, 4u);
  OK(cudaGraphNodeGetDependencies(list[3], nullptr, nullptr, &count));
  EXPECT_EQ(count, 2u);
  OK(cudaGraphGetRootNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 1u);
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, s));
  EXPECT_EQ(read(), 111);
  EXPECT_EQ(read(1), 7);
}

TEST_F(Graphs, asking_the_legacy_stream_for_its_state_ends_no_capture) {
  OK(begin());
  OK(kernels::launch(kernels::store, 1, 1, s, 0, data, 7));
  cudaStreamCaptureStatus asked{};
  EXPECT_EQ(cudaStreamIsCapturing(cudaStreamLegacy, &asked), cudaErrorStreamCaptureImplicit);
  EXPECT_EQ(status(s), cudaStreamCaptureStatusActive);
  OK(end());
  EXPECT_EQ(nodes(graph), 1u);
}

TEST_F(Graphs, what_may_not_be_captured_ends_the_capture) {
  struct Case {
    const char* what;
    std::function<cudaError_t()> call;
    cudaError_t error;
  };
  void* p = nullptr;
  [[maybe_unused]] int host = 0;
  const Case cases[] = {
      {"synchronize", [&] { return cudaStreamSynchronize(s); }, cudaErrorStreamCaptureUnsupported},
      {"query", [&] { return cudaStreamQuery(s); }, cudaErrorStreamCaptureUnsupported},
      {"malloc", [&] { return cudaMalloc(&p, 4); }, cudaErrorStreamCaptureUnsupported},
      {"device synchronize", [&] { return cudaDeviceSynchronize(); }, cudaErrorStreamCaptureUnsupported},
#ifndef CUDA_API_PER_THREAD_DEFAULT_STREAM
      {"copy", [&] { return cudaMemcpy(&host, data, 4, cudaMemcpyDeviceToHost); }, cudaErrorStreamCaptureImplicit},
#endif
      {"legacy launch", [&] { return kernels::launch(kernels::add, 1, 1, cudaStreamLegacy, 0, data, 1, 1); },
       cudaErrorStreamCaptureImplicit},
      {"legacy fill", [&] { return cudaMemsetAsync(data, 0, 4, cudaStreamLegacy); }, cudaErrorStreamCaptureImplicit},
      {"callback", [&] { return cudaStreamAddCallback(s, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0); },
       cudaErrorStreamCaptureUnsupported},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    OK(begin());
    EXPECT_EQ(one.call(), one.error);
    EXPECT_EQ(status(s), cudaStreamCaptureStatusInvalidated);
    EXPECT_EQ(kernels::launch(kernels::add, 1, 1, s, 0, data, 1, 1), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(status(s), cudaStreamCaptureStatusNone);
  }
  EXPECT_EQ(read(), 0);
}

TEST_F(Graphs, capture_in_wrong_places) {
  EXPECT_EQ(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(end(), cudaErrorIllegalState);
  EXPECT_EQ(begin(static_cast<cudaStreamCaptureMode>(7)), cudaErrorInvalidValue);
  OK(begin());
  EXPECT_EQ(begin(), cudaErrorIllegalState);
  OK(end());
  // An event of work before the capture.
  OK(cudaEventRecord(e, t));
  OK(begin());
  EXPECT_EQ(cudaStreamWaitEvent(s, e, 0), cudaErrorStreamCaptureIsolation);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
  // Two captures.
  OK(begin());
  OK(cudaStreamBeginCapture(t, cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(e, s));
  EXPECT_EQ(cudaStreamWaitEvent(t, e, 0), cudaErrorStreamCaptureMerge);
  EXPECT_EQ(cudaStreamEndCapture(t, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
  // Ended in a forked stream, or with a fork that does not come back.
  OK(begin());
  OK(cudaEventRecord(e, s));
  OK(cudaStreamWaitEvent(t, e, 0));
  EXPECT_EQ(cudaStreamEndCapture(t, &graph), cudaErrorStreamCaptureUnmatched);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
  OK(begin());
  OK(kernels::launch(kernels::add, 1, 1, s, 0, data, 1, 1));
  OK(cudaEventRecord(e, s));
  OK(cudaStreamWaitEvent(t, e, 0));
  OK(kernels::launch(kernels::add, 1, 1, t, 0, data, 1, 1));
  EXPECT_EQ(end(), cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(status(t), cudaStreamCaptureStatusNone);
  // Asking about a moment that is only captured.
  OK(begin());
  OK(cudaEventRecord(e, s));
  EXPECT_EQ(cudaEventQuery(e), cudaErrorCapturedEvent);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
}

TEST_F(Graphs, modes_say_which_threads_must_hold_still) {
  auto elsewhere = [](auto body) { std::thread(body).join(); };
  void* p = nullptr;
  OK(begin(cudaStreamCaptureModeRelaxed));
  OK(cudaMalloc(&p, 4));
  OK(cudaFree(p));
  OK(end());
  OK(begin(cudaStreamCaptureModeThreadLocal));
  elsewhere([&] {
    EXPECT_EQ(cudaMalloc(&p, 4), cudaSuccess);
    EXPECT_EQ(cudaFree(p), cudaSuccess);
  });
  EXPECT_EQ(cudaMalloc(&p, 4), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(end(), cudaErrorStreamCaptureInvalidated);
  OK(begin());
  elsewhere([&] {
    auto mode = cudaStreamCaptureModeRelaxed;
    EXPECT_EQ(cudaThreadExchangeStreamCaptureMode(&mode), cudaSuccess);
    EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
    EXPECT_EQ(cudaMalloc(&p, 4), cudaSuccess);
    EXPECT_EQ(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureWrongThread);
  });
  EXPECT_EQ(end(), cudaErrorIllegalState);
}

TEST_F(Graphs, a_destroyed_stream_takes_its_capture_along) {
  cudaStream_t u;
  void* p = nullptr;
  OK(cudaStreamCreate(&u));
  OK(cudaStreamBeginCapture(u, cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(e, u));
  OK(cudaStreamWaitEvent(t, e, 0));
  OK(cudaStreamDestroy(u));
  EXPECT_EQ(status(t), cudaStreamCaptureStatusNone);
  OK(cudaMalloc(&p, 4));
}

TEST_F(Graphs, nodes_by_hand) {
  OK(cudaGraphCreate(&graph, 0));
  auto params = add_params(data, 3);
  OK(cudaGraphAddKernelNode(&a, graph, nullptr, 0, &params));
  cudaMemsetParams fill{data + 1, 0, 9, 4, 2, 1};
  OK(cudaGraphAddMemsetNode(&b, graph, &a, 1, &fill));
  cudaGraphNode_t both[] = {a, b};
  OK(cudaGraphAddMemcpyNode1D(&c, graph, both, 2, data + 3, data, 8, cudaMemcpyDeviceToDevice));
  cudaGraphNode_t d, symbol;
  static int told;
  told = 0;
  cudaHostNodeParams host{[](void* p) { *static_cast<int*>(p) += 1; }, &told};
  OK(cudaGraphAddHostNode(&d, graph, &c, 1, &host));
  OK(cudaGraphAddMemcpyNodeToSymbol(&symbol, graph, &d, 1, kernels::table, data + 3, 8, 4, cudaMemcpyDeviceToDevice));
  cudaGraphNodeType type;
  OK(cudaGraphNodeGetType(symbol, &type));
  EXPECT_EQ(type, cudaGraphNodeTypeMemcpy);
  size_t edges = 0;
  OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  EXPECT_EQ(edges, 5u);
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, s));
  EXPECT_EQ(read(), 3);
  EXPECT_EQ(read(2), 9);
  EXPECT_EQ(read(3), 3);
  EXPECT_EQ(read(4), 9);
  EXPECT_EQ(told, 1);
  int table[3];
  OK(cudaMemcpyFromSymbol(table, kernels::table, sizeof table, 0));
  EXPECT_EQ(table[0], 0);
  EXPECT_EQ(table[1], 3);
  EXPECT_EQ(table[2], 9);
  // What the nodes say of themselves; and changed, in the instance and in the graph.
  cudaKernelNodeParams asked{};
  OK(cudaGraphKernelNodeGetParams(a, &asked));
  EXPECT_EQ(asked.func, reinterpret_cast<void*>(kernels::add));
  EXPECT_EQ(*static_cast<int*>(asked.kernelParams[1]), 3);
  params = add_params(data, 50);
  OK(cudaGraphExecKernelNodeSetParams(exec, a, &params));
  OK(cudaGraphNodeSetEnabled(exec, b, 0));
  unsigned enabled = 1;
  OK(cudaGraphNodeGetEnabled(exec, b, &enabled));
  EXPECT_EQ(enabled, 0u);
  EXPECT_EQ(cudaGraphNodeSetEnabled(exec, d, 0), cudaErrorInvalidValue);
  OK(cudaMemset(data + 1, 0, 8));
  OK(cudaGraphLaunch(exec, s));
  EXPECT_EQ(read(), 53);
  EXPECT_EQ(read(2), 0);
  EXPECT_EQ(cudaGraphExecMemsetNodeSetParams(exec, a, &fill), cudaErrorInvalidValue);
  // A copy of the graph has copies of the nodes.
  cudaGraph_t copy;
  cudaGraphNode_t found;
  OK(cudaGraphClone(&copy, graph));
  OK(cudaGraphNodeFindInClone(&found, b, copy));
  EXPECT_NE(found, b);
  OK(cudaGraphNodeGetType(found, &type));
  EXPECT_EQ(type, cudaGraphNodeTypeMemset);
  OK(cudaGraphDestroyNode(found));
  EXPECT_EQ(nodes(copy), 4u);
  EXPECT_EQ(nodes(graph), 5u);
  EXPECT_EQ(cudaGraphDestroyNode(found), cudaErrorInvalidValue);
}

TEST_F(Graphs, edges) {
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddEmptyNode(&a, graph, nullptr, 0));
  OK(cudaGraphAddEmptyNode(&b, graph, &a, 1));
  OK(cudaGraphAddEmptyNode(&c, graph, nullptr, 0));
  EXPECT_EQ(cudaGraphAddDependencies(graph, &a, &b, nullptr, 1), cudaErrorInvalidValue);  // there already
  EXPECT_EQ(cudaGraphAddDependencies(graph, &a, &a, nullptr, 1), cudaErrorInvalidValue);
  OK(cudaGraphAddDependencies(graph, &b, &c, nullptr, 1));
  OK(cudaGraphAddDependencies(graph, &c, &a, nullptr, 1));
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaErrorInvalidValue);  // a circle
  cudaGraphInstantiateParams params{};
  EXPECT_EQ(cudaGraphInstantiateWithParams(&exec, graph, &params), cudaErrorInvalidValue);
  EXPECT_EQ(params.result_out, cudaGraphInstantiateInvalidStructure);
  OK(cudaGraphRemoveDependencies(graph, &c, &a, nullptr, 1));
  EXPECT_EQ(cudaGraphRemoveDependencies(graph, &c, &a, nullptr, 1), cudaErrorInvalidValue);
  size_t count = 0;
  OK(cudaGraphNodeGetDependentNodes(a, nullptr, nullptr, &count));
  EXPECT_EQ(count, 1u);
  cudaGraphNode_t twice[] = {a, a}, node;
  EXPECT_EQ(cudaGraphAddEmptyNode(&node, graph, twice, 2), cudaErrorInvalidValue);
  cudaGraph_t other;
  OK(cudaGraphCreate(&other, 0));
  EXPECT_EQ(cudaGraphAddEmptyNode(&node, other, &a, 1), cudaErrorInvalidValue);
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, s));
  EXPECT_EQ(read(), 0);
}

TEST_F(Graphs, wrong_parameters) {
  EXPECT_EQ(cudaGraphCreate(&graph, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphCreate(nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphInstantiate(&exec, nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphLaunch(nullptr, s), cudaErrorInvalidValue);
  OK(cudaGraphCreate(&graph, 0));
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 1ull << 20), cudaErrorInvalidValue);
  auto params = add_params(data, 1);
  params.blockDim = 2048;
  EXPECT_EQ(cudaGraphAddKernelNode(&a, graph, nullptr, 0, &params), cudaErrorInvalidValue);
  params.blockDim = 1;
  params.func = nullptr;
  EXPECT_EQ(cudaGraphAddKernelNode(&a, graph, nullptr, 0, &params), cudaErrorInvalidDeviceFunction);
  params = add_params(data, 1);
  params.kernelParams = nullptr;
  EXPECT_EQ(cudaGraphAddKernelNode(&a, graph, nullptr, 0, &params), cudaErrorInvalidValue);
  int host = 0;
  cudaMemsetParams fill{data, 0, 1, 3, 1, 1};
  EXPECT_EQ(cudaGraphAddMemsetNode(&a, graph, nullptr, 0, &fill), cudaErrorInvalidValue);
  fill.elementSize = 4;
  fill.dst = &host;
  EXPECT_EQ(cudaGraphAddMemsetNode(&a, graph, nullptr, 0, &fill), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddMemcpyNode1D(&a, graph, nullptr, 0, data, &host, 4, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphAddMemcpyNode1D(&a, graph, nullptr, 0, data, &host, 0, cudaMemcpyDefault), cudaErrorInvalidValue);
  cudaHostNodeParams nothing{};
  EXPECT_EQ(cudaGraphAddHostNode(&a, graph, nullptr, 0, &nothing), cudaErrorInvalidValue);
}

TEST_F(Graphs, update) {
  auto make = [&](int count, int value, bool fill_last, bool chained) {
    cudaGraph_t g;
    EXPECT_EQ(cudaGraphCreate(&g, 0), cudaSuccess);
    cudaGraphNode_t before{}, node{};
    for (int i = 0; i < count; ++i) {
      const bool after = chained && i > 0;
      if (fill_last && i == count - 1) {
        cudaMemsetParams fill{data + 1, 0, 1, 4, 1, 1};
        EXPECT_EQ(cudaGraphAddMemsetNode(&node, g, after ? &before : nullptr, after, &fill), cudaSuccess);
      } else {
        auto params = add_params(data, value);
        EXPECT_EQ(cudaGraphAddKernelNode(&node, g, after ? &before : nullptr, after, &params), cudaSuccess);
      }
      before = node;
    }
    return g;
  };
  OK(cudaGraphInstantiate(&exec, make(2, 1, false, true), 0));
  cudaGraphExecUpdateResultInfo info{};
  EXPECT_EQ(cudaGraphExecUpdate(exec, make(3, 1, false, true), &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(cudaGraphExecUpdate(exec, make(2, 1, true, true), &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorNodeTypeChanged);
  EXPECT_NE(info.errorNode, nullptr);
  EXPECT_EQ(cudaGraphExecUpdate(exec, make(2, 1, false, false), &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  OK(cudaGraphExecUpdate(exec, make(2, 20, false, true), &info));
  EXPECT_EQ(info.result, cudaGraphExecUpdateSuccess);
  OK(cudaGraphLaunch(exec, s));
  EXPECT_EQ(read(), 40);
}

TEST_F(Graphs, children_and_events) {
  cudaGraph_t inner;
  OK(cudaGraphCreate(&inner, 0));
  auto params = add_params(data, 2);
  OK(cudaGraphAddKernelNode(&a, inner, nullptr, 0, &params));
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddChildGraphNode(&b, graph, nullptr, 0, inner));
  OK(cudaGraphAddEventRecordNode(&c, graph, &b, 1, e));
  OK(cudaGraphDestroy(inner));  // the child is a copy
  cudaGraph_t child;
  OK(cudaGraphChildGraphNodeGetGraph(b, &child));
  EXPECT_EQ(nodes(child), 1u);
  EXPECT_EQ(cudaGraphDestroy(child), cudaErrorInvalidValue);  // its node's
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, s));
  OK(cudaEventSynchronize(e));
  EXPECT_EQ(read(), 2);
  cudaGraphNode_t inside;
  size_t one = 1;
  OK(cudaGraphGetNodes(child, &inside, &one));
  params = add_params(data, 30);
  OK(cudaGraphExecKernelNodeSetParams(exec, inside, &params));
  OK(cudaGraphLaunch(exec, s));
  EXPECT_EQ(read(), 32);
}

TEST_F(Graphs, memory_nodes) {
  cudaMemAllocNodeParams alloc{};
  alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  alloc.poolProps.location = {cudaMemLocationTypeDevice, 0};
  alloc.bytesize = 400;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddMemAllocNode(&a, graph, nullptr, 0, &alloc));
  auto params = add_params(static_cast<int*>(alloc.dptr), 6);
  OK(cudaGraphAddKernelNode(&b, graph, &a, 1, &params));
  OK(cudaGraphAddMemcpyNode1D(&c, graph, &b, 1, data, alloc.dptr, 4, cudaMemcpyDeviceToDevice));
  cudaGraph_t copy;
  EXPECT_EQ(cudaGraphClone(&copy, graph), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphDestroyNode(c), cudaErrorNotSupported);
  OK(cudaGraphInstantiate(&exec, graph, 0));
  cudaGraphExec_t second;
  EXPECT_EQ(cudaGraphInstantiate(&second, graph, 0), cudaErrorNotSupported);
  OK(cudaGraphLaunch(exec, s));
  EXPECT_EQ(read(), 6);
  EXPECT_EQ(cudaGraphLaunch(exec, s), cudaErrorInvalidValue);  // not freed since
  uint64_t used = 0;
  OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  EXPECT_EQ(used, 32u << 20);
  OK(cudaFreeAsync(alloc.dptr, s));
  EXPECT_EQ(cudaFreeAsync(alloc.dptr, s), cudaErrorInvalidValue);
  OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  EXPECT_EQ(used, 32u << 20) << "until it is trimmed";
  OK(cudaDeviceGraphMemTrim(0));
  OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  EXPECT_EQ(used, 0u);
  OK(cudaGraphLaunch(exec, s));
  OK(cudaFree(alloc.dptr));
  OK(cudaDeviceGraphMemTrim(0));
  OK(cudaGraphExecDestroy(exec));
  alloc.bytesize = 0;
  EXPECT_EQ(cudaGraphAddMemAllocNode(&a, graph, nullptr, 0, &alloc), cudaErrorInvalidValue);
  alloc.bytesize = 1ull << 50;
  EXPECT_EQ(cudaGraphAddMemAllocNode(&a, graph, nullptr, 0, &alloc), cudaErrorMemoryAllocation);
  // Captured, with its free, it can be launched again and again.
  void* p = nullptr;
  OK(begin());
  OK(cudaMallocAsync(&p, 64, s));
  OK(kernels::launch(kernels::store, 1, 1, s, 0, static_cast<int*>(p), 77));
  OK(cudaMemcpyAsync(data, p, 4, cudaMemcpyDeviceToDevice, s));
  OK(cudaFreeAsync(p, s));
  OK(end());
  EXPECT_EQ(nodes(graph), 4u);
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, s));
  OK(cudaGraphLaunch(exec, s));
  EXPECT_EQ(read(), 77);
}

TEST_F(Graphs, user_objects_live_as_long_as_their_graphs) {
  static int ended;
  ended = 0;
  auto count = [](void* p) { ++*static_cast<int*>(p); };
  cudaUserObject_t object;
  EXPECT_EQ(cudaUserObjectCreate(&object, &ended, count, 1, 0), cudaErrorInvalidValue);
  OK(cudaUserObjectCreate(&object, &ended, count, 1, cudaUserObjectNoDestructorSync));
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphDestroy(graph));
  EXPECT_EQ(ended, 0);
  OK(cudaGraphExecDestroy(exec));
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(cudaUserObjectRelease(object, 1), cudaErrorInvalidValue);
}

TEST_F(Graphs, capture_says_where_it_stands) {
  OK(begin());
  OK(kernels::launch(kernels::store, 1, 1, s, 0, data, 1));
  cudaStreamCaptureStatus what;
  unsigned long long id = 0;
  cudaGraph_t under_way{};
  const cudaGraphNode_t* after = nullptr;
  size_t count = 0;
  OK(cudaStreamGetCaptureInfo(s, &what, &id, &under_way, &after, nullptr, &count));
  EXPECT_EQ(what, cudaStreamCaptureStatusActive);
  EXPECT_NE(id, 0u);
  ASSERT_EQ(count, 1u);
  OK(cudaStreamUpdateCaptureDependencies(s, nullptr, nullptr, 0, cudaStreamSetCaptureDependencies));
  OK(kernels::launch(kernels::store, 1, 1, s, 0, data + 1, 1));
  OK(end());
  OK(cudaGraphGetRootNodes(graph, nullptr, &count));
  EXPECT_EQ(count, 2u);
  // Into a graph of the program's own.
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddEmptyNode(&a, graph, nullptr, 0));
  OK(cudaStreamBeginCaptureToGraph(s, graph, &a, nullptr, 1, cudaStreamCaptureModeGlobal));
  OK(kernels::launch(kernels::store, 1, 1, s, 0, data, 8));
  cudaGraph_t same{};
  OK(cudaStreamEndCapture(s, &same));
  EXPECT_EQ(same, graph);
  EXPECT_EQ(nodes(graph), 2u);
  OK(cudaGraphNodeGetDependentNodes(a, nullptr, nullptr, &count));
  EXPECT_EQ(count, 1u);
}

TEST_F(Graphs, dot_names_nodes_and_edges) {
  OK(begin());
  OK(kernels::launch(kernels::store, 1, 1, s, 0, data, 1));
  OK(cudaMemsetAsync(data, 0, 4, s));
  OK(end());
  const std::string path = testing::TempDir() + "warpbeam_graph.dot";
  OK(cudaGraphDebugDotPrint(graph, path.c_str(), cudaGraphDebugDotFlagsVerbose));
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::remove(path.c_str());
  EXPECT_EQ(text.str().rfind("digraph dot {", 0), 0u);
  EXPECT_NE(text.str().find("store"), std::string::npos);
  EXPECT_NE(text.str().find("\"graph_0_node_0\" -> \"graph_0_node_1\""), std::string::npos);
  EXPECT_EQ(cudaGraphDebugDotPrint(graph, "/nowhere/at/all.dot", 0), cudaErrorOperatingSystem);
}

}  // namespace

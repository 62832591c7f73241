// The libraries under the vendor's names, as the dynamic linker finds them.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "fixture.h"

namespace {

std::string library(const char* name) {
  Dl_info here;
  EXPECT_NE(dladdr(reinterpret_cast<void*>(&cuInit), &here), 0);
  return (std::filesystem::path(here.dli_fname).parent_path() / name).string();
}

TEST(Dropins, bring_the_one_runtime_along) {
  for (const char* name : {"libcuda.so.1", "libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"}) {
    void* handle = dlopen(library(name).c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << dlerror();
    EXPECT_EQ(dlsym(handle, "cuMemAlloc_v2"), reinterpret_cast<void*>(&cuMemAlloc_v2)) << name;
    EXPECT_EQ(dlsym(handle, "cudaMalloc"), dlsym(RTLD_DEFAULT, "cudaMalloc")) << name;
  }
}

TEST(Dropins, of_older_toolkits_speak_their_interfaces) {
  cudaDeviceProp now;
  ASSERT_EQ(cudaGetDeviceProperties(&now, 0), cudaSuccess);
  void* eleven = dlopen(library("libcudart.so.11.0").c_str(), RTLD_NOW | RTLD_LOCAL);
  void* twelve = dlopen(library("libcudart.so.12").c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(eleven && twelve);
  auto properties = [](void* library, const char* name) { return reinterpret_cast<cudaError_t (*)(void*, int)>(dlsym(library, name)); };
  // Where multiProcessorCount and major stand in both older structures.
  constexpr size_t kMajor = 360, kMultiprocessors = 388, kBytes11 = 728, kBytes12 = 1032;
  std::vector<char> bytes(2048, '\x55');
  auto integer = [&](size_t offset) {
    int value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  };
  ASSERT_EQ(properties(eleven, "cudaGetDeviceProperties")(bytes.data(), 0), cudaSuccess);
  EXPECT_STREQ(bytes.data(), now.name);
  EXPECT_EQ(integer(kMajor), now.major);
  EXPECT_EQ(integer(kMultiprocessors), now.multiProcessorCount);
  EXPECT_EQ(bytes[kBytes11], '\x55') << "nothing behind the structure is touched";
  ASSERT_EQ(properties(twelve, "cudaGetDeviceProperties_v2")(bytes.data(), 0), cudaSuccess);
  EXPECT_EQ(integer(kMultiprocessors), now.multiProcessorCount);
  EXPECT_EQ(bytes[kBytes12], '\x55');

  void* managed = nullptr;
  ASSERT_EQ(cudaMallocManaged(&managed, 4096, cudaMemAttachGlobal), cudaSuccess);
  auto advise = reinterpret_cast<cudaError_t (*)(const void*, size_t, int, int)>(dlsym(twelve, "cudaMemAdvise"));
  auto prefetch = reinterpret_cast<cudaError_t (*)(const void*, size_t, int, cudaStream_t)>(dlsym(twelve, "cudaMemPrefetchAsync"));
  EXPECT_EQ(advise(managed, 4096, cudaMemAdviseSetPreferredLocation, -1), cudaSuccess);
  int where = 7;
  ASSERT_EQ(cudaMemRangeGetAttribute(&where, sizeof where, cudaMemRangeAttributePreferredLocation, managed, 4096), cudaSuccess);
  EXPECT_EQ(where, cudaCpuDeviceId);
  EXPECT_EQ(prefetch(managed, 4096, 0, nullptr), cudaSuccess);
  EXPECT_EQ(prefetch(managed, 4096, 77, nullptr), cudaErrorInvalidDevice);
}

// Toolkit 13 put edges' data among the arguments of these names.
TEST(Dropins, of_older_toolkits_take_graphs_edges_without_data) {
  for (const char* name : {"libcudart.so.11.0", "libcudart.so.12"}) {
    void* older = dlopen(library(name).c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(older);
    auto call = [&]<class... Arguments>(const char* function, Arguments... arguments) {
      auto entry = reinterpret_cast<cudaError_t (*)(Arguments...)>(dlsym(older, function));
      return entry ? entry(arguments...) : cudaErrorSymbolNotFound;
    };
    cudaStream_t stream;
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
    cudaStreamCaptureStatus status;
    unsigned long long id = 0, same = 0;
    cudaGraph_t graph;
    const cudaGraphNode_t* after;
    size_t count = 7;
    ASSERT_EQ(call("cudaStreamGetCaptureInfo_v2", stream, &status, &id, &graph, &after, &count), cudaSuccess);
    EXPECT_EQ(status, cudaStreamCaptureStatusActive);
    EXPECT_EQ(count, 0u);
    ASSERT_EQ(call("cudaStreamGetCaptureInfo", stream, &status, &same), cudaSuccess);
    EXPECT_EQ(same, id);
    cudaGraphNode_t nodes[2];
    for (cudaGraphNode_t& node : nodes) ASSERT_EQ(cudaGraphAddEmptyNode(&node, graph, nullptr, 0), cudaSuccess);
    ASSERT_EQ(call("cudaGraphAddDependencies", graph, &nodes[0], &nodes[1], size_t{1}), cudaSuccess);
    ASSERT_EQ(call("cudaStreamUpdateCaptureDependencies", stream, &nodes[1], size_t{1}, 1u), cudaSuccess);
    ASSERT_EQ(call("cudaStreamGetCaptureInfo_v2", stream, &status, &id, &graph, &after, &count), cudaSuccess);
    ASSERT_EQ(count, 1u);
    EXPECT_EQ(after[0], nodes[1]);
    cudaGraphNode_t from, to;
    EXPECT_EQ(call("cudaGraphGetEdges", graph, &from, &to, &count), cudaSuccess);
    EXPECT_TRUE(count == 1 && from == nodes[0] && to == nodes[1]);
    EXPECT_EQ(call("cudaGraphNodeGetDependencies", nodes[1], &from, &count), cudaSuccess);
    EXPECT_TRUE(count == 1 && from == nodes[0]);
    EXPECT_EQ(call("cudaGraphNodeGetDependentNodes", nodes[0], &to, &count), cudaSuccess);
    EXPECT_TRUE(count == 1 && to == nodes[1]);
    cudaGraphNodeParams parameters = {};
    parameters.type = cudaGraphNodeTypeEmpty;
    cudaGraphNode_t third;
    EXPECT_EQ(call("cudaGraphAddNode", &third, graph, &nodes[0], size_t{1}, &parameters), cudaSuccess);
    EXPECT_EQ(call("cudaGraphRemoveDependencies", graph, &nodes[0], &third, size_t{1}), cudaSuccess);
    EXPECT_EQ(call("cudaGraphNodeGetDependencies", third, static_cast<cudaGraphNode_t*>(nullptr), &count), cudaSuccess);
    EXPECT_EQ(count, 0u);
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }
}

// As packages do that bring a toolkit: its runtime then comes first for whatever is loaded, and names of toolkit 12 mean what they meant there.
TEST(Dropins, of_toolkit_12_may_come_first_for_all) {
  const char* first = std::getenv("LD_PRELOAD");
  if (!first || library("libcudart.so.12") != first) {
    const std::string command = "LD_PRELOAD='" + library("libcudart.so.12") + "' '" +
                                std::filesystem::read_symlink("/proc/self/exe").string() +
                                "' --gtest_filter=Dropins.of_toolkit_12_may_come_first_for_all";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return;
  }
  std::vector<char> bytes(2048);
  auto properties = reinterpret_cast<cudaError_t (*)(void*, int)>(dlsym(RTLD_DEFAULT, "cudaGetDeviceProperties"));
  EXPECT_NE(properties, reinterpret_cast<cudaError_t (*)(void*, int)>(
                            dlsym(dlopen(library("libcudart.so.13").c_str(), RTLD_NOW), "cudaGetDeviceProperties")));
  EXPECT_EQ(properties(bytes.data(), 0), cudaSuccess);
  void* nvml = dlopen(library("libnvidia-ml.so.1").c_str(), RTLD_NOW);
  ASSERT_TRUE(nvml);
  unsigned count = 0;
  EXPECT_EQ(reinterpret_cast<int (*)()>(dlsym(nvml, "nvmlInit_v2"))(), 0);
  EXPECT_EQ(reinterpret_cast<int (*)(unsigned*)>(dlsym(nvml, "nvmlDeviceGetCount_v2"))(&count), 0);
  EXPECT_GE(count, 1u);
  cudaGraph_t graph;
  cudaGraphNode_t nodes[2], from, to;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  for (cudaGraphNode_t& node : nodes) ASSERT_EQ(cudaGraphAddEmptyNode(&node, graph, nullptr, 0), cudaSuccess);
  auto edges =
      reinterpret_cast<cudaError_t (*)(cudaGraph_t, cudaGraphNode_t*, cudaGraphNode_t*, size_t*)>(dlsym(RTLD_DEFAULT, "cudaGraphGetEdges"));
  auto add = reinterpret_cast<cudaError_t (*)(cudaGraph_t, cudaGraphNode_t*, cudaGraphNode_t*, size_t)>(
      dlsym(RTLD_DEFAULT, "cudaGraphAddDependencies"));
  size_t found = 1;
  ASSERT_EQ(add(graph, &nodes[0], &nodes[1], 1), cudaSuccess);
  ASSERT_EQ(edges(graph, &from, &to, &found), cudaSuccess);
  EXPECT_TRUE(found == 1 && from == nodes[0] && to == nodes[1]);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

}  // namespace

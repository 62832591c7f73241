// Calls that few programs make, of both APIs: pools by their driver names, batches, requirements of arrays, graphs'
// parts, logs, and what no device here has. build: -lcuda
#include <cuda.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define EXPECT(call, wanted)                                                       \
  do {                                                                             \
    auto status_ = (call);                                                         \
    if (status_ != (wanted)) {                                                     \
      printf("line %d: %s gave %d\n", __LINE__, #call, static_cast<int>(status_)); \
      exit(1);                                                                     \
    }                                                                              \
    cudaGetLastError();                                                            \
  } while (0)
#define CHECK(call) EXPECT(call, cudaSuccess)
#define CU(call) EXPECT(call, CUDA_SUCCESS)
#define REQUIRE(condition)                                   \
  do {                                                       \
    if (!(condition)) {                                      \
      printf("line %d: not so: %s\n", __LINE__, #condition); \
      exit(1);                                               \
    }                                                        \
  } while (0)

constexpr int kN = 64;
__global__ void add(int* p, int value) { p[threadIdx.x] += value; }

CUdeviceptr a, b;
int host[kN];

int first_of(CUdeviceptr p) {
  int value;
  CU(cuMemcpyDtoH(&value, p, sizeof value));
  return value;
}

void pools() {
  CUmemoryPool standard, pool, now, imported;
  CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CU(cuMemGetDefaultMemPool(&standard, &device, CU_MEM_ALLOCATION_TYPE_PINNED));
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = device;
  CU(cuMemPoolCreate(&pool, &properties));
  CU(cuMemSetMemPool(&device, CU_MEM_ALLOCATION_TYPE_PINNED, pool));
  CU(cuMemGetMemPool(&now, &device, CU_MEM_ALLOCATION_TYPE_PINNED));
  REQUIRE(now == pool && now != standard);
  CUdeviceptr p, q;
  CU(cuMemAllocAsync(&p, sizeof host, nullptr));
  CU(cuMemsetD32(p, 77, kN));
  int file = -1;
  CUmemPoolPtrExportData data;
  CU(cuMemPoolExportToShareableHandle(&file, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CU(cuMemPoolExportPointer(&data, p));
  CU(cuMemPoolImportFromShareableHandle(&imported, reinterpret_cast<void*>(static_cast<intptr_t>(file)),
                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  close(file);
  CU(cuMemPoolImportPointer(&q, imported, &data));
  REQUIRE(q != p && first_of(q) == 77);
  add<<<1, kN>>>(reinterpret_cast<int*>(q), 3);
  REQUIRE(first_of(p) == 80);  // one memory under two addresses
  EXPECT(cuMemPoolImportPointer(&q, pool, &data), CUDA_ERROR_INVALID_VALUE);
  CU(cuMemFree(q));
  REQUIRE(first_of(p) == 80);
  CU(cuMemFreeAsync(p, nullptr));
  CU(cuMemPoolDestroy(imported));
  CU(cuMemPoolDestroy(pool));
  CU(cuMemGetMemPool(&now, &device, CU_MEM_ALLOCATION_TYPE_PINNED));
  REQUIRE(now == standard);
}

void array_questions() {
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float4>();
  cudaMipmappedArray_t levels;
  CHECK(cudaMallocMipmappedArray(&levels, &format, make_cudaExtent(64, 32, 0), 3, cudaArrayDeferredMapping));
  cudaArrayMemoryRequirements needs;
  CHECK(cudaMipmappedArrayGetMemoryRequirements(&needs, levels, 0));
  REQUIRE(needs.size >= (64 * 32 + 32 * 16 + 16 * 8) * sizeof(float4) && needs.alignment > 0);
  CUDA_ARRAY_MEMORY_REQUIREMENTS driver_needs;
  CU(cuMipmappedArrayGetMemoryRequirements(&driver_needs, reinterpret_cast<CUmipmappedArray>(levels), 0));
  REQUIRE(driver_needs.size == needs.size);
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, 64, 32, cudaArraySurfaceLoadStore));
  EXPECT(cuArrayGetMemoryRequirements(&driver_needs, reinterpret_cast<CUarray>(array), 0),
         CUDA_ERROR_INVALID_VALUE);  // it has memory
  // Only sparse arrays have sparse properties, only arrays of several planes have planes.
  cudaArraySparseProperties sparse;
  CUDA_ARRAY_SPARSE_PROPERTIES driver_sparse;
  CUarray plane;
  EXPECT(cudaMipmappedArrayGetSparseProperties(&sparse, levels), cudaErrorInvalidValue);
  EXPECT(cuArrayGetSparseProperties(&driver_sparse, reinterpret_cast<CUarray>(array)), CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMipmappedArrayGetSparseProperties(&driver_sparse, reinterpret_cast<CUmipmappedArray>(levels)),
         CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuArrayGetPlane(&plane, reinterpret_cast<CUarray>(array), 0), CUDA_ERROR_INVALID_VALUE);
  cudaResourceDesc resource = {}, back;
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  CHECK(cudaGetSurfaceObjectResourceDesc(&back, surface));
  REQUIRE(back.resType == cudaResourceTypeArray && back.res.array.array == array);
  CHECK(cudaDestroySurfaceObject(surface));
  size_t width = 0, driver_width = 0;
  CHECK(cudaDeviceGetTexture1DLinearMaxWidth(&width, &format, 0));
  CU(cuDeviceGetTexture1DLinearMaxWidth(&driver_width, CU_AD_FORMAT_FLOAT, 4, 0));
  REQUIRE(width > 0 && driver_width == width);
  CHECK(cudaFreeArray(array));
  CHECK(cudaFreeMipmappedArray(levels));
}

void graphs() {
  CUgraph graph, body;
  CUgraphExec exec;
  CUgraphNode node, child;
  CUstream stream;
  CUcontext context;
  CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CU(cuCtxGetCurrent(&context));
  // A loop whose body is captured.
  CU(cuGraphCreate(&graph, 0));
  CUgraphConditionalHandle condition;
  CU(cuGraphConditionalHandleCreate(&condition, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  params.conditional.handle = condition;
  params.conditional.type = CU_GRAPH_COND_TYPE_IF;
  params.conditional.size = 1;
  params.conditional.ctx = context;
  CU(cuGraphAddNode_v2(&node, graph, nullptr, nullptr, 0, &params));
  body = params.conditional.phGraph_out[0];
  CU(cuStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
  add<<<1, kN, 0, stream>>>(reinterpret_cast<int*>(a), 5);
  CU(cuStreamUpdateCaptureDependencies_v2(stream, nullptr, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  add<<<1, kN, 0, stream>>>(reinterpret_cast<int*>(b), 6);
  CU(cuStreamEndCapture(stream, nullptr));
  size_t edges = 9;
  CU(cuGraphGetEdges_v2(body, nullptr, nullptr, nullptr, &edges));
  REQUIRE(edges == 0);  // the second kernel depends on nothing
  CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
  CU(cuMemsetD32(a, 0, kN));
  CU(cuMemsetD32(b, 0, kN));
  CU(cuGraphLaunch(exec, stream));
  CU(cuStreamSynchronize(stream));
  REQUIRE(first_of(a) == 5 && first_of(b) == 6);
  CU(cuGraphExecDestroy(exec));
  CU(cuGraphDestroy(graph));

  // Parts changed in an instance.
  CU(cuGraphCreate(&graph, 0));
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = a;
  fill.value = 1;
  fill.elementSize = 4;
  fill.width = kN;
  fill.height = 1;
  CU(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &fill, context));
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = a;
  copy.dstDevice = b;
  copy.srcPitch = copy.dstPitch = sizeof host;
  copy.srcHeight = copy.dstHeight = 1;
  copy.WidthInBytes = sizeof host;
  copy.Height = copy.Depth = 1;
  CUgraphNode copy_node;
  CU(cuGraphAddMemcpyNode(&copy_node, graph, &node, 1, &copy, context));
  CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
  fill.value = 2;
  CU(cuGraphExecMemsetNodeSetParams(exec, node, &fill, context));
  CU(cuGraphLaunch(exec, stream));
  CU(cuStreamSynchronize(stream));
  REQUIRE(first_of(b) == 2);
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;  // which must stay what it is
  copy.dstHost = host;
  copy.dstDevice = 0;
  REQUIRE(cuGraphExecMemcpyNodeSetParams(exec, copy_node, &copy, context) == CUDA_ERROR_INVALID_VALUE);
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = b + 4;
  copy.WidthInBytes -= 4;
  CU(cuMemsetD32(b, 5, kN));
  CU(cuGraphExecMemcpyNodeSetParams(exec, copy_node, &copy, context));
  CU(cuGraphLaunch(exec, stream));
  CU(cuStreamSynchronize(stream));
  CU(cuMemcpyDtoH(host, b, sizeof host));
  REQUIRE(host[0] == 5 && host[1] == 2 && host[kN - 1] == 2);
  CUgraph parent;
  CU(cuGraphCreate(&parent, 0));
  CU(cuGraphAddChildGraphNode(&child, parent, nullptr, 0, graph));
  CUgraphExec outer;
  CU(cuGraphInstantiateWithFlags(&outer, parent, 0));
  fill.value = 3;
  CU(cuGraphMemsetNodeSetParams(node, &fill));
  CU(cuGraphExecChildGraphNodeSetParams(outer, child, graph));
  CU(cuGraphLaunch(outer, stream));
  CU(cuStreamSynchronize(stream));
  REQUIRE(first_of(b) == 3);
  CU(cuGraphExecDestroy(outer));
  CU(cuGraphExecDestroy(exec));
  CU(cuGraphDestroy(parent));
  CU(cuGraphDestroy(graph));
  CU(cuStreamDestroy(stream));
}

void batches() {
  CUstream stream;
  CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CU(cuMemsetD32(a, 11, kN));
  CU(cuMemsetD32(b, 12, kN));
  static int first[kN], second[kN];
  CUdeviceptr to[] = {reinterpret_cast<CUdeviceptr>(first), reinterpret_cast<CUdeviceptr>(second)}, from[] = {a, b};
  size_t sizes[] = {sizeof first, sizeof second}, which[] = {0};
  CUmemcpyAttributes how{};
  how.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  CU(cuMemcpyBatchAsync(to, from, sizes, 2, &how, which, 1, stream));
  CU(cuStreamSynchronize(stream));
  REQUIRE(first[kN - 1] == 11 && second[0] == 12);
  CU(cuStreamDestroy(stream));
}

void rest() {
  // What no device here has.
  void* function = nullptr;
  EXPECT(cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                    static_cast<CUflushGPUDirectRDMAWritesScope>(5)),
         CUDA_ERROR_INVALID_VALUE);
  int options = -1;
  CHECK(cudaDeviceGetAttribute(&options, cudaDevAttrGPUDirectRDMAFlushWritesOptions, 0));
  EXPECT(cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTargetCurrentDevice,
                                            cudaFlushGPUDirectRDMAWritesToOwner),
         (options & cudaFlushGPUDirectRDMAWritesOptionHost) ? cudaSuccess : cudaErrorNotSupported);
  const char* text = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing() { ret; }\n";
  cudaLibrary_t library;
  CHECK(cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
  EXPECT(cudaLibraryGetUnifiedFunction(&function, library, "nothing"), cudaErrorSymbolNotFound);
  EXPECT(cuLibraryGetUnifiedFunction(&function, reinterpret_cast<CUlibrary>(library), "nothing"), CUDA_ERROR_NOT_FOUND);
  EXPECT(cuLibraryGetUnifiedFunction(&function, nullptr, "nothing"), CUDA_ERROR_INVALID_HANDLE);
  CHECK(cudaLibraryUnload(library));
  CUmodule module;
  CU(cuModuleLoadFatBinary(&module, text));
  CU(cuModuleUnload(module));
  CUasyncCallbackHandle notification;
  CU(cuDeviceRegisterAsyncNotification(
      0, [](CUasyncNotificationInfo*, void*, CUasyncCallbackHandle) {}, nullptr, &notification));
  CU(cuDeviceUnregisterAsyncNotification(0, notification));
  EXPECT(cuDeviceUnregisterAsyncNotification(0, notification), CUDA_ERROR_INVALID_VALUE);
  // The log of errors as a file.
  cudaLogIterator start = 0;
  CHECK(cudaLogsCurrent(&start, 0));
  cudaMemcpy(nullptr, nullptr, 8, static_cast<cudaMemcpyKind>(77));
  cudaGetLastError();
  char name[] = "/tmp/warpbeam-log-XXXXXX";
  close(mkstemp(name));
  CHECK(cudaLogsDumpToFile(nullptr, name, 0));
  FILE* file = fopen(name, "r");
  char line[200] = "";
  REQUIRE(file && fgets(line, sizeof line, file) && strlen(line) > 5);
  fclose(file);
  unlink(name);
}

int main() {
  CHECK(cudaFree(nullptr));
  CU(cuMemAlloc(&a, sizeof host));
  CU(cuMemAlloc(&b, sizeof host));
  pools();
  array_questions();
  graphs();
  batches();
  rest();
  puts("PASSED");
}

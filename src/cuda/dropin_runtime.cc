// What libcudart.so.11.0 and libcudart.so.12 have under names whose meaning toolkit 13 changed. It is compiled into
// these libraries, which come before libwarpbeam when a program looks for a function.
#pragma GCC visibility push(default)
#include <stddef.h>

extern "C" {

struct Location {  // cudaMemLocation
  int type, id;
};

int cudaMemAdvise_v2(const void* pointer, size_t bytes, int advice, Location location);
int cudaMemPrefetchAsync_v2(const void* pointer, size_t bytes, Location location, unsigned flags, void* stream);
int cudaMemPrefetchAsync_v2_ptsz(const void* pointer, size_t bytes, Location location, unsigned flags, void* stream);
int __warpbeamDeviceProperties11(void* properties, int device);
int cudaStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id, void** graph, void* const** after, size_t* count);
int cudaStreamGetCaptureInfo_v2_ptsz(void* stream, int* status, unsigned long long* id, void** graph, void* const** after, size_t* count);
int cudaStreamUpdateCaptureDependencies_v2(void* stream, void** nodes, const void* edges, size_t count, unsigned flags);
int cudaStreamUpdateCaptureDependencies_v2_ptsz(void* stream, void** nodes, const void* edges, size_t count, unsigned flags);
int cudaGraphGetEdges_v2(void* graph, void** from, void** to, void* edges, size_t* count);
int cudaGraphNodeGetDependencies_v2(void* node, void** nodes, void* edges, size_t* count);
int cudaGraphNodeGetDependentNodes_v2(void* node, void** nodes, void* edges, size_t* count);
int cudaGraphAddDependencies_v2(void* graph, void* const* from, void* const* to, const void* edges, size_t count);
int cudaGraphRemoveDependencies_v2(void* graph, void* const* from, void* const* to, const void* edges, size_t count);
int cudaGraphAddNode_v2(void** node, void* graph, void* const* after, const void* edges, size_t count, void* parameters);

// The host was device -1.
static Location location_of(int device) { return device < 0 ? Location{2, 0} : Location{1, device}; }

int cudaMemAdvise(const void* pointer, size_t bytes, int advice, int device) {
  return cudaMemAdvise_v2(pointer, bytes, advice, location_of(device));
}

int cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device, void* stream) {
  return cudaMemPrefetchAsync_v2(pointer, bytes, location_of(device), 0, stream);
}

int cudaMemPrefetchAsync_ptsz(const void* pointer, size_t bytes, int device, void* stream) {
  return cudaMemPrefetchAsync_v2_ptsz(pointer, bytes, location_of(device), 0, stream);
}

int cudaGetDeviceProperties(void* properties, int device) { return __warpbeamDeviceProperties11(properties, device); }

// Edges had no data.
int cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id) {
  return cudaStreamGetCaptureInfo_v2(stream, status, id, nullptr, nullptr, nullptr);
}

int cudaStreamGetCaptureInfo_ptsz(void* stream, int* status, unsigned long long* id) {
  return cudaStreamGetCaptureInfo_v2_ptsz(stream, status, id, nullptr, nullptr, nullptr);
}

int cudaStreamUpdateCaptureDependencies(void* stream, void** nodes, size_t count, unsigned flags) {
  return cudaStreamUpdateCaptureDependencies_v2(stream, nodes, nullptr, count, flags);
}

int cudaStreamUpdateCaptureDependencies_ptsz(void* stream, void** nodes, size_t count, unsigned flags) {
  return cudaStreamUpdateCaptureDependencies_v2_ptsz(stream, nodes, nullptr, count, flags);
}

int cudaGraphGetEdges(void* graph, void** from, void** to, size_t* count) { return cudaGraphGetEdges_v2(graph, from, to, nullptr, count); }

int cudaGraphNodeGetDependencies(void* node, void** nodes, size_t* count) {
  return cudaGraphNodeGetDependencies_v2(node, nodes, nullptr, count);
}

int cudaGraphNodeGetDependentNodes(void* node, void** nodes, size_t* count) {
  return cudaGraphNodeGetDependentNodes_v2(node, nodes, nullptr, count);
}

int cudaGraphAddDependencies(void* graph, void* const* from, void* const* to, size_t count) {
  return cudaGraphAddDependencies_v2(graph, from, to, nullptr, count);
}

int cudaGraphRemoveDependencies(void* graph, void* const* from, void* const* to, size_t count) {
  return cudaGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

int cudaGraphAddNode(void** node, void* graph, void* const* after, size_t count, void* parameters) {
  return cudaGraphAddNode_v2(node, graph, after, nullptr, count, parameters);
}

}  // extern "C"
#pragma GCC visibility pop

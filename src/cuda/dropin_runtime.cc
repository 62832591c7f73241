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

}  // extern "C"
#pragma GCC visibility pop

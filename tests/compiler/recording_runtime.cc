// A runtime library that runs no kernels: it says what programs register and launch, when RECORD=1. The driver's tests
// link against it, so that they test the driver alone.
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Dim3 {
  unsigned x, y, z;
};
struct Wrapper {
  int magic, version;
  const unsigned char* data;
  void* file;
};

bool recording() { return std::getenv("RECORD") != nullptr; }

template <class T>
T read(const unsigned char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void record_fatbin(const char* how, void* wrapper) {
  if (!recording()) return;
  const unsigned char* data = static_cast<Wrapper*>(wrapper)->data;
  std::fprintf(stderr, "%s %x:", how, read<unsigned>(data));
  const unsigned char* end = data + 16 + read<unsigned long>(data + 8);
  for (const unsigned char* entry = data + 16; entry < end;) {
    std::fprintf(stderr, " ptx%u", read<unsigned>(entry + 28));
    entry += read<unsigned>(entry + 4) + read<unsigned long>(entry + 8);
  }
  std::fprintf(stderr, "\n");
}

void record(const char* what, const char* name) {
  if (recording()) std::fprintf(stderr, "%s %s\n", what, name);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {
void** __cudaRegisterFatBinary(void* wrapper) {
  static void* handle;
  record_fatbin("module", wrapper);
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char*, char*, const char* name, int, void*, void*, void*, void*, int*) { record("kernel", name); }
void __cudaRegisterVar(void**, char*, char*, const char* name, int, size_t, int, int) { record("variable", name); }
unsigned __cudaPushCallConfiguration(Dim3, Dim3, size_t, void*) { return 0; }
int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, size_t* shared, void** stream) {
  *grid = *block = {1, 1, 1};
  *shared = 0;
  *stream = nullptr;
  return 0;
}
int cudaLaunchKernel(const void*, Dim3, Dim3, void**, size_t, void*) {
  record("launch", "default stream");
  return 0;
}
int cudaLaunchKernel_ptsz(const void*, Dim3, Dim3, void**, size_t, void*) {
  record("launch", "per-thread stream");
  return 0;
}
int cudaGetDeviceCount(int* count) {
  *count = 1;
  return 0;
}
int cudaGetDeviceProperties(void*, int) { return 0; }
int cudaDeviceSynchronize() { return 0; }
int cudaMemcpyFromSymbol(void* to, const void*, size_t count, size_t, int) {
  std::memset(to, 0, count);
  return 0;
}
void __warpbeamRegisterLinked(void (*register_globals)(void**), void* wrapper, void*) {
  void* handle = nullptr;
  record_fatbin("linked", wrapper);
  register_globals(&handle);
}
}
#pragma GCC visibility pop

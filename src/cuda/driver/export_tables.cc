// cuGetExportTable: the driver's internal functions, which NVIDIA's runtime asks for by tables' numbers; it is in most
// programs that were built elsewhere (`nvcc` links its static form). What is known of them was described in public by the
// ZLUDA project (dark_api), or is seen from outside: which entry is called with what. A table begins with its size in bytes,
// where it has one. Entries without a meaning here say so when they are called, and so does the room behind each table.
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "cuda/devices/context_storage.h"
#include "cuda/driver/handshake.h"
#include "cuda/driver/module.h"
#include "cuda/notes.h"

namespace warpbeam::cuda::driver {

namespace {

constexpr size_t kRoom = 112;  // entries of each table in memory, named or not
using Entries = std::array<const void*, kRoom>;

enum Table : int {
  Runtime,
  ThreadStorage,
  CallbackHooks,
  ContextStorage,
  ContextCreation,
  Heap,
  ExtendedDevice,
  Handshake,
  ContextChecks,
  AboutContexts,
  TableCount
};

struct Known {
  const char* name;
  unsigned char id[16];
  size_t length;  // entries, the one for the size included
  bool begins_with_size = true;
};

constexpr Known kTables[TableCount] = {
    {"for the runtime", {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9}, 13},
    {"of tools' thread storage", {0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82, 0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec, 0xdc}, 4},
    {"of tools' callback hooks", {0xa0, 0x94, 0x79, 0x8c, 0x2e, 0x74, 0x2e, 0x74, 0x93, 0xf2, 0x08, 0x00, 0x20, 0x0c, 0x0a, 0x66}, 7},
    {"of storage in contexts", {0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11, 0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95, 0x93}, 4, false},
    {"of making contexts", {0x0c, 0xa5, 0x0b, 0x8c, 0x10, 0x04, 0x92, 0x9a, 0x89, 0xa7, 0xd0, 0xdf, 0x10, 0xe7, 0x72, 0x86}, 2},
    {"of the heap", {0x19, 0x5b, 0xcb, 0xf4, 0xd6, 0x7d, 0x02, 0x4a, 0xac, 0xc5, 0x1d, 0x29, 0xce, 0xa6, 0x31, 0xae}, 3},
    {"of more about devices", {0xb1, 0x05, 0x41, 0xe1, 0xf7, 0xc7, 0xc7, 0x4a, 0x9f, 0x64, 0xf2, 0x23, 0xbe, 0x99, 0xf1, 0xe2}, 26},
    {"of the handshake", {0xd4, 0x08, 0x20, 0x55, 0xbd, 0xe6, 0x70, 0x4b, 0x8d, 0x34, 0xba, 0x12, 0x3c, 0x66, 0xe1, 0xf2}, 3},
    {"of checks of contexts", {0x26, 0x3e, 0x88, 0x60, 0x7c, 0xd2, 0x61, 0x43, 0x92, 0xf6, 0xbb, 0xd5, 0x00, 0x6d, 0xfa, 0x7e}, 4},
    {"about contexts", {0x21, 0x31, 0x8c, 0x60, 0x97, 0x14, 0x32, 0x48, 0x8c, 0xa6, 0x41, 0xff, 0x73, 0x24, 0xc8, 0xf2}, 95},
};

const Entries& entries_of(Table table);

// Every entry without a meaning is a function of its own, so that it can say which it is.
template <int table, size_t index>
CUresult unknown_entry() {
  static std::atomic<bool> told{false};
  if (!told.exchange(true))
    fmt::print(stderr,
               "warpbeam: the program calls entry {} of the driver's internal table {}, which Warpbeam does not have; it gets "
               "CUDA_ERROR_NOT_SUPPORTED\n",
               index, kTables[table].name);
  return CUDA_ERROR_NOT_SUPPORTED;
}

// For the runtime: code that the program carries, as `__cudaRegisterFatBinary` gets it.
CUresult load_code(CUmodule* module, const void* image) { return cuModuleLoadData(module, image); }

// With options whose meaning nobody has described.
CUresult load_code_with(CUmodule* module, const void* image, void* options, void* values, unsigned count) {
  return options || values || count ? CUDA_ERROR_NOT_SUPPORTED : load_code(module, image);
}

CUresult load_container_with(const void* image, CUmodule* module, void* options, void* values, unsigned count) {
  return load_code_with(module, image, options, values, count);
}

// The runtime's context on a device; it stays when users of the driver release theirs.
CUresult primary_context(CUcontext* handle, CUdevice device) {
  return call([&]() -> CUresult {
    Context* context = nullptr;
    if (context_of(device, &context) != cudaSuccess) return CUDA_ERROR_INVALID_DEVICE;
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    context->used_by_runtime.store(true, std::memory_order_relaxed);
    context->activate();
    *handle = handle_of(*context);
    return CUDA_SUCCESS;
  });
}

void nothing_to_do(size_t) {}
CUresult compilers_are_there() { return CUDA_SUCCESS; }

// A word for each of the runtime's functions, or kinds of them, by which tools ask to be called back. No tool does.
template <size_t count>
void hook_words(void** words, size_t* size) {
  static uint32_t zeros[count];
  *words = zeros;
  *size = count;
}

template <class Body>
CUresult of_context(CUcontext handle, Body&& body) {
  return call([&]() -> CUresult {
    Context* context = nullptr;
    CUresult result = handle ? find_context(handle, &context) : current(&context);
    return result == CUDA_SUCCESS ? body(*context) : result;
  });
}

CUresult put_in_context(CUcontext handle, void* key, void* value, StorageEnds ends) {
  return of_context(handle, [&](Context& context) {
    store_in_context(context, key, value, ends);
    return CUDA_SUCCESS;
  });
}

CUresult delete_from_context(CUcontext handle, void* key) {
  return of_context(handle, [&](Context& context) { return forget_in_context(context, key) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; });
}

CUresult get_from_context(void** value, CUcontext handle, void* key) {
  return of_context(handle, [&](Context& context) {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    return find_in_context(context, key, value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult make_context(CUcontext* handle, unsigned flags, CUdevice device) { return cuCtxCreate_v4(handle, nullptr, flags, device); }

CUresult device_flag(unsigned char* flag, CUdevice) {
  if (!flag) return CUDA_ERROR_INVALID_VALUE;
  *flag = 0;
  return CUDA_SUCCESS;
}

CUresult shake_hands(unsigned runtime_version, uint64_t seconds, std::array<uint64_t, 2>* answer) {
  return call([&] {
    if (!answer) return CUDA_ERROR_INVALID_VALUE;
    int version = 0;
    cuDriverGetVersion(&version);
    const Entries& own = entries_of(Handshake);
    const HandshakeFacts facts{static_cast<uint32_t>(version),
                               runtime_version,
                               static_cast<uint32_t>(getpid()),
                               static_cast<uint32_t>(reinterpret_cast<uintptr_t>(reinterpret_cast<void*>(pthread_self()))),
                               entries_of(Runtime).data(),
                               own.data(),
                               own[1],
                               seconds};
    std::vector<HandshakeDevice> devices(static_cast<size_t>(device_count()));
    for (int i = 0; i < device_count(); ++i) {
      HandshakeDevice& device = devices[static_cast<size_t>(i)];
      CUuuid uuid;
      CUresult result = cuDeviceGetUuid_v2(&uuid, i);
      if (result == CUDA_SUCCESS) result = cuDeviceGetAttribute(&device.pci_domain, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, i);
      if (result == CUDA_SUCCESS) result = cuDeviceGetAttribute(&device.pci_bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, i);
      if (result == CUDA_SUCCESS) result = cuDeviceGetAttribute(&device.pci_device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, i);
      if (result != CUDA_SUCCESS) return result;
      std::memcpy(device.uuid, uuid.bytes, sizeof device.uuid);
    }
    *answer = handshake_answer(facts, devices);
    return CUDA_SUCCESS;
  });
}

CUresult check_context(CUcontext, unsigned* refused, const void**) {
  if (!refused) return CUDA_ERROR_INVALID_VALUE;
  *refused = 0;
  return CUDA_SUCCESS;
}

unsigned nothing_is_refused() { return 0; }

template <int table, size_t... indices>
Entries unknown_entries(std::index_sequence<indices...>) {
  return {reinterpret_cast<const void*>(&unknown_entry<table, indices>)...};
}

template <int... tables>
std::array<Entries, TableCount> make_tables(std::integer_sequence<int, tables...>) {
  std::array<Entries, TableCount> all = {unknown_entries<tables>(std::make_index_sequence<kRoom>())...};
  for (size_t i = 0; i < TableCount; ++i)
    if (kTables[i].begins_with_size) all[i][0] = reinterpret_cast<const void*>(kTables[i].length * sizeof(void*));
  auto set = [&](Table table, size_t index, auto* function) { all[table][index] = reinterpret_cast<const void*>(function); };
  set(Runtime, 1, load_code);
  set(Runtime, 2, primary_context);
  set(Runtime, 6, load_code_with);
  set(Runtime, 7, nothing_to_do);
  set(Runtime, 8, load_container_with);
  set(Runtime, 12, compilers_are_there);
  set(ThreadStorage, 2, cuCtxGetCurrent);
  set(CallbackHooks, 2, hook_words<1024>);
  set(CallbackHooks, 6, hook_words<14>);
  set(ContextStorage, 0, put_in_context);
  set(ContextStorage, 1, delete_from_context);
  set(ContextStorage, 2, get_from_context);
  set(ContextCreation, 1, make_context);
  set(ExtendedDevice, 13, device_flag);
  set(Handshake, 1, shake_hands);
  set(ContextChecks, 2, check_context);
  set(ContextChecks, 3, nothing_is_refused);
  set(AboutContexts, 4, cuCtxGetId);
  return all;
}

const Entries& entries_of(Table table) {
  static const auto all = make_tables(std::make_integer_sequence<int, TableCount>());
  return all[table];
}

}  // namespace
}  // namespace warpbeam::cuda::driver

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

extern "C" CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  if (!table || !id) return CUDA_ERROR_INVALID_VALUE;
  *table = nullptr;
  for (int i = 0; i < TableCount; ++i) {
    if (std::memcmp(kTables[i].id, id->bytes, sizeof kTables[i].id) != 0) continue;
    *table = entries_of(static_cast<Table>(i)).data();
    return CUDA_SUCCESS;
  }
  std::string number;
  for (char byte : id->bytes) number += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  note_once(number.c_str(),
            [&] { return fmt::format("the program asks for the driver's internal table {}, which Warpbeam does not have", number); });
  return CUDA_ERROR_NOT_FOUND;
}

// What compilers generate calls to: registering device code before main, and launching through <<<…>>>.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "cuda/edge.h"
#include "cuda/launches/launch.h"
#include "cuda/modules/elf_sections.h"
#include "cuda/modules/modules.h"
#include "fatbin/format.h"

using namespace warpbeam::cuda;
namespace fatbin = warpbeam::fatbin;

namespace {

const void* container_of(const void* wrapper_address) {
  const auto* wrapper = static_cast<const fatbin::Wrapper*>(wrapper_address);
  if (wrapper && wrapper->magic == fatbin::kWrapperMagic) return wrapper->container;
  fmt::print(stderr, "warpbeam: a fat binary's wrapper was expected at {}\n", wrapper_address);
  return nullptr;
}

// The relocatable code that NVIDIA's compiler links, and nothing for other programs.
std::vector<const void*> linked_parts(const void* wrapper_address) {
  std::vector<const void*> parts;
  const auto* wrapper = static_cast<const fatbin::Wrapper*>(wrapper_address);
  if (wrapper->version != fatbin::kWrapperOfLinkedCode || !wrapper->more) return parts;
  for (auto part = static_cast<const void* const*>(wrapper->more); *part; ++part) parts.push_back(*part);
  return parts;
}

// Host code may read a managed variable before it calls the runtime at all, so its initial value has to be there before
// main.
void load_managed(Image* image) {
  if (!image->has_managed) return;
  Context* context = nullptr;
  if (context_of(0, &context) == cudaSuccess) context->images->load(*image);
}

// Relocatable device code is complete when every fat binary of the program, or of the library, is registered. Their
// wrappers lie side by side in one section, so its size tells how many there are.
bool all_registered(const void* wrapper) {
  static std::mutex mutex;
  static auto* seen = new std::map<const void*, size_t>;  // by section: how many of its wrappers
  auto section = section_around(wrapper, ".nvFatBinSegment");
  if (!section) return false;
  std::lock_guard lock(mutex);
  return ++(*seen)[section->begin] * sizeof(fatbin::Wrapper) >= section->bytes;
}

}  // namespace

extern "C" {

WB_TWIN void** __cudaRegisterFatBinary(void* wrapper) {
  const void* container = container_of(wrapper);
  if (!container) return nullptr;
  all_registered(wrapper);
  return reinterpret_cast<void**>(Registry::instance().add(container, linked_parts(wrapper)));
}

WB_TWIN void __cudaRegisterFatBinaryEnd(void** handle) {
  if (handle) load_managed(reinterpret_cast<Image*>(handle));
}

WB_TWIN void __cudaUnregisterFatBinary(void** handle) {
  if (handle) Registry::instance().remove(reinterpret_cast<Image*>(handle));
}

WB_TWIN void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*, int*) {
  if (handle) Registry::instance().add_kernel(reinterpret_cast<Image*>(handle), host, name);
}

WB_TWIN void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t size, int constant, int) {
  if (handle) Registry::instance().add_variable(reinterpret_cast<Image*>(handle), host, name, size, constant != 0);
}

// NVIDIA's compiler keeps a managed variable behind a pointer, which is set here.
WB_TWIN void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int, size_t size, int, int) {
  if (!handle) return;
  constexpr size_t kPage = 4096;
  *host = std::aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage);
  if (!*host) return;
  std::memset(*host, 0, size);  // what has no initial value is zero
  Registry::instance().add_variable(reinterpret_cast<Image*>(handle), *host, name, size, false, true);
}

// Relocatable device code: each object registers its part; they are linked when something of them is first used.
WB_TWIN void __warpbeamRegisterLinked(void (*register_globals)(void**), void* wrapper, void*) {
  const void* container = container_of(wrapper);
  if (!container) return;
  Image* image = Registry::instance().add_linked(container);
  register_globals(reinterpret_cast<void**>(image));
  if (all_registered(wrapper)) load_managed(image);
}

WB_TWIN char __cudaInitModule(void** handle) {
  if (handle) load_managed(reinterpret_cast<Image*>(handle));
  return 1;
}

WB_TWIN unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  ThreadState& thread = this_thread();
  if (thread.configuration_count == ThreadState::kMaxPendingConfigurations) {
    remember(cudaErrorInvalidConfiguration);
    return 1;
  }
  thread.configurations[thread.configuration_count++] = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, stream};
  return 0;
}

WB_TWIN cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  ThreadState& thread = this_thread();
  if (thread.configuration_count == 0) return remember(cudaErrorMissingConfiguration);
  const CallConfiguration& top = thread.configurations[--thread.configuration_count];
  *grid = dim3(top.grid[0], top.grid[1], top.grid[2]);
  *block = dim3(top.block[0], top.block[1], top.block[2]);
  *shared = top.shared;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  return cudaSuccess;
}

WB_TWIN cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) { return cudaGetKernel(kernel, host); }

WB_TWIN cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream) {
  return launch(kernel, {grid, block, shared, stream}, arguments);
}

WB_TWIN cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                                            cudaStream_t stream) {
  return launch(kernel, {grid, block, shared, per_thread(stream)}, arguments);
}

}  // extern "C"

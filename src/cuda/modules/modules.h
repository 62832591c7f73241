// Device code: what the host program registered or loaded as a module, and what each context has of it.
//
// Compilers register every fat binary before main, and with it which host address stands for which kernel or variable.
// Nothing is parsed then; an image is loaded into a context when something of it is first used there. Images with
// relocatable device code are linked together: they form one image with several fat binaries.
#pragma once
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "cuda/api.h"
#include "cuda/devices/context.h"
#include "cuda/thread_state.h"
#include "model/occupancy.h"
#include "vm/program.h"

namespace warpbeam::cuda {

// A kernel loaded into a context.
class Function {
 public:
  Function(Context& context, std::shared_ptr<const vm::Program> code, const vm::Kernel& kernel)
      : context(context), code(std::move(code)), program(*this->code), kernel(kernel) {
    for (size_t i = 0; i < 3; ++i) cluster[i] = kernel.cluster[i];
  }

  Context& context;
  const std::shared_ptr<const vm::Program> code;  // kept by launches too: a module may be unloaded
  const vm::Program& program;
  const vm::Kernel& kernel;
  // Attributes that cudaFuncSet… changes.
  std::atomic<int> dynamic_shared_limit{-1};  // -1: what fits without asking
  std::atomic<int> carveout_percent{-1};
  std::atomic<int> cache{cudaFuncCachePreferNone};
  std::atomic<int> banks{cudaSharedMemBankSizeDefault};
  std::atomic<bool> non_portable_cluster{false};
  std::array<std::atomic<uint32_t>, 3> cluster;  // that each launch has to have; zeros: any. The kernel's own, if it says one
  std::atomic<int> cluster_policy{cudaClusterSchedulingPolicyDefault};

  std::array<uint32_t, 3> required_cluster() const { return {cluster[0], cluster[1], cluster[2]}; }
  bool requires_cluster() const { return required_cluster() != std::array<uint32_t, 3>{}; }
  size_t max_dynamic_shared() const;
  int max_threads_per_block() const;
  // The same, and no more than the registers of a multiprocessor are enough for. Registers are an estimate: launches
  // are not held to this, but programs that ask what fits get an answer that goes with the other attributes.
  int threads_that_fit() const;
  model::KernelResources resources() const;
  model::OccupancySettings occupancy_settings() const;
  // Blocks the whole device holds at once.
  int resident_blocks(int block_size, size_t dynamic_shared) const;

 private:
  mutable std::mutex mutex_;  // of the answer last given: launches repeat
  mutable int last_block_size_ = 0, last_resident_ = 0;
  mutable size_t last_shared_ = 0;
};

cudaFuncAttributes attributes_of(const Function& function);

struct Image;

struct KernelSymbol {
  Image* image;
  const void* host;
  std::string name;
  std::array<std::atomic<Function*>, Context::kMaxSlots> loaded{};  // by Context::slot
};

struct VariableSymbol {
  Image* image;
  void* host;
  std::string name;
  size_t size;
  bool constant;
  bool managed;
  bool initialised = false;  // a managed variable has got its initial value
};

struct ReferenceSymbol {  // a texture or surface reference
  Image* image;
  const void* host;
  std::string name;
  bool normalized_read;
  bool surface;
};

struct Image {
  std::vector<std::unique_ptr<ReferenceSymbol>> references;
  std::vector<const void*> containers;
  // Of the driver API's modules and libraries, which come without containers.
  std::vector<std::string> texts;
  Context* only_in = nullptr;  // a module belongs to one context
  std::vector<std::unique_ptr<KernelSymbol>> kernels;
  std::vector<std::unique_ptr<VariableSymbol>> variables;
  bool linked = false;
  bool has_managed = false;
  bool used = false;  // loaded somewhere: a linked image takes no more parts
};

class Registry {
 public:
  static Registry& instance();

  // With `parts`, which are linked, those stand for the container where they have PTX.
  Image* add(const void* container, std::vector<const void*> parts = {});
  // Adds the container to the linked image that is still open.
  Image* add_linked(const void* container);
  // A module or library of the driver API.
  Image* add(std::vector<std::string> texts, Context* only_in);
  // `host` may be null: then only the symbol itself stands for the kernel.
  KernelSymbol* add_kernel(Image* image, const void* host, const char* name);
  void add_variable(Image* image, void* host, const char* name, size_t size, bool constant, bool managed = false);
  void add_reference(Image* image, const void* host, const char* name, bool normalized_read, bool surface);
  // Its host addresses mean nothing from here on. Its code stays loaded: kernels may be running.
  void remove(Image* image);

  // `handle` is the host address of a kernel, or a KernelSymbol that the runtime gave out.
  KernelSymbol* kernel(const void* handle) const;
  VariableSymbol* variable(const void* host) const;
  Image* image(const void* handle) const;  // null: no such image, or not any more
  ReferenceSymbol* reference(const void* host) const;
  std::vector<Image*> images_with_managed() const;
  void mark_used(Image* image);

 private:
  mutable std::shared_mutex mutex_;
  std::vector<std::unique_ptr<Image>> images_;
  std::vector<std::unique_ptr<Image>> retired_;
  std::unordered_map<const void*, KernelSymbol*> kernels_;
  std::unordered_map<const void*, VariableSymbol*> variables_;
  std::unordered_map<const void*, ReferenceSymbol*> references_;
};

class ReferenceBindings;

// The images of one context.
class LoadedImages {
 public:
  explicit LoadedImages(Context& context);
  ~LoadedImages();

  cudaError_t function(KernelSymbol& symbol, Function** function);
  cudaError_t variable(VariableSymbol& symbol, const vm::ProgramVariable** variable);
  // Diagnostics go to `log` where there is one, else to stderr.
  cudaError_t load(Image& image, std::string* log = nullptr);
  cudaError_t program(Image& image, std::shared_ptr<const vm::Program>* program);
  // Forgets one image; nothing may be running of it.
  void unload(Image& image);
  cudaError_t reference(ReferenceSymbol& symbol, const vm::ProgramReference** reference);
  ReferenceBindings& bindings() { return *bindings_; }
  // A kernel of a program in this context, by whatever way it became known.
  Function& function(std::shared_ptr<const vm::Program> program, const vm::Kernel& kernel);
  // A string of the runtime, readable by kernels.
  uint64_t device_string(const char* text);
  // Forgets everything; the context must be idle.
  void unload();

 private:
  struct Loaded {
    cudaError_t status = cudaSuccess;
    std::shared_ptr<vm::Program> program;
  };
  Loaded& loaded(Image& image, std::string* log = nullptr);
  Loaded read(Image& image, std::string* log);

  Context& context_;
  std::recursive_mutex mutex_;
  std::map<Image*, Loaded> images_;
  std::unordered_map<const vm::Kernel*, std::unique_ptr<Function>> functions_;
  std::unique_ptr<ReferenceBindings> bindings_;
  std::unordered_map<std::string, uint64_t> strings_;
  std::vector<KernelSymbol*> bound_;  // symbols whose `loaded` entry points here
};

// Parses and links PTX, with its variables in `memory`; the diagnostics go to `log` where there is one, else to stderr.
cudaError_t load_program(vm::DeviceMemory& memory, std::span<const std::string_view> texts, const vm::LoadOptions& options,
                         std::shared_ptr<vm::Program>* program, std::string* log = nullptr);

// The kernel a host program names, loaded into the context.
cudaError_t find_function(Context& context, const void* handle, Function** function);

}  // namespace warpbeam::cuda

#include "cuda/modules/modules.h"
#include "observe/tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cuda/children/device_runtime.h"
#include "cuda/memory/memory.h"
#include "cuda/modules/device_code.h"
#include "cuda/modules/elf_sections.h"
#include "cuda/textures/texture_references.h"

namespace warpbeam::cuda {

Registry& Registry::instance() {
  static auto* registry = new Registry;
  return *registry;
}

Image* Registry::add(const void* container, std::vector<const void*> parts) {
  std::unique_lock lock(mutex_);
  auto image = std::make_unique<Image>();
  image->containers = std::move(parts);
  image->containers.push_back(container);
  images_.push_back(std::move(image));
  return images_.back().get();
}

Image* Registry::add_linked(const void* container) {
  std::unique_lock lock(mutex_);
  for (const auto& image : images_)
    if (image->linked && !image->used) {
      image->containers.push_back(container);
      return image.get();
    }
  auto image = std::make_unique<Image>();
  image->linked = true;
  image->containers.push_back(container);
  images_.push_back(std::move(image));
  return images_.back().get();
}

Image* Registry::add(std::vector<std::string> texts, Context* only_in) {
  std::unique_lock lock(mutex_);
  images_.push_back(std::make_unique<Image>());
  images_.back()->texts = std::move(texts);
  images_.back()->only_in = only_in;
  return images_.back().get();
}

KernelSymbol* Registry::add_kernel(Image* image, const void* host, const char* name) {
  std::unique_lock lock(mutex_);
  auto symbol = std::make_unique<KernelSymbol>();
  symbol->image = image;
  symbol->host = host;
  symbol->name = name;
  if (host) kernels_[host] = symbol.get();
  kernels_[symbol.get()] = symbol.get();
  image->kernels.push_back(std::move(symbol));
  return image->kernels.back().get();
}

void Registry::add_variable(Image* image, void* host, const char* name, size_t size, bool constant, bool managed) {
  managed |= section_around(host, "wb_managed").has_value();
  std::unique_lock lock(mutex_);
  image->has_managed |= managed;
  image->variables.push_back(std::make_unique<VariableSymbol>(VariableSymbol{image, host, name, size, constant, managed}));
  variables_[host] = image->variables.back().get();
}

void Registry::add_reference(Image* image, const void* host, const char* name, bool normalized_read, bool surface) {
  std::unique_lock lock(mutex_);
  image->references.push_back(std::make_unique<ReferenceSymbol>(ReferenceSymbol{image, host, name, normalized_read, surface}));
  references_[host] = image->references.back().get();
}

void Registry::remove(Image* image) {
  std::unique_lock lock(mutex_);
  auto found = std::ranges::find_if(images_, [&](const auto& other) { return other.get() == image; });
  if (found == images_.end()) return;
  for (const auto& kernel : image->kernels) {
    kernels_.erase(kernel.get());
    if (auto host = kernels_.find(kernel->host); host != kernels_.end() && host->second == kernel.get()) kernels_.erase(host);
  }
  for (const auto& variable : image->variables)
    if (auto host = variables_.find(variable->host); host != variables_.end() && host->second == variable.get()) variables_.erase(host);
  image->texts.clear();
  for (const auto& reference : image->references)
    if (auto host = references_.find(reference->host); host != references_.end() && host->second == reference.get())
      references_.erase(host);
  retired_.push_back(std::move(*found));
  images_.erase(found);
}

KernelSymbol* Registry::kernel(const void* handle) const {
  std::shared_lock lock(mutex_);
  auto found = kernels_.find(handle);
  return found == kernels_.end() ? nullptr : found->second;
}

VariableSymbol* Registry::variable(const void* host) const {
  std::shared_lock lock(mutex_);
  auto found = variables_.find(host);
  return found == variables_.end() ? nullptr : found->second;
}

Image* Registry::image(const void* handle) const {
  std::shared_lock lock(mutex_);
  auto found = std::ranges::find_if(images_, [&](const auto& image) { return image.get() == handle; });
  return found == images_.end() ? nullptr : found->get();
}

ReferenceSymbol* Registry::reference(const void* host) const {
  std::shared_lock lock(mutex_);
  auto found = references_.find(host);
  return found == references_.end() ? nullptr : found->second;
}

std::vector<Image*> Registry::images_with_managed() const {
  std::shared_lock lock(mutex_);
  std::vector<Image*> images;
  for (const auto& image : images_)
    if (image->has_managed) images.push_back(image.get());
  return images;
}

void Registry::mark_used(Image* image) {
  std::unique_lock lock(mutex_);
  image->used = true;
}

namespace {

void tell(std::string* log, const std::string& message) {
  std::string line = message.ends_with('\n') ? message : message + "\n";
  if (log) *log += line;
  else fmt::print(stderr, "{}", line);
}

}  // namespace

LoadedImages::LoadedImages(Context& context) : context_(context), bindings_(std::make_unique<ReferenceBindings>(context)) {}
LoadedImages::~LoadedImages() = default;

LoadedImages::Loaded& LoadedImages::loaded(Image& image, std::string* log) {
  auto found = images_.find(&image);
  if (found != images_.end()) return found->second;
  Registry::instance().mark_used(&image);
  Loaded& fresh = images_[&image];
  fresh = read(image, log);
  // Kernels may be handed addresses of managed variables of images that nothing else has used yet.
  for (Image* other : Registry::instance().images_with_managed()) loaded(*other);
  return fresh;
}

cudaError_t LoadedImages::load(Image& image, std::string* log) {
  std::lock_guard lock(mutex_);
  return loaded(image, log).status;
}

cudaError_t LoadedImages::program(Image& image, std::shared_ptr<const vm::Program>* program) {
  if (image.only_in && image.only_in != &context_) return cudaErrorInvalidResourceHandle;
  std::lock_guard lock(mutex_);
  Loaded& found = loaded(image);
  *program = found.program;
  return found.status;
}

LoadedImages::Loaded LoadedImages::read(Image& image, std::string* log) {
  std::vector<std::string> texts = image.texts;
  for (const void* container : image.containers) {
    auto code = read_device_code(container, context_.model);
    if (!code) {
      // A part without PTX is missed when something of it is asked for.
      if (container != image.containers.back() || !texts.empty()) continue;
      tell(log, fmt::format("warpbeam: {}", code.error().message));
      return {static_cast<cudaError_t>(code.error().code), nullptr};
    }
    for (std::string& text : *code) texts.push_back(std::move(text));
  }

  vm::LoadOptions options;
  options.device_cc = context_.model.cc();
  if (auto* tool = observe::tool(); tool && tool->checks()) options.guard_bytes = 64;
  options.max_registers = static_cast<uint32_t>(context_.model.max_regs_per_thread);
  options.registers_per_block = static_cast<uint32_t>(context_.model.regs_per_block);
  // Loading writes initial values into managed variables. A second device must not undo what the program has written.
  std::vector<std::pair<VariableSymbol*, std::vector<std::byte>>> values;
  for (const auto& variable : image.variables) {
    if (!variable->managed) continue;
    options.placements.push_back({variable->name, variable->host, variable->size});
    auto* bytes = static_cast<const std::byte*>(variable->host);
    if (variable->initialised) values.emplace_back(variable.get(), std::vector(bytes, bytes + variable->size));
  }
  Loaded loaded;
  std::vector<std::string_view> views(texts.begin(), texts.end());
  loaded.status = load_program(context_.memory, views, options, &loaded.program, log);
  for (const auto& [variable, bytes] : values) std::memcpy(variable->host, bytes.data(), bytes.size());
  for (const auto& variable : image.variables) variable->initialised |= variable->managed;
  return loaded;
}

cudaError_t LoadedImages::function(KernelSymbol& symbol, Function** function) {
  if (symbol.image->only_in && symbol.image->only_in != &context_) return cudaErrorInvalidResourceHandle;
  auto& slot = symbol.loaded[context_.slot];
  *function = slot.load(std::memory_order_acquire);
  if (*function) return cudaSuccess;
  std::lock_guard lock(mutex_);
  *function = slot.load(std::memory_order_acquire);
  if (*function) return cudaSuccess;
  Loaded& image = loaded(*symbol.image);
  if (image.status != cudaSuccess) return image.status;
  const vm::Kernel* kernel = image.program->find_kernel(symbol.name);
  if (!kernel) return cudaErrorInvalidDeviceFunction;
  *function = &this->function(image.program, *kernel);
  bound_.push_back(&symbol);
  slot.store(*function, std::memory_order_release);
  return cudaSuccess;
}

Function& LoadedImages::function(std::shared_ptr<const vm::Program> program, const vm::Kernel& kernel) {
  std::lock_guard lock(mutex_);
  auto& function = functions_[&kernel];
  if (!function) {
    function = std::make_unique<Function>(context_, std::move(program), kernel);
    std::lock_guard settings(context_.mutex);
    function->cache = context_.settings.cache;
  }
  return *function;
}

uint64_t LoadedImages::device_string(const char* text) {
  std::lock_guard lock(mutex_);
  uint64_t& address = strings_[text];
  if (!address) {
    auto place = context_.memory.allocate(std::strlen(text) + 1, 1, vm::MemoryKind::Constant, "a string of the runtime");
    if (!place) return 0;
    address = place->base;
    std::strcpy(reinterpret_cast<char*>(address), text);
  }
  return address;
}

cudaError_t LoadedImages::variable(VariableSymbol& symbol, const vm::ProgramVariable** variable) {
  std::lock_guard lock(mutex_);
  Loaded& image = loaded(*symbol.image);
  if (image.status != cudaSuccess) return image.status;
  *variable = image.program->find_variable(symbol.name);
  return *variable ? cudaSuccess : cudaErrorInvalidSymbol;
}

void LoadedImages::unload(Image& image) {
  std::lock_guard lock(mutex_);
  for (const auto& symbol : image.kernels) {
    symbol->loaded[context_.slot].store(nullptr, std::memory_order_release);
    std::erase(bound_, symbol.get());
  }
  if (auto found = images_.find(&image); found != images_.end())
    std::erase_if(functions_, [&](const auto& entry) { return &entry.second->program == found->second.program.get(); });
  images_.erase(&image);
}

cudaError_t LoadedImages::reference(ReferenceSymbol& symbol, const vm::ProgramReference** reference) {
  std::lock_guard lock(mutex_);
  Loaded& image = loaded(*symbol.image);
  if (image.status != cudaSuccess) return image.status;
  *reference = image.program->find_reference(symbol.name);
  if (*reference) return cudaSuccess;
  return symbol.surface ? cudaErrorInvalidSurface : cudaErrorInvalidTexture;
}

void LoadedImages::unload() {
  std::lock_guard lock(mutex_);
  bindings_->clear();
  for (KernelSymbol* symbol : bound_) symbol->loaded[context_.slot].store(nullptr, std::memory_order_release);
  bound_.clear();
  functions_.clear();
  strings_.clear();
  images_.clear();
}

cudaError_t load_program(vm::DeviceMemory& memory, std::span<const std::string_view> texts, const vm::LoadOptions& options,
                         std::shared_ptr<vm::Program>* program, std::string* log) {
  vm::LoadOptions with_runtime = options;
  with_runtime.find_builtin = find_device_function;
  with_runtime.launch_entry = kLaunchEntry;
  auto loaded = vm::Program::load(texts, memory, with_runtime);
  if (loaded) {
    *program = std::move(*loaded);
    return cudaSuccess;
  }
  const Error& error = loaded.error();
  tell(log, error.message);
  switch (static_cast<vm::LoadErrorCode>(error.code)) {
    case vm::LoadErrorCode::UnsupportedPtxVersion: return cudaErrorUnsupportedPtxVersion;
    case vm::LoadErrorCode::SymbolNotFound: return cudaErrorSymbolNotFound;
    case vm::LoadErrorCode::OutOfMemory: return cudaErrorMemoryAllocation;
    case vm::LoadErrorCode::InvalidPtx: break;
  }
  return cudaErrorInvalidPtx;
}

cudaError_t find_function(Context& context, const void* handle, Function** function) {
  KernelSymbol* symbol = handle ? Registry::instance().kernel(handle) : nullptr;
  if (!symbol) return cudaErrorInvalidDeviceFunction;
  return context.images->function(*symbol, function);
}

}  // namespace warpbeam::cuda

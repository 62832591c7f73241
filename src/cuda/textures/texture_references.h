// Texture and surface references: variables that the host binds. What a kernel reads is settled when it is launched.
#pragma once
#include "cuda/modules/modules.h"
#include "cuda/textures/textures.h"

namespace warpbeam::cuda {

// What one reference of a context is bound to.
class ReferenceBindings {
 public:
  explicit ReferenceBindings(Context& context) : context_(context) {}

  cudaError_t bind(const vm::ProgramReference& reference, const textureReference& host, bool normalized_read,
                   const cudaResourceDesc& resource, size_t offset);
  cudaError_t bind_surface(const vm::ProgramReference& reference, const cudaResourceDesc& resource);
  void unbind(const vm::ProgramReference& reference);
  // How many bytes before the pointer that was bound the texture begins; false if nothing is bound.
  bool offset(const vm::ProgramReference& reference, size_t* offset) const;
  // Host code may have changed filter modes and the like since it bound the texture.
  cudaError_t refresh(const vm::Program& program);
  void clear();

 private:
  struct Binding {
    const textureReference* host;
    textureReference last;  // what the view was made of
    bool normalized_read;
    cudaResourceDesc resource;
    size_t offset;
  };
  cudaError_t make(uint64_t handle, Binding& binding);

  Context& context_;
  mutable std::mutex mutex_;
  std::map<uint64_t, Binding> bindings_;  // by the reference's handle
};

}  // namespace warpbeam::cuda

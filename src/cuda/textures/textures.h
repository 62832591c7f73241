// Textures and surfaces: what the host says of them, turned into views that kernels use.
#pragma once
#include <memory>

#include "cuda/devices/context.h"
#include "vm/images.h"

namespace warpbeam::cuda {

struct TextureRequest {
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
  const cudaResourceViewDesc* view = nullptr;
  bool blends_integers = false;  // the runtime API refuses to, the driver API does
};

// Checks a description against the device and the documentation, and makes the view.
cudaError_t make_texture(Context& context, const TextureRequest& request, std::shared_ptr<vm::ImageView>* view);
cudaError_t make_surface(const cudaResourceDesc& resource, std::shared_ptr<vm::ImageView>* view);

// Objects. Descriptions are kept: the getters give back what was given.
cudaError_t create_texture_object(Context& context, const TextureRequest& request, cudaTextureObject_t* object);
cudaError_t create_surface_object(Context& context, const cudaResourceDesc& resource, cudaSurfaceObject_t* object);
void destroy_object(unsigned long long object);
struct ObjectDescription {
  vm::ImageUse use{};
  cudaResourceDesc resource{};
  cudaTextureDesc texture{};
  cudaResourceViewDesc view{};
};
bool describe_object(unsigned long long object, ObjectDescription* description);

}  // namespace warpbeam::cuda

// What a link is made of: the texts out of all the forms in which device code comes. The driver's linker and nvJitLink
// are two interfaces of it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cuda/api.h"
#include "model/device.h"

namespace warpbeam::vm {
class DeviceMemory;
}

namespace warpbeam::cuda {

class __attribute__((visibility("default"))) CodeLink {
 public:
  enum class Form {
    Ptx,
    Image,       // whatever read_device_code takes
    HostObject,  // or an archive of them
  };

  explicit CodeLink(const model::Device& device) : device_(device) {}

  // Error::code is a cudaError_t.
  Result<void> add(Form form, const std::string& bytes, const std::string& name);
  // What was added to another link comes along.
  void append(const CodeLink& other);
  bool empty() const { return texts_.empty(); }
  const std::vector<std::string>& names() const { return names_; }

  // Reads every text by itself: what is wrong in it is told before the others are there.
  Result<void> check() const;

  // Links on trial, so that what is wrong is reported here and not when the image is loaded. Variables lie in `memory`
  // meanwhile, in some of their own where there is no context.
  cudaError_t link(vm::DeviceMemory& memory, std::string* log);
  cudaError_t link(std::string* log);

  // A container of the texts, which every loader here takes and which may be linked again; empty until they are linked.
  const std::string& image() const { return image_; }

 private:
  model::Device device_;
  std::vector<std::string> texts_, names_;
  std::string image_;
};

}  // namespace warpbeam::cuda

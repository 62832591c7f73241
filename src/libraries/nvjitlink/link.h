// One link: inputs of every type become texts, and those an image.
#pragma once
#include <string>
#include <utility>

#include "cuda/modules/code_link.h"
#include "libraries/nvjitlink/options.h"
#include "nvJitLink.h"

namespace warpbeam::nvjitlink {

class Link {
 public:
  explicit Link(Options options) : options_(std::move(options)), code_(options_.target.value_or(model::Device())) {}

  nvJitLinkResult add(nvJitLinkInputType type, const std::string& bytes, const std::string& name);
  nvJitLinkResult add_file(nvJitLinkInputType type, const char* path);
  nvJitLinkResult complete();

  // Null where the link is not complete.
  const std::string* image() const { return code_.image().empty() ? nullptr : &code_.image(); }
  std::string errors, info;

 private:
  nvJitLinkResult refuse(nvJitLinkResult result, const std::string& message);
  nvJitLinkResult check_type(nvJitLinkInputType* type, const std::string& bytes, const std::string& name);

  Options options_;
  cuda::CodeLink code_;
};

}  // namespace warpbeam::nvjitlink

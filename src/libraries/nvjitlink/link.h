// One link: inputs of every type become texts, and those an image.
#pragma once
#include <string>
#include <utility>
#include <vector>

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
  // What was compiled while linking; empty without -ptx.
  const std::string& ptx() const { return ptx_; }
  std::string errors, info;

 private:
  nvJitLinkResult refuse(nvJitLinkResult result, const std::string& message);
  nvJitLinkResult check_type(nvJitLinkInputType* type, const std::string& bytes, const std::string& name);

  nvJitLinkResult compile_linkable();

  Options options_;
  cuda::CodeLink code_;
  std::vector<nvvm::Input> linkable_;  // bitcode of libnvvm's or NVRTC's
  std::string ptx_;
};

}  // namespace warpbeam::nvjitlink

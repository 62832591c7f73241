// One compilation.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "nvrtc.h"

namespace warpbeam::nvrtc {

struct Header {
  std::string name, text;
};

struct Source {
  std::string name, text;
  std::vector<Header> headers;
  std::vector<std::string> name_expressions;
};

struct Compiled {
  nvrtcResult result = NVRTC_SUCCESS;
  std::string log, ptx;
  std::string linkable;                              // bitcode for nvJitLink, where -dlto asked for it
  bool real_architecture = false;                    // sm_…: a cubin was asked for
  std::map<std::string, std::string> lowered_names;  // by name expression
};

Compiled compile(const Source& source, const std::vector<std::string>& options);

}  // namespace warpbeam::nvrtc

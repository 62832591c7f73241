// Host code on disk, so that a kernel is compiled once and not once per process. Safe for processes side by side; bounded;
// what is damaged is as good as absent.
#pragma once
#include <llvm/Support/MemoryBuffer.h>

#include <memory>
#include <string>

namespace warpbeam::jit {

class ObjectCache {
 public:
  // Under XDG_CACHE_HOME/warpbeam/kernels or ~/.cache/warpbeam/kernels; WARPBEAM_KERNEL_CACHE names another folder, or
  // "off". A cache without a folder finds nothing and keeps nothing.
  static ObjectCache open();

  std::unique_ptr<llvm::MemoryBuffer> find(const std::string& key) const;
  void keep(const std::string& key, llvm::StringRef object) const;

 private:
  std::string folder_;
};

}  // namespace warpbeam::jit

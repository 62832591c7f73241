#include "jit/object_cache.h"

#include <llvm/Support/CachePruning.h>
#include <llvm/Support/xxhash.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/private_folder.h"
#include "jit/shapes.h"

namespace warpbeam::jit {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = 256u << 20;
constexpr char kMagic[] = "warpbeam kernel 1";

// What stands before the object in its file.
struct Header {
  char magic[sizeof kMagic];
  uint64_t size, sum;
};

// LLVM's pruning looks after files of this name only.
std::string file_of(const std::string& folder, const std::string& key) { return folder + "/llvmcache-" + key; }

}  // namespace

ObjectCache ObjectCache::open() {
  ObjectCache cache;
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  std::string folder = set("WARPBEAM_KERNEL_CACHE");
  if (folder == "off" || left_out("cache")) return cache;
  if (folder.empty()) {
    if (std::string base = set("XDG_CACHE_HOME"); !base.empty()) folder = base + "/warpbeam/kernels";
    else if (base = set("HOME"); !base.empty()) folder = base + "/.cache/warpbeam/kernels";
    else return cache;
  }
  if (make_private_folder(folder)) cache.folder_ = folder;  // what lies in it is executed
  return cache;
}

std::unique_ptr<llvm::MemoryBuffer> ObjectCache::find(const std::string& key) const {
  if (folder_.empty()) return nullptr;
  auto file = llvm::MemoryBuffer::getFile(file_of(folder_, key), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file || (*file)->getBufferSize() < sizeof(Header)) return nullptr;
  Header header;
  std::memcpy(&header, (*file)->getBufferStart(), sizeof header);
  const llvm::StringRef object = (*file)->getBuffer().drop_front(sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 || header.size != object.size() || header.sum != llvm::xxh3_64bits(object))
    return nullptr;
  return llvm::MemoryBuffer::getMemBufferCopy(object, "kernel");
}

void ObjectCache::keep(const std::string& key, llvm::StringRef object) const {
  if (folder_.empty()) return;
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.size = object.size();
  header.sum = llvm::xxh3_64bits(object);
  // Written aside and renamed: whoever looks meanwhile finds all of it or nothing.
  const std::string aside = file_of(folder_, key) + "." + std::to_string(getpid());
  {
    std::ofstream out(aside, std::ios::binary);
    out.write(reinterpret_cast<const char*>(&header), sizeof header);
    out.write(object.data(), static_cast<std::streamsize>(object.size()));
    if (!out.flush()) {
      std::remove(aside.c_str());
      return;
    }
  }
  if (std::rename(aside.c_str(), file_of(folder_, key).c_str()) != 0) std::remove(aside.c_str());
  llvm::CachePruningPolicy policy;
  policy.Interval = std::chrono::seconds(600);
  policy.MaxSizeBytes = kMostBytes;
  llvm::pruneCache(folder_, policy);
}

}  // namespace warpbeam::jit

// Ranges of NVTX, as include/nvToolsExt.h hands them on. Only a watcher wants them; without one they cost a look.
#include <mutex>
#include <set>
#include <string>

#include "cuda/api.h"
#include "observe/tool.h"

namespace warpbeam::cuda {

namespace {

constexpr int kWide = 2;  // nvtxMessageType_t
constexpr int kNobodyListens = -2;         // NVTX_NO_PUSH_POP_TRACKING

thread_local int depth = 0;

void append(std::string& text, char32_t c) {
  if (c < 0x80) {
    text += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  text += static_cast<char>((0xff00 >> (more + 1) & 0xff) | c >> 6 * more);
  for (int k = more; k-- > 0;) text += static_cast<char>(0x80 | (c >> 6 * k & 0x3f));
}

std::string text_of(int kind, const void* text) {
  if (!text) return "";
  if (kind != kWide) return static_cast<const char*>(text);  // registered ones are names of ours
  std::string narrow;
  for (auto* c = static_cast<const wchar_t*>(text); *c; ++c) append(narrow, static_cast<char32_t>(*c));
  return narrow;
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

// Of a domain or a registered string, which are known by it from then on; null where nobody listens.
WB_TWIN const char* __warpbeamRangeName(int kind, const void* text) {
  if (!warpbeam::observe::tool()) return nullptr;
  static std::mutex mutex;
  static auto& names = *new std::set<std::string>;
  std::lock_guard lock(mutex);
  return names.insert(text_of(kind, text)).first->c_str();
}

// Returns how many of the thread's ranges it lies in.
WB_TWIN int __warpbeamRangePush(const char* domain, int kind, const void* text) {
  auto* tool = warpbeam::observe::tool();
  if (!tool) return kNobodyListens;
  tool->range_push(((domain ? domain : "") + (":" + text_of(kind, text))).c_str());
  return depth++;
}

WB_TWIN int __warpbeamRangePop() {
  auto* tool = warpbeam::observe::tool();
  if (!tool) return kNobodyListens;
  tool->range_pop();
  return depth > 0 ? --depth : kNobodyListens;
}

}  // extern "C"

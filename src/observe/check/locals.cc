// A thread's own memory: its bounds, the margins between its arrays, and which of its bytes have a value.
#include <fmt/format.h>

#include <algorithm>

#include "observe/check/block_watch.h"

namespace warpbeam::observe::check {
namespace {

// What is known of a byte.
constexpr uint8_t kNoValue = 0, kHasValue = 1, kOfMargin = 2;

// src/lowering/checker/local_margins.cc puts bytes behind each array, and a store says where these are: in a word among them.
constexpr uint64_t kMargin = 0x7b3e91d5;
constexpr uint32_t kWord = 8, kBehind = 16;

// The function as the program has it, not what it was flattened into.
const vm::FunctionCode* function_of(const vm::Insn& i, const vm::FunctionCode& f) {
  return f.origins.empty() ? &f : f.origins[static_cast<size_t>(&i - f.insns.data())].function;
}

}  // namespace

// The store of a margin's word: the array before it begins to live, and has no value yet.
bool BlockWatch::begins_local(const Now& n, int lane, uint8_t* flags, uint64_t offset) {
  if (n.act != Act::Write || n.access.bytes != kWord || n.access.elements != 1) return false;
  const uint64_t word = stored_value(n, lane, 0, kWord);
  if (word >> 32 != kMargin) return false;
  const auto bytes = static_cast<uint32_t>(word >> 4 & 0xfffffff), before = static_cast<uint32_t>(word & 15);
  if (before >= kWord || uint64_t(bytes) + before > offset) return false;
  const uint32_t begin = static_cast<uint32_t>(offset) - before, margin = before + kWord + kBehind;
  std::fill_n(flags - before - bytes, bytes, kNoValue);
  std::fill_n(flags - before, margin, kOfMargin);
  auto& margins = n.state.margins;
  margins.erase(margins.lower_bound(begin - bytes), margins.lower_bound(begin + margin));
  margins[begin] = {bytes, margin, function_of(n.insn, *n.warp.frame->function)};
  return true;
}

// Does an access touch what belongs to no array of its function? Margins of others that had the same memory before mean nothing.
bool BlockWatch::in_margin(Now& n, int lane, const uint8_t* flags, uint64_t offset) {
  const uint32_t bytes = n.access.bytes;
  const auto first = std::find(flags, flags + bytes, kOfMargin);
  if (first == flags + bytes) return false;
  const auto at = static_cast<uint32_t>(offset + static_cast<uint64_t>(first - flags));
  const auto next = n.state.margins.upper_bound(at);
  if (next == n.state.margins.begin()) return false;
  const auto& [begin, margin] = *std::prev(next);
  if (at >= begin + margin.bytes || margin.function != function_of(n.insn, *n.warp.frame->function)) return false;
  const std::string of = fmt::format("after a local variable of size {}", in_bytes(margin.of));
  if (offset < begin)
    bad_local(n, lane, fmt::format("Address {:#x} is out of bounds: the access ends {} {}", offset, in_bytes(offset + bytes - begin), of));
  else bad_local(n, lane, fmt::format("Address {:#x} is {} {}", offset, in_bytes(at - begin + 1), of));
  return true;
}

void BlockWatch::local_access(Now& n) {
  const uint32_t bytes = n.access.bytes, align = alignment(n.access) - 1;
  const vm::Frame& frame = *n.warp.frame;
  const uint32_t limit = frame.local_base + frame.function->local_bytes;
  WarpState& s = n.state;
  for (uint32_t left = n.access.mask; left; left &= left - 1) {
    const int l = __builtin_ctz(left);
    const uint64_t offset = n.access.address[l];
    if (offset & align) misaligned(n, l, align + 1);
    if (offset + bytes > limit || offset + bytes < offset) {
      const bool of_stack =
          offset >= n.warp.stack_tops[l] && offset + bytes <= n.warp.local_limit && offset + bytes > offset;  // from alloca
      if (of_stack || (!c_.settings.memory && offset + bytes <= n.warp.local_limit)) continue;
      bad_local(n, l, fmt::format("Address {:#x} is out of bounds: the function's local variables have {}", offset, in_bytes(limit)));
    }
    if (!c_.settings.init && !c_.settings.memory) continue;
    if (!s.local || s.local_stride < limit) {
      auto fresh = std::make_unique<uint8_t[]>(size_t(32) * (limit + 64));
      for (int k = 0; k < 32 && s.local; ++k)
        std::copy_n(&s.local[size_t(k) * s.local_stride], s.local_stride, &fresh[size_t(k) * (limit + 64)]);
      s.local = std::move(fresh);
      s.local_stride = limit + 64;
    }
    uint8_t* flags = &s.local[size_t(l) * s.local_stride + offset];
    if (begins_local(n, l, flags, offset) || (c_.settings.memory && in_margin(n, l, flags, offset))) continue;
    if (n.act != Act::Read) {
      std::fill_n(flags, bytes, kHasValue);
    } else if (c_.settings.init && std::none_of(flags, flags + bytes, [](uint8_t v) { return v == kHasValue; })) {
      n.site = c_.sites.number(n.insn, n.warp);
      const bool gap = bytes < 4 && c_.sites.moved(n.insn, *n.warp.frame->function);
      if (!gap) uninitialised(n, l, offset, bytes);
    }
  }
}

void BlockWatch::bad_local(Now& n, int lane, std::string what) {
  n.site = c_.sites.number(n.insn, n.warp);
  const uint64_t offset = n.access.address[lane];
  Finding f =
      finding(n, lane, FindingKind::OutOfBounds, fmt::format("Invalid __local__ {} of size {}", verb(n.act), in_bytes(n.access.bytes)));
  f.facts.emplace_back("address", fmt::format("{:#x}", offset));
  f.lines.push_back({std::move(what), {}});
  f.mend = "compare the index with the size of the local array, and the type that it is looked at through with its own";
  f.lines.push_back({"the kernel was launched", l_.stack});
  c_.report(0, std::move(f));
  stop(n, lane, vm::TrapKind::IllegalAddress, "invalid local access", offset);
}

}  // namespace warpbeam::observe::check

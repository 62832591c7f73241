#include "vm/builtins.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "isa/library/library.h"
#include "vm/access.h"
#include "vm/builtin_call.h"
#include "vm/device_heap.h"
#include "vm/device_printf.h"
#include "vm/exec_lane.h"
#include "vm/grid.h"

namespace warpbeam::vm {
namespace {

void print(Warp& w, const Insn& i, const CallSite& site, uint32_t mask) {
  for_lanes(mask, [&](int lane) {
    int count = 0;
    w.block->printed +=
        format_device_printf(w, i, lane, argument<uint64_t>(w, site, 0, lane), argument<uint64_t>(w, site, 1, lane), &count);
    give_back<int32_t>(w, site, lane, count);
  });
}

// (message, file, line, function, character size)
void assert_fail(Warp& w, const Insn& i, const CallSite& site, uint32_t mask) {
  std::string text;
  for_lanes(mask, [&](int lane) {
    auto string = [&](size_t k) {
      const uint64_t a = argument<uint64_t>(w, site, k, lane);
      return a ? read_string(w, i, lane, a) : std::string("?");
    };
    const auto& b = w.block->index;
    const auto& t = w.tid[lane];
    if (!text.empty()) text += '\n';
    text += fmt::format("{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.", string(1),
                        argument<uint32_t>(w, site, 2, lane), string(3), b[0], b[1], b[2], t[0], t[1], t[2], string(0));
  });
  w.trap(TrapKind::Assert, i, __builtin_ctz(mask), "device-side assert failed", 0, text);
}

// What a vtable holds for a function that no class in between has defined.
void pure_virtual(Warp& w, const Insn& i, const CallSite&, uint32_t mask) {
  w.trap(TrapKind::Trap, i, __builtin_ctz(mask), "a pure virtual function was called");
}

// --- the kernel's heap -------------------------------------------------------------------------------------------

template <bool kAligned>
void heap_malloc(Warp& w, const Insn& i, const CallSite& site, uint32_t mask) {
  const Launch& launch = *w.block->launch;
  uint64_t given[kWarpSize] = {};
  DeviceHeap::with(launch, [&](DeviceHeap& heap) {
    for_lanes(mask, [&](int lane) {
      given[lane] = heap.take(argument<uint64_t>(w, site, 0, lane), kAligned ? argument<uint64_t>(w, site, 1, lane) : DeviceHeap::kGranule,
                              launch.observer != nullptr);
    });
  });
  for_lanes(mask, [&](int lane) {
    if (given[lane] && w.block->observer) w.block->observer->heap_allocated(w, i, lane, given[lane], argument<uint64_t>(w, site, 0, lane));
    give_back<uint64_t>(w, site, lane, given[lane]);
  });
}

void heap_free(Warp& w, const Insn& i, const CallSite& site, uint32_t mask) {
  uint32_t known = 0;
  DeviceHeap::with(*w.block->launch, [&](DeviceHeap& heap) {
    for_lanes(mask, [&](int lane) { known |= uint32_t{heap.give_back(argument<uint64_t>(w, site, 0, lane))} << lane; });
  });
  for_lanes(mask, [&](int lane) {
    const uint64_t p = argument<uint64_t>(w, site, 0, lane);
    if (!p) return;
    if (w.block->observer) w.block->observer->heap_freed(w, i, lane, p, known >> lane & 1);
    if (!(known >> lane & 1))
      w.trap(TrapKind::IllegalAddress, i, lane, "free of an address that device malloc did not give, or that is free already", p);
  });
}

// --- the device library ------------------------------------------------------------------------------------------

void library_call(Warp& w, const Insn& i, const CallSite& site, uint32_t mask) {
  const auto& f = *static_cast<const isa::LibraryFunction*>(site.builtin_data);
  constexpr size_t kMaxArgs = 8;
  alignas(64) std::byte storage[kMaxArgs][kWarpSize * 8];
  const void* args[kMaxArgs];
  const std::string_view signature = f.signature;
  const size_t open = signature.find('(');
  size_t k = 0;
  for (size_t s = open + 1; s < signature.size() && signature[s] != ')' && k < kMaxArgs; ++s, ++k) {
    args[k] = storage[k];
    if (isa::library_type_is_pointer(signature[s])) {
      Addresses a;
      std::byte* p[kWarpSize] = {};
      for (int l = 0; l < kWarpSize; ++l) a.at[l] = argument<uint64_t>(w, site, k, (mask >> l & 1) ? l : __builtin_ctz(mask));
      const uint32_t bytes = static_cast<uint32_t>(isa::library_type_bytes(signature[s]));
      if (signature.substr(open) == "(iF)" || signature.substr(open) == "(iD)") {
        // norm(n, p) reads n elements: the last one is checked here, lane by lane, the first below.
        for_lanes(mask, [&](int lane) {
          const int32_t n = argument<int32_t>(w, site, 0, lane);
          Addresses last;
          for (uint64_t& at : last.at) at = a.at[lane] + (n > 1 ? static_cast<uint64_t>(n - 1) * bytes : 0);
          std::byte* ignored[kWarpSize];
          resolve(w, i, 1u << lane, isa::Space::Generic, last, bytes, AccessKind::Read, ignored);
        });
      }
      resolve(w, i, mask, isa::Space::Generic, a, bytes, AccessKind::Write, p);
      std::memcpy(storage[k], p, sizeof p);
      continue;
    }
    const size_t bytes = static_cast<size_t>(isa::library_type_bytes(signature[s]));
    const uint32_t offset = k < site.args.size() ? w.frame->local_base + site.args[k].offset : 0;
    for (int l = 0; l < kWarpSize; ++l) std::memcpy(storage[k] + bytes * l, w.local(l) + offset, bytes);
  }
  alignas(64) std::byte result[kWarpSize * 8];
  f.lanes(mask, result, args);
  if (site.returns.empty() || open == 0 || signature[0] == 'v') return;
  const size_t bytes = static_cast<size_t>(isa::library_type_bytes(signature[0]));
  for_lanes(mask, [&](int lane) {
    std::byte* to = w.local(lane) + w.frame->local_base + site.returns[0].offset;
    // A 16- or 8-bit result is widened by the caller's .param to 32 bits.
    std::memset(to, 0, site.returns[0].size);
    std::memcpy(to, result + bytes * lane, std::min<size_t>(bytes, site.returns[0].size));
  });
}

}  // namespace

Builtin library_function_call() { return library_call; }

Resolved find_builtin(std::string_view name) {
  Resolved r;
  r.kind = Resolved::Builtin;
  if (name == "vprintf") r.builtin = print;
  else if (name == "__assertfail") r.builtin = assert_fail;
  else if (name == "malloc") r.builtin = heap_malloc<false>;
  else if (name == "__cuda_syscall_aligned_malloc") r.builtin = heap_malloc<true>;
  else if (name == "free") r.builtin = heap_free;
  else if (name == "__cxa_pure_virtual" || name == "__cxa_deleted_virtual") r.builtin = pure_virtual;
  else if (const isa::LibraryFunction* f = isa::find_library_function(name)) {
    r.builtin = library_call;
    r.builtin_data = f;
  } else {
    r.kind = Resolved::Missing;
  }
  return r;
}

// A call through a register: lanes may want different functions, so each distinct one is called by itself.
void exec_call_indirect(Warp& w, const Insn& i, uint32_t mask) {
  const uint64_t* targets = w.lanes<uint64_t>(i.call->target_slot);
  const Program::Image& image = w.block->launch->program->image();
  const int first = __builtin_ctz(mask);
  uint32_t same = 0;
  for (int l = 0; l < kWarpSize; ++l) same |= static_cast<uint32_t>((mask >> l & 1) && targets[l] == targets[first]) << l;
  const uint64_t n = (targets[first] - kCodeWindow) / 16;
  if (targets[first] < kCodeWindow || targets[first] % 16 || n == 0 || n > image.functions.size() ||
      (image.functions[n - 1]->source->entry && !image.launch_entry))
    w.trap(TrapKind::InvalidPc, i, first, "call through a pointer that is not a device function", targets[first],
           "function pointers taken on the host do not work on the device; take them in device code");
  const FunctionCode& callee = *image.functions[n - 1];
  const CallSite& site = *i.call;
  if (callee.source->entry) {
    if (mask != same) w.split(mask & ~same, &i);
    return image.launch_entry(w, i, site, same);
  }
  bool ok = site.args.size() == callee.params.size() && site.returns.size() == callee.returns.size();
  if (!ok)
    w.trap(TrapKind::InvalidPc, i, first, fmt::format("call through a pointer with other parameters than {} has", callee.display_name),
           targets[first]);
  // The other lanes come back to this instruction.
  if (mask != same) w.split(mask & ~same, &i);
  w.call(i, callee, site, same);
}

}  // namespace warpbeam::vm

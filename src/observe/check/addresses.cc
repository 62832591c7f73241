// Where an access goes: bounds to the byte, alignment, and the words for a place.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

#include "observe/check/block_watch.h"
#include "vm/spans.h"

namespace warpbeam::observe::check {

using isa::Space;

const char* verb(Act a) { return a == Act::Read ? "read" : a == Act::Write ? "write" : "atomic"; }

// "1 bytes" is how NVIDIA's tools print it, and what scripts look for.
std::string in_bytes(uint64_t n) { return fmt::format("{} bytes", n); }

uint32_t alignment(const vm::Access& a) {
  uint32_t n = a.bytes;
  if (n > 32) return 1;  // copies and matrices: their instructions check it
  while (n & (n - 1)) n &= n - 1;
  return n ? n : 1;
}

std::string spaced(const std::string& name) {
  std::string out;
  for (char c : name) {
    if ((c == '*' || c == '&') && !out.empty() && out.back() != ' ' && out.back() != '*' && out.back() != '(' && out.back() != ',')
      out += ' ';
    out += c;
  }
  return out;
}

Finding BlockWatch::finding(const Now& n, int lane, FindingKind kind, std::string title) const {
  const Site& site = c_.sites[n.site];
  Finding f;
  f.kind = kind;
  f.title = std::move(title);
  f.kernel = site.kernel;
  f.locations = {site.location};
  add_where(f, site.inlined);
  add_callers(f, n.warp);
  f.lines.push_back({thread_text(n.warp, lane), {}});
  f.facts.emplace_back("thread", fmt::format("({},{},{})", n.warp.tid[lane][0], n.warp.tid[lane][1], n.warp.tid[lane][2]));
  f.facts.emplace_back("block", fmt::format("({},{},{})", block_.index[0], block_.index[1], block_.index[2]));
  return f;
}

// Of a function that is not inlined: who called it, up to the kernel.
void BlockWatch::add_callers(Finding& f, const vm::Warp& w) const {
  for (const vm::Frame* frame = w.frame; frame && frame->caller && frame->return_to; frame = frame->caller) {
    const vm::FunctionCode& caller = *frame->caller->function;
    const vm::Insn& call = frame->return_to[-1];
    const auto inlined = vm::Warp::inlined(call, caller);
    const std::string into = spaced(caller.display_name);
    f.lines.push_back(
        {fmt::format("called by {} in {}", inlined.empty() ? into : spaced(inlined[0].function), vm::Warp::location(call, caller)), {}});
    add_inlined(f, inlined, into);
  }
}

// A place in shared memory as an offset, in global memory as an address.
void BlockWatch::add_place(Finding& f, const Now& n, uint64_t where) {
  if (!n.shared) {
    const Checker::Place place = c_.global_place(*n.region, where, l_.launch);
    f.lines.push_back({fmt::format("Address {:#x} is {}", where, place.text), {}});
    f.facts.emplace_back("address", fmt::format("{:#x}", where));
    if (!place.variable.empty()) f.facts.emplace_back("variable", place.variable);
    c_.describe_region(f, *n.region);
    return;
  }
  std::string text = fmt::format("offset {:#x} of shared memory", where);
  for (const auto& v : l_.shared)
    if (where >= v.offset && where < uint64_t(v.offset) + v.size) {
      const std::string name = c_.shapes.place(*v.name, where - v.offset);
      f.facts.emplace_back("variable", name);
      text = fmt::format("{} (__shared__ memory, byte {} of {})", name, where - v.offset, v.size);
    }
  f.lines.push_back({"Address " + text, {}});
  f.facts.emplace_back("address", fmt::format("{:#x}", where));
}

void BlockWatch::stop(Now& n, int lane, vm::TrapKind kind, const std::string& message, uint64_t address) {
  l_.ended_by_checker = true;
  n.warp.trap(kind, n.insn, lane, message, address);
}

// --- global and constant memory -----------------------------------------------------------------------------------

void BlockWatch::global_access(Now& n) {
  const uint32_t bytes = n.access.bytes, align = alignment(n.access) - 1;
  const vm::DeviceMemory& memory = *l_.launch->memory;
  const bool is_strong = n.strength != Strength::Weak;
  n.bound = l_.ordered_below;
  Region* remembered = n.region;
  if (n.region && n.region->cells && !n.region->is_of_host() && (n.act == Act::Read || !n.region->is_constants()) &&
      n.region->newest_use < n.bound && !is_strong && !n.access.async) {
    n.memory = reinterpret_cast<const std::byte*>(n.region->zero);
    const Region& r = *n.region;
    if (look_quickly(n, *r.cells, r.zero, r.base, r.base + r.size, c_.settings.init && !r.initialised)) return;
  }
  for (uint32_t left = n.access.mask; left; left &= left - 1) {
    const int l = __builtin_ctz(left);
    const uint64_t address = n.access.address[l];
    if (address & align) misaligned(n, l, align + 1);  // before the bounds, as on a GPU
    if (!n.region || !n.region->holds(address, bytes)) {
      n.region = c_.region_at(address, memory);
      if (!n.region || !n.region->holds(address, bytes)) {
        uint64_t lo, hi;
        if (!c_.settings.memory && memory.covers(address, bytes, &lo, &hi)) {
          n.region = nullptr;
          continue;
        }
        bad_address(n, l);
      }
    }
    if (n.act != Act::Read && n.region->is_constants() && c_.settings.memory) constant_written(n, l);
    if (!n.region->cells) continue;
    n.memory = reinterpret_cast<const std::byte*>(n.region->zero);
    if (n.region->is_of_host() && (n.region->by_program || n.region->is_managed_variable()) &&
        (n.region->kernels.empty() || n.region->kernels.back() != l_.op))
      n.region->kernels.push_back(l_.op);
    if (n.region->newest_use >= n.bound && c_.settings.race) look_at_ranges(n, address, l);
    look(n, *n.region->cells, address - n.region->zero, l, c_.settings.init && !n.region->initialised);
  }
  if (n.region != remembered) {
    LaunchInfo::Known& k = l_.known_of(n.insn);
    k.region = n.region;
    k.regions = c_.regions.version();
  }
  if (is_strong) synchronise(n);
}

// The allocation behind such a place, and how far before it the place would be if the index had a sign.
std::pair<const Region*, uint64_t> BlockWatch::below_zero(uint64_t address, uint32_t bytes) const {
  constexpr uint64_t kNear = 64 << 10;
  for (const uint64_t element : {uint64_t{bytes}, uint64_t{1}, uint64_t{2}, uint64_t{4}, uint64_t{8}, uint64_t{12}, uint64_t{16}}) {
    const uint64_t signed_place = address - (element << 32);
    const Region* r = signed_place < address ? c_.regions.nearest(signed_place) : nullptr;
    if (r && signed_place < r->base && r->base - signed_place <= kNear) return {r, r->base - signed_place};
  }
  return {nullptr, 0};
}

void BlockWatch::bad_address(Now& n, int lane) {
  const uint64_t address = n.access.address[lane];
  const uint32_t bytes = n.access.bytes;
  Finding f = finding(
      n, lane, FindingKind::OutOfBounds,
      fmt::format("Invalid __{}__ {} of size {}", n.access.space == Space::Const ? "constant" : "global", verb(n.act), in_bytes(bytes)));
  f.facts.emplace_back("address", fmt::format("{:#x}", address));
  const vm::MemoryFault fault = l_.launch->memory->explain(address);
  // Variables become known when they are accessed; it may be one of them whose end was missed.
  if (l_.launch->program)
    for (const auto& v : l_.launch->program->variables()) c_.region_at(v.address, *l_.launch->memory);
  const Region* inside = c_.regions.find(address);
  const Region* freed = inside ? nullptr : c_.regions.freed_at(address);
  const Region* nearest = inside ? inside : c_.regions.nearest(address);
  f.mend = "compare the index with the number of elements before the access, and the size given to cudaMalloc with what the kernel uses";
  // The lanes that go wrong at the same time.
  uint32_t others = 0;
  for (uint32_t left = n.access.mask & ~(1u << lane); left; left &= left - 1) {
    const uint64_t a = n.access.address[__builtin_ctz(left)];
    const Region* r = c_.region_at(a, *l_.launch->memory);
    if (!r || !r->holds(a, bytes)) ++others;
  }
  if (address < 4096) {
    f.kind = FindingKind::NullPointer;
    f.lines.push_back({fmt::format("Address {:#x} is null or nearly so", address), {}});
    f.mend = "the pointer was never set on the device: was cudaMalloc called, and its result passed to the kernel?";
  } else if (freed && (!nearest || !inside)) {
    f.kind = FindingKind::UseAfterFree;
    f.lines.push_back({fmt::format("Address {:#x} is {} into an allocation at {:#x} of size {} that was freed", address,
                                   in_bytes(address - freed->base), freed->base, in_bytes(freed->size)),
                       {}});
    c_.describe_region(f, *freed);
    f.lines.push_back(
        {freed->in_heap ? fmt::format("freed by {} at {}", freed->freed_by, freed->freed_at) : fmt::format("freed by {}", freed->freed_by),
         freed->freed});
    f.mend = "free the memory only after the last kernel that uses it";
  } else if (fault.host_pointer) {
    f.kind = FindingKind::HostPointer;
    f.lines.push_back({fmt::format("Address {:#x} belongs to the host program: kernels cannot use it", address), {}});
    // A table of virtual functions lies in the program itself, as its variables do.
    Dl_info image;
    f.mend =
        n.act == Act::Read && bytes == sizeof(void*) && dladdr(reinterpret_cast<const void*>(address), &image)
            ? "copy the data to memory from cudaMalloc with cudaMemcpy; an object with virtual functions must be made in a kernel, with new or in place"
            : "copy the data to memory from cudaMalloc with cudaMemcpy, or allocate it with cudaMallocManaged";
  } else if (const uint64_t window = address >> 40 << 40; window == vm::kSharedWindow || window == vm::kLocalWindow) {
    const char* const of = window == vm::kSharedWindow ? "shared memory" : "a thread's local memory";
    f.lines.push_back({fmt::format("Address {:#x} lies in {}, which here leads nowhere", address, of), {}});
    f.mend = fmt::format("a pointer to {} is good only there: not in other kernels, nor in those that a kernel launches", of);
  } else if (inside && address + bytes > inside->base + inside->size) {
    f.lines.push_back(
        {fmt::format("Address {:#x} is out of bounds: the access ends {} after the nearest allocation at {:#x} of size {}", address,
                     in_bytes(address + bytes - (inside->base + inside->size)), inside->base, in_bytes(inside->size)),
         {}});
    c_.describe_region(f, *inside);
  } else if (nearest) {
    const bool after = address >= nearest->base;
    const uint64_t distance = after ? address - (nearest->base + nearest->size) + 1 : nearest->base - address;
    if (distance < (uint64_t(1) << 32)) {
      f.lines.push_back({fmt::format("Address {:#x} is {} {} the nearest allocation at {:#x} of size {}", address, in_bytes(distance),
                                     after ? "after" : "before", nearest->base, in_bytes(nearest->size)),
                         {}});
      c_.describe_region(f, *nearest);
    } else if (const auto [region, below] = below_zero(address, bytes); region) {
      f.lines.push_back(
          {fmt::format(
               "Address {:#x} is where an unsigned index leads that has gone below zero, {} before the allocation at {:#x} of size {}",
               address, in_bytes(below), region->base, in_bytes(region->size)),
           {}});
      c_.describe_region(f, *region);
      f.mend = "an unsigned number below zero is a very large one: compare before you subtract, or use int for the index";
    } else {
      f.lines.push_back({fmt::format("Address {:#x} is out of bounds, far from every allocation", address), {}});
    }
  } else {
    f.lines.push_back({fmt::format("Address {:#x} is out of bounds: no device memory is allocated", address), {}});
  }
  if (others)
    f.lines.push_back(
        {fmt::format("so {} {} other thread{} of this warp", others == 1 ? "does" : "do", others, others == 1 ? "" : "s"), {}});
  f.count = 1 + others;
  f.lines.push_back({"the kernel was launched", l_.stack});
  c_.report(0, std::move(f));
  stop(n, lane, vm::TrapKind::IllegalAddress, "invalid access", address);
}

void BlockWatch::constant_written(Now& n, int lane) {
  const uint64_t address = n.access.address[lane];
  Finding f = finding(n, lane, FindingKind::ConstantWritten,
                      fmt::format("Invalid __constant__ {} of size {}", verb(n.act), in_bytes(n.access.bytes)));
  add_place(f, n, address);
  f.lines.push_back({"the kernel was launched", l_.stack});
  f.mend = "kernels only read __constant__ variables: copy to them with cudaMemcpyToSymbol, or make it a __device__ variable";
  c_.report(0, std::move(f));
  stop(n, lane, vm::TrapKind::IllegalAddress, "constant memory is written", address);
}

void BlockWatch::misaligned(Now& n, int lane, uint32_t align) {
  if (n.access.space == Space::Local) n.site = c_.sites.number(n.insn, n.warp);  // of which nothing is remembered
  const uint64_t address = n.access.address[lane];
  const char* space = n.shared ? "shared" : n.access.space == Space::Local ? "local" : "global";
  Finding f =
      finding(n, lane, FindingKind::Misaligned, fmt::format("Invalid __{}__ {} of size {}", space, verb(n.act), in_bytes(n.access.bytes)));
  f.lines.push_back({fmt::format("Address {:#x} is misaligned: it must be a multiple of {}", address, align), {}});
  if (Region* r = n.shared || n.access.space == Space::Local ? nullptr : c_.region_at(address, *l_.launch->memory); r || n.shared) {
    n.region = r;
    add_place(f, n, n.shared ? address % vm::kClusterStride : address);
  } else {
    f.facts.emplace_back("address", fmt::format("{:#x}", address));
  }
  f.mend = "a pointer cast to a larger type must stay a multiple of that type's size";
  f.lines.push_back({"the kernel was launched", l_.stack});
  c_.report(0, std::move(f));
  stop(n, lane, vm::TrapKind::MisalignedAddress, "misaligned access", address);
}

// --- shared memory ------------------------------------------------------------------------------------------------

void BlockWatch::shared_access(Now& n) {
  ++epoch_;
  const uint32_t bytes = n.access.bytes, align = alignment(n.access) - 1;
  const LaunchInfo::SharedVariable* v = nullptr;
  n.by_proxy = n.access.async && n.act == Act::Read && c_.settings.race && (c_.sites[n.site].bulk || c_.sites[n.site].product);
  if (block_.leader->members.size() < 2 && !copies_ && n.strength == Strength::Weak && !n.access.async) {
    n.home = this;
    n.bound = base_;
    n.memory = block_.shared.data();
    for (const auto& s : l_.shared)
      if (n.access.address[0] >= s.offset && n.access.address[0] < uint64_t(s.offset) + s.size &&
          look_quickly(n, shared_, 0, s.offset, uint64_t(s.offset) + s.size, c_.settings.init))
        return;
  }
  for (uint32_t left = n.access.mask; left; left &= left - 1) {
    const int l = __builtin_ctz(left);
    uint64_t offset = n.access.address[l];
    if (offset & align) misaligned(n, l, align + 1);
    n.home = this;
    if (offset >= vm::kClusterStride) {
      const auto& members = block_.leader->members;
      const uint64_t rank = offset / vm::kClusterStride - 1;
      if (rank >= members.size()) bad_shared(n, l);
      n.home = static_cast<BlockWatch*>(members[rank]->observer.get());
      offset %= vm::kClusterStride;
    }
    n.bound = block_.leader->members.size() < 2 && !copies_ ? base_ : 0;
    n.memory = n.home->block_.shared.data();
    auto holds = [&](const LaunchInfo::SharedVariable& s) { return offset >= s.offset && offset + bytes <= uint64_t(s.offset) + s.size; };
    if (!v || !holds(*v)) {
      v = nullptr;
      for (const auto& s : l_.shared)
        if (holds(s)) v = &s;
      if (!v && (c_.settings.memory || offset + bytes > block_.shared_bytes)) bad_shared(n, l);
    }
    if (n.by_proxy)
      for (uint64_t at = offset; at < offset + bytes; at += 4)
        n.home->shared_.peek(at, [&](const Cell& c) {
          if (c.write <= n.home->proxy_fence_) return;
          if (const std::optional<Event> e = c_.log.find(c.write);
              e && e->op == l_.op && e->block == n.home->linear_ && !e->is_copy && !c_.sites[e->site].bulk)
            missing_proxy_fence(n, *e, c.write_lane, l, at);
        });
    look(n, n.home->shared_, offset, l, c_.settings.init);
    if (n.home != this) n.home->note_visit(n, l, offset);
  }
  if (n.strength != Strength::Weak) synchronise(n);
}

void BlockWatch::bad_shared(Now& n, int lane) {
  const uint64_t offset = n.access.address[lane] % vm::kClusterStride;
  Finding f =
      finding(n, lane, FindingKind::OutOfBounds, fmt::format("Invalid __shared__ {} of size {}", verb(n.act), in_bytes(n.access.bytes)));
  f.facts.emplace_back("address", fmt::format("{:#x}", offset));
  const LaunchInfo::SharedVariable* nearest = nullptr;
  uint64_t least = ~uint64_t(0);
  for (const auto& s : l_.shared) {
    const uint64_t distance = offset < s.offset                       ? s.offset - offset
                              : offset >= uint64_t(s.offset) + s.size ? offset - (s.offset + s.size) + 1
                                                                      : 0;
    // In the gap between two arrays an index that went too far is likelier than one below zero.
    if (distance < least || (distance == least && offset >= s.offset)) least = distance, nearest = &s;
  }
  if (nearest) {
    const bool after = offset >= nearest->offset;
    f.lines.push_back({fmt::format("Address {:#x} is {} {} the nearest allocation {} of size {}", offset, in_bytes(least),
                                   least == 0 ? "inside (and reaches past)"
                                   : after    ? "after"
                                              : "before",
                                   plain_name(*nearest->name), in_bytes(nearest->size)),
                       {}});
    f.facts.emplace_back("variable", plain_name(*nearest->name));
  } else {
    f.lines.push_back(
        {fmt::format("Address {:#x} is out of bounds: the block has {} of shared memory", offset, in_bytes(block_.shared_bytes)), {}});
  }
  f.mend = nearest && nearest->size == l_.launch->dynamic_shared && l_.launch->dynamic_shared
               ? "compare the index with the size of the array, which the third argument of <<<…>>> gives in bytes: is that large enough?"
           : l_.launch->dynamic_shared == 0 && (!nearest || nearest->size == 0)
               ? "extern __shared__ memory needs its size in bytes as the third argument of <<<…>>>"
               : "compare the index with the size of the array (a tile with a halo needs room for it)";
  f.lines.push_back({"the kernel was launched", l_.stack});
  c_.report(0, std::move(f));
  stop(n, lane, vm::TrapKind::SharedOutOfRange, "invalid shared access", offset);
}

// To those who make bulk copies and products of warp groups what threads have stored is there once a proxy fence has come after it, whatever orders the threads.
void BlockWatch::missing_proxy_fence(Now& n, const Event& write, uint32_t write_lane, int lane, uint64_t offset) {
  const uint64_t key = uint64_t(n.site) << 34 | uint64_t(write.site & 0xffffff) << 10 | 11;
  if (c_.repeated(key)) return;
  const Site &mine = c_.sites[n.site], &theirs = c_.sites[write.site];
  const char* what = mine.product ? "product of a warp group" : "bulk copy";
  Finding f = finding(n, lane, FindingKind::RaceProxy,
                      fmt::format("Race reported between Write access at {} in {} and a {} without a proxy fence after it", theirs.kernel,
                                  theirs.location, what));
  f.locations.push_back(theirs.location);
  f.lines.clear();
  f.lines.push_back({fmt::format("and the {} at {} in {}", what, mine.kernel, mine.location), {}});
  f.lines.push_back({"Write " + c_.thread_text(write, write_lane), {}});
  f.lines.push_back({(mine.product ? "Read " : "Copy ") + thread_text(n.warp, lane), {}});
  add_place(f, n, offset);
  f.lines.push_back({"the kernel was launched", l_.stack});
  f.mend =
      "let the threads that store pass fence.proxy.async (cuda::ptx::fence_proxy_async, cde::fence_proxy_async_shared_cta) before the barrier that comes before it";
  c_.report(key, std::move(f));
}

// --- the kernels' heap --------------------------------------------------------------------------------------------

void BlockWatch::heap_allocated(vm::Warp& w, const vm::Insn& i, int lane, uint64_t address, uint64_t bytes) {
  const auto lock = hold();
  if (const auto whole = l_.launch->memory->find(address))
    c_.regions.add_piece(*whole, address, bytes, fmt::format("{} {}", c_.sites[c_.sites.number(i, w)].location, thread_text(w, lane)));
  ++c_.heap_given;
}

void BlockWatch::heap_freed(vm::Warp& w, const vm::Insn& i, int lane, uint64_t address, bool known) {
  const auto lock = hold();
  const std::string here = fmt::format("{} {}", c_.sites[c_.sites.number(i, w)].location, thread_text(w, lane));
  ++c_.heap_freed;
  vm::Access a;
  a.space = isa::Space::Global;
  a.kind = vm::AccessKind::Write;
  a.mask = 1u << lane;
  a.bytes = 4;
  a.address.fill(address);
  Now n{w, i, a, warps_[w.index], Act::Write, Strength::Weak};
  note_event(n);
  Region* r = c_.regions.find(address);
  if (known) {
    // Whoever uses the memory must be done with it: to free it is like writing all of it.
    if (r && r->cells && r->base == address) {
      constexpr uint64_t kMost = 4096;
      n.region = r;
      n.bound = l_.ordered_below;
      n.memory = reinterpret_cast<const std::byte*>(r->zero);
      for (uint64_t at = 0; at + 4 <= std::min(r->size, kMost); at += 4) {
        a.address.fill(address + at);
        look(n, *r->cells, address + at - r->zero, lane, false);
      }
    }
    return c_.regions.remove_piece(address, here);
  }
  const Region* freed = r ? nullptr : c_.regions.freed_at(address);
  const bool twice = freed && freed->base == address;
  Finding f = finding(n, lane, twice ? FindingKind::DoubleFree : FindingKind::InvalidFree,
                      twice ? "Double free: free in a kernel of an address that was freed before"
                            : "Invalid free: free in a kernel of an address that malloc did not give");
  f.facts.emplace_back("address", fmt::format("{:#x}", address));
  if (twice) {
    f.lines.push_back({fmt::format("Address {:#x} of size {} was freed at {}", address, in_bytes(freed->size), freed->freed_at), {}});
    c_.describe_region(f, *freed);
    f.mend = "free every allocation once, by one thread";
  } else if (r) {
    f.lines.push_back({fmt::format("Address {:#x} is {} into the allocation at {:#x} of size {}", address, in_bytes(address - r->base),
                                   r->base, in_bytes(r->size)),
                       {}});
    c_.describe_region(f, *r);
    f.mend = r->in_heap ? "free the pointer that malloc gave, not one into its middle"
                        : "memory of cudaMalloc goes back with cudaFree, on the host";
  } else {
    f.lines.push_back({fmt::format("Address {:#x} is not memory of the kernels' heap", address), {}});
    f.mend = "free takes what malloc gave in device code";
  }
  f.lines.push_back({"the kernel was launched", l_.stack});
  c_.report(0, std::move(f));
  l_.ended_by_checker = true;  // the machine ends the launch
}

void BlockWatch::runtime_wrote(uint64_t address, uint64_t bytes) {
  const auto lock = hold();
  Region* r = c_.region_at(address, *l_.launch->memory);
  if (r && r->cells && address < r->base + r->size) r->cells->initialise(address - r->zero, std::min(bytes, r->base + r->size - address));
}

void BlockWatch::image_accessed(vm::Warp& w, const vm::Insn& i, int lane, uint64_t address, uint32_t bytes, vm::AccessKind kind,
                                const std::byte* stores) {
  vm::Access a;
  a.space = isa::Space::Global;
  a.kind = kind;
  a.mask = 1u << lane;
  a.bytes = bytes;
  a.address.fill(address);
  const auto lock = hold();
  Now n = now(w, i, a);
  n.stores = stores;
  look_at(n);
}

// --- values -------------------------------------------------------------------------------------------------------

void BlockWatch::uninitialised(Now& n, int lane, uint64_t offset, uint32_t bytes) {
  const uint64_t key = uint64_t(n.site) << 8 | 4;
  if (c_.repeated(key)) return;
  // A merge reads the next element of a run that may have ended, and decides by the run's length.
  if (n.shared && c_.sites[n.site].algorithm) return;
  const bool local = n.access.space == Space::Local;
  Finding f = finding(n, lane, FindingKind::UninitializedRead,
                      fmt::format("Uninitialized __{}__ memory read of size {}",
                                  n.shared ? "shared"
                                  : local  ? "local"
                                           : "global",
                                  in_bytes(bytes)));
  // In a warp-synchronous tail lanes read past what is there, and nobody uses what they make of it.
  if (n.shared && n.act == Act::Read && n.strength != Strength::Weak) f.severity = Severity::Warning;
  if (n.act == Act::Atomic) f.lines.push_back({"an atomic operation reads the old value", {}});
  if (local) f.lines.push_back({fmt::format("Address {:#x} of the thread's local memory", offset), {}});
  else add_place(f, n, n.shared ? offset : n.region->zero + offset);
  f.lines.push_back({"the kernel was launched", l_.stack});
  f.mend = n.shared ? "shared memory has no initial value: let the threads store one, then __syncthreads()"
           : local  ? "give the variable a value before it is read"
                    : "cudaMalloc does not clear memory: let a kernel, cudaMemset or cudaMemcpy store values there first";
  c_.report(key, std::move(f));
}

}  // namespace warpbeam::observe::check

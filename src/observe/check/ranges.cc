// What copies, fills and libraries read and write: ranges of bytes, which another stream may be using, which may hold no
// values, overlap, be freed or end too early.
#include <fmt/format.h>

#include <algorithm>

#include "observe/check/checker.h"
#include "vm/code.h"

namespace warpbeam::observe::check {
namespace {

// f(offset in the region, the last write of the word there, whether it has a value)
template <class F>
void each_word(Region& r, const Bytes& bytes, F&& f) {
  for (uint64_t plane = 0; plane < bytes.planes; ++plane)
    for (uint64_t row = 0; row < bytes.rows; ++row) {
      const uint64_t at = bytes.base + plane * bytes.plane + row * bytes.pitch - r.base;
      const uint64_t n = std::min<uint64_t>(bytes.width, r.size > at ? r.size - at : 0);
      for (uint64_t k = 0; k < n; k += 4) {
        EventId write = 0;
        bool any = false;
        r.cells->peek(at + k, [&](Cell& c) {
          any = any || c.init;
          if (c.init) write = c.write;
        });
        f(at + k, write, any);
      }
    }
}

}  // namespace

// Do the words without a value lie between the members of structures, to which those kernels' parameters lead that have
// written the others?
bool Checker::only_gaps(Region& r, const Bytes& bytes) {
  std::set<OpId> writers;
  std::vector<uint64_t> unset;
  each_word(r, bytes, [&](uint64_t offset, EventId write, bool any) {
    if (!any) unset.push_back(offset);
    else if (const std::optional<Event> e = log.find(write)) writers.insert(e->op);
  });
  std::set<std::string> kernels;
  for (const OpId op : writers) kernels.insert(ops_[op].kernel);
  for (const std::string& kernel : kernels)
    for (const Gaps& g : shapes.gaps(kernel))
      for (const uint64_t begin : {uint64_t{0}, bytes.base - r.base})
        if (std::ranges::all_of(unset, [&](uint64_t offset) { return g.holds(offset + g.bytes - begin % g.bytes, 4); })) return true;
  return false;
}

// A copy from memory that nobody has written: whoever wanted to write it did not run, or took another pointer. Where only
// a part has no value, the rest of a buffer was perhaps not needed.
void Checker::read_unwritten(Region& r, const Bytes& bytes, OpId op, const HostStack& stack, bool is_of_library) {
  uint64_t without = 0, total = 0, first = 0;
  each_word(r, bytes, [&](uint64_t offset, EventId, bool any) {
    ++total;
    if (!any && !without++) first = offset;
  });
  if (!without || (without < total && only_gaps(r, bytes))) return;
  Finding f;
  f.kind = FindingKind::UninitializedCopy;
  f.severity = without == total ? Severity::Error : Severity::Warning;
  const std::string done = is_of_library ? "read by " + order.what(op) : "copied";
  f.title = without == total ? fmt::format("Uninitialized memory is {}: nobody has written any of it", done)
                             : fmt::format("Partly uninitialized memory is {}: {} of {} words have no value", done, without, total);
  f.lines.push_back({order.what(op) + " was issued", stack});
  f.lines.push_back(
      {fmt::format("Address {:#x} is byte {} of the allocation at {:#x} of size {} bytes", r.base + first, first, r.base, r.size), {}});
  describe_region(f, r);
  f.mend = "does the kernel run, with enough blocks to write every element, and does it set all members?";
  findings.add(std::move(f), key_of(stack));
}

// What was registered is the program's own as before.
void Checker::look_for_freed(const Bytes& bytes, bool writes, const HostStack& stack, const char* what) {
  const Region* freed = regions.freed_at(bytes.base);
  if (!freed || freed->kind == vm::MemoryKind::Registered || freed->in_heap || !freed->by_program) return;
  Finding f;
  f.kind = FindingKind::UseAfterFree;
  f.title = fmt::format("Invalid {} by {} of memory that was freed", writes ? "write" : "read", what);
  f.lines.push_back({fmt::format("{} was issued", what), stack});
  f.lines.push_back({fmt::format("Address {:#x} is {} bytes into an allocation at {:#x} of size {} bytes", bytes.base,
                                 bytes.base - freed->base, freed->base, freed->size),
                     {}});
  describe_region(f, *freed);
  f.lines.push_back({fmt::format("freed by {}", freed->freed_by), freed->freed});
  f.facts.emplace_back("address", fmt::format("{:#x}", bytes.base));
  f.mend = "free the memory only after the last copy that uses it is complete";
  if (settings.memory) findings.add(std::move(f), key_of(stack));
}

// A call failed because of the bytes that it was given. False: they are not what is wrong.
bool Checker::bad_bytes(const FailedCall& call, const HostStack& stack) {
  const Bytes& bytes = call.bytes;
  const auto region_of = [&](uint64_t address) { return call.memory ? region_at(address, *call.memory) : regions.find(address); };
  // What was to come there has been told of: to read it is no second mistake.
  if (Region* to = region_of(call.destination)) to->initialised = true;
  const Region* const inside = region_of(bytes.base);
  const Region* const freed = inside ? nullptr : regions.freed_at(bytes.base);
  if (freed && freed->by_program && freed->kind != vm::MemoryKind::Registered) {
    look_for_freed(bytes, call.writes, stack, call.function.c_str());
    return settings.memory;
  }
  constexpr uint64_t kNear = 1 << 20;
  const Region* const region = inside ? inside : regions.nearest(bytes.base);
  if (!settings.memory || !region ||
      (!inside && (bytes.base < region->base ? region->base - bytes.base : bytes.base - region->base - region->size) > kNear))
    return false;
  const uint64_t end = region->base + region->size;
  const uint64_t last = bytes.base + bytes.width + (bytes.rows - 1) * bytes.pitch + (bytes.planes - 1) * bytes.plane;
  const uint64_t address = inside ? end : bytes.base;
  Finding f;
  f.kind = FindingKind::OutOfBounds;
  f.title =
      fmt::format("Invalid {} of {} bytes by {}", call.writes ? "write" : "read", bytes.width * bytes.rows * bytes.planes, call.function);
  f.lines.push_back({fmt::format("{} was called", call.function), stack});
  if (inside || bytes.base >= end)
    f.lines.push_back({fmt::format("It begins at {:#x} and ends {} bytes after the allocation at {:#x} of size {} bytes", bytes.base,
                                   last - end, region->base, region->size),
                       {}});
  else
    f.lines.push_back({fmt::format("It begins at {:#x}, {} bytes before the allocation at {:#x} of size {} bytes", bytes.base,
                                   region->base - bytes.base, region->base, region->size),
                       {}});
  describe_region(f, *region);
  f.lines.push_back({fmt::format("so nothing was done: the call gave {}", call.error_name), {}});
  f.facts.emplace_back("address", fmt::format("{:#x}", address));
  f.mend = "sizes are in bytes: compare what is given here with what the allocation was given";
  findings.add(std::move(f), key_of(stack));
  return true;
}

// Row by row, as far as their number allows.
void Checker::look_for_overlap(const Operation& o, const HostStack& stack) {
  const Bytes &from = o.from, &to = o.to;
  const auto end = [](const Bytes& b) { return b.base + b.width + (b.rows - 1) * b.pitch + (b.planes - 1) * b.plane; };
  if (!from.width || !from.rows || !from.planes || from.base == to.base || from.base >= end(to) || to.base >= end(from)) return;
  constexpr uint64_t kMostRows = 1024;
  if (from.rows * from.planes > kMostRows || to.rows * to.planes > kMostRows) return;
  uint64_t at = 0;
  const auto each_row = [](const Bytes& b, auto&& body) {
    for (uint64_t plane = 0; plane < b.planes; ++plane)
      for (uint64_t row = 0; row < b.rows; ++row) body(b.base + plane * b.plane + row * b.pitch);
  };
  each_row(from, [&](uint64_t source) {
    each_row(to, [&](uint64_t target) {
      if (!at && source < target + to.width && target < source + from.width) at = std::max(source, target);
    });
  });
  if (!at) return;
  Finding f;
  f.kind = FindingKind::OverlappingCopy;
  f.title = "Copy between places that overlap: what it leaves there is undefined";
  f.lines.push_back({"the copy was issued", stack});
  f.lines.push_back({fmt::format("{} bytes go from {:#x} to {:#x}; both hold the address {:#x}", from.width * from.rows * from.planes,
                                 from.base, to.base, at),
                     {}});
  if (const Region* r = regions.find(at)) describe_region(f, *r);
  f.facts.emplace_back("address", fmt::format("{:#x}", at));
  f.mend = "copy by way of a second buffer, or in parts that do not overlap; for host memory use memmove";
  findings.add(std::move(f), key_of(stack));
}

// The runtime refuses what lies beyond the piece of memory that an allocation takes up, as a GPU would, and the rest of its last
// piece belongs to nobody.
void Checker::look_past_end(const Region& r, const Bytes& bytes, bool writes, const Queued& by) {
  const uint64_t end = r.base + r.size, last = bytes.base + bytes.width + (bytes.rows - 1) * bytes.pitch + (bytes.planes - 1) * bytes.plane;
  if (!settings.memory || !r.by_program || last <= end || regions.find(end)) return;
  const std::string what = order.what(by.op);
  Finding f;
  f.kind = FindingKind::OutOfBounds;
  f.title = fmt::format("Invalid __global__ {} by {}", writes ? "write" : "read", what);
  f.lines.push_back({fmt::format("{} was issued", what), by.stack});
  f.lines.push_back({fmt::format("It begins at {:#x} and ends {} bytes after the allocation at {:#x} of size {} bytes", bytes.base,
                                 last - end, r.base, r.size),
                     {}});
  describe_region(f, r);
  f.facts.emplace_back("address", fmt::format("{:#x}", end));
  f.mend = kLibrarySizes;
  findings.add(std::move(f), key_of(by.stack));
}

// A copy or a fill: its bytes get values, and other streams' accesses to them must be ordered with it.
void Checker::use_range(const Bytes& bytes, bool writes, const Queued& by, const char* what) {
  const OpId op = by.op;
  const HostStack& stack = by.stack;
  const vm::DeviceMemory* const memory = by.memory;
  Region* r = memory ? region_at(bytes.base, *memory) : regions.find(bytes.base);
  if (!r) return look_for_freed(bytes, writes, stack, what);
  if (by.is_of_library) look_past_end(*r, bytes, writes, by);
  const EventId bound = order.ordered_below(op, log.next()), id = log.tick();
  const uint64_t end = bytes.base + bytes.width + (bytes.rows - 1) * bytes.pitch + (bytes.planes - 1) * bytes.plane;
  auto race = [&](const std::string& other, const HostStack& other_stack, const std::string& thread, const Site* site, uint64_t key) {
    if (repeated(key)) return;
    Finding f;
    f.kind = FindingKind::RaceStreams;
    f.kernel = site ? site->kernel : "";
    f.locations = {site ? site->location : ""};
    f.title = fmt::format("Race reported between {} and {} in another stream", other, what);
    if (site) add_inlined(f, site->inlined, site->kernel);
    f.lines.push_back({fmt::format("{} was issued", what), stack});
    if (!thread.empty()) f.lines.push_back({thread, {}});
    if (!other_stack.empty())
      f.lines.push_back({thread.empty() ? fmt::format("{} was issued", other) : "the kernel was launched", other_stack});
    f.lines.push_back({fmt::format("Address {:#x} to {:#x} in the allocation at {:#x} of size {} bytes", std::max(bytes.base, r->base), end,
                                   r->base, r->size),
                       {}});
    describe_region(f, *r);
    f.mend = order.in_graph(op) ? "add an edge between the two nodes of the graph"
                                : "put both into one stream, or let one wait for the other with cudaEventRecord and cudaStreamWaitEvent";
    report(key, std::move(f));
  };
  if (settings.race && bound < id) {
    for (const RangeUse& u : r->uses)
      if (u.id >= bound && u.begin < end && bytes.base < u.end && (u.writes || writes) && u.op != op && !order.ordered(u.op, op))
        race(order.what(u.op), u.stack, "", nullptr, uint64_t(u.op & 0xffffff) << 32 | uint64_t(op & 0xffffff) << 8 | 5);
    if (r->cells) {
      for (uint64_t plane = 0; plane < bytes.planes; ++plane)
        for (uint64_t row = 0; row < bytes.rows; ++row) {
          const uint64_t at = bytes.base + plane * bytes.plane + row * bytes.pitch - r->base;
          const uint64_t n = std::min<uint64_t>(bytes.width, r->size > at ? r->size - at : 0);
          for (uint64_t k = 0; k < n; k += 4) {
            r->cells->peek(at + k, [&](Cell& c) {
              auto consider = [&](EventId e_id, uint32_t lane) {
                if (e_id < bound) return;
                const std::optional<Event> e = log.find(e_id);
                if (!e || e->op == op || order.ordered(e->op, op)) return;
                if (!writes && e->act == Act::Read) return;
                const Site& s = sites[e->site];
                race(fmt::format("{} access at {} in {}", name(e->act), s.kernel, s.location), ops_[e->op].stack, thread_text(*e, lane), &s,
                     uint64_t(e->site) << 32 | uint64_t(op & 0xffffff) << 8 | 6);
              };
              consider(c.write, c.write_lane);
              if (writes) consider(c.read_a, c.a_lane), consider(c.read_b, c.b_lane);
            });
          }
        }
    }
  }
  if (!writes && !r->initialised && settings.init && r->cells && !kernel_failed_) read_unwritten(*r, bytes, op, stack, by.is_of_library);
  if (r->uses.size() > 256) r->uses.erase(r->uses.begin(), r->uses.begin() + 128);
  std::erase_if(r->uses, [&](const RangeUse& u) { return order.host_knows(u.op); });
  r->use({bytes.base, end, id, op, writes, stack});
  if (!writes || r->initialised) return;
  const bool everything = bytes.base == r->base && end >= r->base + r->size && (bytes.rows == 1 || bytes.pitch <= bytes.width);
  if (everything) {
    r->initialised = true;
    return;
  }
  if (!r->cells) return;
  for (uint64_t plane = 0; plane < bytes.planes; ++plane)
    for (uint64_t row = 0; row < bytes.rows; ++row) {
      const uint64_t at = bytes.base + plane * bytes.plane + row * bytes.pitch - r->base;
      if (at < r->size) r->cells->initialise(at, std::min<uint64_t>(bytes.width, r->size - at));
    }
}

}  // namespace warpbeam::observe::check

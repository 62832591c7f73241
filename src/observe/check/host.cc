// What the host does wrong: calls that fail unheeded, memory that is freed twice or never, data that it touches while the
// device may still use them.
#include <fmt/format.h>

#include <algorithm>

#include "observe/check/checker.h"

namespace warpbeam::observe::check {

void Checker::failed_call(const FailedCall& call) {
  std::lock_guard lock(mutex);
  HostStack stack = callers();
  constexpr int kSticky[] = {700, 702, 710, 714, 715, 716, 717, 718, 719};  // the kernel's mistake has been told
  if (std::find(std::begin(kSticky), std::end(kSticky), call.code) != std::end(kSticky)) return;
  if (call.pointer || call.is_free) {
    const uint64_t address = reinterpret_cast<uint64_t>(call.pointer);
    const Region* live = regions.find(address);
    const Region* freed = live ? nullptr : regions.freed_at(address);
    Finding f;
    f.facts.emplace_back("address", fmt::format("{:#x}", address));
    if (freed && freed->base == address) {
      f.kind = FindingKind::DoubleFree;
      f.title = fmt::format("Double free: {} of an address that was freed before", call.function);
      f.lines.push_back(
          {fmt::format("Address {:#x} of size {} bytes was freed by {}", address, freed->size, freed->freed_by), freed->freed});
      describe_region(f, *freed);
      f.mend = "free every allocation once; setting the pointer to nullptr after cudaFree makes a second call harmless";
    } else {
      f.kind = FindingKind::InvalidFree;
      f.title = fmt::format("Invalid free: {} of an address it did not give", call.function);
      if (live) {
        f.lines.push_back({fmt::format("Address {:#x} is {} bytes into the allocation at {:#x} of size {} bytes", address,
                                       address - live->base, live->base, live->size),
                           {}});
        describe_region(f, *live);
        f.mend = live->base == address ? "free it with the function that belongs to the one that allocated it"
                                       : "free the pointer that the allocation gave, not one into its middle";
      } else {
        f.lines.push_back({fmt::format("Address {:#x} is not memory of the device", address), {}});
        f.mend = "memory of malloc and new goes back with free and delete; cudaFree takes what cudaMalloc gave";
      }
    }
    f.lines.insert(f.lines.begin(), Finding::Line{fmt::format("Program hit {} on a call of {}", call.error_name, call.function), stack});
    report(0, std::move(f));
    return;
  }
  if (call.bytes.width && bad_bytes(call, stack)) return;
  if (!calls_.empty() && calls_.back().call.code == call.code && calls_.back().stack == stack && !calls_.back().looked_at) {
    ++calls_.back().count;
    return;
  }
  if (calls_.size() < 1000) calls_.push_back({call, std::move(stack), false, 1});
}

void Checker::asked_for_error(int code) {
  std::lock_guard lock(mutex);
  for (Call& c : calls_)
    if (c.call.code == code || code == 0) c.looked_at = true;
}

void Checker::resetting(int device) {
  std::lock_guard lock(mutex);
  order.host_waited_device(device);
  failed_devices_.erase(device);
  report_leaks("cudaDeviceReset");
  sites.forget_programs();
  std::vector<uint64_t> gone;
  for (const auto& [base, r] : regions.live())
    if (r->device == device) gone.push_back(base);
  if (guard_) guard_->open();
  for (uint64_t base : gone) regions.remove(base, callers(), "cudaDeviceReset");
}

void Checker::report_leaks(const char* when) {
  if (settings.leaks == Settings::Leaks::No || !settings.memory) return;
  if (kernel_failed_ && settings.leaks != Settings::Leaks::Full) return;  // cudaFree fails then
  // A program that frees nothing leaves it to the end of the process, which is a habit and no mistake.
  const bool full = settings.leaks == Settings::Leaks::Full;
  if (!full) findings.set_frees(frees_);
  uint64_t bytes = 0, count = 0;
  for (const auto& [base, r] : regions.live()) {
    if (!(r->by_program || r->in_heap) || r->kind == vm::MemoryKind::Registered) continue;
    bytes += r->size;
    ++count;
    Finding f;
    f.kind = FindingKind::Leak;
    f.severity = full || (r->in_heap ? heap_freed : !frees_.empty()) ? Severity::Error : Severity::Warning;
    f.title = fmt::format("Leaked {} bytes at {:#x}", r->size, r->base);
    if (r->in_heap) f.locations = {r->made_at.substr(0, r->made_at.find(' '))};
    describe_region(f, *r);
    f.lines.push_back({fmt::format("not freed before {}", when), {}});
    f.facts.emplace_back("address", fmt::format("{:#x}", r->base));
    f.facts.emplace_back("space", r->in_heap ? "heap" : "global");
    f.mend = r->in_heap                          ? "give it back with free or delete in a kernel"
             : r->kind == vm::MemoryKind::Pinned ? "give it back with cudaFreeHost"
                                                 : "give it back with cudaFree";
    findings.add(std::move(f), key_of(r->made));
  }
  if (count) findings.set_note("leaks", fmt::format("LEAK SUMMARY: {} bytes leaked in {} allocations", bytes, count));
}

namespace {

// Programs ask for devices and for memory to see whether they get them, but nobody makes a copy in order to be told that its
// arguments do not fit.
bool has_bad_arguments(const FailedCall& call) {
  constexpr int kInvalidValue = 1, kInvalidPitch = 12, kInvalidDirection = 21;
  return (call.function.starts_with("cudaMemcpy") || call.function.starts_with("cudaMemset")) &&
         (call.code == kInvalidValue || call.code == kInvalidPitch || call.code == kInvalidDirection);
}

}  // namespace

// Errors that nobody looked at. Which calls drop their result is known from the compiler, for programs that this command
// compiled; a launch gives its error only to who asks for it.
void Checker::report_calls() {
  for (const Call& c : calls_) {
    const bool launch = c.call.function == "cudaLaunchKernel";
    Finding f;
    f.kind = c.looked_at ? FindingKind::ApiError : FindingKind::UncheckedError;
    const bool misused = has_bad_arguments(c.call);
    f.severity = c.looked_at && !misused ? Severity::Warning : Severity::Error;
    f.title = fmt::format("Program hit {} (error {}) due to \"{}\" on CUDA API call to {}.", c.call.error_name, c.call.code,
                          c.call.error_text, c.call.function);
    f.lines.push_back({launch ? "the kernel was launched" : c.call.function + " was called", c.stack});
    if (c.call.bytes.width && !c.call.bytes.base)
      f.lines.push_back({fmt::format("It was to {} a null pointer", c.call.writes ? "write to" : "read from"), {}});
    else if (c.call.bytes.width)
      f.lines.push_back(
          {fmt::format("It was to {} memory of the device, and {:#x} is not", c.call.writes ? "write to" : "read from", c.call.bytes.base),
           {}});
    if (!c.call.reason.empty()) f.lines.push_back({c.call.reason, {}});
    if (!c.looked_at) f.lines.push_back({"and no later call looked at the error", {}});
    f.mend =
        launch ? (c.looked_at ? "choose a configuration that the device and the kernel allow"
                              : "look at cudaGetLastError() after every launch")
        : misused && c.call.bytes.width && c.call.function.starts_with("cudaMemcpy")
            ? "the destination comes first, and the direction must fit both pointers: cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost or cudaMemcpyDefault"
        : misused ? "compare the arguments with what the pointers lead to, and widths with pitches"
                  : "look at what every call returns";
    f.facts.emplace_back("error", c.call.error_name);
    f.facts.emplace_back("function", c.call.function);
    if (misused) f.facts.emplace_back("arguments", "invalid");
    f.count = c.count;
    findings.add(std::move(f), key_of(c.stack));
  }
}

// A GPU may still be busy then: here the work has been done, and the call gives a time.
void Checker::took_time(uint64_t from, uint64_t to) {
  std::lock_guard lock(mutex);
  const auto waited = [&](uint64_t operation) {
    const auto it = queued_.find(operation);
    return it == queued_.end() || order.host_knows(it->second.op) || failed_devices_.contains(order.device_of(it->second.op));
  };
  if (!settings.host || (waited(from) && waited(to))) return;
  const Queued& event = queued_[waited(to) ? from : to];
  Finding f;
  f.kind = FindingKind::EventNotWaited;
  f.title = "The time of an event is taken that the host has not waited for";
  HostStack stack = callers();
  const std::string key = key_of(stack);
  f.lines.push_back({called_function() + " was called", std::move(stack)});
  f.lines.push_back({"the event was recorded", event.stack});
  f.lines.push_back({"on a GPU the call gives cudaErrorNotReady and no time while the work before the event goes on", {}});
  f.mend = "call cudaEventSynchronize() with this event before";
  findings.add(std::move(f), key);
}

// --- what host code touches
namespace {

thread_local OpId host_function_of = 0;  // the operation that has called the function in which this thread is

}  // namespace

// Work that a stream gives to the host knows what its stream knows, and nothing of what the host has waited for.
void Checker::host_function(uint64_t operation, bool begins) {
  {
    std::lock_guard lock(mutex);
    const auto it = queued_.find(operation);
    host_function_of = begins && it != queued_.end() ? it->second.op : 0;
    host_functions_ += begins ? 1 : -1;
  }
  if (guard_) guard_->host_function(begins);
}

void Checker::entered() {
  if (guard_) guard_->entered();
}

void Checker::left() {
  if (guard_) guard_->left();
}

Guarded Checker::to_guard() {
  constexpr size_t kMost = 1000;  // every one costs a call of the host's kernel
  constexpr uint64_t kPage = 4096, kMostBeside = 2000;
  std::lock_guard lock(mutex);
  Guarded guarded;
  std::vector<GuardedRange>& out = guarded.ranges;
  if (done_ || regions.live().size() > kMost) return guarded;
  for (const auto& [base, r] : regions.live()) {
    if (!r->by_program && !r->is_managed_variable()) continue;
    if (r->kind != vm::MemoryKind::Device) {
      guarded.of_host.push_back({base, base + r->size, true});
      std::erase_if(r->kernels, [&](OpId op) { return order.host_knows(op); });
      std::erase_if(r->uses, [&](const RangeUse& u) { return order.host_knows(u.op); });
      if (r->kernels.empty() && r->uses.empty() && !host_functions_) continue;
    }
    const uint64_t end = base + r->size;
    GuardedRange range{base, (end + kPage - 1) / kPage * kPage, r->kind != vm::MemoryKind::Device};
    if (r->is_managed_variable()) {
      // Among the program's other variables: all of a page, unless the host is busy with those.
      if (beside_ > kMostBeside) continue;
      range.begin = base / kPage * kPage;
    } else if (r->kind == vm::MemoryKind::Registered) {
      // The pages that are all its own: beside it is whatever the program or the C library keeps there.
      range.begin = (base + kPage - 1) / kPage * kPage;
      range.end = end / kPage * kPage;
      if (range.begin >= range.end) continue;
    } else if (base % kPage) {
      continue;
    }
    if (!out.empty() && range.begin < out.back().end) {
      out.back().end = std::max(out.back().end, range.end);
      out.back().of_host |= range.of_host;
    } else {
      out.push_back(range);
    }
  }
  return guarded;
}

// A function touches many places one after the other: those side by side are one use.
void Checker::note_host_function(Region& r, OpId op, uint64_t begin, uint64_t end, bool writes) {
  constexpr uint64_t kNear = 32;
  constexpr size_t kMost = 256;
  if (!r.uses.empty()) {
    RangeUse& last = r.uses.back();
    if (last.op == op && last.writes == writes && begin + kNear >= last.begin && begin <= last.end + kNear) {
      last.begin = std::min(last.begin, begin);
      last.end = std::max(last.end, end);
      return;
    }
  }
  if (r.uses.size() < kMost) r.use({begin, end, log.tick(), op, writes, ops_[op].stack});
}

HostGuard::Answer Checker::host_touched(uint64_t address, uint64_t bytes, bool writes, HostStack stack) {
  std::lock_guard lock(mutex);
  Region* r = regions.find(address);
  if (!r) {  // between its end and the page's
    ++beside_;
    return HostGuard::Answer::LetThrough;
  }
  const char* verb = writes ? "write" : "read";
  if (r->kind == vm::MemoryKind::Device) {
    Finding f;
    f.kind = FindingKind::DevicePointer;
    f.title = fmt::format("Invalid {} of device memory by host code", verb);
    f.lines.push_back({"on the host", stack});
    f.lines.push_back(
        {fmt::format("Address {:#x} is byte {} of the allocation at {:#x} of size {} bytes", address, address - r->base, r->base, r->size),
         {}});
    describe_region(f, *r);
    f.mend = "host code cannot use pointers of cudaMalloc: copy the data with cudaMemcpy, or use cudaMallocManaged";
    report(0, std::move(f));
    kernel_failed_ = true;  // the program ends here, and what it would have freed is not leaked
    done_ = true;
    findings.write();
    return HostGuard::Answer::Die;
  }
  // Who used these bytes, and has not been waited for?
  const OpId self = host_function_of;
  const auto known = [&](OpId op) {
    return failed_devices_.contains(order.device_of(op)) || (self ? order.ordered(op, self) : order.host_knows(op));
  };
  OpId other = 0;
  std::string who, thread, location, kernel;
  const Site* site = nullptr;
  auto consider = [&](EventId id, uint32_t lane) {
    const std::optional<Event> e = log.find(id);
    if (!e || known(e->op) || (!writes && e->act == Act::Read)) return;
    // A volatile or system-wide access is where a running kernel and the host mean to meet.
    if (e->strength == Strength::Sys) return;
    other = e->op;
    thread = thread_text(*e, lane);
    site = &sites[e->site];
    location = site->location;
    kernel = site->kernel;
    who = fmt::format("{} access at {} in {}", name(e->act), kernel, location);
  };
  const uint64_t end = std::min(address + bytes, r->base + r->size), touched = address;
  for (uint64_t at = address; r->cells && at < end && !other; at = at / 4 * 4 + 4)
    r->cells->peek(at - r->base, [&](Cell& c) {
      consider(c.write, c.write_lane);
      if (writes) consider(c.read_a, c.a_lane), consider(c.read_b, c.b_lane);
      if (other) address = at;
    });
  for (const RangeUse& u : r->uses)
    if (end > u.begin && address < u.end && (u.writes || writes) && !known(u.op)) {
      other = u.op;
      who = order.what(u.op);
      thread.clear();
      address = std::max(address, u.begin);
    }
  if (self) note_host_function(*r, self, touched, end, writes);
  if (!other) return HostGuard::Answer::LetThrough;
  Finding f;
  f.kind = FindingKind::HostRace;
  f.kernel = kernel;
  if (!location.empty()) f.locations = {location};
  f.title = self ? fmt::format("Race reported between {} and a {} by a host function that does not come after it", who, verb)
                 : fmt::format("Race reported between {} and a {} by host code that has not waited for it", who, verb);
  if (site && !thread.empty()) add_inlined(f, site->inlined, kernel);
  f.lines.push_back({fmt::format("Host {}", verb), stack});
  if (!thread.empty()) f.lines.push_back({thread, {}});
  f.lines.push_back({fmt::format("{} was issued", order.what(other)), ops_[other].stack});
  f.lines.push_back(
      {fmt::format("Address {:#x} is byte {} of the allocation at {:#x} of size {} bytes", address, address - r->base, r->base, r->size),
       {}});
  describe_region(f, *r);
  if (self) f.lines.push_back({"the host function was given to its stream", ops_[self].stack});
  f.mend = self ? "give the host function to the stream that uses the memory, or let its stream wait for an event of that one"
                : "call cudaDeviceSynchronize(), or wait for the stream or an event, before the host uses the memory";
  if (settings.race) findings.add(std::move(f), key_of(stack));
  return HostGuard::Answer::LetThrough;
}

// Host code, or the runtime on its behalf, has touched memory that has been freed. What was registered is the program's own.
void Checker::host_lost(uint64_t address, bool writes, HostStack stack) {
  std::unique_lock lock(mutex, std::try_to_lock);  // it may be the checker itself
  if (!lock || done_ || !settings.memory) return;
  const Region* freed = regions.freed_at(address);
  if (!freed) return host_outside(address, writes, std::move(stack));
  if (freed->kind == vm::MemoryKind::Registered) return;
  Finding f;
  f.kind = FindingKind::UseAfterFree;
  f.title = fmt::format("Invalid {} by host code of memory that was freed", writes ? "write" : "read");
  f.lines.push_back({"on the host", std::move(stack)});
  f.lines.push_back({fmt::format("Address {:#x} is {} bytes into an allocation at {:#x} of size {} bytes", address, address - freed->base,
                                 freed->base, freed->size),
                     {}});
  describe_region(f, *freed);
  f.lines.push_back({fmt::format("freed by {}", freed->freed_by), freed->freed});
  f.facts.emplace_back("address", fmt::format("{:#x}", address));
  f.mend = "free the memory only after its last use, and wait for copies that still use it";
  report(0, std::move(f));
  kernel_failed_ = true;  // the program ends here
}

// Nothing is there, but not far off there is memory of the program's. The C library looks before what it is to free.
void Checker::host_outside(uint64_t address, bool writes, HostStack stack) {
  constexpr uint64_t kNear = 64 << 10;
  const Region* r = regions.nearest(address);
  if (!r || !(r->by_program || r->is_managed_variable())) return;
  const bool before = address < r->base;
  const uint64_t distance = before ? r->base - address : address - (r->base + r->size) + 1;
  if (distance > kNear) return;
  Finding f;
  f.kind = FindingKind::OutOfBounds;
  f.title = fmt::format("Invalid {} by host code outside of all memory", writes ? "write" : "read");
  f.lines.push_back({"on the host", std::move(stack)});
  f.lines.push_back({fmt::format("Address {:#x} is {} bytes {} the nearest allocation at {:#x} of size {} bytes", address, distance,
                                 before ? "before" : "after", r->base, r->size),
                     {}});
  describe_region(f, *r);
  f.facts.emplace_back("address", fmt::format("{:#x}", address));
  f.mend =
      before && distance <= 2 * sizeof(void*)
          ? "memory of cudaMalloc and cudaMallocManaged goes back with cudaFree, that of cudaMallocHost with cudaFreeHost, not with free() or delete"
          : "compare the index with the number of elements that were allocated";
  report(0, std::move(f));
  kernel_failed_ = true;  // the program ends here
}

void Checker::finish() {
  if (guard_) guard_->disable();
  std::lock_guard lock(mutex);
  if (done_) return;
  if (settings.host) report_calls();
  report_leaks("the program's end");
  if (regions.unwatched())
    findings.set_note(
        "memory",
        fmt::format("{} bytes of device memory were checked for bounds only: --shadow-memory gives the checker more", regions.unwatched()));
  done_ = true;
  findings.write();
}

}  // namespace warpbeam::observe::check

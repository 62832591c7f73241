#include "observe/check/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "observe/check/block_watch.h"
#include "observe/told.h"
#include "observe/tools.h"
#include "vm/code.h"
#include "vm/grid.h"

namespace warpbeam::observe::check {
namespace {

const char* kind_text(OperationKind k) {
  switch (k) {
    case OperationKind::Copy: return "a copy";
    case OperationKind::Fill: return "a fill (cudaMemset)";
    case OperationKind::HostCall: return "a host function";
    default: return "an operation";
  }
}

}  // namespace

Checker::Checker() {
  const auto options = told_options();
  if (options.is_object()) {
    if (auto it = options.find("checks"); it != options.end() && it->is_array()) {
      auto has = [&](const char* name) { return std::find(it->begin(), it->end(), name) != it->end(); };
      settings.memory = has("memory");
      settings.race = has("race");
      settings.init = has("init");
      settings.sync = has("sync");
      settings.host = has("host");
    }
    settings.shapes = options.value("shapes", "");
    settings.unused = options.value("unused", "");
    settings.most_instructions = options.value("max_instructions", settings.most_instructions);
    settings.most_shadow_bytes = options.value("shadow_bytes", settings.most_shadow_bytes);
    const std::string leaks = options.value("leaks", "auto");
    settings.leaks = leaks == "full" ? Settings::Leaks::Full : leaks == "no" ? Settings::Leaks::No : Settings::Leaks::Auto;
  }
  regions.set_budget(settings.most_shadow_bytes);
  if (!settings.shapes.empty()) shapes.read(settings.shapes);
  findings.set_file(recording_path());
  ops_.emplace_back();
  if (settings.host)
    guard_ = std::make_unique<HostGuard>(
        [this] { return to_guard(); },
        [this](uint64_t address, uint64_t bytes, bool writes, HostStack stack) {
          return host_touched(address, bytes, writes, std::move(stack));
        },
        [this](uint64_t address, bool writes, HostStack stack) { host_lost(address, writes, std::move(stack)); });
}

bool Checker::repeated(uint64_t key) {
  auto it = reported_.find(key);
  if (it == reported_.end()) return false;
  findings.bump(it->second);
  return true;
}

void Checker::report(uint64_t key, Finding finding) {
  if (done_) return;
  const bool on[] = {settings.memory, settings.race, settings.init, settings.sync, settings.host, true};  // as findings::Check
  if (!on[static_cast<size_t>(check_of(finding.kind))]) return;
  const size_t number = findings.add(std::move(finding));
  if (key) reported_[key] = number;
}

// --- memory -------------------------------------------------------------------------------------------------------

void Checker::allocated(const vm::Allocation& a, int device) {
  std::lock_guard lock(mutex);
  ++changes;
  vm::Allocation copy = a;
  copy.device = device;
  // Memory of a graph's node is there as long as the graph, whether or not its nodes have given it back.
  regions.add(copy, callers(), a.origin != "a graph's memory node");
}

// Stream-ordered memory: before its operation nobody has it, so that to give it out is like writing it.
void Checker::allocated_by(uint64_t base, uint64_t operation) {
  std::lock_guard lock(mutex);
  ++changes;
  Region* r = regions.find(base);
  auto it = queued_.find(operation);
  if (!r || it == queued_.end()) return;
  order.name(it->second.op, "cudaMallocAsync");
  r->use({r->base, r->base + r->size, log.tick(), it->second.op, true, it->second.stack});
}

void Checker::began(uint64_t operation) {
  std::lock_guard lock(mutex);
  auto it = queued_.find(operation);
  running_ = it == queued_.end() ? 0 : it->second.op;
  if (guard_) guard_->open();  // what it touches would do so, by a fault, but not if the host's kernel is asked to touch it
}

void Checker::freed(const vm::Allocation& a, int) {
  std::lock_guard lock(mutex);
  ++changes;
  HostStack freed = callers();
  // Arrays are freed by who leaves buffers to the end too, and what a reset frees is forgotten by now.
  if (a.origin.find("Array") == std::string::npos && regions.find(a.base)) frees_.insert(freed.empty() ? 1 : freed[0]);
  if (Region* r = regions.find(a.base); r && r->origin == "cudaMallocAsync" && running_ && settings.race) {
    order.name(running_, "cudaFreeAsync");
    use_range({r->base, r->size}, true, ops_[running_], "cudaFreeAsync");
  }
  if (guard_) guard_->forget(a.base, (a.base + a.size + 4095) / 4096 * 4096);
  Region* r = regions.find(a.base);
  std::string by = "cudaFree";
  if (r && r->origin == "cudaMallocAsync") by = "cudaFreeAsync";
  if (r && r->kind == vm::MemoryKind::Pinned) by = "cudaFreeHost";
  if (r && r->kind == vm::MemoryKind::Registered) by = "cudaHostUnregister";
  regions.remove(a.base, std::move(freed), by);
}

Region* Checker::region_at(uint64_t address, const vm::DeviceMemory& memory) {
  Region* r = regions.find(address);
  if (r) return r;
  // Memory that the program did not ask for: variables, the heap of device malloc, a cooperative launch's workspace.
  auto a = memory.find(address);
  // The kernels' heap is watched piece by piece.
  if (!a || (a->kind == vm::MemoryKind::Variable && a->origin == vm::kHeapOrigin)) return nullptr;
  return regions.add(*a, {}, false);
}

Checker::Place Checker::global_place(const Region& region, uint64_t address, const vm::Launch* launch) {
  Place out;
  const uint64_t offset = address - region.base;
  if (launch && launch->program)
    for (const auto& v : launch->program->variables())
      if (address >= v.address && address < v.address + v.size) {
        out.variable = shapes.place(v.name, address - v.address);
        out.text = fmt::format("{} ({} variable, byte {} of {})", out.variable, v.constant ? "__constant__" : "__device__",
                               address - v.address, v.size);
        return out;
      }
  out.text = fmt::format("byte {} of the allocation at {:#x} of size {} bytes", offset, region.base, region.size);
  return out;
}

std::string Checker::thread_text(const Event& e, uint32_t lane) const {
  const auto &grid = ops_[e.op].grid, &block = ops_[e.op].block;
  const uint32_t t = e.warp * 32u + lane;
  return fmt::format("by thread ({},{},{}) in block ({},{},{})", t % block[0], t / block[0] % block[1], t / block[0] / block[1],
                     e.block % grid[0], e.block / grid[0] % grid[1], e.block / grid[0] / grid[1]);
}

void Checker::describe_region(Finding& f, const Region& r) {
  f.facts.emplace_back("allocation", fmt::format("{:#x}+{}", r.base, r.size));
  if (r.in_heap) f.lines.push_back({fmt::format("allocated by {} at {}", r.origin, r.made_at), {}});
  else if (r.by_program) f.lines.push_back({fmt::format("allocated by {}", r.origin), r.made});
  else f.lines.push_back({fmt::format("which is {}", r.origin), {}});
}

// --- order of work ------------------------------------------------------------------------------------------------

uint32_t Checker::stream_of(const Operation& o) {
  auto [it, fresh] = streams_.try_emplace(o.stream);
  if (fresh) {
    const auto kind = o.queue == Operation::Queue::Legacy     ? OpOrder::Kind::Legacy
                      : o.queue == Operation::Queue::Blocking ? OpOrder::Kind::Blocking
                                                              : OpOrder::Kind::NonBlocking;
    it->second = order.add_stream(kind, o.device);
  }
  return it->second;
}

void Checker::look_at_log() {
  if (!settings.race || !log.exhausted()) return;
  regions.forget_accesses();
  settings.race = false;
  findings.set_note("races", "not checked to the end: there are numbers for four thousand million accesses, and the program made more");
}

void Checker::queued(const Operation& o) {
  std::lock_guard lock(mutex);
  ++changes;
  std::vector<OpId> after;
  for (uint64_t id : o.after)
    if (auto it = queued_.find(id); it != queued_.end()) after.push_back(it->second.op);
  look_at_log();
  HostStack stack = callers();
  const std::string what = o.kind == OperationKind::Library ? o.name : kind_text(o.kind);
  const auto run = graph_runs_.find(o.stream);
  const auto whole = wholes_.find(o.stream);
  const OpId op = whole != wholes_.end()     ? order.issue_child(whole->second, what)
                  : run == graph_runs_.end() ? order.issue(stream_of(o), what, after, log.tick())
                                             : issue_node(run->second, o, what, after);
  if (o.inner) wholes_[o.inner] = op;
  Queued queued;
  queued.op = op;
  queued.stack = stack;
  queued.memory = o.memory;
  queued.is_of_library = o.kind == OperationKind::Library;
  queued_[o.id] = queued;
  if (ops_.size() <= op) ops_.resize(op + 1);
  ops_[op] = queued;
  // What a copy or fill touches is noted at the call: only the order counts, not the moment.
  if (o.kind == OperationKind::Copy) {
    look_for_overlap(o, stack);
    use_range(o.from, false, queued, "a copy");
    use_range(o.to, true, queued, "a copy");
  } else if (o.kind == OperationKind::Fill) {
    use_range(o.to, true, queued, "a fill (cudaMemset)");
  }
}

// --- graphs: each branch is like a stream of its own

void Checker::graph_begins(uint64_t stream, const void* instance) {
  std::lock_guard lock(mutex);
  GraphRun& run = graph_runs_[stream];
  if (++run.depth == 1) run.instance = instance;
}

void Checker::graph_node(uint64_t stream, const void* node, const std::vector<const void*>& after) {
  std::lock_guard lock(mutex);
  GraphRun& run = graph_runs_[stream];
  if (run.depth > 1) return;
  run.node = node;
  run.after.clear();
  for (const void* a : after)
    if (const auto it = run.last.find(a); it != run.last.end()) run.after.insert(run.after.end(), it->second.begin(), it->second.end());
  run.last[node] = run.after;  // of one that puts nothing into the stream
}

OpId Checker::issue_node(GraphRun& run, const Operation& o, const std::string& what, std::vector<OpId> after) {
  const uint32_t stream = stream_of(o);
  if (!run.start) {
    std::vector<OpId> earlier;
    if (const auto it = instance_ends_.find(run.instance); run.instance && it != instance_ends_.end()) earlier.push_back(it->second);
    run.start = order.issue(stream, "a graph", earlier, log.tick());
  }
  after.insert(after.end(), run.after.begin(), run.after.end());
  // The branch of one that it follows, if that one is the last there; otherwise one on which nothing of this run is.
  std::optional<uint32_t> branch;
  for (const OpId a : run.after)
    if (const auto it = run.branches.find(order.stream_of(a)); it != run.branches.end() && it->second == a) branch = it->first;
  std::vector<uint32_t>& known = branches_[o.stream];
  if (known.empty()) known.push_back(stream);
  for (size_t k = 0; !branch && k < known.size(); ++k)
    if (!run.branches.contains(known[k])) branch = known[k];
  if (!branch) {
    branch = order.add_stream(OpOrder::Kind::NonBlocking, o.device);
    known.push_back(*branch);
  }
  const OpId op = order.issue_node(*branch, what, run.start, after, log.tick());
  run.branches[*branch] = op;
  run.after = {op};  // of the same node's next operation
  run.last[run.node] = run.after;
  return op;
}

void Checker::graph_ends(uint64_t stream) {
  std::lock_guard lock(mutex);
  const auto it = graph_runs_.find(stream);
  if (it == graph_runs_.end() || --it->second.depth > 0) return;
  const GraphRun run = std::move(it->second);
  graph_runs_.erase(it);
  if (!run.start) return;
  std::vector<OpId> all;
  for (const auto& [branch, last] : run.branches) all.push_back(last);
  const OpId end = order.issue(order.stream_of(run.start), "a graph", all, log.tick());
  if (run.instance) instance_ends_[run.instance] = end;
}

// The operation runs, and others have been queued since then; its place among them is what counts.
void Checker::touches(uint64_t operation, const Bytes& bytes, bool writes) {
  std::lock_guard lock(mutex);
  const auto it = queued_.find(operation);
  if (it == queued_.end()) return;
  if (guard_) guard_->open();
  const Queued queued = it->second;
  use_range(bytes, writes, queued, order.what(queued.op).c_str());
}

// What it says, and about which place.
static void add_trap(Finding& f, const vm::Trap& t) {
  f.title = t.message;
  if (!f.title.empty()) f.title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(f.title[0])));
  for (size_t at = 0; at < t.detail.size();) {
    const size_t end = std::min(t.detail.find('\n', at), t.detail.size());
    f.lines.push_back({t.detail.substr(at, end - at), {}});
    at = end + 1;
  }
}

void Checker::library_failed(uint64_t operation, const vm::Trap& t, bool writes) {
  std::lock_guard lock(mutex);
  kernel_failed_ = true;
  const auto it = queued_.find(operation);
  if (it == queued_.end() || !settings.memory) return;
  const std::string what = order.what(it->second.op);
  const HostStack& stack = it->second.stack;
  if (!regions.find(t.address) && regions.freed_at(t.address)) return look_for_freed({t.address, 1}, writes, stack, what.c_str());
  Finding f;
  f.kind = FindingKind::OutOfBounds;
  add_trap(f, t);
  f.lines.insert(f.lines.begin(), {fmt::format("{} was issued", what), stack});
  if (const Region* r = regions.nearest(t.address)) describe_region(f, *r);
  f.facts.emplace_back("address", fmt::format("{:#x}", t.address));
  f.mend = kLibrarySizes;
  findings.add(std::move(f), key_of(stack));
}

void Checker::waited(WaitKind kind, uint64_t which) {
  std::lock_guard lock(mutex);
  switch (kind) {
    case WaitKind::Operation:
      if (auto it = queued_.find(which); it != queued_.end()) order.host_waited(it->second.op);
      break;
    case WaitKind::Stream:
      if (auto it = streams_.find(which); it != streams_.end()) order.host_waited_stream(it->second);
      break;
    case WaitKind::Device: order.host_waited_device(static_cast<int>(which)); break;
  }
}

// --- launches -----------------------------------------------------------------------------------------------------

std::shared_ptr<vm::Observer> Checker::launch(const vm::Launch& launch, const model::Device& device, uint64_t operation) {
  std::lock_guard lock(mutex);
  auto it = queued_.find(operation);
  if (it == queued_.end()) return nullptr;
  LaunchInfo info;
  info.op = it->second.op;
  info.stack = it->second.stack;
  info.cc = device.cc();
  order.name(info.op, fmt::format("kernel {}", spaced(launch.kernel->display_name)));
  ops_[info.op].grid = launch.grid;
  ops_[info.op].block = launch.block;
  ops_[info.op].kernel = launch.kernel->name;
  return watch(launch, std::move(info));
}

// It has the place of its family's first launch among the operations, and stands there by itself.
std::shared_ptr<vm::Observer> Checker::child(const vm::Launch& launch, const LaunchInfo& parent) {
  std::lock_guard lock(mutex);
  LaunchInfo info;
  info.op = order.issue_child(parent.op, fmt::format("kernel {}, launched by {}", spaced(launch.kernel->display_name), parent.kernel));
  info.stack = parent.stack;
  info.cc = parent.cc;
  if (ops_.size() <= info.op) ops_.resize(info.op + 1);
  ops_[info.op] = {info.op, parent.stack, nullptr, launch.grid, launch.block, launch.kernel->name};
  return watch(launch, std::move(info));
}

Who who_of(const vm::Insn& i, Act act, uint32_t site) {
  const Strength strength = strength_of(i, act == Act::Read    ? vm::AccessKind::Read
                                           : act == Act::Write ? vm::AccessKind::Write
                                                               : vm::AccessKind::Atomic);
  return {site, static_cast<uint32_t>(act), static_cast<uint32_t>(strength), 0};
}

std::shared_ptr<vm::Observer> Checker::watch(const vm::Launch& launch, LaunchInfo info) {
  info.kernel = spaced(launch.kernel->display_name);
  info.launch = &launch;
  info.last_return = shapes.last_return(launch.kernel->name);
  info.ordered_below = order.ordered_below(info.op, log.next());
  // Meetings of earlier launches matter only to those that may run at the same time.
  if (info.ordered_below == log.next() && launch.depth == 0) {
    meetings_.clear();
    flags_.clear();
    ended_meetings_.clear();
    ended_barriers_.clear();
  }
  info.meetings = &meetings_;
  info.flags = &flags_;
  const vm::Code& code = *launch.kernel->code;
  const auto& variables = launch.program->image().shared_variables;
  for (uint32_t k = 0; k < variables.size(); ++k) {
    if (code.shared_offsets[k] == ~0u || variables[k].dynamic) continue;
    info.shared.push_back({code.shared_offsets[k], static_cast<uint32_t>(variables[k].size), &variables[k].name});
  }
  // All names of dynamic shared memory mean the same bytes; the kernel's own is the best one.
  const std::string* dynamic = nullptr;
  for (uint32_t k = 0; k < variables.size(); ++k)
    if (variables[k].dynamic && !dynamic) dynamic = &variables[k].name;
  for (uint32_t k : code.function->shared_used)
    if (variables[k].dynamic) dynamic = &variables[k].name;
  if (dynamic) info.shared.push_back({code.static_shared, launch.dynamic_shared, dynamic});
  if (info.shared.empty()) {
    static const std::string kPlain = "shared memory";
    info.shared.push_back({0, code.static_shared + launch.dynamic_shared, &kPlain});
  }
  info.places = vm::access_places(*code.function);
  info.next_place = info.places.groups() * vm::kTogether;
  info.who.resize(info.next_place);
  info.sites.resize(2 * info.places.count);
  info.known.resize(code.function->insns.size());
  for (size_t k = 0; k < info.known.size(); ++k) {
    const vm::Insn& i = code.function->insns[k];
    if ((info.known[k].place = info.places.of[k]) == vm::AccessPlaces::kNone) continue;
    info.known[k].site = sites.number(i, *code.function);
    if (vm::loads_or_stores(i))
      info.who[info.known[k].place] = who_of(i, i.source->form.row->cls == isa::Class::Load ? Act::Read : Act::Write, info.known[k].site);
  }
  return std::make_shared<LaunchWatch>(*this, std::move(info));
}

std::shared_ptr<vm::Observer> LaunchWatch::child(const vm::Launch& launch) { return c_.child(launch, info_); }

std::unique_ptr<vm::BlockObserver> LaunchWatch::begin_block(const vm::Block& block) {
  std::lock_guard lock(c_.mutex);
  return std::make_unique<BlockWatch>(c_, info_, block);
}

void LaunchWatch::end_block(const vm::Block& block, std::unique_ptr<vm::BlockObserver> observer) {
  std::lock_guard lock(c_.mutex);
  // The leader of a cluster is the first to be told.
  if (block.leader == &block && block.members.size() > 1 && !info_.ended_by_checker)
    for (const vm::Block* member : block.members)
      if (auto* watch = static_cast<BlockWatch*>(member == &block ? observer.get() : member->observer.get());
          watch && !member->live_threads)
        watch->ends();
  observer.reset();
}

// What the machine itself found; what the checker ended has been told.
void LaunchWatch::end_grid(const vm::LaunchResult& result) {
  using enum vm::TrapKind;
  const vm::Trap& t = result.trap;
  std::lock_guard lock(c_.mutex);
  c_.ended_barriers_.push_back(std::move(info_.clusters));
  if (t.kind == None || t.kind == Cancelled) return;
  c_.kernel_failed_ = true;
  c_.failed_devices_.insert(c_.order.device_of(info_.op));
  // A kernel ends with those that it launched: the first to end is the one that failed.
  if (!c_.failed_.insert(c_.order.root(info_.op)).second || info_.ended_by_checker || (t.kind == Deadlock && info_.counts_differ)) return;
  Finding f;
  f.kind = t.kind == Deadlock                                       ? FindingKind::Deadlock
           : t.kind == LaunchTimeout                                ? FindingKind::EndlessKernel
           : t.kind == Assert                                       ? FindingKind::Assert
           : t.kind == IllegalAddress || t.kind == SharedOutOfRange ? FindingKind::OutOfBounds
           : t.kind == MisalignedAddress                            ? FindingKind::Misaligned
                                                                    : FindingKind::Trap;
  f.kernel = info_.kernel;
  f.locations = {t.location};
  if (!t.location.empty()) f.lines.push_back({fmt::format("at {} in {}", f.kernel, t.location), {}});
  else f.lines.push_back({fmt::format("at {}", f.kernel), {}});
  f.lines.push_back(
      {fmt::format("by thread ({},{},{}) in block ({},{},{})", t.thread[0], t.thread[1], t.thread[2], t.block[0], t.block[1], t.block[2]),
       {}});
  add_trap(f, t);
  f.lines.push_back({"the kernel was launched", info_.stack});
  if (t.kind == Trap)
    f.mend = "such a trap is a __trap() of the program's, or grid.sync() in a kernel that cudaLaunchCooperativeKernel has not launched";
  if (t.kind == Deadlock)
    f.mend = "every thread of the block must reach the same barrier, and what a thread waits for must be done by one that can run";
  c_.report(0, std::move(f));
}

}  // namespace warpbeam::observe::check

namespace warpbeam::observe {
std::unique_ptr<Tool> make_checker() { return std::make_unique<check::Checker>(); }
}  // namespace warpbeam::observe

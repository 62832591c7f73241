// The engine: which kernels it takes, what it has compiled, how a block is run.
#include "vm/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "jit/codegen.h"
#include "jit/emitter.h"
#include "jit/meetings.h"
#include "jit/slopes.h"
#include "jit/spreads.h"
#include "jit/turns.h"
#include "vm/grid.h"
#include "vm/host_threads.h"

namespace warpbeam::jit {
namespace {

bool notes_wanted() {
  static const bool wanted = [] {
    const char* value = std::getenv("WARPBEAM_NOTES");
    return value && std::string_view(value) == "1";
  }();
  return wanted;
}

// Processor time of this thread.
double thread_ms() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

struct BlockState {
  Context context;
  std::byte *frames[32], *locals[32];
  uint32_t live[32];
};

// A kernel whose calls were replaced: what blocks run that are compiled, to their ends in the interpreter if need be.
struct Flattened {
  std::unique_ptr<vm::FunctionCode> function;
  vm::Code code;
};

class Kernel final : public vm::CompiledKernel {
 public:
  Kernel(std::unique_ptr<HostCode> code, std::unique_ptr<CompiledTables> tables, std::unique_ptr<Flattened> flattened, const vm::EngineServices& services)
      : code_(std::move(code)), tables_(std::move(tables)), flattened_(std::move(flattened)), services_(services) {}

  uint64_t run(vm::Block& block, uint64_t count) const override {
    const uint64_t whole = run_range(block, count);
    blocks_.fetch_add(std::max<uint64_t>(whole, 1), std::memory_order_relaxed);
    return whole;
  }
  bool waits_for_blocks() const override { return tables_->polls; }
  // So many blocks that little is won by compiling.
  bool often_handed_over() const { return handed_over_ > kMostHandovers && handed_over_ > blocks_ / kFewInSoMany; }

 private:
  static constexpr uint64_t kMostHandovers = 16, kFewInSoMany = 32;

  uint64_t run_range(vm::Block& block, uint64_t count) const {
    static thread_local BlockState state;
    if (flattened_) block.code = &flattened_->code;
    Context& c = state.context;
    const vm::Launch& launch = *block.launch;
    c.params = launch.params.data();
    c.shared = block.shared.data();
    c.shared_bytes = block.shared_bytes;
    c.ranges = block.ranges.data();
    c.frames = state.frames;
    c.live = state.live;
    for (size_t k = 0; k < 3; ++k) c.nctaid[k] = launch.grid[k];
    c.nsmid = launch.sm_count;
    c.dynamic_shared = launch.dynamic_shared;
    c.gridid = launch.grid_id;
    c.params_address = block.params_address;
    c.param_bytes = launch.params.size();
    c.workspace = block.grid->workspace;
    c.block = &block;
    c.block_linear = &block.linear;
    c.block_x = &block.index[0];
    c.block_smid = &block.smid;
    c.services = &services_;
    for (const RangeCells& range : tables_->ranges) fill_cells(c, range);
    c.watch = tables_->watch.get();
    if (c.watch) return run_watched(state, block, count);
    if (tables_->local && !find_local_memory(state, block)) {
      services_.prepare_warps(block);
      services_.resume(block);
      return 0;
    }
    if (tables_->in_turns) return run_in_turns(state, block, count);
    const HostCode::Function function = code_->function;
    for (uint64_t n = 0;; services_.next_block(block)) {
      begin(state, block);
      const uint64_t more = tables_->goes_on ? std::min<uint64_t>(count - n, launch.grid[0] - block.index[0]) - 1 : 0;
      c.more = more;
      const bool done = function(&c);
      n += more - c.more;
      if (!done) ++handed_over_;
      if (done && ++n < count) continue;
      if (tables_->streams) std::atomic_thread_fence(std::memory_order_seq_cst);  // stores past the caches come before what follows
      return n;
    }
  }

  // False: too much of it for places of 32 bits.
  bool find_local_memory(BlockState& state, vm::Block& block) const {
    services_.take_local_memory(block);
    Context& c = state.context;
    c.locals = state.locals;
    for (size_t w = 0; w < block.warps.size(); ++w) state.locals[w] = block.warps[w]->local(0);
    const vm::Warp& first = *block.warps[0];
    c.local_limit = first.local_limit;
    for (uint32_t l = 0; l < 32; ++l) c.lane_places[l] = l * first.local_stride;
    return first.local_stride < (1u << 25);
  }

  static void begin(BlockState& state, const vm::Block& block) {
    const uint32_t warps = (block.threads + 31) / 32;
    for (uint32_t w = 0; w < warps; ++w) state.live[w] = ~0u;
    if (block.threads % 32) state.live[warps - 1] = (1u << block.threads % 32) - 1;
    for (size_t k = 0; k < 3; ++k) state.context.ctaid[k] = block.index[k];
    state.context.smid = block.smid;
  }

  uint64_t run_in_turns(BlockState& state, vm::Block& block, uint64_t count) const {
    static thread_local Turns turns;
    const auto code = reinterpret_cast<Turns::WarpCode>(reinterpret_cast<void*>(code_->function));
    for (uint64_t n = 0;; services_.next_block(block)) {
      begin(state, block);
      const bool done = turns.run(state.context, code);
      if (!done) ++handed_over_;
      if (done && ++n < count) continue;
      if (tables_->streams) std::atomic_thread_fence(std::memory_order_seq_cst);
      return n;
    }
  }

  uint64_t run_watched(BlockState& state, vm::Block& block, uint64_t count) const {
    Context& c = state.context;
    for (uint64_t n = 0;; services_.next_block(block)) {
      if (!block.observer) services_.begin_watch(block);
      if (!block.observer || block.observer->every_instruction) {
        services_.prepare_warps(block);
        services_.resume(block);
        return n;
      }
      begin(state, block);
      std::ranges::fill(c.executed, 0);
      c.patience = block.observer->patience;
      c.words = block.observer->words;
      c.known_good = block.observer->known_good;
      c.as_rehearsed = 0;
      const uint64_t found = block.observer->findings();
      enter(c);
      block.observer->alone(true);
      bool done;
      try {
        done = code_->function(&c);
      } catch (...) {
        block.observer->alone(false);
        take_back_after_trap(c);
        block.observer->settle();
        throw;
      }
      block.observer->alone(false);
      if (!done) {
        block.observer->settle();
        ++handed_over_;
        return n;
      }
      if (c.as_rehearsed && c.known_good && block.observer->findings() == found) *c.known_good = true;
      const bool more = ++n < count;
      if (more && block.observer->goes_on_with(block.linear + 1)) continue;
      services_.end_watch(block);
      if (!more) return n;
    }
  }

  std::unique_ptr<HostCode> code_;
  std::unique_ptr<CompiledTables> tables_;
  std::unique_ptr<Flattened> flattened_;
  const vm::EngineServices& services_;
  mutable std::atomic<uint64_t> handed_over_{0}, blocks_{0};
};

// Does the instruction stand in one of the functions that a call through a register chooses among?
bool may_be_passed(const vm::Code& code, const vm::Insn& insn, const vm::EngineServices& services) {
  const auto& insns = code.function->insns;
  const auto at = &insn - insns.data();
  for (size_t k = 0; k + 1 < insns.size(); ++k) {
    if (insns[k].fn != services.pick_target) continue;
    const vm::Insn& ways = insns[k + 1];
    if (at >= ways.list[0] && at < ways.list[insns[k].imm]) return true;
  }
  return false;
}

// Why a kernel stays with the interpreter; empty: it can be compiled.
std::string refuse(const vm::Code& code, size_t param_bytes, bool watched, const vm::EngineServices& services) {
  constexpr size_t kMostInstructions = 8000;  // code generation takes seconds for more
  if (code.function->insns.size() > kMostInstructions) return "it is very long";
  for (const vm::Insn& i : code.function->insns) {
    if (i.fn == services.call && !may_be_passed(code, i, services)) return "it calls device functions that call themselves or are very long";
    if (i.fn == services.pick_target) continue;
    if (i.call && i.call->runtime) return "it calls the device runtime";
    const isa::Row* row = i.source ? i.source->form.row : nullptr;
    if (!row || i.fn == services.label) continue;
    if (i.fn == services.jump || i.fn == services.not_pred || i.fn == services.read_special || i.call) continue;
    if (watched && (row->opcode == "wgmma" || row->cls == isa::Class::Copy || (row->kind == isa::Kind::Async && row->cls == isa::Class::Barrier)))
      return "it has instructions of warp groups, bulk copies or barriers in memory, and is watched";
    if (row->kind == isa::Kind::Async && row->opcode == "barrier") return "it waits for its cluster";
    if (row->opcode == "alloca" || row->opcode == "stacksave" || row->opcode == "stackrestore") return "it changes its stack";
    const isa::Mods& m = i.mods();
    if (row->kind == isa::Kind::Memory && row->cls == isa::Class::Load && i.op[1] < 0 &&
        (m.space == isa::Space::Param || m.space == isa::Space::ParamEntry) &&
        (i.imm < 0 || static_cast<uint64_t>(i.imm) + static_cast<uint64_t>(isa::bytes_of(i.type()) * i.count) > param_bytes))
      return "it reads past its parameters";
  }
  return "";
}

// Do its warps wait for each other in other ways than all at one barrier?
bool needs_turns(const Flow& flow) {
  return std::ranges::any_of(flow.code->insns, [&](const vm::Insn& i) { return waits_for_some(i, *flow.services); });
}

// Where all come to a barrier in each round, something comes about for ever, and blocks have to take turns nevertheless.
bool meets_in(const Flow& flow, const WaitingLoop& loop) {
  for (uint32_t b = loop.head; b <= loop.latch; ++b) {
    const Node& node = flow.nodes[b];
    if (node.ends == End::Barrier || waits_for_some(flow.code->insns[node.end - 1], *flow.services)) return true;
  }
  return false;
}

// A warp that is handed over has room for so many masks of waiting lanes and parts of parameters.
std::string refuse_handovers(const Flow& flow) {
  size_t most = 0;
  for (const Node& node : flow.nodes) {
    size_t waiting = 1;  // behind the handed-over instruction
    node.waits.each([&](size_t) { ++waiting; });
    most = std::max(most, waiting);
  }
  if (most > kMostPending) return "lanes wait in very many places at once";
  const auto part = [](const Variable& v) { return v.at >= kParamKeys; };
  return std::ranges::count_if(flow.variables, part) > kMostParts ? "its calls have very many parameters" : "";
}

class FastEngine final : public vm::Engine {
 public:
  explicit FastEngine(const vm::EngineServices& services) : services_(services) {
    const char* choice = std::getenv("WARPBEAM_ENGINE");
    always_ = choice && std::string_view(choice) == "jit";
  }

  Found find(const vm::Launch& launch, bool worth_it, int64_t patience) override {
    const vm::Code& code = *launch.kernel->code;
    std::unique_lock lock(mutex_);
    auto& kept = *static_cast<vm::KeptForEngine*>(code.compiled.get());
    if (!kept.versions) kept.versions = std::make_shared<Versions>(*this);
    Versions& versions = *static_cast<Versions*>(kept.versions.get());
    Version& version = versions.by_key[vm::version_of(launch)];
    const bool unsure = version.kernel && version.kernel->often_handed_over();
    if (stopping_) return {version.kernel, false};
    if (version.state == State::Fresh) {
      if (!worth_it) return {nullptr, true};
      order(code, launch, versions, version, true);
    } else if (unsure && version.state == State::Done && version.assumes) {
      order(code, launch, versions, version, false);
    } else if (unsure && version.state == State::Done) {
      version.kernel = nullptr;
      note(code.function->display_name, "it was handed over to the interpreter too often");
    }
    const auto done = [&] { return version.state == State::Done || stopping_; };
    if (always_) done_.wait(lock, done);
    else if (patience) done_.wait_for(lock, std::chrono::nanoseconds(patience), done);
    return {version.kernel, version.state != State::Done && !stopping_};
  }

  void stop() override {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      ordered_.notify_all();
      done_.notify_all();
    }
    // What is being compiled cannot be called off, and a process that ended meanwhile would end with a fault.
    if (worker_.joinable()) worker_.join();
  }

 private:
  enum class State : uint8_t { Fresh, Ordered, Done };
  struct Version {
    std::shared_ptr<Kernel> kernel;
    bool assumes = true;
    State state = State::Fresh;
  };
  struct Versions {  // of a kernel; it goes with the program, and what was ordered for it is called off
    explicit Versions(FastEngine& e) : engine(e) {}
    ~Versions() { engine.call_off(*this); }
    FastEngine& engine;
    std::map<vm::VersionKey, Version> by_key;
  };
  struct Order {
    const vm::Code* code = nullptr;
    const vm::Program::Image* image = nullptr;
    Versions* versions = nullptr;
    Version* version = nullptr;
    std::array<uint32_t, 3> block{};
    size_t param_bytes = 0;
    vm::Wanted wanted;
    bool assume = true, cooperative = false;
  };

  void note(const std::string& name, const std::string& why) {
    if (notes_wanted()) fmt::print(stderr, "warpbeam: note: {} runs on the interpreter: {}\n", name, why);
  }

  void order(const vm::Code& code, const vm::Launch& launch, Versions& versions, Version& version, bool assume) {
    version.state = State::Ordered;
    orders_.push_back({&code, &launch.program->image(), &versions, &version, launch.block, launch.params.size(), launch.observer ? launch.observer->wanted() : vm::Wanted{}, assume, launch.cooperative});
    if (!worker_.joinable()) {
      worker_ = std::thread([this] { work(); });
      pthread_setname_np(worker_.native_handle(), vm::kCompilingThread);
    }
    ordered_.notify_one();
  }

  // What is already LLVM's may take minutes, and needs the program no more: it is let finish for nobody but the cache.
  void call_off(Versions& versions) {
    std::unique_lock lock(mutex_);
    std::erase_if(orders_, [&](const Order& o) { return o.versions == &versions; });
    done_.wait(lock, [&] { return under_way_ != &versions || translated_; });
    if (under_way_ == &versions) called_off_ = true;
  }

  // From here on the order's program may be gone.
  void leave_program() {
    std::lock_guard lock(mutex_);
    translated_ = true;
    done_.notify_all();
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      if (orders_.empty()) {
        ordered_.wait(lock);
        continue;
      }
      const Order o = orders_.front();
      orders_.pop_front();
      under_way_ = o.versions;
      lock.unlock();
      std::shared_ptr<Kernel> kernel = compile(o);
      lock.lock();
      under_way_ = nullptr;
      translated_ = false;
      if (!std::exchange(called_off_, false)) {
        o.version->kernel = std::move(kernel);
        o.version->assumes = o.assume;
        o.version->state = State::Done;
        ++ready;
      }
      done_.notify_all();
    }
  }

  std::shared_ptr<Kernel> compile(const Order& o) {
    const auto begin = std::chrono::steady_clock::now();
    const double busy = thread_ms();
    const std::string name = o.code->function->display_name;
    std::shared_ptr<Kernel> kernel;
    bool from_cache = false;
    std::string why;
    std::unique_ptr<Flattened> flattened;
    const auto calls = [&](const vm::Insn& i) { return i.fn == services_.call || i.fn == services_.call_indirect; };
    if (std::ranges::any_of(o.code->function->insns, calls)) {
      if (o.wanted.compiled) why = "it calls device functions that were not inlined, and is watched";
      else flattened = flatten(o);
    }
    const vm::Code& code = flattened ? flattened->code : *o.code;
    if (why.empty()) why = refuse(code, o.param_bytes, o.wanted.compiled, services_);
    if (why.empty()) why = build(o, code, std::move(flattened), kernel, from_cache);
    if (!why.empty()) note(name, why);
    else if (notes_wanted())
      fmt::print(stderr, "warpbeam: note: {} compiled in {:.1f} ms, {:.1f} of them busy{}\n", name,
                 std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count(), thread_ms() - busy,
                 from_cache ? ", from the cache" : "");
    return kernel;
  }

  std::unique_ptr<Flattened> flatten(const Order& o) {
    auto f = std::make_unique<Flattened>();
    f->function = services_.flatten(*o.code->function, *o.image);
    if (!f->function) return nullptr;
    f->code.function = f->function.get();
    f->code.shared_offsets = o.code->shared_offsets;
    f->code.static_shared = o.code->static_shared;
    f->code.takes_param_address = o.code->takes_param_address;
    return f;
  }

  std::string build(const Order& o, const vm::Code& code, std::unique_ptr<Flattened> flattened, std::shared_ptr<Kernel>& kernel, bool& from_cache) {
    KernelPlan plan;
    plan.code = &code;
    plan.block = o.block;
    if (std::string why = build_flow(plan.flow, *code.function, services_, o.wanted.compiled); !why.empty()) return why;
    const auto passed = [](const std::vector<Slot>& slots) {
      size_t n = 0;
      for (const Slot& s : slots) n += size_t{s.read} + size_t{s.written};
      return n;
    };
    for (size_t k = 0; k < plan.flow.slots.size(); ++k)
      if (passed(plan.flow.slots[k]) > kMostOperands && !plan.flow.is_left_call(code.function->insns[k])) return "it has an instruction with very many registers";
    const std::vector<WaitingLoop> waiting = find_waiting_loops(plan.flow, o.wanted.compiled);
    static const bool without_polls = left_out("polls");
    // A cooperative grid's blocks wait for each other, all of them, and that takes the interpreter.
    if (!waiting.empty() && (o.wanted.compiled || o.cooperative || without_polls)) return waiting[0].why(plan.flow);
    for (const WaitingLoop& l : waiting) {
      if (meets_in(plan.flow, l)) return l.why(plan.flow);
      plan.flow.nodes[l.latch].polls = true;
      plan.flow.nodes[l.latch].changes = l.changes;
    }
    std::string why;
    if (o.wanted.events) {  // told of in the interpreter's order, which under a watcher knows no such places
      for (Node& node : plan.flow.nodes) node.apart = false;
    } else if (o.block[0] * o.block[1] * o.block[2] > vm::kWarpSize) {
      const Roots roots = find_roots(plan.flow);
      if (why = find_same_work(plan.flow, roots, o.block); !why.empty()) return why;
      plan.flow.meetings = find_meetings(plan.flow, roots, o.block);
    }
    const bool some = needs_turns(plan.flow) || !waiting.empty();
    if (some && o.wanted.compiled) return "its warps wait for each other in their own ways, and it is watched";
    auto regions = some || left_out("regions") ? std::nullopt : find_regions(plan.flow, why);
    if (!regions && o.wanted.compiled) return why;
    if (!regions) {
      take_turns(plan.flow);
      regions = find_regions(plan.flow, why);
    }
    plan.regions = std::move(*regions);
    find_late_nodes(plan.flow, plan.regions);
    if (o.wanted.events) {
      if (why = find_reordering(plan.flow, plan.regions); !why.empty()) return why;
      plan.settled = find_settled(plan.flow);
    }
    plan.decides.assign(plan.flow.nodes.size(), 0);
    const bool barriers = plan.regions.size() > 1;  // or places that are taken for one
    for (const Region& r : plan.regions)
      if (r.exit_node >= 0) plan.decides[static_cast<size_t>(r.exit_node)] = plan.flow.nodes[static_cast<size_t>(r.exit_node)].ends == End::Branch;
    plan.shapes = find_shapes(plan.flow, o.block, plan.decides, barriers, o.assume);
    if (std::string why = refuse_handovers(plan.flow); !why.empty()) return why;
    for (const Node& node : plan.flow.nodes)
      if (node.ends == End::Barrier && node.last->mods().red) {
        const Source d = plan.flow.source(node.last->op[0], plan.flow.variables.empty() ? 0 : 4);
        const Shape& s = plan.shapes.variables[d.variable];
        if (d.kind != SourceKind::Variable || !s.uniform() || s.reach != Reach::Block) return "the result of a barrier is mixed with values of single threads";
      }
    plan.roots = find_roots(plan.flow);
    if (!left_out("lanes") && !o.wanted.compiled) plan.lane_loops = find_lane_loops(plan.flow, plan.shapes, plan.regions);
    plan.slopes.assign(plan.flow.variables.size(), 0);
    if (!left_out("slopes") && !o.wanted.compiled) plan.slopes = find_slopes(plan.flow, plan.shapes, plan.regions, plan.lane_loops);
    plan.spreads.assign(plan.flow.variables.size(), 0);
    if (!left_out("spreads") && !o.wanted.compiled) plan.spreads = find_spreads(plan.flow, plan.shapes, plan.regions, plan.lane_loops);
    if (!left_out("guesses") && !o.wanted.compiled && !plan.flow.in_turns) plan.guessed = guess_shapes(plan.flow, plan.shapes, plan.regions, plan.decides, barriers, plan.lane_loops);
    if (!generator_) {
      auto made = CodeGenerator::make();
      if (!made) return made.error().message;
      generator_ = std::move(*made);
    }
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = std::make_unique<llvm::Module>("kernel", *context);
    generator_->prepare(*module);
    auto tables = std::make_unique<CompiledTables>();
    tables->in_turns = plan.flow.in_turns;
    tables->polls = !waiting.empty();
    if (o.wanted.compiled) {
      tables->watch = std::make_unique<WatchTables>();
      tables->watch->wanted = o.wanted;
    }
    Emitter(*module, plan, *tables, generator_->processor()).run();
    leave_program();
    auto host = generator_->compile(*module, tables->names, o.wanted.compiled);
    if (generator_->left_in_its_midst()) static_cast<void>(module.release()), static_cast<void>(context.release()), static_cast<void>(generator_.release());
    if (!host) return host.error().message;
    from_cache = (*host)->from_cache;
    kernel = std::make_shared<Kernel>(std::move(*host), std::move(tables), std::move(flattened), services_);
    return "";
  }

  const vm::EngineServices& services_;
  std::mutex mutex_;
  std::unique_ptr<CodeGenerator> generator_;
  std::deque<Order> orders_;
  const Versions* under_way_ = nullptr;  // whose kernel is being compiled
  bool translated_ = false;              // it is in LLVM's language by now
  bool called_off_ = false;              // and nobody waits for it
  std::condition_variable ordered_, done_;
  std::thread worker_;
  bool stopping_ = false;
  bool always_ = false;  // compile whatever is launched, and wait for it
};

}  // namespace
}  // namespace warpbeam::jit

extern "C" __attribute__((visibility("default"))) warpbeam::vm::Engine* warpbeam_make_engine(const warpbeam::vm::EngineServices& services) {
  return new warpbeam::jit::FastEngine(services);
}

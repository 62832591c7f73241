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
#include "jit/implicit_sync.h"
#include "jit/runtime_stride.h"
#include "jit/uniform_plus_pattern.h"
#include "jit/waiting_block.h"
#include "vm/grid.h"
#include "vm/host_threads.h"
#include "vm/rows.h"

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

// A kernel whose calls were replaced: what blocks run that are compiled, to their ends in the interpreter if need be.
struct Flattened {
  std::unique_ptr<vm::FunctionCode> function;
  vm::Code code;
};

class Kernel final : public vm::CompiledKernel {
 public:
  Kernel(std::unique_ptr<HostCode> code, std::unique_ptr<CompiledTables> tables, std::unique_ptr<Flattened> flattened,
         const vm::EngineServices& services)
      : code_(std::move(code)), tables_(std::move(tables)), flattened_(std::move(flattened)), services_(services) {}

  uint64_t run(vm::Block& block, uint64_t count) const override {
    const uint64_t whole = run_range(block, count);
    blocks_.fetch_add(std::max<uint64_t>(whole, 1), std::memory_order_relaxed);
    return whole;
  }
  bool waits_for_blocks() const override { return tables_->polls; }
  std::string plan() const override { return tables_->plan; }
  bool in_turns() const { return tables_->in_turns; }
  // Where blocks were handed over most often; null: nowhere.
  const Handover* most_often() const {
    const Handover* most = nullptr;
    for (const Handover& h : tables_->handovers)
      if (h.times > (most ? most->times.load() : 0)) most = &h;
    return most;
  }
  std::string place_of(const Handover& h, const vm::Code& code) const {
    return services_.location(*h.at, flattened_ ? *flattened_->code.function : *code.function);
  }
  // So many blocks that little is won by compiling.
  bool often_handed_over() const { return handed_over_ > kMostHandovers && handed_over_ > blocks_ / kFewInSoMany; }

 private:
  static constexpr uint64_t kMostHandovers = 16, kFewInSoMany = 32;

  uint64_t run_range(vm::Block& block, uint64_t count) const {
    if (flattened_) block.code = &flattened_->code;
    if (block.row != tables_->row) {
      block.row = tables_->row;
      block.fresh_warps = true;
    }
    if (tables_->polls) return run_waiting(block);
    static thread_local BlockState state;
    if (!set_up(state, block)) return 0;
    if (tables_->watch) return run_watched(state, block, count);
    if (tables_->in_turns) return run_in_turns(state, block, count);
    Context& c = state.context;
    const HostCode::Function function = code_->function;
    for (uint64_t n = 0;; services_.next_block(block)) {
      begin(state, block);
      const uint64_t more = tables_->goes_on ? std::min<uint64_t>(count - n, block.launch->grid[0] - block.index[0]) - 1 : 0;
      c.next.more = more;
      const bool done = function(&c);
      n += more - c.next.more;
      if (!done) ++handed_over_;
      if (done && ++n < count) continue;
      settle_stores();
      return n;
    }
  }

  // Stores past the caches come before what follows.
  void settle_stores() const {
    if (tables_->streams) std::atomic_thread_fence(std::memory_order_seq_cst);
  }

  // What stays as it is from block to block. False: the interpreter has it.
  bool set_up(BlockState& state, vm::Block& block) const {
    Context& c = state.context;
    const vm::Launch& launch = *block.launch;
    c.params = launch.params.data();
    c.shared = block.shared.data();
    c.shared_bytes = block.shared_bytes;
    c.ranges = block.ranges.data();
    c.frames = state.frames;
    c.live = state.live;
    for (size_t k = 0; k < 3; ++k) c.numbers.nctaid[k] = launch.grid[k];
    c.numbers.nsmid = launch.sm_count;
    c.numbers.dynamic_shared = launch.dynamic_shared;
    c.numbers.gridid = launch.grid_id;
    c.numbers.params_address = block.params_address;
    c.numbers.param_bytes = launch.params.size();
    c.numbers.workspace = block.grid->workspace;
    c.block = &block;
    c.next.block_linear = &block.linear;
    c.next.block_x = &block.index[0];
    c.next.block_smid = &block.smid;
    c.services = &services_;
    for (const RangeCells& range : tables_->ranges) fill_cells(c, range);
    c.watched.watch = tables_->watch.get();
    if (c.watched.watch || !tables_->local || find_local_memory(state, block)) return true;
    services_.prepare_warps(block);
    services_.resume(block);
    return false;
  }

  // A block that may wait for others: it is run alone, on a stack of its own, and may be left in the middle.
  uint64_t run_waiting(vm::Block& block) const {
    static thread_local std::unique_ptr<WaitingBlock, GiveBack> kept;
    std::unique_ptr<WaitingBlock, GiveBack> one = std::move(kept);
    if (!one) one.reset(WaitingBlock::take());
    if (!set_up(one->state(), block)) return 0;
    begin(one->state(), block);
    const auto code = reinterpret_cast<void*>(code_->function);
    const vm::Went went = one->begin(block, tables_->in_turns ? nullptr : code_->function,
                                     tables_->in_turns ? reinterpret_cast<Turns::WarpCode>(code) : nullptr);
    if (went == vm::Went::Stopped) block.stopped = std::make_shared<Stopped>(*this, std::move(one));
    else kept = std::move(one), note_end(went);
    return went == vm::Went::Through;
  }

  void note_end(vm::Went went) const {
    if (went == vm::Went::HandedOver) ++handed_over_;
    settle_stores();
  }

  struct GiveBack {
    void operator()(WaitingBlock* one) const { WaitingBlock::give_back(one); }
  };
  class Stopped final : public vm::StoppedBlock {
   public:
    Stopped(const Kernel& kernel, std::unique_ptr<WaitingBlock, GiveBack> block) : kernel_(kernel), block_(std::move(block)) {}
    vm::Went go_on() override {
      const vm::Went went = block_->go_on();
      if (went != vm::Went::Stopped) kernel_.note_end(went);
      return went;
    }

   private:
    const Kernel& kernel_;
    std::unique_ptr<WaitingBlock, GiveBack> block_;
  };

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
    const uint32_t warps = block.warps_wanted();
    for (uint32_t w = 0; w < warps; ++w) state.live[w] = block.row ? block.present(w) : ~0u;
    if (block.threads % 32 && !block.row) state.live[warps - 1] = (1u << block.threads % 32) - 1;
    for (size_t k = 0; k < 3; ++k) state.context.numbers.ctaid[k] = block.index[k];
    state.context.numbers.smid = block.smid;
  }

  uint64_t run_in_turns(BlockState& state, vm::Block& block, uint64_t count) const {
    static thread_local Turns turns;
    const auto code = reinterpret_cast<Turns::WarpCode>(reinterpret_cast<void*>(code_->function));
    for (uint64_t n = 0;; services_.next_block(block)) {
      begin(state, block);
      const bool done = turns.run(state.context, code);
      if (!done) ++handed_over_;
      if (done && ++n < count) continue;
      settle_stores();
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
      std::ranges::fill(c.watched.executed, 0);
      c.watched.patience = block.observer->patience;
      c.watched.words = block.observer->words;
      c.unrolled.known_good = block.observer->known_good;
      c.unrolled.as_unrolled = 0;
      const uint64_t found = block.observer->findings();
      enter(c);
      const bool sizes = block.observer->sizes;
      const uint64_t before = sizes ? executed_since_enter(c) : 0;
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
      if (sizes) block.observer->ran(block.linear, executed_since_enter(c) - before);
      if (c.unrolled.as_unrolled && c.unrolled.known_good && block.observer->findings() == found) *c.unrolled.known_good = true;
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
      order(code, launch, versions, version);
    } else if (unsure && version.state == State::Done) {
      look_again(code, launch, versions, version);
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
    Wraps wraps = Wraps::Nothing;  // what it was compiled for
    bool in_turns = false;
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
    Wraps wraps = Wraps::Nothing;
    bool in_turns = false;
  };

  void note(const std::string& name, const std::string& why) {
    if (notes_wanted()) fmt::print(stderr, "warpbeam: note: {} runs on the interpreter: {}\n", name, why);
  }

  // A kernel whose blocks were handed over too often is compiled anew without what was counted on in vain, as long as there is something.
  void look_again(const vm::Code& code, const vm::Launch& launch, Versions& versions, Version& version) {
    const Handover* most = version.kernel->most_often();
    const std::string why =
        most ? fmt::format("{} ({})", in_words(most->why), version.kernel->place_of(*most, code)) : "many blocks were handed over";
    const bool apart = most && (most->why == Why::Warps || most->why == Why::Waits) && !version.kernel->in_turns() && !launch.observer;
    if (apart) version.in_turns = true;
    else if (version.wraps == Wraps::Nothing && most && most->why == Why::Wraps) version.wraps = Wraps::Differences;
    else if (version.wraps != Wraps::Anything) version.wraps = Wraps::Anything;
    else {
      version.kernel = nullptr;
      return note(code.function->display_name, fmt::format("it was handed over too often: {}", why));
    }
    if (notes_wanted())
      fmt::print(stderr, "warpbeam: note: {} is compiled anew{}: {}\n", code.function->display_name,
                 apart ? " for warps that wait at different places" : "", why);
    order(code, launch, versions, version);
  }

  void order(const vm::Code& code, const vm::Launch& launch, Versions& versions, Version& version) {
    version.state = State::Ordered;
    orders_.push_back({&code, &launch.program->image(), &versions, &version, launch.block, launch.params.size(),
                       launch.observer ? launch.observer->wanted() : vm::Wanted{}, version.wraps, version.in_turns});
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
    const auto calls = [&](const vm::Insn& i) { return i.step == vm::Step::Call || i.step == vm::Step::CallIndirect; };
    if (std::ranges::any_of(o.code->function->insns, calls)) {
      if (o.wanted.compiled) why = "it calls device functions that were not inlined, and is watched";
      else flattened = flatten(o);
    }
    const vm::Code& code = flattened ? flattened->code : *o.code;
    if (why.empty()) why = build(o, code, std::move(flattened), kernel, from_cache);
    if (!why.empty()) note(name, why);
    else if (static const char* show = std::getenv("WARPBEAM_JIT_SHOW"); show && std::string_view(show) == "plan")
      fmt::print(stderr, "warpbeam: plan: {} in blocks of {}x{}x{}: {}\n", name, o.block[0], o.block[1], o.block[2], kernel->plan());
    if (why.empty() && notes_wanted())
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

  std::string build(const Order& o, const vm::Code& code, std::unique_ptr<Flattened> flattened, std::shared_ptr<Kernel>& kernel,
                    bool& from_cache) {
    KernelPlan plan;
    if (std::string why = make_plan(plan, {&code, &services_, o.block, o.param_bytes, o.wanted, o.wraps, o.in_turns}); !why.empty())
      return why;
    if (!generator_) {
      auto made = CodeGenerator::make();
      if (!made) return made.error().message;
      generator_ = std::move(*made);
    }
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = std::make_unique<llvm::Module>("kernel", *context);
    generator_->prepare(*module);
    auto tables = std::make_unique<CompiledTables>();
    tables->in_turns = plan.flow.in_turns && !plan.flow.stops;
    tables->polls = plan.polls;
    if (o.wanted.compiled) {
      tables->watch = std::make_unique<WatchTables>();
      tables->watch->wanted = o.wanted;
    }
    Writing writing(*module, tables->names, generator_->processor());
    Emitter(writing, plan, *tables, generator_->processor()).run();
    leave_program();
    auto host = generator_->compile(*module, tables->names, o.wanted.compiled);
    if (generator_->left_in_its_midst())
      static_cast<void>(module.release()), static_cast<void>(context.release()), static_cast<void>(generator_.release());
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
  bool translated_ = false;  // it is in LLVM's language by now
  bool called_off_ = false;  // and nobody waits for it
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

#include "cuda/streams/ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "cuda/graphs/capture.h"
#include "cuda/devices/context.h"
#include "cuda/library_calls.h"
#include "cuda/thread_state.h"
#include "cuda/traps.h"
#include "vm/grid.h"
#include "vm/host_threads.h"
#include "observe/tool.h"

namespace warpbeam::cuda {

namespace {

// Below this a copy takes less time than waking another thread for it.
constexpr size_t kInlineBytes = 128 << 10;

// A thread that runs things in order, started at first use. Host functions have one, so that they never hold up a
// thread that runs blocks; large copies have another, so that they overlap with kernels.
class Worker {
 public:
  // With the program's own functions, the thread may do what any of the program's may.
  explicit Worker(bool runs_program = false) : runs_program_(runs_program) {}
  void post(std::function<void()> job) {
    std::lock_guard lock(mutex_);
    if (!started_) {
      std::thread([this] {
        std::optional<vm::OwnThread> own;
        if (!runs_program_) own.emplace();
        run();
      }).detach();
      started_ = true;
    }
    jobs_.push_back(std::move(job));
    wake_.notify_one();
  }

 private:
  void run() {
    for (;;) {
      std::function<void()> job;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return !jobs_.empty(); });
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      job();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  const bool runs_program_;
  bool started_ = false;
};

// Never destroyed: their threads end with the process.
Worker& copy_worker() {
  static auto* worker = new Worker;
  return *worker;
}

Worker& library_worker() {
  static auto* worker = new Worker;
  return *worker;
}

Worker& host_worker() {
  static auto* worker = new Worker(true);
  return *worker;
}

// A thread that asks conditions until they hold, started at first use.
class Poller {
 public:
  struct Question {
    std::function<bool()> ready;
    std::function<void()> then;
  };

  void post(Question question) {
    std::lock_guard lock(mutex_);
    if (!started_) {
      std::thread([this] {
        const vm::OwnThread own;
        run();
      }).detach();
      started_ = true;
    }
    fresh_.push_back(std::move(question));
    wake_.notify_one();
  }

 private:
  void run() {
    std::vector<Question> open;
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        if (open.empty()) wake_.wait(lock, [&] { return !fresh_.empty(); });
        std::ranges::move(fresh_, std::back_inserter(open));
        fresh_.clear();
      }
      std::vector<Question> answered;
      for (auto it = open.begin(); it != open.end();)
        if (it->ready()) {
          answered.push_back(std::move(*it));
          it = open.erase(it);
        } else {
          ++it;
        }
      for (Question& question : answered) question.then();
      if (answered.empty()) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Question> fresh_;
  bool started_ = false;
};

Poller& poller() {
  static auto* poller = new Poller;
  return *poller;
}

observe::Bytes bytes_of(const Region& region, size_t width, size_t rows, size_t planes) {
  return {reinterpret_cast<uint64_t>(region.base), width, region.pitch, rows, region.plane, planes};
}

void tell(observe::Tool& tool, uint64_t id, Context& context, const Stream& stream, const Work& work, std::span<const TaskRef> after) {
  observe::Operation operation;
  operation.id = id;
  operation.kind = std::holds_alternative<SpanWork>(work)      ? observe::OperationKind::Internal
                   : std::holds_alternative<LibraryWork>(work) ? observe::OperationKind::Library
                                                               : static_cast<observe::OperationKind>(work.index());
  operation.device = context.ordinal;
  operation.memory = &context.memory;
  operation.stream = stream.id;
  operation.priority = stream.priority;
  operation.queue = static_cast<observe::Operation::Queue>(stream.queue.kind());
  for (const TaskRef& task : after) {
    auto* other = dynamic_cast<const Op*>(task.get());
    operation.after.push_back(other ? other->id : 0);
  }
  if (auto* copy = std::get_if<CopyWork>(&work)) {
    operation.to = bytes_of(copy->to, copy->width, copy->height, copy->depth);
    operation.from = bytes_of(copy->from, copy->width, copy->height, copy->depth);
  } else if (auto* fill = std::get_if<FillWork>(&work)) {
    operation.to = bytes_of(fill->to, fill->width * fill->element, fill->height, fill->depth);
  } else if (auto* library = std::get_if<LibraryWork>(&work)) {
    operation.name = library->name;
    operation.effort = library->effort;
  } else if (auto* span = std::get_if<SpanWork>(&work)) {
    operation.inner = span->inner;
  } else if (auto* launch = std::get_if<LaunchWork>(&work)) {
    operation.function = launch->function;
  } else if (auto* record = std::get_if<RecordWork>(&work)) {
    operation.timed = record->timed;
  }
  tool.queued(operation);
}

thread_local const Stream* running_in = nullptr;  // while this thread runs internal work of the stream
thread_local const Op* to_settle = nullptr;       // by this thread, as soon as it has been submitted

}  // namespace

OpRef enqueue(Context& context, const std::shared_ptr<Stream>& stream, Work work, std::span<const TaskRef> after) {
  if (capture_work(context, *stream, work, after)) return nullptr;
  auto op = std::allocate_shared<Op>(Recycled<Op>(), context, stream, std::move(work));
  if (observe::Tool* tool = observe::tool()) tell(*tool, op->id, context, *stream, op->work(), after);
  // What internal work puts behind itself (the next round of a graph's loop) begins only after it.
  observe::Tool* tool = observe::tool();
  const bool settles = tool && tool->runs_at_once() && running_in != stream.get();
  const Op* outer = std::exchange(to_settle, settles ? op.get() : nullptr);
  Scheduler::instance().submit(op, stream->queue, after);
  to_settle = outer;
  if (settles) op->settle();
  return op;
}

void run_on_this_thread(Context& context, const Stream& stream, const CopyWork& copy) {
  observe::Tool* tool = observe::tool();
  if (!tool) return copy.run();
  const uint64_t id = Op::next_id();
  tell(*tool, id, context, stream, Work(copy), {});
  tool->began(id);
  copy.run();
  tool->ended(id);
  tool->waited(observe::WaitKind::Operation, id);
}

size_t Op::bytes_moved(const Work& work) {
  if (auto* copy = std::get_if<CopyWork>(&work)) return copy->bytes();
  if (auto* fill = std::get_if<FillWork>(&work)) return fill->bytes();
  if (auto* library = std::get_if<LibraryWork>(&work)) return library->effort;
  return 0;
}

void Op::start() try {
  if (observe::Tool* tool = observe::tool()) tool->began(id);
  if (is<LaunchWork>()) return context_.failure() == cudaSuccess ? launch() : end();
  if (is<HostWork>()) {
    host_worker().post([self = shared_from_this(), this] { run_now(); });
    return;
  }
  if (polls_) {
    poller().post({[this] { return context_.failure() != cudaSuccess || std::get<WaitWork>(work_).ready(); },
                   [self = shared_from_this(), this] { end(); }});
    return;
  }
  if (is<SpanWork>()) {
    auto span = std::get<SpanWork>(work_);
    {
      std::lock_guard lock(grid_mutex_);
      help_ = span.help;
    }
    return span.begin([self = shared_from_this(), this] {
      {
        std::lock_guard lock(grid_mutex_);
        help_ = nullptr;
      }
      end();
    });
  }
  if (bytes_ <= kInlineBytes) {
    if (claim()) run_now();
    return;
  }
  (is<LibraryWork>() ? library_worker() : copy_worker()).post([self = shared_from_this(), this] {
    if (claim()) run_now();
  });
} catch (const std::system_error& failure) {  // nobody may wait for what no thread will do
  context_.fail(cudaErrorOperatingSystem,
                fmt::format("========= the host gives this process no thread for the device's work: {}\n", failure.what()));
  self_.reset();
  end();
}

void Op::help() {
  if (is<LaunchWork>()) {
    std::shared_ptr<vm::Grid> grid;
    {
      std::lock_guard lock(grid_mutex_);
      grid = grid_;
    }
    if (grid) vm::Machine::instance().help(*grid);
    return;
  }
  if (is<SpanWork>()) {
    std::function<void()> help;
    {
      std::lock_guard lock(grid_mutex_);
      help = help_;
    }
    if (help) help();
    return;
  }
  if (!is<HostWork>() && !polls_ && claim()) run_now();
}

void Op::run_now() {
  cudaError_t failure = context_.failure();
  if (auto* host = std::get_if<HostWork>(&work_)) {
    if (failure == cudaSuccess || host->also_after_failure) {
      ThreadState& thread = this_thread();
      observe::Tool* tool = observe::tool();
      thread.in_host_function = true;
      if (tool) tool->host_function(id, true);
      host->call(failure);
      if (tool) tool->host_function(id, false);
      thread.in_host_function = false;
    }
  } else if (auto* internal = std::get_if<InternalWork>(&work_)) {
    const Stream* outer = std::exchange(running_in, stream_.get());
    internal->call();
    running_in = outer;
  } else if (failure == cudaSuccess) {
    if (auto* copy = std::get_if<CopyWork>(&work_)) copy->run();
    if (auto* fill = std::get_if<FillWork>(&work_)) fill->run();
    if (auto* library = std::get_if<LibraryWork>(&work_)) run_library_work(context_, id, *library);
  }
  end();
}

// Waits until the work is done, or cannot go on without what the host or another stream has yet to do.
void Op::settle() {
  constexpr auto kPatience = std::chrono::milliseconds(300);
  std::optional<Clock::time_point> begun;
  while (!done()) {
    std::shared_ptr<vm::Grid> grid;
    {
      std::lock_guard lock(grid_mutex_);
      grid = grid_;
    }
    if (grid) {
      vm::Machine::instance().help(*grid);
      if (grid->stalled_for(kPatience)) return;
      if (grid->waits_for_turn()) continue;
    } else if (!begun) {
      begun = Clock::now();
    } else if (Clock::now() - *begun > kPatience) {
      return;
    }
    if (!done()) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

void Op::launch() {
  auto& launch = std::get<LaunchWork>(work_).launch;  // work_ itself stays until end(): it keeps the code
  if (observe::Tool* tool = observe::tool()) launch.observer = tool->launch(launch, context_.model, id);
  launch.helped = to_settle == this;
  self_ = shared_from_this();
  auto done = [this](vm::LaunchResult&& result) {
    context_.keep_output(std::move(result.printed));
    if (result.trap.kind != vm::TrapKind::None) context_.fail(error_of(result.trap.kind), result.trap.paragraph());
    const TaskRef self = std::move(self_);
    {
      std::lock_guard lock(grid_mutex_);
      grid_.reset();
      claimed_.store(true, std::memory_order_release);
    }
    end();
  };
  const TaskRef self = self_;  // it may be done before it is known what is done
  auto grid = vm::Machine::instance().start(std::move(launch), std::move(done));
  std::lock_guard lock(grid_mutex_);
  if (!claimed_.load(std::memory_order_acquire)) grid_ = std::move(grid);
}

void Op::end() {
  ended_ = Clock::now();
  if (observe::Tool* tool = observe::tool()) tool->ended(id);
  work_ = WaitWork{};  // staged copies and captured objects go now, not when the last event forgets the Op
  Scheduler::instance().finish(*this);
}

}  // namespace warpbeam::cuda

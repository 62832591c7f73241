#include "timing/device/device_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "timing/rates.h"

namespace warpbeam::timing::device {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kInstant = 0.01;      // nanoseconds: earlier and later than that are the same; a double tells them apart for hours
constexpr double kNothing = 1e-9;      // of the multiprocessors
constexpr double kRemembered = 1e5;    // nanoseconds for which what is done is known
constexpr double kReadyMemory = 450;   // nanoseconds more than a kernel, of a copy or a fill within the device that was made ready
constexpr double kRowOfCopies = 2e6;    // nanoseconds that an engine stays with a stream; an assumption (1.3 ms were seen on an H200)
constexpr double kKeepsEngine = 3e3;    // nanoseconds that it waits for the stream's next copy, with what lies between
constexpr double kGraphFront = 0.7;     // of the time between the beginnings of two kernels, in a graph
constexpr double kPatience = 1.7e4;     // nanoseconds, until the thread that calls host functions goes to sleep
constexpr size_t kQueuesOfPriority = 32;

bool is_kernel(const Operation& o) { return o.kind == Kind::Kernel || o.kind == Kind::Memory; }

// Of a kernel: the waves in which its blocks run, and how much of the device it can use in each but the last, and in that.
double waves(const Operation& o) { return o.at_once ? std::ceil(static_cast<double>(o.blocks) / static_cast<double>(o.at_once)) : 1; }

// Of the wave that runs: where the kernel is then.
double end_of_wave(const Operation& o, double progress) {
  if (o.nanoseconds == kUnknown) return 0;
  const double each = o.nanoseconds / waves(o);
  return std::min(o.nanoseconds, each * (std::floor((progress + kInstant) / each) + 1));
}

double need(const Operation& o, double progress) {
  if (o.kind == Kind::Memory || !o.at_once) return 0;
  const double all = waves(o);
  const auto last = static_cast<double>((o.blocks - 1) % o.at_once + 1) / static_cast<double>(o.at_once);
  if (all <= 1 || (o.nanoseconds != kUnknown && progress >= o.nanoseconds * (all - 1) / all - kInstant)) return last;
  return 1;
}

}  // namespace

DeviceModel::DeviceModel(const model::Device& device, int connections, Done done)
    : device_(&device), link_(&model::link_of(device)), connections_(std::max(1, connections)), done_(std::move(done)) {
  engines_.resize(static_cast<size_t>(std::max(0, device.copy_engines.value_or(2))));
  kept_.resize(engines_.size());
  ready_saves_ = std::max(0.0, rates_of(device).launch_ns - link_->ready_launch);
  if (single_queue()) queues_.resize(1 + std::min<size_t>(2, engines_.size()));
}

// Since Hyper-Q streams take the queues in turn, those of another priority other queues.
size_t DeviceModel::queue_of(const Operation& o) {
  if (single_queue()) return o.kind != Kind::Copy || engines_.empty() ? 0 : 1 + engine_of(o);
  if (auto known = stream_queue_.find(o.stream); known != stream_queue_.end()) return known->second;
  // Branches of graphs do not depend on how many connections the program has asked for.
  const size_t count = static_cast<size_t>(o.in_graph ? device_->hardware_queues : std::min(device_->hardware_queues, connections_));
  size_t& turn = turn_[o.priority];
  const size_t urgency = static_cast<size_t>(std::max(0, -o.priority));
  const size_t queue = urgency * kQueuesOfPriority + turn++ % count;
  if (queues_.size() <= queue) queues_.resize(queue + 1);
  return stream_queue_[o.stream] = queue;
}

size_t DeviceModel::engine_of(const Operation& o) const {
  if (engines_.size() < 2) return 0;
  if (o.way == Way::Peer) return engines_.size() > 2 && !single_queue() ? 2 : 0;
  return o.way == Way::ToHost ? 1 : 0;
}

double DeviceModel::gap(const Operation& from, const Operation& to) const {
  if (to.kind == Kind::Record) return is_kernel(from) || from.kind == Kind::Copy ? link_->kernel_event : link_->event;
  if (to.kind == Kind::HostFunction) {
    if (from.kind == Kind::HostFunction) return 0;  // the thread that calls them is awake
    return now_ - std::max(to.submitted, functions_since_) > kPatience ? link_->host_function_behind : link_->host_function;
  }
  if (from.kind == Kind::HostFunction) return to.kind == Kind::Mark ? link_->wait_gap : link_->host_function_end;
  if (from.stream != to.stream) return from.kind == Kind::Record ? link_->wait_gap : link_->kernel_gap;
  if (to.kind == Kind::Mark) return 0;
  const bool copies = from.kind == Kind::Copy && to.kind == Kind::Copy;
  if (copies && from.way == to.way) return link_->copies_gap;
  const auto is_elsewhere = [](const Operation& o) { return o.kind == Kind::Copy && !o.in_commands; };
  if (is_elsewhere(from) || is_elsewhere(to)) return link_->copy_gap;  // another engine's
  if (to.in_graph && from.in_graph) return link_->graph_gap;
  // What the kernel before the event left to be waited for.
  if (from.kind == Kind::Record) return std::max(0.0, link_->kernel_gap - link_->event);
  return link_->kernel_gap;
}

void DeviceModel::submit(Operation operation) {
  forget();
  const uint64_t id = operation.id;
  WB_ASSERT(id != 0 && !live_.contains(id));
  Live& one = live_[id];
  one.operation = std::move(operation);
  const Operation& o = one.operation;
  one.ready = std::max(now_, o.submitted);
  if (o.kind == Kind::HostFunction) one.ready += link_->host_function;
  for (uint64_t other_id : o.after) {
    auto found = live_.find(other_id);
    if (found == live_.end() || other_id == id) continue;
    Live& other = found->second;
    if (other.done) {
      if (const double then = other.times.end + gap(other.operation, o); then > one.ready) {
        one.ready = then;
        one.times.waited = other.operation.stream == o.stream ? Waited::Stream : Waited::OtherStream;
        one.times.behind = other_id;
      }
      continue;
    }
    ++one.open;
    other.before.push_back(id);
  }
  ++in_stream_[o.stream];
  if (!o.in_graph) ++alone_[o.stream];
  if (!comes_through_queue(o)) {
    if (!one.open) copies_.push_back(id);
    return;
  }
  // Before Hyper-Q what takes no time is no entry of a queue.
  if (single_queue() && !is_kernel(o) && o.kind != Kind::Copy) {
    others_.push_back(id);
    return;
  }
  queues_[queue_of(o)].push_back(id);
}

void DeviceModel::set_duration(uint64_t id, double nanoseconds) {
  auto found = live_.find(id);
  if (found != live_.end() && !found->second.done) found->second.operation.nanoseconds = std::max(0.0, nanoseconds);
}

void DeviceModel::tell(uint64_t id, double nanoseconds, double memory_share, uint64_t blocks, uint64_t at_once) {
  auto found = live_.find(id);
  if (found == live_.end() || found->second.done) return;
  Operation& o = found->second.operation;
  o.nanoseconds = std::max(0.0, nanoseconds);
  o.nanoseconds = std::max(o.nanoseconds, found->second.least);
  o.memory_share = memory_share;
  o.blocks = std::max<uint64_t>(1, blocks);
  o.at_once = std::max<uint64_t>(1, at_once);
}

bool DeviceModel::is_done(uint64_t id) const {
  auto found = live_.find(id);
  return found == live_.end() || found->second.done;
}

size_t DeviceModel::unfinished(uint64_t stream) const {
  auto found = alone_.find(stream);
  return found == alone_.end() ? 0 : found->second;
}

void DeviceModel::advance(double until) {
  while (unfinished()) {
    settle();
    const double then = next();
    if (then > until || then == kNever) break;
    move(then);
  }
  if (until > now_) move(until);
}

// Goes on until `over` has an answer.
template <class Over>
std::optional<double> DeviceModel::run_until(Over&& over) {
  for (;;) {
    settle();
    if (const std::optional<double> at = over()) return at;
    const double then = next();
    if (then == kNever) return std::nullopt;
    move(then);
  }
}

std::optional<double> DeviceModel::finish(uint64_t id) {
  return run_until([&]() -> std::optional<double> {
    auto found = live_.find(id);
    if (found == live_.end()) return 0;
    return found->second.done ? std::optional(found->second.times.end) : std::nullopt;
  });
}

std::optional<double> DeviceModel::begin(uint64_t id) {
  return run_until([&]() -> std::optional<double> {
    auto found = live_.find(id);
    if (found == live_.end()) return 0;
    return found->second.times.begin != kUnknown ? std::optional(found->second.times.begin) : std::nullopt;
  });
}

std::optional<double> DeviceModel::drain(uint64_t stream, size_t left) {
  return run_until([&] { return unfinished(stream) <= left ? std::optional(now_) : std::nullopt; });
}

DeviceModel DeviceModel::look_ahead(Done done) const {
  DeviceModel copy = *this;
  copy.done_ = std::move(done);
  return copy;
}

void DeviceModel::run_dry() {
  run_until([] { return std::optional<double>(); });
}

double DeviceModel::part_beside(const std::vector<Others::Span>& others) const {
  const auto now = [&](const Others::Span& span) { return span.begin <= now_ + kInstant && span.end > now_ + kInstant; };
  return 1 / (1 + static_cast<double>(std::ranges::count_if(others, now)));
}

// All that happens at this moment.
void DeviceModel::settle() {
  for (bool any = true; any;) {
    share_out();
    any = end_what_is_over();
    any = leave_queues() || any;
    any = start_copies() || any;
  }
}

bool DeviceModel::may_leave(const Live& one) const {
  if (one.open || one.ready > now_ + kInstant) return false;
  if (!is_kernel(one.operation) && (one.operation.kind != Kind::Copy || !engines_.empty())) return true;
  if (kernels_.size() >= static_cast<size_t>(std::max(1, device_->concurrent_kernels))) return false;
  // One queue: blocks of the next kernel are handed out when all of the last one's have been.
  return front_free_ <= now_ + kInstant && (!single_queue() || free_share_ > kNothing || kernels_.empty());
}

bool DeviceModel::leave_queues() {
  bool any = false;
  std::erase_if(copies_, [&](uint64_t id) {
    Live& one = live(id);
    if (one.ready > now_ + kInstant) return false;
    one.left = now_;
    if (one.operation.by_hand) {
      others_.push_back(id);
    } else {
      Ids& engine = engines_[engine_of(one.operation)];
      Kept& kept = kept_[engine_of(one.operation)];
      const bool next = kept.copy == id && (engine.empty() || !live(engine.front()).running);
      engine.insert(next ? engine.begin() : engine.end(), id);
      if (kept.copy == id) kept = {};
    }
    return any = true;
  });
  for (Ids& queue : queues_)
    while (!queue.empty()) {
      const uint64_t id = queue.front();
      Live& one = live(id);
      if (!may_leave(one)) break;
      queue.pop_front();
      one.left = now_;
      one.times.queue = static_cast<int>(&queue - queues_.data());
      any = true;
      // What is behind it was in nobody's way but for this one.
      if (!queue.empty())
        if (Live& next = live(queue.front()); !next.open && next.ready < now_ - kInstant && next.operation.stream != one.operation.stream)
          next.ready = now_, next.times.waited = Waited::Queue, next.times.behind = id;
      if (is_kernel(one.operation) || (one.operation.kind == Kind::Copy && engines_.empty())) {
        const auto later = [&](uint64_t other) { return live(other).operation.priority > one.operation.priority; };
        kernels_.insert(std::find_if(kernels_.begin(), kernels_.end(), later), id);
        if (one.operation.kind == Kind::Kernel) front_free_ = now_ + link_->front * (one.operation.in_graph ? kGraphFront : 1);
        share_out();
      } else if (one.operation.kind == Kind::Copy) {
        engines_[engine_of(one.operation)].push_back(id);
      } else {
        others_.push_back(id);
      }
    }
  return any;
}

void DeviceModel::start(Live& one) {
  one.running = true;
  one.times.begin = now_;
  // What is ready when the kernel before it ends, or when there is room, has been launched meanwhile.
  const bool kernel = one.operation.kind == Kind::Kernel;
  // Small fills are made ready no sooner.
  if (!is_kernel(one.operation) || (!kernel && one.operation.nanoseconds < ready_saves_ + link_->ready_launch)) return;
  if (kernel && one.times.waited == Waited::Multiprocessors) {
    one.progress = ready_saves_;
    if (one.operation.nanoseconds != kUnknown) one.progress = std::min(one.progress, one.operation.nanoseconds / 2);
    return;
  }
  const auto found = live_.find(one.times.behind);
  const Operation* before = found == live_.end() ? nullptr : &found->second.operation;
  const bool graph = one.operation.in_graph && (one.times.waited == Waited::Front || (before && is_kernel(*before) && before->in_graph));
  const bool row = before && kernel && before->kind == Kind::Kernel && one.ready >= now_ - kInstant;
  if (!graph && !row) return;
  one.progress = graph ? ready_saves_ : link_->row_saves;
  const double least = graph ? link_->ready_launch + (kernel ? 0 : kReadyMemory) : 0;
  if (one.operation.nanoseconds != kUnknown) one.progress = std::max(0.0, std::min(one.progress, one.operation.nanoseconds - least));
  one.least = one.progress + least;
}

bool DeviceModel::start_copies() {
  bool any = false;
  for (size_t e = 0; e < engines_.size(); ++e)
    if (const Ids& engine = engines_[e]; !engine.empty() && !live(engine.front()).running && kept_[e].until <= now_ + kInstant) {
      Live& one = live(engine.front());
      one.times.engine = static_cast<int>(e);
      if (one.ready < now_ - kInstant) one.times.waited = Waited::Engine;
      if (one.row_begun == kUnknown) one.row_begun = now_;
      start(one);
      slow_beside_others(one);
      any = true;
    }
  return any;
}

// A copy begins later where another one is under way.
void DeviceModel::slow_beside_others(Live& copy) const {
  for (const Ids& engine : engines_)
    if (!engine.empty() && &live_.at(engine.front()) != &copy && live_.at(engine.front()).running) copy.progress = -link_->copy_beside;
}

// How fast everything goes from now on.
void DeviceModel::share_out() {
  free_share_ = 1;
  double memory = 0;
  // Blocks that run come to their end, however urgent others are: until its wave is over a kernel keeps what it has.
  const auto keeps = [](const Live& one) {
    const Operation& o = one.operation;
    return one.running && o.kind == Kind::Kernel && o.nanoseconds != kUnknown && one.progress < one.wave_ends - kInstant;
  };
  double kept = 0;
  for (uint64_t id : kernels_) {
    Live& one = live(id);
    if (one.running && one.progress > one.wave_ends + kInstant) one.wave_ends = end_of_wave(one.operation, one.progress);
    if (keeps(one)) kept += one.share;
  }
  for (uint64_t id : kernels_) {
    Live& one = live(id);
    const Operation& o = one.operation;
    if (keeps(one)) kept -= one.share;
    // A copy that has no engine of its own takes the whole device.
    const double wanted = o.kind == Kind::Copy ? 1 : need(o, one.progress);
    if (!keeps(one)) one.wave_ends = end_of_wave(o, one.progress);
    one.share = std::min(wanted, std::max(0.0, free_share_ - kept));
    if (one.share < kNothing && wanted > 0) one.share = 0;
    free_share_ -= one.share;
    one.rate = wanted > 0 ? one.share / wanted : 1;
    if (!one.running && one.rate > 0) {
      // What came to the head of its queue only now could not have begun sooner than the front lets it.
      const double patience = one.times.waited == Waited::Queue ? link_->front : 0;
      if (one.left < now_ - kInstant || (single_queue() && one.ready < now_ - patience - kInstant))
        one.times.waited = Waited::Multiprocessors, one.times.behind = kernels_.front() == id ? 0 : kernels_.front();
      else if (one.ready < now_ - kInstant && one.times.waited != Waited::Queue) one.times.waited = Waited::Front, one.times.behind = 0;
      start(one);
    }
    memory += o.memory_share * one.rate;
  }
  const double part = part_beside(beside_.kernels);
  for (uint64_t id : kernels_) {
    Live& one = live(id);
    if (memory > 1 && one.operation.memory_share > 0) one.rate /= 1 - one.operation.memory_share + one.operation.memory_share * memory;
    one.rate *= part;
  }
  bool ways[3] = {};
  for (const Ids& engine : engines_)
    if (!engine.empty() && live(engine.front()).running) ways[static_cast<size_t>(live(engine.front()).operation.way)] = true;
  for (const Ids& engine : engines_)
    if (!engine.empty() && live(engine.front()).running) {
      Live& one = live(engine.front());
      one.rate = ways[0] && ways[1] ? link_->both_ways : 1;
      if (one.operation.way != Way::Peer) one.rate *= part_beside(one.operation.way == Way::ToHost ? beside_.to_host : beside_.to_device);
    }
}

bool DeviceModel::end_what_is_over() {
  std::vector<uint64_t> over;
  const auto finished = [&](uint64_t id) {
    const Live& one = live(id);
    return one.running && one.operation.nanoseconds != kUnknown && one.progress >= one.operation.nanoseconds - kInstant;
  };
  std::erase_if(kernels_, [&](uint64_t id) { return finished(id) && (over.push_back(id), true); });
  for (Ids& engine : engines_)
    if (!engine.empty() && finished(engine.front())) over.push_back(engine.front()), engine.pop_front();
  std::erase_if(others_, [&](uint64_t id) {
    Live& one = live(id);
    // One thread of the host calls them, one after the other.
    const bool function = one.operation.kind == Kind::HostFunction;
    if (!one.running && !one.open && one.ready <= now_ + kInstant && (!function || functions_free_ <= now_ + kInstant)) {
      start(one);
      if (one.operation.kind == Kind::Copy) slow_beside_others(one);
      if (function) functions_free_ = kNever;
    }
    one.rate = 1;
    return finished(id) && (over.push_back(id), true);
  });
  for (uint64_t id : over) end(id);
  return !over.empty();
}

// A copy engine takes what a stream has for it before it goes on to another stream's, unless that takes long. Events between two copies do not matter.
void DeviceModel::keep_engine(const Live& last) {
  const Operation& o = last.operation;
  if (o.kind != Kind::Copy || o.by_hand || engines_.empty() || single_queue() || now_ >= last.row_begun + kRowOfCopies) return;
  const Live* at = &last;
  do {
    const auto next = std::ranges::find_if(at->before, [&](uint64_t id) { return live(id).operation.stream == o.stream; });
    if (next == at->before.end()) return;
    at = &live(*next);
    if (at->open != 1 || at->operation.submitted > now_) return;
  } while (at->operation.kind == Kind::Record);
  Live& next = live(at->operation.id);
  if (next.operation.kind != Kind::Copy || next.operation.by_hand || engine_of(next.operation) != engine_of(o)) return;
  next.row_begun = last.row_begun;
  kept_[engine_of(o)] = {next.operation.id, now_ + kKeepsEngine};
}

void DeviceModel::end(uint64_t id) {
  Live& one = live(id);
  one.done = true;
  one.times.end = now_;
  if (one.operation.kind == Kind::HostFunction) functions_free_ = now_ + link_->host_functions_gap, functions_since_ = now_;
  const Operation& o = one.operation;
  if (--in_stream_[o.stream] == 0) in_stream_.erase(o.stream);
  if (!o.in_graph && --alone_[o.stream] == 0) alone_.erase(o.stream);
  keep_engine(one);
  for (uint64_t next_id : one.before) {
    Live& next = live(next_id);
    if (!--next.open && !comes_through_queue(next.operation)) copies_.push_back(next_id);
    const double then = now_ + gap(o, next.operation);
    if (then < next.ready) continue;
    next.ready = then;
    next.times.waited = o.stream == next.operation.stream ? Waited::Stream : Waited::OtherStream;
    next.times.behind = id;
  }
  past_.push_back(id);
  if (done_) done_(o, one.times);
}

// When something happens next.
double DeviceModel::next() const {
  double soonest = kNever;
  const auto at = [&](double time) {
    if (time > now_ + kInstant) soonest = std::min(soonest, time);
  };
  for (const Ids& queue : queues_)
    if (!queue.empty())
      if (const Live& head = live_.at(queue.front()); !head.open) at(head.ready), at(front_free_);
  for (uint64_t id : copies_) at(live_.at(id).ready);
  if (!others_.empty()) at(functions_free_);
  if (!in_stream_.empty())
    for (const auto* others : {&beside_.kernels, &beside_.to_device, &beside_.to_host})
      for (const Others::Span& span : *others) at(span.begin), at(span.end);
  // Then it matters when each wave is over, else only when the last one begins.
  const bool urgent_waits = kernels_.size() > 1 && !live_.at(kernels_.front()).running;
  const auto running = [&](const Live& one) {
    const Operation& o = one.operation;
    if (!one.running || one.rate <= 0 || o.nanoseconds == kUnknown) return;
    at(now_ + std::max(2 * kInstant, (o.nanoseconds - one.progress) / one.rate));
    const double all = waves(o), last = o.nanoseconds * (all - 1) / all;
    if (o.kind != Kind::Kernel || all <= 1) return;
    if (one.progress < last - kInstant) at(now_ + std::max(2 * kInstant, (last - one.progress) / one.rate));
    if (urgent_waits && one.progress < one.wave_ends - kInstant)
      at(now_ + std::max(2 * kInstant, (one.wave_ends - one.progress) / one.rate));
  };
  for (uint64_t id : kernels_) running(live_.at(id));
  for (const Ids& engine : engines_)
    if (!engine.empty()) running(live_.at(engine.front()));
  for (const Kept& kept : kept_) at(kept.until);
  for (uint64_t id : others_) {
    const Live& one = live_.at(id);
    if (one.running) running(one);
    else if (!one.open) at(one.ready);
  }
  return soonest;
}

void DeviceModel::move(double to) {
  const double time = to - now_;
  now_ = to;
  const auto go_on = [&](Live& one) {
    if (one.running) one.progress += time * one.rate;
  };
  for (uint64_t id : kernels_) go_on(live(id));
  for (const Ids& engine : engines_)
    if (!engine.empty()) go_on(live(engine.front()));
  for (uint64_t id : others_) go_on(live(id));
}

void DeviceModel::forget() {
  while (!past_.empty() && live(past_.front()).times.end < now_ - kRemembered) {
    live_.erase(past_.front());
    past_.pop_front();
  }
}

}  // namespace warpbeam::timing::device

// The profiler: an observer for each launch that is wanted, and a recording at the end.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>

#include "base/expression.h"
#include "observe/clock/device_clock.h"
#include "observe/profiler/assembler.h"
#include "observe/profiler/recorder.h"
#include "observe/told.h"
#include "observe/tools.h"

namespace warpbeam::observe {
namespace {

constexpr size_t kSampledLaunches = 2;  // of a kernel
constexpr size_t kSampledInAll = 24;
constexpr size_t kMostOperations = 20000;  // in the timeline
constexpr size_t kMostEarly = 1000;        // moves before the first launch that caches may remember
// How long launches are waited for when the program ends, and how long if nothing is at work.
constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::milliseconds kStandstill{200};

// The name people give a kernel: without return type, template arguments and parameters.
std::string base_name(std::string_view display) {
  std::string name;
  int angles = 0;
  for (char c : display) {
    if (c == '<') ++angles;
    if (c == '(' && angles == 0) break;
    if (angles == 0) name += c;
    if (c == '>') --angles;
  }
  if (size_t space = name.rfind(' '); space != name.npos) name.erase(0, space + 1);
  return name;
}

class Profiler final : public Tool {
 public:
  // Beside a clock it uses that one's predictor, which is told of copies and fills.
  explicit Profiler(Predictor* of_clock = nullptr) : predictor_(of_clock ? *of_clock : own_predictor_), on_clock_(of_clock != nullptr) {
    const Json options = told_options();
    if (options.is_object()) {
      kernel_ = options.value("kernel", "");
      skip_ = options.value("skip", uint64_t{0});
      count_ = options.value("count", std::numeric_limits<uint64_t>::max());
      on_ = options.value("from_start", true);
      times_wanted_ = options.value("times", true) || on_clock_;
    }
    if (!kernel_.empty()) wanted_ = Expression::of(kernel_);
  }

  void queued(const Operation& operation) override {
    std::lock_guard lock(mutex_);
    if (times_.size() >= kMostOperations) return;
    if (!on_clock_ && (operation.kind == OperationKind::Copy || operation.kind == OperationKind::Fill)) moves_[operation.id] = operation;
    uint64_t bytes = operation.to.width * operation.to.rows * operation.to.planes;
    times_[operation.id] = {operation.kind, operation.device, operation.stream, bytes, now(), 0, 0, operation.name, {}};
  }
  void began(uint64_t id) override {
    std::lock_guard lock(mutex_);
    if (auto it = times_.find(id); it != times_.end()) it->second.began = now();
  }
  void ended(uint64_t id) override {
    std::lock_guard lock(mutex_);
    if (auto it = times_.find(id); it != times_.end()) it->second.ended = now();
    if (auto it = moves_.find(id); it != moves_.end()) {
      if (device_model_) predictor_.moved(it->second, *device_model_);
      else if (moved_early_.size() < kMostEarly) moved_early_.push_back(it->second);
      moves_.erase(it);
    }
  }
  void recording(bool on) override {
    std::lock_guard lock(mutex_);
    on_ = on;
  }
  // Moments of the device's, in nanoseconds.
  void asked_for(uint64_t id, double at) {
    std::lock_guard lock(mutex_);
    if (auto it = times_.find(id); it != times_.end()) it->second.on_device.queued = at;
  }
  void over(uint64_t id, double began, double ended) {
    std::lock_guard lock(mutex_);
    if (auto it = times_.find(id); it != times_.end()) it->second.on_device.began = began, it->second.on_device.ended = ended;
  }
  // What else is to know of launches, and who watches children that the profile leaves out.
  std::function<void(LaunchProfile&, bool child)> measured;
  std::function<std::shared_ptr<vm::Observer>(const vm::Launch&, const model::Device&, uint64_t operation)> other_child;

  std::shared_ptr<vm::Observer> launch(const vm::Launch& launch, const model::Device& device, uint64_t operation) override;

  // A grid that a grid of `parent` launched, as part of that one's operation. Null: it is not wanted.
  std::shared_ptr<vm::Observer> child(const vm::Launch& launch, const model::Device& device, uint64_t operation, const std::string& parent);

  void keep(LaunchProfile& profile, const std::string& parent) {
    if (measured) measured(profile, !parent.empty());
    std::lock_guard lock(mutex_);
    if (!finished_) recorder_.keep(profile, parent);
  }

  void finish() override {
    const std::string path = recording_path();
    if (path.empty()) return;
    wait_for_launches();
    std::lock_guard lock(mutex_);
    finished_ = true;  // what the facts about launches rest on goes away now
    Json timeline = Json::array();
    static constexpr const char* kKinds[] = {"launch", "copy", "fill", "record", "wait", "host call", "internal", "library"};
    for (const auto& [id, t] : times_) {
      const auto moment = [&](int64_t here, double on_device) { return on_clock_ ? static_cast<int64_t>(on_device) : here; };
      timeline.push_back({{"operation", id},
                          {"kind", kKinds[static_cast<int>(t.kind)]},
                          {"name", t.name},
                          {"device", t.device},
                          {"stream", t.stream},
                          {"bytes", t.bytes},
                          {"queued", moment(t.queued, t.on_device.queued)},
                          {"began", moment(t.began, t.on_device.began)},
                          {"ended", moment(t.ended, t.on_device.ended)}});
    }
    const Json head = {{"format", "warpbeam profile"},
                       {"version", 1},
                       {"clock", on_clock_ ? "device" : "host"},  // that of the timeline
                       {"basis", "Counts are of PTX instructions; a GPU executes what its assembler makes of them."},
                       {"device", device_},
                       {"files", recorder_.files()},
                       {"functions", recorder_.functions()},
                       {"metrics", metric_table()},
                       {"count_fields", count_fields()}};
    const auto text = [](const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); };
    std::string begin = text(head);
    begin.pop_back();  // the object goes on
    std::ofstream file(path);
    file << begin << ",\"launches\":";
    recorder_.write_launches(file);
    file << ",\"timeline\":" << text(timeline) << "}\n";
    if (!file) fmt::print(stderr, "warpbeam: the recording could not be written to {}\n", path);
  }

 private:
  // Programs that end without waiting want their kernels profiled all the same.
  void wait_for_launches() {
    using namespace std::chrono;
    size_t open = 0, running = 0;
    auto last_seen = steady_clock::now();  // at work
    for (const auto begin = last_seen; steady_clock::now() - begin < kPatience && steady_clock::now() - last_seen < kStandstill;
         std::this_thread::sleep_for(milliseconds(1))) {
      std::lock_guard lock(mutex_);
      open = running = 0;
      for (const auto& [id, t] : times_) {
        if (t.ended) continue;
        open += t.kind == OperationKind::Launch;
        running += t.began != 0 && t.kind != OperationKind::HostCall;  // which may be the one that ends the program
      }
      if (!open) return;
      if (running) last_seen = steady_clock::now();
    }
    fmt::print(stderr, "warpbeam: the program ended before {} of its launches; they are not in the profile\n", open);
  }

  struct Times {
    OperationKind kind{};
    int device = 0;
    uint64_t stream = 0, bytes = 0;
    int64_t queued = 0, began = 0, ended = 0;  // nanoseconds since the first
    std::string name;
    struct {
      double queued = 0, began = 0, ended = 0;
    } on_device;
  };

  int64_t now() const { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start_).count(); }

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;
  std::string kernel_;
  std::optional<Expression> wanted_;
  uint64_t skip_ = 0, count_ = 0, seen_ = 0, numbered_ = 0;
  bool on_ = true, finished_ = false;
  Recorder recorder_;
  Assembler assembler_;
  BlockProfiles blocks_;
  Json device_;
  bool wants(const vm::Launch& launch) const {
    return kernel_.empty() || (wanted_ && wanted_->found_in(base_name(launch.kernel->display_name)));
  }

  std::map<uint64_t, Times> times_;           // by operation
  std::map<uint64_t, Operation> moves_;       // copies and fills under way
  std::vector<Operation> moved_early_;        // before the first launch told what GPU it is
  Predictor own_predictor_;
  Predictor& predictor_;
  const bool on_clock_;
  const model::Device* device_model_ = nullptr;
  bool times_wanted_ = true;
  std::map<std::string, size_t> samples_of_;  // launches with samples, by kernel
  size_t samples_ = 0;
};

// Hands the counts over when the grid has ended, while the program is still loaded.
class WatchedLaunch final : public vm::Observer {
 public:
  WatchedLaunch(Profiler& profiler, std::unique_ptr<LaunchProfile> profile, std::string parent)
      : profiler_(profiler), profile_(std::move(profile)), parent_(std::move(parent)) {}
  std::unique_ptr<vm::BlockObserver> begin_block(const vm::Block& block) override { return profile_->begin_block(block); }
  void end_block(const vm::Block& block, std::unique_ptr<vm::BlockObserver> observer) override {
    profile_->end_block(block, std::move(observer));
  }
  vm::Wanted wanted() const override { return profile_->wanted(); }
  void end_grid(const vm::LaunchResult& result) override {
    profile_->end_grid(result);
    profiler_.keep(*profile_, parent_);
    profile_ = nullptr;  // the counts are in the recording
  }
  // Before this one's end: a grid has ended when all that it launched has.
  std::shared_ptr<vm::Observer> child(const vm::Launch& launch) override {
    return profile_ ? profiler_.child(launch, profile_->device, profile_->operation, profile_->launch.kernel->display_name) : nullptr;
  }

 private:
  Profiler& profiler_;
  std::unique_ptr<LaunchProfile> profile_;
  const std::string parent_;  // empty: the host launched it
};

std::shared_ptr<vm::Observer> Profiler::launch(const vm::Launch& launch, const model::Device& device, uint64_t operation) {
  std::lock_guard lock(mutex_);
  if (auto it = times_.find(operation); it != times_.end()) it->second.name = launch.kernel->display_name;
  if (finished_) return nullptr;
  if (!device_model_) {
    device_ = device_facts(device);
    device_model_ = &device;
    for (const Operation& move : moved_early_) predictor_.moved(move, device);
    moved_early_.clear();
  }
  if (!on_) return nullptr;
  if (!wants(launch)) return nullptr;
  const uint64_t place = seen_++;
  if (place < skip_ || place - skip_ >= count_) return nullptr;
  const bool sampled = samples_ < kSampledInAll && samples_of_[launch.kernel->name] < kSampledLaunches;
  const uint32_t registers = assembler_.registers(launch);
  if (sampled) {
    ++samples_;
    ++samples_of_[launch.kernel->name];
  }
  return std::make_shared<WatchedLaunch>(*this,
                                         std::make_unique<LaunchProfile>(launch, device, numbered_++, operation, sampled, registers,
                                                                         blocks_, times_wanted_ ? &predictor_ : nullptr),
                                         "");
}

std::shared_ptr<vm::Observer> Profiler::child(const vm::Launch& launch, const model::Device& device, uint64_t operation,
                                              const std::string& parent) {
  std::lock_guard lock(mutex_);
  if (finished_ || !wants(launch)) return other_child ? other_child(launch, device, operation) : nullptr;
  return std::make_shared<WatchedLaunch>(
      *this,
      std::make_unique<LaunchProfile>(launch, device, numbered_++, operation, false, assembler_.registers(launch), blocks_,
                                      times_wanted_ ? &predictor_ : nullptr),
      parent);
}

// Beside a device's clock: what is counted of a launch says how long it takes, and operations have the device's times.
class ProfilerOnClock final : public DeviceClock {
 public:
  ProfilerOnClock(HostClock& clock, const model::Device& model) : DeviceClock(clock, model, timeline_of_page()), profiler_(&predictor_) {
    profiler_.measured = [this](LaunchProfile& profile, bool child) { measured(profile.operation, profile, child); };
    profiler_.other_child = [this](const vm::Launch& launch, const model::Device& device, uint64_t operation) {
      return child(launch, device, operation);
    };
  }

  void queued(const Operation& operation) override {
    profiler_.queued(operation);
    profiler_.asked_for(operation.id, clock_.inside() ? clock_.here() : clock_.floor());
    DeviceClock::queued(operation);
  }
  void began(uint64_t operation) override { profiler_.began(operation); }
  void ended(uint64_t operation) override {
    DeviceClock::ended(operation);
    profiler_.ended(operation);
  }
  void recording(bool on) override { profiler_.recording(on); }
  std::shared_ptr<vm::Observer> launch(const vm::Launch& launch, const model::Device& device, uint64_t operation) override {
    auto watched = profiler_.launch(launch, device, operation);
    if (!watched) return DeviceClock::launch(launch, device, operation);
    std::lock_guard lock(mutex_);
    begins(launch, operation);
    return watched;
  }
  void finish() override {
    {
      std::lock_guard lock(mutex_);
      let_devices_end();
      write_timeline();
    }
    profiler_.finish();
  }

 private:
  // Beside the recording, for the page's Streams.
  static std::string timeline_of_page() {
    const Json options = told_options();
    const std::string path = recording_path();
    if (path.empty() || !options.is_object() || !options.value("page", false)) return "";
    return path.substr(0, path.rfind('.')) + ".timeline";
  }
  void over(const timing::device::Operation& operation, const timing::device::Times& times) override {
    profiler_.over(operation.id, times.begin, times.end);
  }

  Profiler profiler_;
};

}  // namespace

std::unique_ptr<Tool> make_profiler() {
  HostClock* clock = HostClock::instance();
  const model::Device* model = clock ? device_of_clock() : nullptr;
  if (model) return std::make_unique<ProfilerOnClock>(*clock, *model);
  return std::make_unique<Profiler>();
}

}  // namespace warpbeam::observe

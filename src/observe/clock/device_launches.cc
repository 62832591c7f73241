// Kernels under way: how long they take turns out when they have been computed.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "observe/activity.h"
#include "observe/clock/device_clock.h"
#include "vm/kernel_clock.h"

namespace warpbeam::observe {

namespace {

// Counts what a grid does, and hands it over at its end.
class TimedLaunch final : public vm::Observer {
 public:
  TimedLaunch(DeviceClock& clock, std::unique_ptr<LaunchProfile> profile, bool child,
              std::function<std::shared_ptr<vm::Observer>(const vm::Launch&)> make_child)
      : clock_(clock), profile_(std::move(profile)), child_(child), make_child_(std::move(make_child)) {}
  std::unique_ptr<vm::BlockObserver> begin_block(const vm::Block& block) override { return profile_->begin_block(block); }
  void end_block(const vm::Block& block, std::unique_ptr<vm::BlockObserver> observer) override {
    profile_->end_block(block, std::move(observer));
  }
  vm::Wanted wanted() const override { return profile_->wanted(); }
  void end_grid(const vm::LaunchResult& result) override {
    profile_->end_grid(result);
    clock_.measured(profile_->operation, *profile_, child_);
    profile_ = nullptr;
  }
  std::shared_ptr<vm::Observer> child(const vm::Launch& launch) override { return profile_ ? make_child_(launch) : nullptr; }

 private:
  DeviceClock& clock_;
  std::unique_ptr<LaunchProfile> profile_;
  const bool child_;
  const std::function<std::shared_ptr<vm::Observer>(const vm::Launch&)> make_child_;
};

}  // namespace

void DeviceClock::begins(const vm::Launch& launch, uint64_t operation) {
  if (launch.cooperative) charge(link_.cooperative_call), charge_first(&model::Link::cooperative_first);
  vm::begin_kernel_clock(launch.grid_id, host_now());
  if (timeline_) timeline_->describe_launch(operation, launch);
  if (auto* watch = activity_watch()) watch->describe(operation, launch);
  if (far_.any()) far_.before_launch(operation);
}

std::shared_ptr<vm::Observer> DeviceClock::child(const vm::Launch& launch, const model::Device& device, uint64_t operation) {
  std::lock_guard lock(mutex_);
  return std::make_shared<TimedLaunch>(
      *this, std::make_unique<LaunchProfile>(launch, device, numbered_++, operation, false, 0, blocks_, &predictor_), true,
      [this, &device, operation](const vm::Launch& launched) { return this->child(launched, device, operation); });
}

std::shared_ptr<vm::Observer> DeviceClock::launch(const vm::Launch& launch, const model::Device& device, uint64_t operation) {
  std::lock_guard lock(mutex_);
  begins(launch, operation);
  const auto make_child = [this, &device, operation](const vm::Launch& launched) { return child(launched, device, operation); };
  return std::make_shared<TimedLaunch>(
      *this, std::make_unique<LaunchProfile>(launch, device, numbered_++, operation, false, 0, blocks_, &predictor_), false, make_child);
}

void DeviceClock::measured(uint64_t operation, LaunchProfile& profile, bool child) {
  const KernelTime time_of_work = kernel_time(profile);
  KernelTime time = with_waits(time_of_work, vm::end_kernel_clock(profile.launch.grid_id), profile);
  std::lock_guard lock(mutex_);
  auto found = open_.find(operation);
  if (found == open_.end()) return;
  Open& open = found->second;
  if (far_.any() && !child) {
    const LinkUse use = far_.after_launch(operation, profile.prediction ? &profile.prediction->visits : nullptr, open.device, host_now());
    const double all = use.nanoseconds(link_, time.nanoseconds, model_.cc() >= 60);
    if (timeline_) timeline_->describe_link_use(operation, use);
    if (profile.prediction) profile.prediction->wait_for_link(all);
    if (all > time.nanoseconds) time.memory_share *= time.nanoseconds / all, time.nanoseconds = all;
  }
  const vm::Launch& launch = profile.launch;
  const uint64_t blocks = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  const double share = static_cast<double>(blocks) / std::max(1u, launch.resident_blocks);
  if (child) {
    const vm::LaunchedFrom& from = profile.from;
    open.children.push_back({launch.grid_id, from.parent, from.block, from.number, from.behind, from.joined, from.tail, time.nanoseconds,
                             std::ceil(share), share});
    if (timeline_) timeline_->child(operation, launch, time);
    return;
  }
  open.told = true;
  if (timeline_) timeline_->describe_time(operation, time);
  Model& model = devices_.at(open.device).model;
  const timing::device::ChildCosts costs{link_.child_launch, link_.child_each,
                                         link_.child_end,    link_.kernel_gap,
                                         link_.child_front,  static_cast<size_t>(std::max(1, model_.concurrent_kernels))};
  double all = place_children(time.nanoseconds, std::ceil(share), costs, open.children);
  if (timeline_ && !open.children.empty()) timeline_->place_children(operation, all, open.children);
  open.children = {};
  // It was still waiting when its launch returned: for something that the host has done only now.
  if (const double now = clock_.floor(); open.left_alone)
    if (const auto began = model.look_ahead().begin(operation); began && *began + all < now) all = now + link_.zero_copy_latency - *began;
  model.tell(operation, all, time.memory_share, blocks, std::max(1u, launch.resident_blocks));
  told_one_.notify_all();
}

void DeviceClock::touches(uint64_t operation, const Bytes& bytes, bool) {
  std::lock_guard lock(mutex_);
  auto found = open_.find(operation);
  if (found == open_.end()) return;
  found->second.bytes += static_cast<double>(bytes.width * bytes.rows * bytes.planes);
  if (far_.any()) far_.used(bytes.base);
}

void DeviceClock::host_function(uint64_t operation, bool begins) {
  std::unique_lock lock(mutex_);
  auto found = open_.find(operation);
  if (found == open_.end()) return;
  Model& model = devices_.at(found->second.device).model;
  if (begins) {
    // The host goes on asking for things that may begin before.
    const auto at = model.look_ahead().begin(operation);
    lock.unlock();
    clock_.begin_function(at.value_or(clock_.floor()));
    return;
  }
  model.set_duration(operation, clock_.end_function());
  found->second.told = true;
  told_one_.notify_all();
}

void DeviceClock::ended(uint64_t operation) {
  std::lock_guard lock(mutex_);
  if (auto move = moves_.find(operation); move != moves_.end()) {
    predictor_.moved(move->second, model_);
    if (far_.any()) {
      far_.used(move->second.to.base);
      far_.used(move->second.from.base);
    }
    moves_.erase(move);
  }
  auto found = open_.find(operation);
  if (found == open_.end()) return;
  const Open& open = found->second;
  Model& model = devices_.at(open.device).model;
  if (open.kind == OperationKind::Library) {
    const KernelTime time = library_time(model_, open.bytes, open.effort);
    model.tell(operation, time.nanoseconds, time.memory_share, 1, 1);
  } else if (!open.told) {
    model.set_duration(operation, open.kind == OperationKind::Launch ? least_kernel_time(model_).nanoseconds : 0);
  }
  open_.erase(found);
  told_one_.notify_all();
}

}  // namespace warpbeam::observe

#include "cuda/streams/scheduler.h"

#include <algorithm>
#include <thread>

#include "base/check.h"
#include "vm/host_threads.h"
#include "vm/soon.h"

namespace warpbeam::cuda {

void Task::block_until_done() const {
  if (!vm::soon([&] { return done(); })) done_.wait(false, std::memory_order_acquire);
}

// Never destroyed: threads may still finish tasks while the process exits.
Scheduler& Scheduler::instance() {
  static auto* scheduler = new Scheduler;
  return *scheduler;
}

void Scheduler::join(Queue& queue, QueueGroup& group) {
  const auto lock = vm::lock_soon(mutex_);
  queue.group_ = &group;
  if (queue.kind_ == Queue::Kind::Legacy) group.legacy_ = &queue;
  else if (queue.kind_ == Queue::Kind::Blocking) group.members_.push_back(&queue);
}

void Scheduler::leave(Queue& queue) {
  const auto lock = vm::lock_soon(mutex_);
  WB_ASSERT(queue.pending_.empty());
  if (!queue.group_) return;
  std::erase(queue.group_->members_, &queue);
  if (queue.group_->legacy_ == &queue) queue.group_->legacy_ = nullptr;
  queue.group_ = nullptr;
}

// Called with the mutex held. What a new task of `queue` waits for.
Tasks Scheduler::ahead_of(const Queue& queue) const {
  Tasks tasks;
  auto add = [&](const Queue* other) {
    if (other && !other->pending_.empty()) tasks.push_back(other->pending_.back());
  };
  add(&queue);
  if (queue.group_ && queue.kind_ == Queue::Kind::Legacy)
    for (Queue* member : queue.group_->members_) add(member);
  else if (queue.group_ && queue.kind_ == Queue::Kind::Blocking) add(queue.group_->legacy_);
  return tasks;
}

void Scheduler::submit(TaskRef task, Queue& queue, std::span<const TaskRef> after) {
  {
    const auto lock = vm::lock_soon(mutex_);
    task->queue_ = &queue;
    task->waits_for_ = ahead_of(queue);
    for (const TaskRef& other : after)
      if (other && !other->done()) task->waits_for_.push_back(other);
    for (const TaskRef& other : task->waits_for_) other->dependents_.push_back(task);
    task->unfinished_ = task->waits_for_.size();
    task->started_ = task->unfinished_ == 0;
    queue.pending_.push_back(task);
    if (!task->started_) return;
  }
  task->start();
}

void Scheduler::finish(Task& task) {
  // Dependents that finish inside start() come back here; a list instead of recursion keeps long chains flat.
  static thread_local Tasks* ready_here = nullptr;
  Tasks ready;
  // Tasks may hold the last reference to a stream, whose end takes the mutex: none may die while it is held.
  std::vector<Tasks, Recycled<Tasks>> done_with;
  TaskRef keep = task.shared_from_this();
  {
    const auto lock = vm::lock_soon(mutex_);
    WB_ASSERT(!task.done() && !task.queue_->pending_.empty() && task.queue_->pending_.front() == keep);
    task.queue_->pending_.pop_front();
    for (TaskRef& dependent : task.dependents_) {
      if (--dependent->unfinished_ != 0) continue;
      dependent->started_ = true;
      done_with.push_back(std::move(dependent->waits_for_));
      dependent->waits_for_.clear();
      ready.push_back(std::move(dependent));
    }
    task.dependents_.clear();
    task.done_.store(true, std::memory_order_release);
  }
  task.done_.notify_all();

  if (ready.empty()) return;
  if (ready_here) {
    ready_here->insert(ready_here->end(), std::make_move_iterator(ready.begin()), std::make_move_iterator(ready.end()));
    return;
  }
  ready_here = &ready;
  for (size_t i = 0; i < ready.size(); ++i) {
    TaskRef next = std::move(ready[i]);
    next->start();
  }
  ready_here = nullptr;
}

// What a thread waiting for `task` should help with: the front of its queue, or, if that waits for another queue's task,
// what stands in that one's way. Null while the answer is changing.
TaskRef Scheduler::obstacle(const TaskRef& task) const {
  const auto lock = vm::lock_soon(mutex_);
  Task* current = task.get();
  while (!current->done()) {
    const TaskRef& front = current->queue_->pending_.front();
    if (front->started_) return front;
    auto blocked_by = std::find_if(front->waits_for_.begin(), front->waits_for_.end(), [](const TaskRef& other) { return !other->done(); });
    if (blocked_by == front->waits_for_.end()) return nullptr;
    current = blocked_by->get();
  }
  return nullptr;
}

void Scheduler::wait(const TaskRef& task) {
  if (!task || task->done()) return;
  const vm::AwaitsDevice waits;
  while (task && !task->done()) {
    TaskRef front = obstacle(task);
    if (!front) {
      std::this_thread::yield();
      continue;
    }
    front->help();
    front->block_until_done();
  }
}

void Scheduler::wait(Queue& queue) {
  if (queue.kind() != Queue::Kind::Legacy) return wait(last(queue));
  Tasks tasks;
  {
    const auto lock = vm::lock_soon(mutex_);
    tasks = ahead_of(queue);
  }
  for (const TaskRef& task : tasks) wait(task);
}

void Scheduler::make_room(Queue& queue) {
  constexpr size_t kMost = 1022;  // an H200
  TaskRef in_the_way;
  {
    const auto lock = vm::lock_soon(mutex_);
    if (queue.pending_.size() < kMost) return;
    in_the_way = queue.pending_[queue.pending_.size() - kMost];
  }
  wait(in_the_way);
}

void Scheduler::assist(Queue& queue) {
  TaskRef front;
  {
    const auto lock = vm::lock_soon(mutex_);
    if (queue.pending_.empty()) return;
    front = queue.pending_.front();
  }
  if (TaskRef blocked_by = obstacle(front)) blocked_by->help();
}

bool Scheduler::idle(const Queue& queue) const {
  const auto lock = vm::lock_soon(mutex_);
  return queue.kind_ == Queue::Kind::Legacy ? ahead_of(queue).empty() : queue.pending_.empty();
}

TaskRef Scheduler::last(const Queue& queue) const {
  const auto lock = vm::lock_soon(mutex_);
  return queue.pending_.empty() ? nullptr : queue.pending_.back();
}

}  // namespace warpbeam::cuda

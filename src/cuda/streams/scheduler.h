// Order of work. A Task waits for the tasks before it: the one in front of it in its queue, the events it waits for, and
// what the legacy default stream demands. When it finishes it lets its dependents begin. Nothing here knows what a task
// does; streams, graphs and tests bring their own.
//
// A thread that waits for a task helps with whatever stands in its way, so that a launch followed at once by a
// synchronisation needs no other thread.
#pragma once
#include <atomic>
#include <deque>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/recycled.h"

namespace warpbeam::cuda {

class Scheduler;
class Queue;
class Task;
using TaskRef = std::shared_ptr<Task>;
using Tasks = std::vector<TaskRef, Recycled<TaskRef>>;

class Task : public std::enable_shared_from_this<Task> {
 public:
  virtual ~Task() = default;
  bool done() const { return done_.load(std::memory_order_acquire); }
  void block_until_done() const;

 protected:
  // Begins the work. Scheduler::finish must follow exactly once, on any thread, perhaps before start returns.
  virtual void start() = 0;
  // A waiting thread offers to do part of the work; called only between start and finish, but may overlap with finish.
  virtual void help() {}

 private:
  friend class Scheduler;
  Queue* queue_ = nullptr;
  unsigned unfinished_ = 0;         // tasks in waits_for_ that are not done
  bool started_ = false;
  Tasks waits_for_;  // emptied when the task starts
  Tasks dependents_;
  std::atomic<bool> done_{false};
};

// One legacy default queue and the queues that synchronise with it: a task there waits for everything before it in all
// of them, and they wait for it. A device has one group; non-blocking streams belong to none.
class QueueGroup {
 private:
  friend class Scheduler;
  Queue* legacy_ = nullptr;
  std::vector<Queue*> members_;
};

class Queue {
 public:
  enum class Kind { Legacy, Blocking, NonBlocking };
  explicit Queue(Kind kind) : kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  friend class Scheduler;
  Kind kind_;
  QueueGroup* group_ = nullptr;
  std::deque<TaskRef, Recycled<TaskRef>> pending_;  // in order; the front one is running or waits for tasks of other queues
};

class Scheduler {
 public:
  static Scheduler& instance();

  void join(Queue& queue, QueueGroup& group);
  void leave(Queue& queue);

  // Puts `task` at the end of `queue`, behind `after` too (null entries are skipped). Starts it if nothing is in its way.
  void submit(TaskRef task, Queue& queue, std::span<const TaskRef> after = {});
  // The task has done its work; its dependents begin on this thread.
  void finish(Task& task);

  void wait(const TaskRef& task);
  // Everything submitted so far to the queue; for the legacy queue also to its group.
  void wait(Queue& queue);
  // Waits while very many tasks are under way in the queue. As with a GPU's queues, who launches faster than kernels run
  // must wait at some time, and does not fill the memory with what is to be done.
  void make_room(Queue& queue);
  // Does part of the work at the front of the queue, if it can.
  void assist(Queue& queue);
  bool idle(const Queue& queue) const;  // what wait(queue) would wait for is done
  // The last task submitted and not done, or null.
  TaskRef last(const Queue& queue) const;

 private:
  TaskRef obstacle(const TaskRef& task) const;
  Tasks ahead_of(const Queue& queue) const;

  mutable std::mutex mutex_;
};

}  // namespace warpbeam::cuda

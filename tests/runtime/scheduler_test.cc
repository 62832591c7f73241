// The order of work, with tasks that only note when they began and ended.
#include "cuda/streams/scheduler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace warpbeam::cuda {
namespace {

std::mutex log_mutex;
std::vector<std::string> started;

class Note : public Task {
 public:
  enum class When { AtOnce, ByHand, WhenHelped };
  explicit Note(std::string name, When when = When::AtOnce) : name_(std::move(name)), when_(when) {}
  void end() { Scheduler::instance().finish(*this); }

 private:
  void start() override {
    {
      std::lock_guard lock(log_mutex);
      started.push_back(name_);
    }
    if (when_ == When::AtOnce) end();
  }
  void help() override {
    if (when_ == When::WhenHelped && !helped_.exchange(true)) end();
  }
  std::string name_;
  When when_;
  std::atomic<bool> helped_{false};
};

std::shared_ptr<Note> note(const std::string& name, Note::When when = Note::When::AtOnce) { return std::make_shared<Note>(name, when); }

class SchedulerTest : public testing::Test {
 protected:
  void SetUp() override { started.clear(); }
  Scheduler& scheduler = Scheduler::instance();
};

using When = Note::When;

TEST_F(SchedulerTest, who_submits_very_many_tasks_waits_for_the_first) {
  Queue queue(Queue::Kind::NonBlocking);
  std::vector<std::shared_ptr<Note>> tasks;
  for (int k = 0; k < 3000; ++k) {
    scheduler.make_room(queue);
    tasks.push_back(note("", When::WhenHelped));
    scheduler.submit(tasks.back(), queue);
  }
  EXPECT_TRUE(tasks[1900]->done());
  EXPECT_FALSE(tasks[2100]->done());
  scheduler.wait(queue);
  EXPECT_TRUE(tasks.back()->done());
}

TEST_F(SchedulerTest, tasks_of_a_queue_run_one_after_the_other) {
  Queue queue(Queue::Kind::NonBlocking);
  auto first = note("first", When::ByHand), second = note("second");
  scheduler.submit(first, queue);
  scheduler.submit(second, queue);
  EXPECT_EQ(started, std::vector<std::string>{"first"});
  EXPECT_FALSE(scheduler.idle(queue));
  first->end();
  EXPECT_EQ(started, (std::vector<std::string>{"first", "second"}));
  EXPECT_TRUE(second->done());
  EXPECT_TRUE(scheduler.idle(queue));
}

TEST_F(SchedulerTest, a_task_waits_for_the_tasks_it_was_put_behind) {
  Queue a(Queue::Kind::NonBlocking), b(Queue::Kind::NonBlocking);
  auto event = note("event", When::ByHand), after = note("after");
  scheduler.submit(event, a);
  TaskRef behind[] = {event, nullptr};
  scheduler.submit(after, b, behind);
  EXPECT_EQ(started.size(), 1u);
  event->end();
  EXPECT_TRUE(after->done());
}

TEST_F(SchedulerTest, the_legacy_queue_waits_for_blocking_queues_and_they_for_it) {
  QueueGroup group;
  Queue legacy(Queue::Kind::Legacy), blocking(Queue::Kind::Blocking), other(Queue::Kind::Blocking), free(Queue::Kind::NonBlocking);
  for (Queue* queue : {&legacy, &blocking, &other, &free}) scheduler.join(*queue, group);
  auto before = note("before", When::ByHand), middle = note("middle", When::ByHand), after = note("after"), unbound = note("unbound");
  scheduler.submit(before, blocking);
  scheduler.submit(middle, legacy);
  scheduler.submit(after, other);
  scheduler.submit(unbound, free);
  EXPECT_EQ(started, (std::vector<std::string>{"before", "unbound"}));
  before->end();
  EXPECT_EQ(started, (std::vector<std::string>{"before", "unbound", "middle"}));
  middle->end();
  EXPECT_TRUE(after->done());
  for (Queue* queue : {&legacy, &blocking, &other, &free}) scheduler.leave(*queue);
}

TEST_F(SchedulerTest, waiting_for_the_legacy_queue_means_waiting_for_its_group) {
  QueueGroup group;
  Queue legacy(Queue::Kind::Legacy), blocking(Queue::Kind::Blocking);
  scheduler.join(legacy, group);
  scheduler.join(blocking, group);
  auto task = note("task", When::WhenHelped);
  scheduler.submit(task, blocking);
  EXPECT_FALSE(scheduler.idle(legacy));
  scheduler.wait(legacy);
  EXPECT_TRUE(task->done());
  scheduler.leave(blocking);
  scheduler.leave(legacy);
}

TEST_F(SchedulerTest, a_blocking_queue_is_idle_while_the_legacy_queue_works) {
  QueueGroup group;
  Queue legacy(Queue::Kind::Legacy), blocking(Queue::Kind::Blocking);
  scheduler.join(legacy, group);
  scheduler.join(blocking, group);
  auto task = note("task", When::ByHand);
  scheduler.submit(task, legacy);
  EXPECT_TRUE(scheduler.idle(blocking));
  task->end();
  scheduler.leave(blocking);
  scheduler.leave(legacy);
}

TEST_F(SchedulerTest, a_waiting_thread_helps_along_the_whole_way) {
  Queue a(Queue::Kind::NonBlocking), b(Queue::Kind::NonBlocking);
  std::vector<std::shared_ptr<Note>> tasks;
  for (int i = 0; i < 100; ++i) {
    tasks.push_back(note("task", When::WhenHelped));
    TaskRef behind = tasks.size() > 1 ? tasks[tasks.size() - 2] : nullptr;
    scheduler.submit(tasks.back(), i % 2 ? b : a, std::span(&behind, 1));
  }
  scheduler.wait(tasks.back());
  for (const auto& task : tasks) EXPECT_TRUE(task->done());
}

TEST_F(SchedulerTest, a_long_chain_does_not_recurse) {
  Queue queue(Queue::Kind::NonBlocking);
  auto gate = note("gate", When::ByHand);
  scheduler.submit(gate, queue);
  for (int i = 0; i < 200000; ++i) scheduler.submit(note(""), queue);
  gate->end();
  EXPECT_TRUE(scheduler.idle(queue));
}

TEST_F(SchedulerTest, many_threads_use_many_queues) {
  constexpr int kThreads = 8, kTasks = 2000;
  QueueGroup group;
  Queue legacy(Queue::Kind::Legacy);
  scheduler.join(legacy, group);
  std::vector<std::unique_ptr<Queue>> queues;
  for (int i = 0; i < kThreads; ++i) {
    queues.push_back(std::make_unique<Queue>(Queue::Kind::Blocking));
    scheduler.join(*queues.back(), group);
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < kTasks; ++i) {
        auto task = note("", random() % 3 ? When::AtOnce : When::WhenHelped);
        Queue& queue = random() % 10 ? *queues[t] : legacy;
        TaskRef behind = scheduler.last(*queues[random() % kThreads]);
        scheduler.submit(task, queue, std::span(&behind, 1));
        if (random() % 5 == 0) scheduler.wait(task);
      }
      scheduler.wait(*queues[t]);
    });
  for (auto& thread : threads) thread.join();
  scheduler.wait(legacy);
  EXPECT_TRUE(scheduler.idle(legacy));
  for (auto& queue : queues) scheduler.leave(*queue);
  scheduler.leave(legacy);
}

}  // namespace
}  // namespace warpbeam::cuda

// Host stacks for pieces of work that stop in the middle while others go on, all on one host thread.
#pragma once
#include <cstddef>

namespace warpbeam::jit {

// The stack of one such piece, or that of the thread, which has no memory of its own here.
class Stack {
 public:
  using Entry = void (*)(void* argument);
  Stack() = default;
  ~Stack();
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  // The next change to it calls `entry`, which never returns: it changes to another stack when it is through. What was
  // under way on this one is forgotten.
  void begin(Entry entry, void* argument);
  // `from`, which is running, stops here, and `to` goes on.
  static void change(Stack& from, Stack& to);

 private:
  [[noreturn]] static void first(Stack* stack);
  void arrived();

  std::byte* memory_ = nullptr;
  size_t aside_ = 0;    // from its upper end to where it begins
  void* at_ = nullptr;  // where it stopped
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
  // What sanitizers want to know.
  const void* bottom_ = nullptr;
  size_t bytes_ = 0;
  [[maybe_unused]] void* shadow_ = nullptr;
  [[maybe_unused]] void* fiber_ = nullptr;
};

}  // namespace warpbeam::jit

#include "jit/stacks.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <new>

#include "base/check.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WB_ADDRESS_SANITIZER
#endif
#if __has_feature(thread_sanitizer)
#define WB_THREAD_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define WB_ADDRESS_SANITIZER
#endif
#if defined(__SANITIZE_THREAD__)
#define WB_THREAD_SANITIZER
#endif
#ifdef WB_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef WB_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#if defined(__x86_64__)
// wb_change_stack(place for this stack's end, the other's end): what a call has to keep lies on the stack while it stops. The
// modes of floating point are the thread's, and nobody changes them.
asm(".text\n.p2align 4\n.globl wb_change_stack\n.hidden wb_change_stack\n.type wb_change_stack,@function\nwb_change_stack:\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nretq\n"
    ".size wb_change_stack, . - wb_change_stack\n"
    // The bottom of a stack, beyond which nothing is unwound: calls rbx with what r12 holds.
    ".p2align 4\n.globl wb_bottom_of_stack\n.hidden wb_bottom_of_stack\n.type wb_bottom_of_stack,@function\nwb_bottom_of_stack:\n"
    ".cfi_startproc\n.cfi_undefined rip\nmovq %r12, %rdi\ncallq *%rbx\nud2\n.cfi_endproc\n"
    ".size wb_bottom_of_stack, . - wb_bottom_of_stack\n");
extern "C" void wb_change_stack(void** from, void* to);
extern "C" void wb_bottom_of_stack();
#endif

namespace warpbeam::jit {
namespace {

// Pages that are never touched cost nothing. Compiled code may keep hundreds of vectors there, and handlers format messages.
constexpr size_t kBytes = size_t{1} << 20, kGuard = size_t{64} << 10;

#ifdef WB_ADDRESS_SANITIZER
thread_local Stack* left = nullptr;  // which stack the thread was on before this one
#endif

}  // namespace

Stack::~Stack() {
#ifdef WB_THREAD_SANITIZER
  if (memory_ && fiber_) __tsan_destroy_fiber(fiber_);
#endif
  if (memory_) munmap(memory_, kGuard + kBytes);
#if !defined(__x86_64__)
  delete static_cast<ucontext_t*>(at_);
#endif
}

void Stack::first(Stack* stack) {
  stack->arrived();
  stack->entry_(stack->argument_);
  __builtin_unreachable();
}

void Stack::begin(Entry entry, void* argument) {
  if (!memory_) {
    void* memory = mmap(nullptr, kGuard + kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<std::byte*>(memory);
    mprotect(memory_, kGuard, PROT_NONE);
    // Stacks that go on by turns, all of them beginning at the same place of a page, would drive each other from the host's first cache.
    static std::atomic<uint32_t> many{0};
    constexpr uint32_t kPage = 4096, kApart = 9 * 64;
    aside_ = many++ * kApart % kPage;
    bottom_ = memory_ + kGuard;
    bytes_ = kBytes;
  }
  entry_ = entry;
  argument_ = argument;
#ifdef WB_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(bottom_, bytes_);
  shadow_ = nullptr;
#endif
#ifdef WB_THREAD_SANITIZER
  if (!fiber_) fiber_ = __tsan_create_fiber(0);
#endif
#if defined(__x86_64__)
  // As wb_change_stack takes them back: r15 to r12, rbx, rbp, and where to go on.
  auto* top = reinterpret_cast<uint64_t*>(memory_ + kGuard + kBytes - aside_) - 9;
  top[3] = reinterpret_cast<uint64_t>(this);
  top[4] = reinterpret_cast<uint64_t>(&Stack::first);
  top[5] = 0;
  top[6] = reinterpret_cast<uint64_t>(&wb_bottom_of_stack);
  at_ = top;
#else
  if (!at_) at_ = new ucontext_t;
  auto* context = static_cast<ucontext_t*>(at_);
  getcontext(context);
  context->uc_stack.ss_sp = memory_ + kGuard;
  context->uc_stack.ss_size = kBytes;
  context->uc_link = nullptr;
  const uint64_t self = reinterpret_cast<uint64_t>(this);
  makecontext(context, reinterpret_cast<void (*)()>(+[](unsigned high, unsigned low) {
                first(reinterpret_cast<Stack*>(uint64_t{high} << 32 | low));
              }),
              2, static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
#endif
}

// The first thing that is done on a stack that the thread changes to. Not inlined: a stack may go on on another thread than the one
// that it stopped on, whose `left` is another.
[[gnu::noinline]] void Stack::arrived() {
#ifdef WB_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(shadow_, left->memory_ ? nullptr : &left->bottom_, left->memory_ ? nullptr : &left->bytes_);
#endif
}

void Stack::change(Stack& from, Stack& to) {
#ifdef WB_ADDRESS_SANITIZER
  left = &from;
  __sanitizer_start_switch_fiber(&from.shadow_, to.bottom_, to.bytes_);
#endif
#ifdef WB_THREAD_SANITIZER
  if (!from.memory_) from.fiber_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.fiber_, 0);
#endif
#if defined(__x86_64__)
  wb_change_stack(&from.at_, to.at_);
#else
  if (!from.at_) from.at_ = new ucontext_t;
  swapcontext(static_cast<ucontext_t*>(from.at_), static_cast<ucontext_t*>(to.at_));
#endif
  from.arrived();
}

}  // namespace warpbeam::jit

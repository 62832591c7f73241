#include "cuda/memory/outside_reads.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "observe/tool.h"
#include "vm/access.h"
#include "vm/warp.h"

namespace warpbeam::cuda {
namespace {

std::atomic<uint64_t> reads{0};

void say_count() {
  std::fflush(stdout);
  const uint64_t n = reads;
  fmt::print(stderr, "warpbeam: {} read{} outside of an allocation\n", n, n == 1 ? " was" : "s were");
}

void tell(vm::Warp& w, const vm::Insn& i, int lane, uint64_t address, uint32_t bytes) {
  if (reads.fetch_add(1, std::memory_order_relaxed)) return;
  const auto &t = w.tid[lane], &b = w.block->index;
  fmt::print(
      stderr,
      "warpbeam: {} reads {} byte{} outside of an allocation, at {:#x}\n"
      "  at {} by thread ({},{},{}) in block ({},{},{})\n"
      "  {}\n"
      "  a GPU, whose pages are 2 MiB, gives what its memory has there, and so does this: `warpbeam check` and `--strict` stop there\n",
      w.block->code->function->display_name, bytes, bytes == 1 ? "" : "s", address, vm::Warp::location(i, *w.frame->function), t[0], t[1],
      t[2], b[0], b[1], b[2], vm::neighbour_of(*w.block->launch->memory, address));
  std::atexit(say_count);
}

}  // namespace

void let_reads_outside_pass() {
  const char* strict = std::getenv("WARPBEAM_STRICT");
  if (strict && std::string_view(strict) == "1") return;
  if (observe::Tool* tool = observe::tool(); tool && tool->checks()) return;
  vm::outside_read = tell;
}

}  // namespace warpbeam::cuda

#include "cuda/memory/wide_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

#include "vm/host_threads.h"
#include "vm/machine.h"

namespace warpbeam::cuda {

namespace {

constexpr size_t kLeastOfAll = size_t(8) << 20;   // copied in the time in which some threads begin and end
constexpr size_t kLeastOfOne = size_t(4) << 20;
constexpr size_t kPage = size_t(2) << 20;         // parts end with pages: each is first touched by one thread

bool overlap(const std::byte* to, const std::byte* from, size_t bytes) {
  const auto t = reinterpret_cast<uintptr_t>(to), f = reinterpret_cast<uintptr_t>(from);
  return t < f + bytes && f < t + bytes;
}

}  // namespace

void copy_bytes(std::byte* to, const std::byte* from, size_t bytes) {
  const size_t most =
      bytes < kLeastOfAll || overlap(to, from, bytes) ? 1 : std::min<size_t>(bytes / kLeastOfOne, vm::Machine::instance().threads());
  std::vector<std::jthread> others;
  size_t begin = 0;
  for (size_t left = most; left > 1; --left) {
    const uintptr_t even = reinterpret_cast<uintptr_t>(to + begin + (bytes - begin) / left) / kPage * kPage;
    const size_t end = even - reinterpret_cast<uintptr_t>(to);
    try {
      others.emplace_back([=] {
        const vm::OwnThread own;
        std::memcpy(to + begin, from + begin, end - begin);
      });
    } catch (const std::system_error&) {  // no more threads: the rest is this one's
      break;
    }
    begin = end;
  }
  std::memmove(to + begin, from + begin, bytes - begin);
}

}  // namespace warpbeam::cuda

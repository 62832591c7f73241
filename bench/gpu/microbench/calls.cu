// What functions of the device's run time take: printf (into a buffer in the host's memory), malloc and free.
#include "harness.h"

#include <tuple>

namespace micro {
namespace {

enum Print { kPlain, kOne, kTwo, kSix, kString, kLong };

__global__ void print(int count, int kind, int lanes) {
  if (int(threadIdx.x & 31) >= lanes) return;
  for (int i = 0; i < count; ++i) {
    if (kind == kPlain) printf("x\n");
    if (kind == kOne) printf("%d\n", i);
    if (kind == kTwo) printf("%d %d\n", i, threadIdx.x);
    if (kind == kSix) printf("%d %d %d %d %d %d\n", i, threadIdx.x, blockIdx.x, i, count, kind);
    if (kind == kString) printf("%s\n", "abcdefghijklmnopqrstuvwxyz");
    if (kind == kLong) printf("a format of more than a hundred and twenty-eight characters, as lessons have them, with a thread's number in it: thread %d says hello\n", threadIdx.x);
  }
}

__global__ void allocate(int count, int bytes, bool give_back, int** places) {
  int* last = nullptr;
  for (int i = 0; i < count; ++i) {
    last = static_cast<int*>(malloc(bytes));
    if (last) *last = i;
    if (give_back) free(last);
  }
  if (count < 0) *places = last;
}

}  // namespace

void device_calls() {
  if (!freopen("/dev/null", "w", stdout)) return;
  MICRO_CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, size_t(1) << 30));  // for all that is not given back; a full heap is searched for long
  const auto time = [](auto&& work) {
    return sample(5, [&] {
      MICRO_CHECK(cudaDeviceSynchronize());
      return event_us(work);
    });
  };
  const auto printing = [&](const std::string& what, int blocks, int threads, int count, int kind, int lanes) {
    report("printf." + what + ".blocks" + number(blocks) + ".threads" + number(threads) + ".lanes" + number(lanes) + ".count" + number(count),
           time([&] { print<<<blocks, threads>>>(count, kind, lanes); }), "us");
  };
  for (int count : {0, 1, 2, 4, 8, 32}) printing("one", 1, 1, count, kOne, 32);
  const char* kinds[] = {"plain", "one", "two", "six", "string", "long"};
  for (int kind = kPlain; kind <= kLong; ++kind)
    for (int count : {1, 4})
      if (kind != kOne) printing(kinds[kind], 1, 1, count, kind, 32);
  for (int lanes : {1, 2, 4, 8, 16, 32})
    for (int count : {1, 4}) printing("one", 1, 32, count, kOne, lanes);
  for (int lanes : {1, 32})
    for (int threads : {64, 128, 256, 1024}) printing("one", 1, threads, 1, kOne, lanes);
  for (int threads : {1, 32, 256})
    for (int blocks : {2, 8, 32, 132}) printing("one", blocks, threads, 1, kOne, 32);
  for (int give_back : {0, 1})
    for (int bytes : {16, 256, 4096, 65536})
      for (auto [blocks, threads, count] : {std::tuple{1, 1, 1}, {1, 1, 8}, {1, 32, 1}, {1, 256, 1}, {16, 256, 1}, {132, 128, 1}}) {
        if (double(bytes) * blocks * threads > 4e6) continue;
        report(std::string(give_back ? "malloc_free" : "malloc") + ".bytes" + number(bytes) + ".blocks" + number(blocks) + ".threads" + number(threads) + ".count" + number(count),
               time([&, b = blocks, t = threads, c = count] { allocate<<<b, t>>>(c, bytes, give_back, nullptr); }), "us");
      }
}

}  // namespace micro

// Launches from the device (built as relocatable device code).
#include "harness.h"

namespace micro {
namespace {

__global__ void child() {}

#ifdef MICRO_CHILDREN
__global__ void parent(int count, int kind) {
  for (int i = 0; i < count; ++i) {
    if (kind == 0) child<<<1, 32>>>();
    if (kind == 1) child<<<1, 32, 0, cudaStreamFireAndForget>>>();
    if (kind == 2) child<<<1, 32, 0, cudaStreamTailLaunch>>>();
  }
}

__global__ void nested(int depth) {
  if (depth && threadIdx.x == 0 && blockIdx.x == 0) nested<<<1, 32>>>(depth - 1);
}
#endif

}  // namespace

void device_launches() {
#ifdef MICRO_CHILDREN
  for (int kind : {0, 1, 2})
    for (int count : {0, 1, 2, 10, 100})
      for (int blocks : {1, 132}) {
        if (quick() && count > 2) continue;
        if (blocks > 1 && count > 10) continue;
        const char* names[] = {"default_stream", "fire_and_forget", "tail"};
        report(std::string("children.") + names[kind] + ".count" + number(count) + ".parents" + number(blocks), sample(7, [&] {
                 MICRO_CHECK(cudaDeviceSynchronize());
                 return event_us([&] { parent<<<blocks, 1>>>(count, kind); });
               }), "us");
      }
  for (int depth : {1, 2, 4, 8})
    report("children.nested.depth" + number(depth), sample(7, [&] { return event_us([&] { nested<<<1, 32>>>(depth); }); }), "us");
#else
  child<<<1, 1>>>();
#endif
}

}  // namespace micro

// What copies, fills and kernels leave in the second level: the time of a kernel that reads the data afterwards; and what
// writing costs when the lines must go back to memory.
#include "harness.h"

namespace micro {
namespace {

__global__ void read_all(const uint4* data, size_t count, unsigned* sink) {
  unsigned sum = 0;
  const size_t threads = size_t(gridDim.x) * blockDim.x;
  size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i + 3 * threads < count; i += 4 * threads) {
    uint4 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = __ldcg(data + i + k * threads);
#pragma unroll
    for (int k = 0; k < 4; ++k) sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
  }
  for (; i < count; i += threads) sum += __ldcg(data + i).x;
  if (sum == 42) *sink = sum;
}

__global__ void write_all(uint4* data, size_t count, unsigned v) {
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x) data[i] = make_uint4(v, v, v, v);
}

}  // namespace

void residue() {
  const int sms = device().multiProcessorCount, blocks = sms * 2, threads = 1024;
  const size_t large = quick() ? 1 << 20 : size_t(512) << 20;
  Buffer<uint4> data(large / 16), other(large / 16), flush(large / 16);
  Buffer<unsigned> sink(1);
  void* pinned = nullptr;
  MICRO_CHECK(cudaMallocHost(&pinned, size_t(64) << 20));
  std::vector<char> pageable(size_t(64) << 20, 1);
  const auto read = [&](size_t bytes) { read_all<<<blocks, threads>>>(data.data, bytes / 16, sink.data); };
  const auto write = [&](size_t bytes) { write_all<<<blocks, threads>>>(data.data, bytes / 16, 7); };
  for (int mb : {1, 4, 8, 16, 20, 24, 32, 40, 48, 60}) {
    const size_t bytes = quick() ? 1 << 18 : size_t(mb) << 20;
    const auto after = [&](const char* what, auto prepare) {
      report(std::string("residue.read_after.") + what + ".mib" + number(mb), sample(5, [&] {
               write_all<<<blocks, threads>>>(flush.data, flush.count, 1);
               prepare();
               MICRO_CHECK(cudaDeviceSynchronize());
               return event_us([&] { read(bytes); });
             }), "us");
    };
    after("flush", [] {});
    after("read", [&] { read(bytes); });
    after("read_twice", [&] { read(bytes), read(bytes); });
    after("write", [&] { write(bytes); });
    after("copy_pinned", [&] { MICRO_CHECK(cudaMemcpy(data.data, pinned, bytes, cudaMemcpyHostToDevice)); });
    after("copy_pageable", [&] { MICRO_CHECK(cudaMemcpy(data.data, pageable.data(), bytes, cudaMemcpyHostToDevice)); });
    after("fill", [&] { MICRO_CHECK(cudaMemset(data.data, 1, bytes)); });
    after("copied_to", [&] { MICRO_CHECK(cudaMemcpy(data.data, other.data, bytes, cudaMemcpyDeviceToDevice)); });
    after("copied_from", [&] { MICRO_CHECK(cudaMemcpy(other.data, data.data, bytes, cudaMemcpyDeviceToDevice)); });
    after("copied_out", [&] { read(bytes); MICRO_CHECK(cudaMemcpy(pinned, data.data, bytes, cudaMemcpyDeviceToHost)); });
  }
  for (int mb : {1, 2, 4, 8, 16, 24, 32, 40, 48, 64, 96, 128, 200, 400}) {
    const size_t bytes = quick() ? 1 << 18 : size_t(mb) << 20;
    report("residue.write.same_buffer.mib" + number(mb), sample(7, [&] { return event_us([&] { write(bytes); }); }), "us");
    report("residue.write.after_read_of_others.mib" + number(mb), sample(5, [&] {
             read_all<<<blocks, threads>>>(flush.data, flush.count, sink.data);
             MICRO_CHECK(cudaDeviceSynchronize());
             return event_us([&] { write(bytes); });
           }), "us");
    report("residue.write.after_write_of_others.mib" + number(mb), sample(5, [&] {
             write_all<<<blocks, threads>>>(flush.data, flush.count, 1);
             MICRO_CHECK(cudaDeviceSynchronize());
             return event_us([&] { write(bytes); });
           }), "us");
  }
  MICRO_CHECK(cudaFreeHost(pinned));
}

}  // namespace micro

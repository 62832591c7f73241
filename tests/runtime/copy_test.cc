// Copies and fills: directions, bounds, pitches, order in streams.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "kernels.h"

namespace {

class Copy : public testing::Test {
 protected:
  void SetUp() override {
    OK(cudaMalloc(&a, 1000));
    OK(cudaMalloc(&b, 1000));
    OK(cudaMallocHost(&pinned, 1000));
    std::iota(h, h + 4000, 0);
  }
  void TearDown() override {
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFreeHost(pinned));
    cudaGetLastError();
  }
  unsigned char *a, *b, *pinned;
  unsigned char h[4000], back[4000];
};

TEST_F(Copy, bytes_arrive) {
  OK(cudaMemcpy(a, h, 1000, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(b, a, 1000, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpy(back, b, 1000, cudaMemcpyDeviceToHost));
  EXPECT_EQ(std::memcmp(h, back, 1000), 0);
  std::memset(back, 0, sizeof back);
  OK(cudaMemcpy(pinned, b + 500, 500, cudaMemcpyDefault));
  OK(cudaMemcpy(back, pinned, 500, cudaMemcpyHostToHost));
  EXPECT_EQ(std::memcmp(h + 500, back, 500), 0);
}

// Measured on an H200: an end called device memory must be known to the runtime, one called host memory may be anything.
TEST_F(Copy, directions_are_checked) {
  EXPECT_EQ(cudaMemcpy(h, a, 1000, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(a, h, 1000, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(a, h, 1000, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(h, h + 1000, 1000, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(h, h + 1000, 1000, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  OK(cudaMemcpy(a, b, 1000, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(a, b, 1000, cudaMemcpyDeviceToHost));
  OK(cudaMemcpy(a, b, 1000, cudaMemcpyHostToHost));
  OK(cudaMemcpy(a, pinned, 1000, cudaMemcpyDeviceToDevice));
  OK(cudaMemcpy(pinned, a, 1000, cudaMemcpyDeviceToDevice));
  for (int kind : {-1, 5, 99}) {
    EXPECT_EQ(cudaMemcpy(a, h, 1000, static_cast<cudaMemcpyKind>(kind)), cudaErrorInvalidMemcpyDirection);
    EXPECT_EQ(cudaMemcpyAsync(a, h, 1000, static_cast<cudaMemcpyKind>(kind), nullptr), cudaErrorInvalidMemcpyDirection);
  }
}

TEST_F(Copy, nulls_and_overruns_are_refused_and_no_bytes_are_fine) {
  EXPECT_EQ(cudaMemcpy(nullptr, h, 10, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(a, nullptr, 10, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  OK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
  EXPECT_EQ(cudaMemcpy(a, h, 1001, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(h, a, 1001, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(a + 500, h, 501, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  OK(cudaMemcpy(a + 500, h, 500, cudaMemcpyHostToDevice));
}

TEST_F(Copy, rows_keep_to_their_pitches) {
  OK(cudaMemset(a, 0xee, 1000));
  OK(cudaMemcpy2D(a, 50, h, 30, 20, 10, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(back, a, 1000, cudaMemcpyDeviceToHost));
  for (int y = 0; y < 10; ++y)
    for (int x = 0; x < 50; ++x) EXPECT_EQ(back[y * 50 + x], x < 20 ? h[y * 30 + x] : 0xee);
  std::memset(back, 0, sizeof back);
  OK(cudaMemcpy2DAsync(back, 20, a, 50, 20, 10, cudaMemcpyDeviceToHost, nullptr));
  OK(cudaDeviceSynchronize());
  for (int y = 0; y < 10; ++y) EXPECT_EQ(std::memcmp(back + y * 20, h + y * 30, 20), 0);

  EXPECT_EQ(cudaMemcpy2D(a, 10, h, 20, 20, 2, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2D(a, 20, h, 10, 20, 2, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2D(a, 20, h, 20, 20, 51, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy2D(a, size_t{1} << 40, h, 20, 20, 2, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  OK(cudaMemcpy2D(a, 20, h, 20, 0, 2, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2D(a, 20, h, 20, 20, 50, cudaMemcpyHostToDevice));
}

TEST_F(Copy, boxes_are_cut_out_of_boxes) {
  cudaPitchedPtr box;
  OK(cudaMalloc3D(&box, make_cudaExtent(20, 6, 5)));
  OK(cudaMemset3D(box, 0, make_cudaExtent(20, 6, 5)));
  cudaMemcpy3DParms in = {};
  in.srcPtr = make_cudaPitchedPtr(h, 10, 10, 4);
  in.dstPtr = box;
  in.dstPos = make_cudaPos(3, 1, 2);
  in.extent = make_cudaExtent(10, 4, 2);
  in.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&in));
  cudaMemcpy3DParms out = {};
  out.srcPtr = box;
  out.dstPtr = make_cudaPitchedPtr(back, 20, 20, 6);
  out.extent = make_cudaExtent(20, 6, 5);
  out.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3DAsync(&out));
  OK(cudaDeviceSynchronize());
  for (int z = 0; z < 5; ++z)
    for (int y = 0; y < 6; ++y)
      for (int x = 0; x < 20; ++x) {
        bool inside = x >= 3 && x < 13 && y >= 1 && y < 5 && z >= 2 && z < 4;
        EXPECT_EQ(back[(z * 6 + y) * 20 + x], inside ? h[((z - 2) * 4 + y - 1) * 10 + x - 3] : 0);
      }
  out.dstPtr.pitch = 19;
  EXPECT_EQ(cudaMemcpy3D(&out), cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy3D(nullptr), cudaErrorInvalidValue);
  cudaMemcpy3DPeerParms peer = {};
  peer.srcPtr = peer.dstPtr = box;
  peer.extent = make_cudaExtent(20, 6, 5);
  OK(cudaMemcpy3DPeer(&peer));
  OK(cudaMemcpy3DPeerAsync(&peer));
  OK(cudaFree(box.ptr));
}

TEST_F(Copy, fills_set_bytes) {
  OK(cudaMemset(a, 0x5a, 1000));
  OK(cudaMemset(a + 10, 0x101, 10));
  OK(cudaMemcpy(back, a, 1000, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(back[i], i >= 10 && i < 20 ? 1 : 0x5a);
  OK(cudaMemset2D(a, 100, 7, 30, 10));
  OK(cudaMemcpy(back, a, 1000, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(back[i] == 7, i % 100 < 30);
  OK(cudaMemset(pinned, 9, 1000));
  EXPECT_TRUE(std::all_of(pinned, pinned + 1000, [](int v) { return v == 9; }));
  EXPECT_EQ(cudaMemset(h, 1, 10), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(a, 1, 1001), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(nullptr, 1, 1), cudaErrorInvalidValue);
  OK(cudaMemset(nullptr, 1, 0));
  EXPECT_EQ(cudaMemset2D(a, 10, 0, 20, 2), cudaErrorInvalidValue);
  OK(cudaMemsetAsync(a, 1, 1000, nullptr));
  OK(cudaMemset2DAsync(a, 100, 7, 30, 10, nullptr));
  cudaPitchedPtr box = make_cudaPitchedPtr(a, 10, 10, 10);
  OK(cudaMemset3D(box, 3, make_cudaExtent(10, 10, 10)));
  OK(cudaMemset3DAsync(box, 4, make_cudaExtent(5, 5, 5), nullptr));
  OK(cudaDeviceSynchronize());
}

TEST_F(Copy, large_copies_and_fills_take_their_turn_in_a_stream) {
  constexpr size_t kBytes = 8 << 20;
  int *big, *host;
  OK(cudaMalloc(&big, kBytes));
  OK(cudaMallocHost(&host, kBytes));
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  int count = kBytes / 4;
  OK(cudaMemsetAsync(big, 0, kBytes, stream));
  OK(kernels::launch(kernels::add, 8, 256, stream, 0, big, 5, count));
  OK(cudaMemcpyAsync(host, big, kBytes, cudaMemcpyDeviceToHost, stream));
  OK(cudaStreamSynchronize(stream));
  EXPECT_EQ(host[0], 5);
  EXPECT_EQ(host[8 * 256 - 1], 5);
  EXPECT_EQ(host[8 * 256], 0);
  OK(cudaStreamDestroy(stream));
  OK(cudaFreeHost(host));
  OK(cudaFree(big));
}

TEST_F(Copy, large_fills_with_zeros_reach_every_byte_and_no_other) {
  constexpr size_t kBytes = 4 << 20;
  unsigned char* big;
  std::vector<unsigned char> out(kBytes);
  OK(cudaMalloc(&big, kBytes));
  OK(cudaMemset(big, 0xff, kBytes));
  OK(cudaMemset(big + 5, 0, kBytes - 12));
  OK(cudaMemcpy(out.data(), big, kBytes, cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < kBytes; ++i) ASSERT_EQ(out[i], i < 5 || i >= kBytes - 7 ? 0xff : 0) << i;
  OK(cudaFree(big));
}

// Several threads share them.
TEST_F(Copy, copies_of_many_bytes_move_every_byte_and_no_other) {
  const size_t most = 33 << 20;
  std::vector<uint32_t> words(most / 4);
  for (size_t k = 0; k < words.size(); ++k) words[k] = static_cast<uint32_t>(k * 2654435761u);
  const auto* in = reinterpret_cast<const unsigned char*>(words.data());
  unsigned char* device = nullptr;
  OK(cudaMalloc(&device, most + 64));
  std::vector<unsigned char> out(most + 64);
  for (const size_t bytes : {size_t(8 << 20), size_t(8 << 20) + 1, size_t(21 << 20) - 3, most - 7}) {
    OK(cudaMemset(device, 0xee, most + 64));
    OK(cudaMemcpy(device + 5, in + 7, bytes, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(out.data(), device, most + 64, cudaMemcpyDeviceToHost));
    EXPECT_EQ(out[4], 0xee);
    EXPECT_EQ(std::memcmp(out.data() + 5, in + 7, bytes), 0) << bytes;
    EXPECT_EQ(out[5 + bytes], 0xee);
  }
  OK(cudaFree(device));
}

// A pageable source may be changed as soon as the call returns, even when the copy still waits for its turn.
TEST_F(Copy, a_small_pageable_source_is_read_at_the_call) {
  int *flag, *to;
  OK(cudaMallocHost(&flag, 4));
  OK(cudaMalloc(&to, 4));
  *flag = 0;
  cudaStream_t stream;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(kernels::launch(kernels::wait_for_flag, 1, 1, stream, 0, static_cast<volatile int*>(flag)));
  int value = 41;
  OK(cudaMemcpyAsync(to, &value, 4, cudaMemcpyHostToDevice, stream));
  value = 0;
  *static_cast<volatile int*>(flag) = 1;
  OK(cudaStreamSynchronize(stream));
  int result = 0;
  OK(cudaMemcpy(&result, to, 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(result, 41);
  OK(cudaStreamDestroy(stream));
  OK(cudaFree(to));
  OK(cudaFreeHost(flag));
}

TEST_F(Copy, peers_copy_with_one_device_too) {
  OK(cudaMemcpy(a, h, 1000, cudaMemcpyHostToDevice));
  OK(cudaMemcpyPeer(b, 0, a, 0, 1000));
  OK(cudaMemcpyPeerAsync(b, 0, a, 0, 1000));
  OK(cudaMemcpy(back, b, 1000, cudaMemcpyDeviceToHost));
  EXPECT_EQ(std::memcmp(h, back, 1000), 0);
  EXPECT_EQ(cudaMemcpyPeer(b, 0, a, 9, 1000), cudaErrorInvalidDevice);
}

TEST(Symbols, variables_are_read_and_written) {
  int value = 0, *to;
  OK(cudaMalloc(&to, 4));
  OK(kernels::launch(kernels::read_table, 1, 1, nullptr, 0, to, 3));
  OK(cudaMemcpy(&value, to, 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(value, 103);
  int fresh[2] = {50, 60};
  OK(cudaMemcpyToSymbol(kernels::table, fresh, 8, 8));
  int limit = 1000;
  OK(cudaMemcpyToSymbolAsync(kernels::limit, &limit, 4, 0, cudaMemcpyHostToDevice, nullptr));
  OK(kernels::launch(kernels::read_table, 1, 1, nullptr, 0, to, 3));
  OK(cudaMemcpy(&value, to, 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(value, 1060);
  int copy[16];
  OK(cudaMemcpyFromSymbol(copy, kernels::table, sizeof copy));
  EXPECT_EQ(copy[1], 1);
  EXPECT_EQ(copy[2], 50);
  OK(cudaMemcpyFromSymbolAsync(copy, kernels::table, 4, 12, cudaMemcpyDeviceToHost, nullptr));
  OK(cudaDeviceSynchronize());
  EXPECT_EQ(copy[0], 60);
  size_t size = 0;
  OK(cudaGetSymbolSize(&size, kernels::table));
  EXPECT_EQ(size, 64u);
  int* address = nullptr;
  OK(cudaGetSymbolAddress(&address, kernels::table));
  OK(cudaMemcpy(copy, address + 2, 4, cudaMemcpyDeviceToHost));
  EXPECT_EQ(copy[0], 50);
  OK(cudaFree(to));
}

TEST(Symbols, bounds_directions_and_strangers_are_refused) {
  int value[17] = {}, stranger = 0;
  EXPECT_EQ(cudaMemcpyToSymbol(kernels::table, value, 65), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(kernels::table, value, 64, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(stranger, value, 4), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaMemcpyToSymbol(static_cast<const void*>(nullptr), value, 4), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaMemcpyToSymbol(kernels::table, value, 4, 0, cudaMemcpyDeviceToHost), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpyFromSymbol(value, kernels::table, 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidMemcpyDirection);
  void* address;
  EXPECT_EQ(cudaGetSymbolAddress(&address, stranger), cudaErrorInvalidSymbol);
  cudaGetLastError();
}

}  // namespace

// Arrays and everything that copies to, from and between them: rows and columns, stretches of bytes, boxes, at once and in
// streams, between host, device and arrays, with what arrays say of themselves.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

int failures = 0;
void expect(bool right, const char* what) {
  if (right) return;
  if (++failures < 20) std::printf("wrong: %s\n", what);
}

constexpr int kWidth = 12, kHeight = 5, kDepth = 3, kAll = kWidth * kHeight;
constexpr size_t kRow = kWidth * sizeof(float);

std::vector<float> contents(cudaArray_const_t array) {
  std::vector<float> v(kAll);
  CHECK(cudaMemcpy2DFromArray(v.data(), kRow, array, 0, 0, kRow, kHeight, cudaMemcpyDeviceToHost));
  return v;
}

int main() {
  const cudaChannelFormatDesc f1 = cudaCreateChannelDesc<float>();
  cudaArray_t a, b;
  CHECK(cudaMallocArray(&a, &f1, kWidth, kHeight));
  CHECK(cudaMallocArray(&b, &f1, kWidth, kHeight));
  std::vector<float> ramp(kAll * kDepth), zeros(kAll * kDepth, 0.0f), got(kAll * kDepth), wanted;
  for (size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<float>(i + 1);
  auto clear = [&](cudaArray_t array) { CHECK(cudaMemcpy2DToArray(array, 0, 0, zeros.data(), kRow, kRow, kHeight, cudaMemcpyHostToDevice)); };

  // A part of rows and columns, with a pitch of the host's own.
  clear(a);
  CHECK(cudaMemcpy2DToArray(a, 2 * sizeof(float), 1, ramp.data(), 7 * sizeof(float), 5 * sizeof(float), 3, cudaMemcpyHostToDevice));
  wanted.assign(kAll, 0.0f);
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 5; ++x) wanted[(y + 1) * kWidth + x + 2] = ramp[y * 7 + x];
  expect(contents(a) == wanted, "2D to array");
  CHECK(cudaMemcpy2DFromArray(got.data(), 5 * sizeof(float), a, 2 * sizeof(float), 1, 5 * sizeof(float), 3, cudaMemcpyDeviceToHost));
  expect(got[0] == ramp[0] && got[5] == ramp[7] && got[14] == ramp[18], "2D from array");
  clear(b);
  CHECK(cudaMemcpy2DArrayToArray(b, sizeof(float), 0, a, 2 * sizeof(float), 1, 5 * sizeof(float), 3));
  expect(contents(b)[1] == ramp[0] && contents(b)[2 * kWidth + 5] == ramp[18] && contents(b)[0] == 0, "2D between arrays");

  // Stretches run on from row to row.
  clear(a);
  CHECK(cudaMemcpyToArray(a, 10 * sizeof(float), 1, ramp.data(), 20 * sizeof(float), cudaMemcpyHostToDevice));
  wanted.assign(kAll, 0.0f);
  for (int i = 0; i < 20; ++i) wanted[kWidth + 10 + i] = ramp[i];
  expect(contents(a) == wanted, "stretch to array");
  CHECK(cudaMemcpyFromArray(got.data(), a, 11 * sizeof(float), 1, 9 * sizeof(float), cudaMemcpyDeviceToHost));
  expect(got[0] == ramp[1] && got[8] == ramp[9], "stretch from array");
  clear(b);
  CHECK(cudaMemcpyArrayToArray(b, 5 * sizeof(float), 0, a, 10 * sizeof(float), 1, 20 * sizeof(float)));
  expect(contents(b)[4] == 0 && contents(b)[5] == ramp[0] && contents(b)[24] == ramp[19] && contents(b)[25] == 0, "stretch between arrays");

  // In a stream, from page-locked memory and from device memory.
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  float *pinned, *device;
  CHECK(cudaMallocHost(&pinned, kAll * sizeof(float)));
  CHECK(cudaMalloc(&device, kAll * sizeof(float)));
  for (int i = 0; i < kAll; ++i) pinned[i] = ramp[i] * 2;
  CHECK(cudaMemcpy2DToArrayAsync(a, 0, 0, pinned, kRow, kRow, kHeight, cudaMemcpyHostToDevice, stream));
  CHECK(cudaMemcpy2DFromArrayAsync(device, kRow, a, 0, 0, kRow, kHeight, cudaMemcpyDeviceToDevice, stream));
  CHECK(cudaMemcpyToArrayAsync(b, 0, 0, device, kAll * sizeof(float), cudaMemcpyDeviceToDevice, stream));
  CHECK(cudaMemcpyFromArrayAsync(pinned, b, 0, 1, kRow, cudaMemcpyDefault, stream));
  CHECK(cudaStreamSynchronize(stream));
  expect(pinned[0] == ramp[kWidth] * 2 && contents(b)[kAll - 1] == ramp[kAll - 1] * 2, "in a stream");

  // Boxes: positions and extents count texels of the arrays, positions in memory bytes.
  cudaArray_t solid, other;
  CHECK(cudaMalloc3DArray(&solid, &f1, make_cudaExtent(kWidth, kHeight, kDepth)));
  CHECK(cudaMalloc3DArray(&other, &f1, make_cudaExtent(kWidth, kHeight, kDepth), cudaArrayLayered));
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(ramp.data(), kRow, kWidth, kHeight);
  p.dstArray = solid;
  p.extent = make_cudaExtent(kWidth, kHeight, kDepth);
  p.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&p));
  p = {};
  p.srcArray = solid;
  p.srcPos = make_cudaPos(1, 2, 1);
  p.dstArray = other;
  p.dstPos = make_cudaPos(4, 0, 1);
  p.extent = make_cudaExtent(6, 3, 2);
  p.kind = cudaMemcpyDeviceToDevice;
  CHECK(cudaMemcpy3DAsync(&p, stream));
  p = {};
  p.srcArray = other;
  p.srcPos = make_cudaPos(4, 1, 2);
  p.dstPtr = make_cudaPitchedPtr(got.data(), kRow, kWidth, kHeight);
  p.dstPos = make_cudaPos(2 * sizeof(float), 1, 0);
  p.extent = make_cudaExtent(6, 2, 1);
  p.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3DAsync(&p, stream));
  CHECK(cudaStreamSynchronize(stream));
  auto texel = [&](int x, int y, int z) { return ramp[(z * kHeight + y) * kWidth + x]; };
  expect(got[kWidth + 2] == texel(1, 3, 2) && got[2 * kWidth + 7] == texel(6, 4, 2), "boxes");
  cudaMemcpy3DPeerParms peer{};
  peer.srcArray = solid;
  peer.dstArray = other;
  peer.extent = make_cudaExtent(kWidth, kHeight, kDepth);
  CHECK(cudaMemcpy3DPeer(&peer));
  p = {};
  p.srcArray = other;
  p.dstPtr = make_cudaPitchedPtr(got.data(), kRow, kWidth, kHeight);
  p.extent = make_cudaExtent(kWidth, kHeight, kDepth);
  p.kind = cudaMemcpyDefault;
  CHECK(cudaMemcpy3D(&p));
  expect(got == ramp, "peer box");

  // What arrays are.
  cudaChannelFormatDesc d;
  cudaExtent e;
  unsigned flags;
  CHECK(cudaArrayGetInfo(&d, &e, &flags, other));
  expect(d.x == 32 && d.f == cudaChannelFormatKindFloat && e.depth == kDepth && flags == cudaArrayLayered, "info");
  CHECK(cudaGetChannelDesc(&d, a));
  expect(d.x == 32 && d.y == 0, "channels");
  cudaMipmappedArray_t mips;
  CHECK(cudaMallocMipmappedArray(&mips, &f1, make_cudaExtent(32, 20, 0), 9));
  cudaArray_t level;
  CHECK(cudaGetMipmappedArrayLevel(&level, mips, 5));
  CHECK(cudaArrayGetInfo(nullptr, &e, nullptr, level));
  expect(e.width == 1 && e.height == 1 && e.depth == 0, "last level");
  expect(cudaGetMipmappedArrayLevel(&level, mips, 6) == cudaErrorInvalidValue, "beyond the last level");
  expect(cudaFreeArray(level) == cudaErrorInvalidResourceHandle, "levels go with their array");
  cudaArray_t sparse, deferred;
  CHECK(cudaMallocArray(&sparse, &f1, 1024, 1024, cudaArraySparse));
  cudaArraySparseProperties properties;
  CHECK(cudaArrayGetSparseProperties(&properties, sparse));
  expect(properties.tileExtent.width == 128 && properties.tileExtent.height == 128 && properties.tileExtent.depth == 1, "tiles");
  expect(cudaArrayGetSparseProperties(&properties, a) == cudaErrorInvalidValue, "not sparse");
  CHECK(cudaMallocArray(&deferred, &f1, 256, 256, cudaArrayDeferredMapping));
  cudaArrayMemoryRequirements needs;
  CHECK(cudaArrayGetMemoryRequirements(&needs, deferred, 0));
  expect(needs.size >= 256 * 256 * 4 && needs.alignment == 65536, "requirements");
  expect(cudaArrayGetPlane(&level, a, 0) == cudaErrorInvalidValue, "no planes");

  // Memory comes back.
  size_t before, between, after, total;
  CHECK(cudaMemGetInfo(&before, &total));
  cudaArray_t large;
  CHECK(cudaMallocArray(&large, &f1, 4096, 4096));
  CHECK(cudaMemGetInfo(&between, &total));
  CHECK(cudaFreeArray(large));
  CHECK(cudaMemGetInfo(&after, &total));
  expect(before - between >= 64u << 20 && after == before, "memory of arrays");
  expect(cudaFreeArray(large) == cudaErrorInvalidResourceHandle, "freed twice");
  cudaGetLastError();

  if (failures == 0) std::printf("ok\n");
  return failures != 0;
}

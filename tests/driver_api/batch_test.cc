// Batches of copies, prefetches and discards.
#include "fixture.h"

namespace {

class Batches : public Driver {};

TEST_F(Batches, copy_many) {
  CUstream stream;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  int from[3] = {1, 2, 3}, back[3] = {};
  CUdeviceptr ptr = allocate(64);
  CUdeviceptr sources[3], targets[3];
  size_t sizes[3] = {4, 4, 4}, first[2] = {0, 2};
  for (int i = 0; i < 3; ++i) sources[i] = reinterpret_cast<CUdeviceptr>(&from[i]), targets[i] = ptr + 8 * i;
  CUmemcpyAttributes attributes[2] = {};
  attributes[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  attributes[1].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  OK(cuMemcpyBatchAsync(targets, sources, sizes, 3, attributes, first, 2, stream));
  OK(cuStreamSynchronize(stream));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(read(targets[i]), i + 1);
  EXPECT_EQ(cuMemcpyBatchAsync(targets, sources, sizes, 3, attributes, first, 2, CU_STREAM_LEGACY), CUDA_ERROR_INVALID_VALUE);
  first[0] = 1;
  EXPECT_EQ(cuMemcpyBatchAsync(targets, sources, sizes, 3, attributes, first, 2, stream), CUDA_ERROR_INVALID_VALUE);

  CUDA_MEMCPY3D_BATCH_OP op{};
  op.src.type = op.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  op.src.op.ptr.ptr = ptr;
  op.src.op.ptr.rowLength = 8;
  op.dst.op.ptr.ptr = reinterpret_cast<CUdeviceptr>(back);
  op.extent = {4, 3, 1};
  op.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  OK(cuMemcpy3DBatchAsync(1, &op, 0, stream));
  OK(cuStreamSynchronize(stream));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(back[i], i + 1);
}

TEST_F(Batches, prefetch_and_discard_managed_memory) {
  CUstream stream;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr managed[2];
  for (auto& ptr : managed) OK(cuMemAllocManaged(&ptr, 4096, CU_MEM_ATTACH_GLOBAL));
  size_t sizes[2] = {4096, 4096}, first[1] = {0};
  CUmemLocation place{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  OK(cuMemPrefetchBatchAsync(managed, sizes, 2, &place, first, 1, 0, stream));
  OK(cuMemDiscardBatchAsync(managed, sizes, 2, 0, stream));
  OK(cuMemDiscardAndPrefetchBatchAsync(managed, sizes, 2, &place, first, 1, 0, stream));
  CUdeviceptr plain = allocate(4096);
  EXPECT_EQ(cuMemDiscardBatchAsync(&plain, sizes, 1, 0, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPrefetchBatchAsync(&plain, sizes, 1, &place, first, 1, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace

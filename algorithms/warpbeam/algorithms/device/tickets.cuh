// The work a look-back kernel needs done before it starts: zeroed tile states and a ticket counter.
#pragma once

#include "../block/lookback.cuh"
#include "launch.cuh"

namespace warpbeam::detail {

template <int kUnused>
__global__ void clear_words(uint4* words, long long count, unsigned* tickets, int ticket_count) {
#if WB_BULK_COPY
  // The next kernel may start; it waits for the end of this one before it touches what is cleared here.
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  long long index = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index < count) words[index] = make_uint4(0, 0, 0, 0);
  if (index < ticket_count) tickets[index] = 0;
}

// `bytes` is a multiple of 16.
inline cudaError_t clear_states(void* words, size_t bytes, unsigned* tickets, int ticket_count, cudaStream_t stream) {
  constexpr int kThreads = 256;
  long long count = static_cast<long long>(bytes / sizeof(uint4));
  long long blocks = ceil_div(count > ticket_count ? count : ticket_count, kThreads);
  clear_words<0><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(static_cast<uint4*>(words), count, tickets,
                                                                       ticket_count);
  return cudaGetLastError();
}

}  // namespace warpbeam::detail

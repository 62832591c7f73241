// Barriers that split arriving from waiting, as CUDA 11.0's samples name them; cuda/barrier has what came of them.
#ifndef WARPBEAM_CUDA_AWBARRIER_H
#define WARPBEAM_CUDA_AWBARRIER_H
#pragma GCC system_header
#include "warpbeam/hide_macros.h"

#include "cuda_awbarrier_primitives.h"

#ifdef __cplusplus
namespace nvcuda {
namespace experimental {

class awbarrier {
 public:
  class arrival_token {
   public:
    arrival_token() = default;
    WB_ASYNC unsigned int pending_count() const { return wb_async::pending_count(word_); }

   private:
    WB_ASYNC arrival_token(wb_async::Word word) : word_(word) {}
    wb_async::Word word_;
    friend class awbarrier;
  };

  awbarrier() = default;
  awbarrier(const awbarrier&) = delete;
  awbarrier& operator=(const awbarrier&) = delete;

  WB_ASYNC arrival_token arrive() { return wb_async::arrive(&word_); }
  WB_ASYNC arrival_token arrive_and_drop() { return wb_async::arrive_drop(&word_); }
  WB_ASYNC void wait(arrival_token token) {
    while (!wb_async::try_wait(&word_, token.word_)) {
    }
  }
  WB_ASYNC void arrive_and_wait() { wait(arrive()); }
  WB_ASYNC bool timed_wait(arrival_token token, unsigned int cycles) {
    const long long begin = clock64();
    do {
      if (wb_async::test_wait(&word_, token.word_)) return true;
    } while (clock64() - begin < cycles);
    return false;
  }
  WB_ASYNC bool timed_wait_parity(bool phase, unsigned int cycles) {
    const long long begin = clock64();
    do {
      if (wb_async::test_wait_parity(&word_, phase)) return true;
    } while (clock64() - begin < cycles);
    return false;
  }
  WB_ASYNC bool try_wait(arrival_token token, unsigned int = 0) { return wb_async::try_wait(&word_, token.word_); }
  WB_ASYNC bool try_wait_parity(bool phase, unsigned int = 0) { return wb_async::try_wait_parity(&word_, phase); }
  static __host__ __device__ constexpr unsigned int max() { return (1u << 20) - 1; }

 private:
  wb_async::Word word_;
  friend WB_ASYNC void init(awbarrier* barrier, unsigned int expected_count) {
    wb_async::init(&barrier->word_, expected_count);
  }
  friend WB_ASYNC void inval(awbarrier* barrier) { wb_async::inval(&barrier->word_); }
  friend class pipeline;
};

}  // namespace experimental
}  // namespace nvcuda
#endif

#include "warpbeam/restore_macros.h"
#endif

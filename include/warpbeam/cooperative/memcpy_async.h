// Cooperative groups: copies that a whole group makes. From global to shared memory they run beside the threads since compute
// capability 8.0, one group of cp.async for each call; others are done when the call returns, and wait makes them visible.
#ifndef WARPBEAM_COOPERATIVE_MEMCPY_ASYNC_H
#define WARPBEAM_COOPERATIVE_MEMCPY_ASYNC_H

#include "../cxx/mbarrier.h"
#include "tiles.h"

#if defined(__has_include)
#if __has_include(<cuda/__barrier/aligned_size.h>)
#define WB_OTHER_ALIGNED_SIZE
#endif
#endif

#ifdef WB_OTHER_ALIGNED_SIZE
// libcu++ from elsewhere is in front of ours.
#include <cuda/__barrier/aligned_size.h>
#else
// A size that is known to be a multiple of an alignment.
namespace cuda {
template <__SIZE_TYPE__ Alignment>
struct aligned_size_t {
  static constexpr __SIZE_TYPE__ align = Alignment;
  __SIZE_TYPE__ value;
  __host__ __device__ explicit aligned_size_t(__SIZE_TYPE__ size) : value(size) {}
  __host__ __device__ operator __SIZE_TYPE__() const { return value; }
};
}  // namespace cuda
#endif

namespace cooperative_groups {

namespace wb {
template <class Word, class G>
WB_GROUP void copy_words(const G& group, void* to, const void* from, __SIZE_TYPE__ bytes) {
  for (__SIZE_TYPE__ i = group.thread_rank(); i < bytes / sizeof(Word); i += group.size()) {
    ((Word*)to)[i] = ((const Word*)from)[i];
  }
}
}  // namespace wb

// `Known` is how the elements are aligned, or the size says that they are: pieces are as wide, 16 bytes at most. Of bytes and
// pairs of bytes that is looked up.
template <__SIZE_TYPE__ Known, class G>
WB_GROUP void wb_copy(const G& group, void* to, const void* from, __SIZE_TYPE__ bytes) {
#if WB_HAS_ARCH(800)
  if (__isShared(to) && __isGlobal(from)) {
    const __SIZE_TYPE__ sides = (__SIZE_TYPE__)to | (__SIZE_TYPE__)from, most = Known >= 16 || Known < 4 ? 16 : Known;
    const __SIZE_TYPE__ unit = sides % most == 0 ? most : sides % 8 == 0 && most >= 8 ? 8 : sides % 4 == 0 ? 4 : 1;
    const __SIZE_TYPE__ whole = bytes & ~(unit - 1);
    wb_async::copy_pieces(to, from, whole, unit, group.thread_rank(), group.size());
    if (whole < bytes)
      wb_async::copy_any((char*)to + whole, (const char*)from + whole, bytes - whole, group.thread_rank(), group.size());
    wb_async::commit_group();
    return;
  }
#endif
  const __SIZE_TYPE__ low_bits = (__SIZE_TYPE__)to | (__SIZE_TYPE__)from | bytes;
  if (low_bits % 16 == 0) {
    wb::copy_words<uint4>(group, to, from, bytes);
  } else if (low_bits % 4 == 0) {
    wb::copy_words<unsigned int>(group, to, from, bytes);
  } else {
    wb::copy_words<unsigned char>(group, to, from, bytes);
  }
}

template <class G, class T, class Size>
WB_GROUP void memcpy_async(const G& group, T* to, const T* from, const Size& bytes) {
  wb_copy<alignof(T)>(group, to, from, (__SIZE_TYPE__)bytes);
}
template <class G, class T, __SIZE_TYPE__ Alignment>
WB_GROUP void memcpy_async(const G& group, T* to, const T* from, const cuda::aligned_size_t<Alignment>& bytes) {
  wb_copy<Alignment>(group, to, from, (__SIZE_TYPE__)bytes);
}
template <class G, class Size>
WB_GROUP void memcpy_async(const G& group, void* to, const void* from, const Size& bytes) {
  wb_copy<1>(group, to, from, (__SIZE_TYPE__)bytes);
}
// With two layouts the elements that fit both are copied.
template <class G, class T, class ToLayout, class FromLayout>
WB_GROUP void memcpy_async(const G& group, T* to, const ToLayout& to_count, const T* from, const FromLayout& from_count) {
  const __SIZE_TYPE__ a = (__SIZE_TYPE__)to_count, b = (__SIZE_TYPE__)from_count;
  wb_copy<alignof(T)>(group, to, from, (a < b ? a : b) * sizeof(T));
}

// Waits until at most `Stages` of the latest calls' copies are under way.
template <unsigned int Stages, class G>
WB_GROUP void wait_prior(const G& group) {
#if WB_HAS_ARCH(800)
  wb_async::wait_group<(int)Stages>();
#endif
  group.sync();
}
template <class G>
WB_GROUP void wait(const G& group) { wait_prior<0>(group); }

}  // namespace cooperative_groups

#endif

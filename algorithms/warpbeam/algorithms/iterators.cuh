// Random-access iterators that compute instead of load. They are plain values, passed to kernels by copy.
#pragma once

#include "config.cuh"
#include "operators.cuh"

namespace warpbeam {

template <class T>
class CountingIterator {
 public:
  using value_type = T;
  __host__ __device__ explicit CountingIterator(T start = T()) : start_(start) {}
  __host__ __device__ T operator[](long long i) const { return start_ + static_cast<T>(i); }
  __host__ __device__ T operator*() const { return start_; }
  __host__ __device__ CountingIterator operator+(long long i) const {
    return CountingIterator(start_ + static_cast<T>(i));
  }
  __host__ __device__ long long operator-(CountingIterator other) const {
    return static_cast<long long>(start_ - other.start_);
  }

 private:
  T start_;
};

template <class T>
class ConstantIterator {
 public:
  using value_type = T;
  __host__ __device__ explicit ConstantIterator(T value, long long position = 0)
      : value_(value), position_(position) {}
  __host__ __device__ T operator[](long long) const { return value_; }
  __host__ __device__ T operator*() const { return value_; }
  __host__ __device__ ConstantIterator operator+(long long i) const { return ConstantIterator(value_, position_ + i); }
  __host__ __device__ long long operator-(ConstantIterator other) const { return position_ - other.position_; }

 private:
  T value_;
  long long position_;
};

template <class It, class Fn>
class TransformIterator {
 public:
  using value_type = std::decay_t<decltype(std::declval<Fn>()(std::declval<value_of<It>>()))>;
  __host__ __device__ TransformIterator(It base, Fn fn) : base_(base), fn_(fn) {}
  __host__ __device__ value_type operator[](long long i) const { return fn_(base_[i]); }
  __host__ __device__ value_type operator*() const { return fn_(*base_); }
  __host__ __device__ TransformIterator operator+(long long i) const { return TransformIterator(base_ + i, fn_); }
  __host__ __device__ long long operator-(const TransformIterator& other) const { return base_ - other.base_; }

 private:
  It base_;
  Fn fn_;
};

template <class A, class B>
struct Pair {
  A first;
  B second;
};

template <class A, class B>
class ZipIterator {
 public:
  using value_type = Pair<value_of<A>, value_of<B>>;
  __host__ __device__ ZipIterator(A first, B second) : first_(first), second_(second) {}
  __host__ __device__ value_type operator[](long long i) const { return {first_[i], second_[i]}; }
  __host__ __device__ value_type operator*() const { return {*first_, *second_}; }
  __host__ __device__ ZipIterator operator+(long long i) const { return ZipIterator(first_ + i, second_ + i); }
  __host__ __device__ long long operator-(const ZipIterator& other) const { return first_ - other.first_; }

 private:
  A first_;
  B second_;
};

// An element together with its position: the input of argmin and argmax.
template <class It>
class IndexedIterator {
 public:
  using value_type = IndexedValue<value_of<It>>;
  __host__ __device__ explicit IndexedIterator(It base, long long offset = 0) : base_(base), offset_(offset) {}
  __host__ __device__ value_type operator[](long long i) const { return {base_[offset_ + i], offset_ + i}; }
  __host__ __device__ value_type operator*() const { return (*this)[0]; }
  __host__ __device__ IndexedIterator operator+(long long i) const { return IndexedIterator(base_, offset_ + i); }
  __host__ __device__ long long operator-(const IndexedIterator& other) const { return offset_ - other.offset_; }

 private:
  It base_;
  long long offset_;
};

}  // namespace warpbeam

// Associative operators, and the pair that lets a reduction remember where its extreme value was found.
#pragma once

#include "config.cuh"

namespace warpbeam {

struct Plus {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return a + b;
  }
};

struct Multiplies {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return a * b;
  }
};

struct Minimum {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};

struct Maximum {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

struct Identity {
  template <class T>
  __host__ __device__ const T& operator()(const T& value) const {
    return value;
  }
};

template <class T>
struct IndexedValue {
  T value;
  long long index;
};

// Equal values keep the smaller index, so the answer does not depend on the order in which blocks combine.
struct ArgMin {
  template <class T>
  __host__ __device__ IndexedValue<T> operator()(const IndexedValue<T>& a, const IndexedValue<T>& b) const {
    if (b.value < a.value) return b;
    if (a.value < b.value) return a;
    return b.index < a.index ? b : a;
  }
};

struct ArgMax {
  template <class T>
  __host__ __device__ IndexedValue<T> operator()(const IndexedValue<T>& a, const IndexedValue<T>& b) const {
    if (a.value < b.value) return b;
    if (b.value < a.value) return a;
    return b.index < a.index ? b : a;
  }
};

}  // namespace warpbeam

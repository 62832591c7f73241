// Matrices without their small entries: those above a threshold, or all but a percentage of them.
#include <algorithm>
#include <cmath>

#include "libraries/cusparse/call.h"

struct pruneInfo {};

namespace warpbeam::cusparse {

namespace {

size_t bytes(int64_t count) { return static_cast<size_t>(count) * sizeof(int); }

template <class T>
double magnitude(const T& x) {
  if constexpr (is_complex<Value<T>>) return std::abs(*values(&x));
  else return std::fabs(static_cast<double>(*values(&x)));
}

// An entry of what is chosen from: its row and column, and where it stands.
struct Entry {
  int64_t row, column, at;
};
// A source says which entries there are, in order of rows, and where its values begin.
template <class T>
struct Source {
  const T* values;
  std::function<std::vector<Entry>(Memory&)> entries;
};

template <class T>
Source<T> dense_source(int m, int n, const T* a, int lda) {
  if (m < 0 || n < 0 || lda < std::max(1, m)) throw Refused{CUSPARSE_STATUS_INVALID_VALUE};
  return {a, [=](Memory& memory) {
            memory.reads(a, m * sizeof(T), n, lda * sizeof(T));
            std::vector<Entry> out;
            for (int64_t i = 0; i < m; ++i)
              for (int64_t j = 0; j < n; ++j) out.push_back({i, j, j * lda + i});
            return out;
          }};
}
template <class T>
Source<T> csr_source(cusparseMatDescr_t d, int m, int count, const T* from, const int* offsets, const int* indices) {
  if (!d || m < 0 || count < 0) throw Refused{CUSPARSE_STATUS_INVALID_VALUE};
  return {from, [=, base = d->base](Memory& memory) {
            memory.reads(offsets, bytes(m + 1)), memory.reads(indices, bytes(count)), memory.reads(from, count * sizeof(T));
            std::vector<Entry> out;
            for (int64_t r = 0; r < m; ++r)
              for (int64_t k = offsets[r] - base; k < offsets[r + 1] - base; ++k) out.push_back({r, indices[checked(k, count)] - base, k});
            return out;
          }};
}

// What limits are asked: above which magnitude entries are kept, once the values are known.
template <class T>
constexpr cudaDataType real_type_of(const T*) {
  return sizeof(T) == 2 ? CUDA_R_16F : sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_64F;
}
template <class T>
struct Above {
  LateScalar threshold;
  template <class Entries>
  double operator()(Memory& memory, const Source<T>&, const Entries&) const {
    return threshold.get(memory).real();
  }
};
template <class T>
Above<T> above(const Call& call, const T* threshold) {
  return {call.scalar(threshold, real_type_of(threshold))};
}
// All magnitudes are put in order; the one at which the percentage ends is the limit.
struct Largest {
  float percentage;
  template <class T>
  double operator()(Memory&, const Source<T>& source, const std::vector<Entry>& entries) const {
    std::vector<double> all;
    for (const Entry& entry : entries) all.push_back(magnitude(source.values[entry.at]));
    if (all.empty()) return 0;
    const auto count = static_cast<int64_t>(all.size());
    const auto at = static_cast<int64_t>(std::ceil(static_cast<double>(count) * (percentage / 100.0))) - 1;
    const auto wanted = all.begin() + std::clamp<int64_t>(at, 0, count - 1);
    std::nth_element(all.begin(), wanted, all.end());
    return *wanted;
  }
};
Largest largest(const Call& call, float percentage) {
  call.require(percentage >= 0 && percentage <= 100);
  return {percentage};
}

template <class T, class LimitOf>
std::vector<Entry> chosen(Memory& memory, const Source<T>& source, const LimitOf& limit_of) {
  std::vector<Entry> all = source.entries(memory), out;
  const double limit = limit_of(memory, source, all);
  for (const Entry& entry : all)
    if (magnitude(source.values[entry.at]) > limit) out.push_back(entry);
  return out;
}

template <class T, class LimitOf>
cusparseStatus_t count_chosen(Call& call, const Source<T>& source, const LimitOf& limit, int m, cusparseMatDescr_t to, int* offsets,
                              int* total) {
  call.require(to && total);
  return counted(call, bytes(m) * 16, total, [=, base = to->base](Memory& memory) {
    const std::vector<Entry> kept = chosen(memory, source, limit);
    memory.writes(offsets, bytes(m + 1));
    std::fill_n(offsets, m + 1, 0);
    for (const Entry& entry : kept) ++offsets[entry.row + 1];
    offsets[0] = base;
    for (int r = 0; r < m; ++r) offsets[r + 1] += offsets[r];
    return static_cast<int>(kept.size());
  });
}

template <class T, class LimitOf>
cusparseStatus_t choose(Call& call, const Source<T>& source, const LimitOf& limit, int m, cusparseMatDescr_t to, T* out, const int* offsets,
                        int* indices) {
  call.require(to);
  return call.submit(bytes(m) * 16, [=, base = to->base](Memory& memory) {
    const std::vector<Entry> kept = chosen(memory, source, limit);
    memory.reads(offsets, bytes(m + 1));
    const int64_t count = offsets[m] - base;
    memory.writes(out, count * sizeof(T)), memory.writes(indices, bytes(count));
    int64_t at = 0;
    for (const Entry& entry : kept) {
      *values(out + checked(at, count)) = *values(source.values + entry.at);
      indices[at++] = static_cast<int>(entry.column + base);
    }
  });
}

// --- the same in two steps, with a limit of the host's ----------------------------------------------------------------------

template <class T>
double limit_of(T tolerance) {
  return std::real(*values(&tolerance));
}

template <class T>
cusparseStatus_t count_each(Call& call, int m, cusparseMatDescr_t d, const T* from, const int* offsets, int* each, int* total,
                            T tolerance) {
  call.require(d && m >= 0 && total && limit_of(tolerance) >= 0);
  return counted(call, bytes(m) * 8, total, [=, base = d->base](Memory& memory) {
    memory.reads(offsets, bytes(m + 1)), memory.writes(each, bytes(m));
    const int64_t count = offsets[m] - base;
    memory.reads(from, count * sizeof(T));
    int all = 0;
    for (int r = 0; r < m; ++r) {
      each[r] = 0;
      for (int64_t k = offsets[r] - base; k < offsets[r + 1] - base; ++k)
        each[r] += magnitude(from[checked(k, count)]) > limit_of(tolerance);
      all += each[r];
    }
    return all;
  });
}

template <class T>
cusparseStatus_t compress(Call& call, int m, cusparseMatDescr_t d, const T* from, const int* indices, const int* offsets, int count,
                          const int* each, T* out, int* out_indices, int* out_offsets, T tolerance) {
  call.require(d && m >= 0 && count >= 0 && limit_of(tolerance) >= 0);
  return call.submit(bytes(m) * 8, [=, base = d->base](Memory& memory) {
    memory.reads(offsets, bytes(m + 1)), memory.reads(indices, bytes(count)), memory.reads(from, count * sizeof(T));
    memory.reads(each, bytes(m)), memory.writes(out_offsets, bytes(m + 1));
    int64_t kept = 0, at = 0;
    for (int r = 0; r < m; ++r) kept += each[r];
    memory.writes(out, kept * sizeof(T)), memory.writes(out_indices, bytes(kept));
    for (int r = 0; r < m; ++r) {
      out_offsets[r] = static_cast<int>(at + base);
      for (int64_t k = offsets[r] - base; k < offsets[r + 1] - base; ++k) {
        if (!(magnitude(from[checked(k, count)]) > limit_of(tolerance))) continue;
        out[checked(at, kept)] = from[k];
        out_indices[at++] = indices[k];
      }
    }
    out_offsets[m] = static_cast<int>(at + base);
  });
}

}  // namespace
}  // namespace warpbeam::cusparse

using namespace warpbeam::cusparse;

#define WB_CUSPARSE(name, parameters, ...) WB_DEFINE_CUSPARSE(cusparse##name, parameters, __VA_ARGS__)
#include "warpbeam/cusparse/chosen.inc"

#define WB_EXPORT extern "C" __attribute__((visibility("default")))
WB_EXPORT cusparseStatus_t cusparseCreatePruneInfo(pruneInfo_t* info) {
  if (!info) return CUSPARSE_STATUS_INVALID_VALUE;
  *info = new pruneInfo;
  return CUSPARSE_STATUS_SUCCESS;
}
WB_EXPORT cusparseStatus_t cusparseDestroyPruneInfo(pruneInfo_t info) {
  delete info;
  return CUSPARSE_STATUS_SUCCESS;
}

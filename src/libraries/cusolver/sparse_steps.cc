// Sparse solvers step by step. Analysis has nothing to do: the order is found with the factors.
#include "libraries/cusolver/band.h"

namespace warpbeam::cusolver {

namespace {

template <class T>
cusolverStatus_t factor(Call& call, int n, int entries, cusparseMatDescr_t descr, const T* value, const int* first, const int* column,
                        T shift, StepInfo* info, Method method, Place place) {
  const int base = base_of(call, descr, n, entries);
  call.require(info);
  return run_at(call, place, static_cast<size_t>(entries) * 64, [=, factors = info->factors](Memory* memory) {
    factors->of = BandFactor<Value<T>>(load(memory, n, entries, base, value, first, column), *values(&shift), method);
  });
}

template <class R>
cusolverStatus_t zero_pivot(Call& call, StepInfo* info, R tolerance, int* position) {
  call.require(info && position);
  if (const cusolverStatus_t waited = call.wait(); waited != CUSOLVER_STATUS_SUCCESS) return waited;
  *position = -1;
  return std::visit(
      [&](const auto& factor) {
        if constexpr (std::is_same_v<std::decay_t<decltype(factor)>, std::monostate>) return CUSOLVER_STATUS_INVALID_VALUE;
        else *position = factor.zero_pivot(tolerance);
        return CUSOLVER_STATUS_SUCCESS;
      },
      info->factors->of);
}

template <class T>
cusolverStatus_t solve_with(Call& call, int n, const T* b, T* x, StepInfo* info, Place place) {
  call.require(info && n >= 0);
  return run_at(call, place, static_cast<size_t>(n) * 64, [=, factors = info->factors](Memory* memory) {
    const auto* factor = std::get_if<BandFactor<Value<T>>>(&factors->of);
    if (!factor || factor->size() != n) throw std::out_of_range("there are no factors of a matrix of this size and type");
    reads(memory, b, n), writes(memory, x, n);
    factor->solve(values(b), values(x));
  });
}
template <class T>
cusolverStatus_t solve_if_asked(Call& call, int n, const T* b, T* x, StepInfo* info, Place place) {
  call.require(info);
  return b && x ? solve_with(call, n, b, x, info, place) : CUSOLVER_STATUS_SUCCESS;
}

}  // namespace
}  // namespace warpbeam::cusolver

using namespace warpbeam::cusolver;

#define WB_CUSOLVER(name, parameters, ...) WB_DEFINE_CUSOLVER(cusolver##name, parameters, __VA_ARGS__)
#include "warpbeam/cusolver/sparse_steps.inc"

#define WB_EXPORT extern "C" __attribute__((visibility("default")))
#define WB_INFO(Name, type)                                           \
  WB_EXPORT cusolverStatus_t cusolverSpCreate##Name(type##_t* info) { \
    if (!info) return CUSOLVER_STATUS_INVALID_VALUE;                  \
    *info = new type;                                                 \
    return CUSOLVER_STATUS_SUCCESS;                                   \
  }                                                                   \
  WB_EXPORT cusolverStatus_t cusolverSpDestroy##Name(type##_t info) { \
    delete info;                                                      \
    return CUSOLVER_STATUS_SUCCESS;                                   \
  }
WB_INFO(CsrqrInfo, csrqrInfo)
WB_INFO(CsrluInfoHost, csrluInfoHost)
WB_INFO(CsrqrInfoHost, csrqrInfoHost)
WB_INFO(CsrcholInfoHost, csrcholInfoHost)
WB_INFO(CsrcholInfo, csrcholInfo)

// Solvers that are told their precisions and how they refine (IRS). On a GPU they factor in a low precision and correct what
// comes of it; here the precision of the matrices is used from the start, so that there is nothing to correct.
#include "libraries/cusolver/systems.h"

#define WB_EXPORT extern "C" __attribute__((visibility("default")))

struct cusolverDnIRSParams {
  cusolverIRSRefinement_t refinement = CUSOLVER_IRS_REFINE_NOT_SET;
  cusolverPrecType_t main = cusolverPrecType_t{}, lowest = cusolverPrecType_t{};
  int most = 50;
};

struct cusolverDnIRSInfos {
  bool wants_history = false;
  int iterations = -1, most = 0;
  // By columns of most + 1 numbers: how many iterations there were, then how far each right side was off after each of them.
  std::vector<double> history;
  std::vector<float> narrow_history;
  bool narrow = false;
};

namespace warpbeam::cusolver {

namespace {

// Calls `body` with a null pointer of the type that matrices of this precision have.
template <class Body>
cusolverStatus_t with_precision(cusolverPrecType_t precision, Body&& body) {
  switch (precision) {
    case CUSOLVER_R_32F: return body(static_cast<float*>(nullptr));
    case CUSOLVER_R_64F: return body(static_cast<double*>(nullptr));
    case CUSOLVER_C_32F: return body(static_cast<cuComplex*>(nullptr));
    case CUSOLVER_C_64F: return body(static_cast<cuDoubleComplex*>(nullptr));
    default: return CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC;
  }
}
bool is_complex_precision(cusolverPrecType_t precision) { return precision >= CUSOLVER_C_8I && precision <= CUSOLVER_C_AP; }

cusolverStatus_t checked(const cusolverDnIRSParams* params) {
  if (!params) return CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED;
  if (!params->main || !params->lowest || is_complex_precision(params->main) != is_complex_precision(params->lowest))
    return CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC;
  if (params->refinement == CUSOLVER_IRS_REFINE_NOT_SET) return CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE;
  return CUSOLVER_STATUS_SUCCESS;
}

// |b - A x| of each right side.
template <class V>
std::vector<double> distances(const V* a, int lda, const V* b, int ldb, const V* x, int ldx, int m, int n, int columns) {
  std::vector<double> out;
  for (int64_t c = 0; c < columns; ++c) {
    double sum = 0;
    std::vector<V> left(b + c * ldb, b + c * ldb + m);
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < m; ++i) left[i] -= a[j * lda + i] * x[c * ldx + j];
    for (const V& value : left) sum += static_cast<double>(std::norm(value));
    out.push_back(std::sqrt(sum));
  }
  return out;
}

void keep_history(cusolverDnIRSInfos& infos, const std::vector<double>& distances, bool narrow) {
  const size_t lead = static_cast<size_t>(infos.most) + 1;
  infos.history.assign(lead * (distances.size() + 1), 0.0);
  for (size_t c = 0; c < distances.size(); ++c) infos.history[(c + 1) * lead] = distances[c];
  infos.narrow_history.assign(infos.history.begin(), infos.history.end());
  infos.narrow = narrow;
}

struct Shape {
  int m, n, columns;
};

// `solve` puts the work into the stream. The call waits: what the settings and the results say is the host's.
template <class Solve>
cusolverStatus_t solve_with(Call& call, const cusolverDnIRSParams* params, cusolverDnIRSInfos* infos, Shape shape, void* A, int lda,
                            void* B, int ldb, void* X, int ldx, int* iterations, Solve solve) {
  if (const cusolverStatus_t status = checked(params); status != CUSOLVER_STATUS_SUCCESS) return status;
  if (!infos) return CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED;
  return with_precision(params->main, [&]<class T>(T*) {
    if (const cusolverStatus_t status = solve(static_cast<T*>(A), static_cast<T*>(B), static_cast<T*>(X));
        status != CUSOLVER_STATUS_SUCCESS)
      return status;
    auto found = std::make_shared<std::vector<double>>(shape.columns);
    if (infos->wants_history)
      call.submit(static_cast<size_t>(shape.m) * shape.n * shape.columns, [=](Memory& memory) {
        read_matrix(memory, A, shape.m, shape.n, lda, sizeof(T)), read_matrix(memory, B, shape.m, shape.columns, ldb, sizeof(T));
        read_matrix(memory, X, shape.n, shape.columns, ldx, sizeof(T));
        *found = distances(values(static_cast<const T*>(A)), lda, values(static_cast<const T*>(B)), ldb, values(static_cast<const T*>(X)),
                           ldx, shape.m, shape.n, shape.columns);
      });
    if (const cusolverStatus_t waited = call.wait(); waited != CUSOLVER_STATUS_SUCCESS) return waited;
    *iterations = infos->iterations = 0;
    infos->most = params->most;
    if (infos->wants_history) keep_history(*infos, *found, sizeof(Real<Value<T>>) == sizeof(float));
    return CUSOLVER_STATUS_SUCCESS;
  });
}

cusolverStatus_t bytes_for(Call& call, const cusolverDnIRSParams* params, int m, int n, int columns, size_t* bytes) {
  if (const cusolverStatus_t status = checked(params); status != CUSOLVER_STATUS_SUCCESS) return status;
  call.require(columns >= 0);
  return buffer_bytes(call, m, n, m, bytes);
}

}  // namespace
}  // namespace warpbeam::cusolver

using namespace warpbeam::cusolver;

WB_DEFINE_CUSOLVER(cusolverDnIRSXgesv_bufferSize,
                   (cusolverDnHandle_t handle, cusolverDnIRSParams_t params, int n, int nrhs, size_t* lwork_bytes),
                   bytes_for(call, params, n, n, nrhs, lwork_bytes))
WB_DEFINE_CUSOLVER(cusolverDnIRSXgels_bufferSize,
                   (cusolverDnHandle_t handle, cusolverDnIRSParams_t params, int m, int n, int nrhs, size_t* lwork_bytes),
                   bytes_for(call, params, m, n, nrhs, lwork_bytes))
WB_DEFINE_CUSOLVER(cusolverDnIRSXgesv,
                   (cusolverDnHandle_t handle, cusolverDnIRSParams_t params, cusolverDnIRSInfos_t infos, int n, int nrhs, void* dA,
                    int ldda, void* dB, int lddb, void* dX, int lddx, void*, size_t, int* niters, int* d_info),
                   solve_with(call, params, infos, {n, n, nrhs}, dA, ldda, dB, lddb, dX, lddx, niters, [&]<class T>(T* a, T* b, T* x) {
                     return gesv(call, n, nrhs, a, ldda, static_cast<int*>(nullptr), b, lddb, x, lddx, niters, d_info);
                   }))
WB_DEFINE_CUSOLVER(cusolverDnIRSXgels,
                   (cusolverDnHandle_t handle, cusolverDnIRSParams_t params, cusolverDnIRSInfos_t infos, int m, int n, int nrhs, void* dA,
                    int ldda, void* dB, int lddb, void* dX, int lddx, void*, size_t, int* niters, int* d_info),
                   solve_with(call, params, infos, {m, n, nrhs}, dA, ldda, dB, lddb, dX, lddx, niters,
                              [&]<class T>(T* a, T* b, T* x) { return gels(call, m, n, nrhs, a, ldda, b, lddb, x, lddx, niters, d_info); }))

// --- the settings ---------------------------------------------------------------------------------------------------------

WB_EXPORT cusolverStatus_t cusolverDnIRSParamsCreate(cusolverDnIRSParams_t* params) {
  if (!params) return CUSOLVER_STATUS_INVALID_VALUE;
  *params = new cusolverDnIRSParams;
  return CUSOLVER_STATUS_SUCCESS;
}
WB_EXPORT cusolverStatus_t cusolverDnIRSParamsDestroy(cusolverDnIRSParams_t params) {
  if (!params) return CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED;
  delete params;
  return CUSOLVER_STATUS_SUCCESS;
}
// A setting: what it takes, when that is refused and with which status, and what is kept of it.
#define WB_SETTING(Name, parameter, wrong, status, keep)                                          \
  WB_EXPORT cusolverStatus_t cusolverDnIRSParams##Name(cusolverDnIRSParams_t params, parameter) { \
    if (!params) return CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED;                               \
    if (wrong) return status;                                                                     \
    keep;                                                                                         \
    return CUSOLVER_STATUS_SUCCESS;                                                               \
  }
WB_SETTING(SetRefinementSolver, cusolverIRSRefinement_t refinement, false, CUSOLVER_STATUS_SUCCESS, params->refinement = refinement)
WB_SETTING(SetSolverMainPrecision, cusolverPrecType_t precision, false, CUSOLVER_STATUS_SUCCESS, params->main = precision)
WB_SETTING(SetSolverLowestPrecision, cusolverPrecType_t precision, false, CUSOLVER_STATUS_SUCCESS, params->lowest = precision)
WB_SETTING(SetTol, double, false, CUSOLVER_STATUS_SUCCESS, )
WB_SETTING(SetTolInner, double, false, CUSOLVER_STATUS_SUCCESS, )
WB_SETTING(SetMaxIters, int most, most < 1, CUSOLVER_STATUS_IRS_PARAMS_INVALID_MAXITER, params->most = most)
WB_SETTING(SetMaxItersInner, int most, most < 1, CUSOLVER_STATUS_IRS_PARAMS_INVALID_MAXITER, )
WB_SETTING(GetMaxIters, int* most, !most, CUSOLVER_STATUS_INVALID_VALUE, *most = params->most)
#undef WB_SETTING
WB_EXPORT cusolverStatus_t cusolverDnIRSParamsSetSolverPrecisions(cusolverDnIRSParams_t params, cusolverPrecType_t main,
                                                                  cusolverPrecType_t lowest) {
  if (!params) return CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED;
  params->main = main, params->lowest = lowest;
  return CUSOLVER_STATUS_SUCCESS;
}
WB_EXPORT cusolverStatus_t cusolverDnIRSParamsEnableFallback(cusolverDnIRSParams_t params) {
  return params ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED;
}
WB_EXPORT cusolverStatus_t cusolverDnIRSParamsDisableFallback(cusolverDnIRSParams_t params) {
  return cusolverDnIRSParamsEnableFallback(params);
}

WB_EXPORT cusolverStatus_t cusolverDnIRSInfosCreate(cusolverDnIRSInfos_t* infos) {
  if (!infos) return CUSOLVER_STATUS_INVALID_VALUE;
  *infos = new cusolverDnIRSInfos;
  return CUSOLVER_STATUS_SUCCESS;
}
WB_EXPORT cusolverStatus_t cusolverDnIRSInfosDestroy(cusolverDnIRSInfos_t infos) {
  if (!infos) return CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED;
  delete infos;
  return CUSOLVER_STATUS_SUCCESS;
}
#define WB_RESULT(Name, type, value)                                                           \
  WB_EXPORT cusolverStatus_t cusolverDnIRSInfos##Name(cusolverDnIRSInfos_t infos, type* out) { \
    if (!infos) return CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED;                              \
    if (!out) return CUSOLVER_STATUS_INVALID_VALUE;                                            \
    *out = value;                                                                              \
    return CUSOLVER_STATUS_SUCCESS;                                                            \
  }
WB_RESULT(GetNiters, int, infos->iterations)
WB_RESULT(GetOuterNiters, int, infos->iterations)
WB_RESULT(GetMaxIters, int, infos->most)
#undef WB_RESULT
WB_EXPORT cusolverStatus_t cusolverDnIRSInfosRequestResidual(cusolverDnIRSInfos_t infos) {
  if (!infos) return CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED;
  infos->wants_history = true;
  return CUSOLVER_STATUS_SUCCESS;
}
WB_EXPORT cusolverStatus_t cusolverDnIRSInfosGetResidualHistory(cusolverDnIRSInfos_t infos, void** history) {
  if (!infos) return CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED;
  if (!history || infos->history.empty()) return CUSOLVER_STATUS_INVALID_VALUE;
  *history = infos->narrow ? static_cast<void*>(infos->narrow_history.data()) : infos->history.data();
  return CUSOLVER_STATUS_SUCCESS;
}

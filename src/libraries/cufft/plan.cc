// The C interface of transforms: plans are made, asked and run.
#include <cuda_runtime_api.h>
#include <cufftXt.h>

#include <map>
#include <new>

#include "libraries/cufft/plan.h"

#define WB_EXPORT extern "C" __attribute__((visibility("default")))

using namespace warpbeam::cufft;

namespace {

struct Plans {
  std::mutex mutex;
  std::map<cufftHandle, std::shared_ptr<Plan>> live;
  cufftHandle next = 1;
};

Plans& plans() {
  static auto* plans = new Plans;
  return *plans;
}

}  // namespace

namespace warpbeam::cufft {

std::shared_ptr<Plan> find(cufftHandle handle) {
  std::lock_guard lock(plans().mutex);
  const auto found = plans().live.find(handle);
  return found == plans().live.end() ? nullptr : found->second;
}

cufftResult execute(cufftHandle handle, const char* name, std::initializer_list<cufftType> types, const void* in, void* out,
                    int direction) {
  return guarded([&] {
    const auto plan = find(handle);
    if (!plan || !plan->transform) return CUFFT_INVALID_PLAN;
    bool fits = types.size() == 0;
    for (cufftType type : types) fits |= plan->transform->type() == type && !plan->transform->narrow();
    if (!fits) return CUFFT_INVALID_TYPE;
    if (!in || !out || (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE)) return CUFFT_INVALID_VALUE;
    const bool calls_back = plan->load.kernel || plan->store.kernel;
    if (calls_back && plan->transform->narrow()) return CUFFT_NOT_SUPPORTED;
    if (calls_back) return execute_with_callbacks(*plan, name, in, out, direction);
    const cudaError_t queued = warpbeam::cuda::enqueue_library_call(
        plan->stream, name, plan->transform->effort(),
        [=, transform = plan->transform](warpbeam::cuda::LibraryMemory& memory) { transform->run(memory, in, out, direction); });
    return queued == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
  });
}

}  // namespace warpbeam::cufft

namespace {

bool is_type(cufftType type) {
  switch (type) {
    case CUFFT_R2C:
    case CUFFT_C2R:
    case CUFFT_C2C:
    case CUFFT_D2Z:
    case CUFFT_Z2D:
    case CUFFT_Z2Z: return true;
  }
  return false;
}

// The transform of a call's arguments; the sizes are checked where there is no plan yet, too.
template <class Int>
cufftResult describe(int rank, const Int* n, const Int* inembed, int64_t istride, int64_t idist, const Int* onembed, int64_t ostride,
                     int64_t odist, cufftType type, int64_t batch, std::shared_ptr<Transform>* made, Width width = Width::Full) {
  if (!is_type(type)) return CUFFT_INVALID_TYPE;
  if (rank < 1 || rank > 3 || !n) return CUFFT_INVALID_VALUE;
  for (int i = 0; i < rank; ++i)
    if (n[i] < 1) return CUFFT_INVALID_SIZE;
  if (batch < 1) return CUFFT_INVALID_SIZE;
  for (int i = 0; i < rank && width != Width::Full; ++i)
    if (n[i] & (n[i] - 1)) return CUFFT_NOT_SUPPORTED;  // numbers of 16 bits: powers of two, as documented
  const bool given = inembed && onembed;
  if (given && (istride < 1 || ostride < 1 || idist < 0 || odist < 0)) return CUFFT_INVALID_VALUE;
  if (!made) return CUFFT_SUCCESS;
  Layout in, out;
  if (given) {
    in = {{inembed, inembed + rank}, istride, idist};
    out = {{onembed, onembed + rank}, ostride, odist};
  }
  *made = Transform::make(type, {n, n + rank}, given ? &in : nullptr, given ? &out : nullptr, batch, width);
  return *made ? CUFFT_SUCCESS : CUFFT_INVALID_SIZE;
}

// The library's work area is the host's memory: programs need not give any.
cufftResult no_work(size_t* size) {
  if (size) *size = 0;
  return CUFFT_SUCCESS;
}

template <class Int>
cufftResult make(cufftHandle handle, int rank, const Int* n, const Int* inembed, int64_t istride, int64_t idist, const Int* onembed,
                 int64_t ostride, int64_t odist, cufftType type, int64_t batch, size_t* work, Width width = Width::Full) {
  return guarded([&] {
    const auto plan = find(handle);
    if (!plan) return CUFFT_INVALID_PLAN;
    if (plan->transform) return CUFFT_INVALID_PLAN;  // it has been made already
    if (!work) return CUFFT_INVALID_VALUE;
    if (width != Width::Full && !plan->gpus.empty()) return CUFFT_NOT_SUPPORTED;
    std::shared_ptr<Transform> made;
    const cufftResult result = describe(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, &made, width);
    if (result != CUFFT_SUCCESS) return result;
    plan->transform = std::move(made);
    plan->rows = batch > 1 ? batch : n[0], plan->row_elements = batch > 1 ? n[0] : 1;
    for (int i = 1; i < rank; ++i) plan->row_elements *= n[i];
    for (size_t k = 1; k < plan->gpus.size(); ++k) work[k] = 0;  // one size per GPU
    return no_work(work);
  });
}

template <class Int>
cufftResult ask(int rank, const Int* n, const Int* inembed, int64_t istride, int64_t idist, const Int* onembed, int64_t ostride,
                int64_t odist, cufftType type, int64_t batch, size_t* work, Width width = Width::Full) {
  if (!work) return CUFFT_INVALID_VALUE;
  const cufftResult result = describe(rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch, nullptr, width);
  return result == CUFFT_SUCCESS ? no_work(work) : result;
}

// Creates a plan and makes it; what fails leaves none behind.
template <class Make>
cufftResult create(cufftHandle* handle, Make&& make) {
  cufftResult result = cufftCreate(handle);
  if (result != CUFFT_SUCCESS) return result;
  size_t work = 0;
  result = make(*handle, &work);
  if (result != CUFFT_SUCCESS) cufftDestroy(*handle);
  return result;
}

// The transform of types that are named one by one: those of a row go together, as real and as complex numbers.
bool type_of(cudaDataType in, cudaDataType out, cudaDataType execution, cufftType* type, Width* width) {
  static constexpr struct {
    cudaDataType real, complex;
    cufftType both_complex, from_real, to_real;
    Width width;
  } kRows[] = {{CUDA_R_32F, CUDA_C_32F, CUFFT_C2C, CUFFT_R2C, CUFFT_C2R, Width::Full},
               {CUDA_R_64F, CUDA_C_64F, CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D, Width::Full},
               {CUDA_R_16F, CUDA_C_16F, CUFFT_C2C, CUFFT_R2C, CUFFT_C2R, Width::Half},
               {CUDA_R_16BF, CUDA_C_16BF, CUFFT_C2C, CUFFT_R2C, CUFFT_C2R, Width::BFloat}};
  for (const auto& row : kRows) {
    if (execution != row.complex) continue;
    *width = row.width;
    if (in == row.complex && out == row.complex) return *type = row.both_complex, true;
    if (in == row.real && out == row.complex) return *type = row.from_real, true;
    if (in == row.complex && out == row.real) return *type = row.to_real, true;
  }
  return false;
}

const int* none = nullptr;

}  // namespace

WB_EXPORT cufftResult cufftCreate(cufftHandle* handle) {
  if (!handle) return CUFFT_INVALID_VALUE;
  if (cudaFree(nullptr) != cudaSuccess) return CUFFT_SETUP_FAILED;
  return guarded([&] {
    auto plan = std::make_shared<Plan>();
    std::lock_guard lock(plans().mutex);
    *handle = plans().next++;
    plans().live.emplace(*handle, std::move(plan));
    return CUFFT_SUCCESS;
  });
}

WB_EXPORT cufftResult cufftDestroy(cufftHandle handle) {
  std::lock_guard lock(plans().mutex);
  return plans().live.erase(handle) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

WB_EXPORT cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* work) {
  return make(plan, 1, &nx, none, 1, 0, none, 1, 0, type, batch, work);
}
WB_EXPORT cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* work) {
  const int n[] = {nx, ny};
  return make(plan, 2, n, none, 1, 0, none, 1, 0, type, 1, work);
}
WB_EXPORT cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t* work) {
  const int n[] = {nx, ny, nz};
  return make(plan, 3, n, none, 1, 0, none, 1, 0, type, 1, work);
}
#define WB_MANY(Int) int rank, Int *n, Int *inembed, Int istride, Int idist, Int *onembed, Int ostride, Int odist, cufftType type, Int batch
#define WB_MANY_ARGUMENTS rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch
WB_EXPORT cufftResult cufftMakePlanMany(cufftHandle plan, WB_MANY(int), size_t* work) { return make(plan, WB_MANY_ARGUMENTS, work); }
WB_EXPORT cufftResult cufftMakePlanMany64(cufftHandle plan, WB_MANY(long long), size_t* work) {
  return make(plan, WB_MANY_ARGUMENTS, work);
}

WB_EXPORT cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch) {
  return create(plan, [&](cufftHandle h, size_t* work) { return cufftMakePlan1d(h, nx, type, batch, work); });
}
WB_EXPORT cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
  return create(plan, [&](cufftHandle h, size_t* work) { return cufftMakePlan2d(h, nx, ny, type, work); });
}
WB_EXPORT cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type) {
  return create(plan, [&](cufftHandle h, size_t* work) { return cufftMakePlan3d(h, nx, ny, nz, type, work); });
}
WB_EXPORT cufftResult cufftPlanMany(cufftHandle* plan, WB_MANY(int)) {
  return create(plan, [&](cufftHandle h, size_t* work) { return cufftMakePlanMany(h, WB_MANY_ARGUMENTS, work); });
}

WB_EXPORT cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t* work) {
  return ask(1, &nx, none, 1, 0, none, 1, 0, type, batch, work);
}
WB_EXPORT cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t* work) {
  const int n[] = {nx, ny};
  return ask(2, n, none, 1, 0, none, 1, 0, type, 1, work);
}
WB_EXPORT cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type, size_t* work) {
  const int n[] = {nx, ny, nz};
  return ask(3, n, none, 1, 0, none, 1, 0, type, 1, work);
}
WB_EXPORT cufftResult cufftEstimateMany(WB_MANY(int), size_t* work) { return ask(WB_MANY_ARGUMENTS, work); }
WB_EXPORT cufftResult cufftGetSize1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* work) {
  return find(plan) ? cufftEstimate1d(nx, type, batch, work) : CUFFT_INVALID_PLAN;
}
WB_EXPORT cufftResult cufftGetSize2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* work) {
  return find(plan) ? cufftEstimate2d(nx, ny, type, work) : CUFFT_INVALID_PLAN;
}
WB_EXPORT cufftResult cufftGetSize3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t* work) {
  return find(plan) ? cufftEstimate3d(nx, ny, nz, type, work) : CUFFT_INVALID_PLAN;
}
WB_EXPORT cufftResult cufftGetSizeMany(cufftHandle plan, WB_MANY(int), size_t* work) {
  return find(plan) ? ask(WB_MANY_ARGUMENTS, work) : CUFFT_INVALID_PLAN;
}
WB_EXPORT cufftResult cufftGetSizeMany64(cufftHandle plan, WB_MANY(long long), size_t* work) {
  return find(plan) ? ask(WB_MANY_ARGUMENTS, work) : CUFFT_INVALID_PLAN;
}
WB_EXPORT cufftResult cufftGetSize(cufftHandle plan, size_t* work) {
  return !find(plan) ? CUFFT_INVALID_PLAN : work ? no_work(work) : CUFFT_INVALID_VALUE;
}
WB_EXPORT cufftResult cufftSetWorkArea(cufftHandle plan, void*) { return find(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN; }
WB_EXPORT cufftResult cufftSetAutoAllocation(cufftHandle plan, int) { return find(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN; }

WB_EXPORT cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction) {
  return execute(plan, "cufftExecC2C", {CUFFT_C2C}, in, out, direction);
}
WB_EXPORT cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out) {
  return execute(plan, "cufftExecR2C", {CUFFT_R2C}, in, out, CUFFT_FORWARD);
}
WB_EXPORT cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out) {
  return execute(plan, "cufftExecC2R", {CUFFT_C2R}, in, out, CUFFT_INVERSE);
}
WB_EXPORT cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction) {
  return execute(plan, "cufftExecZ2Z", {CUFFT_Z2Z}, in, out, direction);
}
WB_EXPORT cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out) {
  return execute(plan, "cufftExecD2Z", {CUFFT_D2Z}, in, out, CUFFT_FORWARD);
}
WB_EXPORT cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out) {
  return execute(plan, "cufftExecZ2D", {CUFFT_Z2D}, in, out, CUFFT_INVERSE);
}

WB_EXPORT cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
  const auto plan = find(handle);
  if (!plan) return CUFFT_INVALID_PLAN;
  plan->stream = stream;
  return CUFFT_SUCCESS;
}

WB_EXPORT cufftResult cufftGetVersion(int* version) {
  if (!version) return CUFFT_INVALID_VALUE;
  *version = CUFFT_VERSION;
  return CUFFT_SUCCESS;
}
WB_EXPORT cufftResult cufftGetProperty(libraryPropertyType type, int* value) {
  if (!value || type < MAJOR_VERSION || type > PATCH_LEVEL) return CUFFT_INVALID_VALUE;
  *value = type == MAJOR_VERSION ? CUFFT_VER_MAJOR : type == MINOR_VERSION ? CUFFT_VER_MINOR : CUFFT_VER_PATCH;
  return CUFFT_SUCCESS;
}

// Nothing here depends on them.
WB_EXPORT cufftResult cufftSetPlanPropertyInt64(cufftHandle plan, cufftProperty, const long long int) {
  return find(plan) ? CUFFT_NOT_SUPPORTED : CUFFT_INVALID_PLAN;
}
WB_EXPORT cufftResult cufftGetPlanPropertyInt64(cufftHandle plan, cufftProperty, long long int*) {
  return find(plan) ? CUFFT_NOT_SUPPORTED : CUFFT_INVALID_PLAN;
}
WB_EXPORT cufftResult cufftResetPlanProperty(cufftHandle plan, cufftProperty) {
  return find(plan) ? CUFFT_NOT_SUPPORTED : CUFFT_INVALID_PLAN;
}

#define WB_XT                                                                                                             \
  int rank, long long *n, long long *inembed, long long istride, long long idist, cudaDataType input, long long *onembed, \
      long long ostride, long long odist, cudaDataType output, long long batch, size_t *work, cudaDataType execution
WB_EXPORT cufftResult cufftXtMakePlanMany(cufftHandle plan, WB_XT) {
  cufftType type;
  Width width;
  if (!find(plan)) return CUFFT_INVALID_PLAN;
  if (!type_of(input, output, execution, &type, &width)) return CUFFT_NOT_SUPPORTED;
  return make(plan, WB_MANY_ARGUMENTS, work, width);
}
WB_EXPORT cufftResult cufftXtGetSizeMany(cufftHandle plan, WB_XT) {
  cufftType type;
  Width width;
  if (!find(plan)) return CUFFT_INVALID_PLAN;
  if (!type_of(input, output, execution, &type, &width)) return CUFFT_NOT_SUPPORTED;
  return ask(WB_MANY_ARGUMENTS, work, width);
}
// The direction of real transforms is that of their types.
WB_EXPORT cufftResult cufftXtExec(cufftHandle handle, void* in, void* out, int direction) {
  return execute(handle, "cufftXtExec", {}, in, out, direction);
}
WB_EXPORT cufftResult cufftXtSetWorkAreaPolicy(cufftHandle plan, cufftXtWorkAreaPolicy, size_t* work) {
  return find(plan) ? no_work(work) : CUFFT_INVALID_PLAN;
}

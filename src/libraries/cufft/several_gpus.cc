// Transforms whose data lie on several GPUs. Each GPU has some rows of the data, contiguous and in their natural order, before
// a transform and after it; the transform itself gathers them on the first GPU.
#include <cuda_runtime_api.h>
#include <cufftXt.h>

#include <algorithm>

#include "libraries/cufft/plan.h"

#define WB_EXPORT extern "C" __attribute__((visibility("default")))

using namespace warpbeam::cufft;

namespace {

// The thread's device, put back at the end.
class DeviceOf {
 public:
  DeviceOf() { cudaGetDevice(&before_); }
  ~DeviceOf() { cudaSetDevice(before_); }

 private:
  int before_ = 0;
};

bool is_complex(const Plan& plan) { return plan.transform && (plan.transform->type() == CUFFT_C2C || plan.transform->type() == CUFFT_Z2Z); }
size_t element_bytes(const Plan& plan) { return plan.transform->type() == CUFFT_C2C ? sizeof(cufftComplex) : sizeof(cufftDoubleComplex); }

// What can be done with a plan's memory at all.
cufftResult usable(const std::shared_ptr<Plan>& plan) {
  if (!plan || !plan->transform || plan->gpus.empty()) return CUFFT_INVALID_PLAN;
  return is_complex(*plan) ? CUFFT_SUCCESS : CUFFT_NOT_SUPPORTED;
}

bool fits(const Plan& plan, const cudaLibXtDesc* memory) {
  return memory && memory->library == LIB_FORMAT_CUFFT && memory->descriptor &&
         memory->descriptor->nGPUs == static_cast<int>(plan.gpus.size());
}

cudaError_t wait_for(const cudaXtDesc& memory) {
  DeviceOf keep;
  for (int k = 0; k < memory.nGPUs; ++k) {
    cudaError_t status = cudaSetDevice(memory.GPUs[k]);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

// Between the parts and one contiguous array of the host or of a device.
cudaError_t copy(const cudaXtDesc& memory, void* whole, bool gather) {
  if (cudaError_t status = wait_for(memory); status != cudaSuccess) return status;
  char* at = static_cast<char*>(whole);
  for (int k = 0; k < memory.nGPUs; at += memory.size[k++]) {
    void *to = gather ? at : memory.data[k], *from = gather ? memory.data[k] : at;
    if (!memory.size[k]) continue;
    if (cudaError_t status = cudaMemcpy(to, from, memory.size[k], cudaMemcpyDefault); status != cudaSuccess) return status;
  }
  return wait_for(memory);
}

size_t total_of(const cudaXtDesc& memory) {
  size_t sum = 0;
  for (int k = 0; k < memory.nGPUs; ++k) sum += memory.size[k];
  return sum;
}

void release(cudaLibXtDesc* memory) {
  for (int k = 0; k < memory->descriptor->nGPUs; ++k) cudaFree(memory->descriptor->data[k]);
  delete memory->descriptor;
  delete memory;
}

cufftResult run(cufftHandle handle, const char* name, cufftType type, cudaLibXtDesc* in, cudaLibXtDesc* out, int direction) {
  return guarded([&] {
    const auto plan = find(handle);
    if (const cufftResult result = usable(plan); result != CUFFT_SUCCESS) return result;
    if (plan->transform->type() != type) return CUFFT_INVALID_TYPE;
    if (!fits(*plan, in) || !fits(*plan, out) || (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE)) return CUFFT_INVALID_VALUE;
    const size_t bytes = total_of(*in->descriptor);
    if (bytes != total_of(*out->descriptor)) return CUFFT_INVALID_SIZE;
    DeviceOf keep;
    void* whole = nullptr;
    if (cudaSetDevice(plan->gpus[0]) != cudaSuccess || cudaMalloc(&whole, bytes) != cudaSuccess) return CUFFT_ALLOC_FAILED;
    cufftResult result = copy(*in->descriptor, whole, true) == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
    if (result == CUFFT_SUCCESS) result = execute(handle, name, {type}, whole, whole, direction);
    if (result == CUFFT_SUCCESS && (cudaDeviceSynchronize() != cudaSuccess || copy(*out->descriptor, whole, false) != cudaSuccess))
      result = CUFFT_EXEC_FAILED;
    cudaFree(whole);
    // What follows a transform is in the other one of the two orders.
    if (in == out)
      out->subFormat = in->subFormat == CUFFT_XT_FORMAT_INPLACE_SHUFFLED ? CUFFT_XT_FORMAT_INPLACE : CUFFT_XT_FORMAT_INPLACE_SHUFFLED;
    return result;
  });
}

}  // namespace

WB_EXPORT cufftResult cufftXtSetGPUs(cufftHandle handle, int count, int* gpus) {
  return guarded([&] {
    const auto plan = find(handle);
    if (!plan || plan->transform) return CUFFT_INVALID_PLAN;  // too late for one that has been made
    int there = 0;
    if (count < 1 || count > 16 || !gpus) return CUFFT_INVALID_VALUE;
    if (cudaGetDeviceCount(&there) != cudaSuccess) return CUFFT_SETUP_FAILED;
    // One GPU may have several parts: programs that want two run so where there is one.
    for (int k = 0; k < count; ++k)
      if (gpus[k] < 0 || gpus[k] >= there) return CUFFT_INVALID_DEVICE;
    plan->gpus.assign(gpus, gpus + count);
    return CUFFT_SUCCESS;
  });
}

WB_EXPORT cufftResult cufftXtMalloc(cufftHandle handle, cudaLibXtDesc** memory, cufftXtSubFormat format) {
  return guarded([&] {
    const auto plan = find(handle);
    if (!memory) return CUFFT_INVALID_VALUE;
    if (const cufftResult result = usable(plan); result != CUFFT_SUCCESS) return result;
    if (format < CUFFT_XT_FORMAT_INPUT || format > CUFFT_XT_FORMAT_1D_INPUT_SHUFFLED) return CUFFT_INVALID_VALUE;
    DeviceOf keep;
    auto* made = new cudaLibXtDesc{CUDA_XT_DESCRIPTOR_VERSION + CUDART_VERSION, new cudaXtDesc{}, LIB_FORMAT_CUFFT, format, nullptr};
    cudaXtDesc& parts = *made->descriptor;
    parts.version = made->version;
    const auto count = static_cast<int64_t>(plan->gpus.size());
    for (int64_t k = 0; k < count; ++k) {
      const int64_t rows = plan->rows / count + (k < plan->rows % count);
      parts.GPUs[k] = plan->gpus[k];
      parts.size[k] = static_cast<size_t>(rows * plan->row_elements) * element_bytes(*plan);
      parts.nGPUs = static_cast<int>(k) + 1;
      if (cudaSetDevice(parts.GPUs[k]) != cudaSuccess || cudaMalloc(&parts.data[k], std::max<size_t>(1, parts.size[k])) != cudaSuccess) {
        release(made);
        return CUFFT_ALLOC_FAILED;
      }
    }
    *memory = made;
    return CUFFT_SUCCESS;
  });
}

WB_EXPORT cufftResult cufftXtFree(cudaLibXtDesc* memory) {
  if (!memory || memory->library != LIB_FORMAT_CUFFT) return CUFFT_INVALID_VALUE;
  release(memory);
  return CUFFT_SUCCESS;
}

WB_EXPORT cufftResult cufftXtMemcpy(cufftHandle handle, void* to, void* from, cufftXtCopyType type) {
  return guarded([&] {
    const auto plan = find(handle);
    if (const cufftResult result = usable(plan); result != CUFFT_SUCCESS) return result;
    if (!to || !from) return CUFFT_INVALID_VALUE;
    auto *target = static_cast<cudaLibXtDesc*>(to), *source = static_cast<cudaLibXtDesc*>(from);
    cudaError_t status = cudaErrorInvalidValue;
    if (type == CUFFT_COPY_HOST_TO_DEVICE && fits(*plan, target)) status = copy(*target->descriptor, from, false);
    if (type == CUFFT_COPY_DEVICE_TO_HOST && fits(*plan, source)) status = copy(*source->descriptor, to, true);
    if (type == CUFFT_COPY_DEVICE_TO_DEVICE && fits(*plan, target) && fits(*plan, source)) {
      if (total_of(*target->descriptor) != total_of(*source->descriptor)) return CUFFT_INVALID_SIZE;
      std::vector<char> whole(total_of(*source->descriptor));
      status = copy(*source->descriptor, whole.data(), true);
      if (status == cudaSuccess) status = copy(*target->descriptor, whole.data(), false);
    }
    return status == cudaSuccess ? CUFFT_SUCCESS : status == cudaErrorInvalidValue ? CUFFT_INVALID_VALUE : CUFFT_EXEC_FAILED;
  });
}

WB_EXPORT cufftResult cufftXtExecDescriptorC2C(cufftHandle plan, cudaLibXtDesc* in, cudaLibXtDesc* out, int direction) {
  return run(plan, "cufftXtExecDescriptorC2C", CUFFT_C2C, in, out, direction);
}
WB_EXPORT cufftResult cufftXtExecDescriptorZ2Z(cufftHandle plan, cudaLibXtDesc* in, cudaLibXtDesc* out, int direction) {
  return run(plan, "cufftXtExecDescriptorZ2Z", CUFFT_Z2Z, in, out, direction);
}
WB_EXPORT cufftResult cufftXtExecDescriptor(cufftHandle handle, cudaLibXtDesc* in, cudaLibXtDesc* out, int direction) {
  const auto plan = find(handle);
  return plan && plan->transform ? run(handle, "cufftXtExecDescriptor", plan->transform->type(), in, out, direction) : CUFFT_INVALID_PLAN;
}
#define WB_REAL(name)                                                            \
  WB_EXPORT cufftResult name(cufftHandle plan, cudaLibXtDesc*, cudaLibXtDesc*) { \
    return find(plan) ? CUFFT_NOT_SUPPORTED : CUFFT_INVALID_PLAN;                \
  }
WB_REAL(cufftXtExecDescriptorR2C)
WB_REAL(cufftXtExecDescriptorC2R)
WB_REAL(cufftXtExecDescriptorD2Z)
WB_REAL(cufftXtExecDescriptorZ2D)
WB_EXPORT cufftResult cufftXtSetWorkArea(cufftHandle plan, void**) { return find(plan) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN; }

// What a kernel's fault is called by the runtime.
#pragma once
#include "cuda/api.h"
#include "vm/trap.h"

namespace warpbeam::cuda {

constexpr cudaError_t error_of(vm::TrapKind kind) {
  switch (kind) {
    using enum vm::TrapKind;
    case None: return cudaSuccess;
    case IllegalAddress:
    case SharedOutOfRange: return cudaErrorIllegalAddress;
    case MisalignedAddress: return cudaErrorMisalignedAddress;
    case InvalidAddressSpace: return cudaErrorInvalidAddressSpace;
    case InvalidPc: return cudaErrorInvalidPc;
    case IllegalInstruction: return cudaErrorIllegalInstruction;
    case Assert: return cudaErrorAssert;
    case StackOverflow: return cudaErrorHardwareStackError;
    case LaunchTimeout: return cudaErrorLaunchTimeout;
    case Unsupported: return cudaErrorNotSupported;
    case Trap:
    case Deadlock:
    case Cancelled: return cudaErrorLaunchFailure;
  }
  return cudaErrorLaunchFailure;
}

}  // namespace warpbeam::cuda

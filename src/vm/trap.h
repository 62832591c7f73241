// How a kernel fails: what happened, where, and to which thread.
#pragma once
#include <array>
#include <cstdint>
#include <string>

namespace warpbeam::vm {

enum class TrapKind : uint8_t {
  None,
  IllegalAddress,      // cudaErrorIllegalAddress 700
  MisalignedAddress,   // cudaErrorMisalignedAddress 716
  InvalidAddressSpace, // cudaErrorInvalidAddressSpace 717
  InvalidPc,           // cudaErrorInvalidPc 718
  Trap,                // `trap`: cudaErrorLaunchFailure 719 (illegal instruction 715 on the device's terms is IllegalInstruction)
  IllegalInstruction,  // cudaErrorIllegalInstruction 715
  Assert,              // cudaErrorAssert 710
  StackOverflow,       // cudaErrorHardwareStackError 714
  SharedOutOfRange,    // shared or local window exceeded: cudaErrorIllegalAddress 700
  Deadlock,            // a barrier or a grid that can never complete: cudaErrorLaunchFailure 719
  LaunchTimeout,       // cudaErrorLaunchTimeout 702
  Unsupported,         // an instruction this machine refuses: cudaErrorNotSupported 801
  Cancelled,           // another block of the grid failed first; never reported
};

struct Trap {
  TrapKind kind = TrapKind::None;
  std::string message;   // one sentence: "invalid __global__ write of size 4 bytes"
  std::string kernel;    // demangled
  std::array<uint32_t, 3> block{}, thread{};
  std::string location;  // "file.cu:34", or "PTX line 12" without line information
  uint64_t address = 0;
  std::string detail;    // the nearest allocation, who waits where …
  // The paragraph printed on stderr.
  std::string paragraph() const;
};

}  // namespace warpbeam::vm

// A program's own libcu++ asks NVRTC for a member's offset by a null pointer, which is no constant to clang; every other compiler by
// offsetof. What the header includes is told of NVRTC as before.
#pragma GCC system_header
#ifdef _CCCL_COMPILER_NVRTC
#include <cuda/__memory/address_space.h>
#include <cuda/std/__atomic/scopes.h>
#include <cuda/std/__barrier/barrier.h>
#include <cuda/std/chrono>
#pragma push_macro("_CCCL_COMPILER_NVRTC")
#undef _CCCL_COMPILER_NVRTC
#define _CCCL_COMPILER_NVRTC() _CCCL_VERSION_INVALID()
#include_next <cuda/__barrier/barrier_block_scope.h>
#pragma pop_macro("_CCCL_COMPILER_NVRTC")
#else
#include_next <cuda/__barrier/barrier_block_scope.h>
#endif

// libstdc++'s functions that throw; in a kernel, which cannot, they trap.
#pragma once
#pragma GCC system_header
#include_next <bits/functexcept.h>
#if defined(__CUDA__)
#define WB_TRAPS __attribute__((device)) __attribute__((noreturn)) inline
namespace std {
WB_TRAPS void __throw_bad_alloc() { __builtin_trap(); }
WB_TRAPS void __throw_bad_array_new_length() { __builtin_trap(); }
WB_TRAPS void __throw_logic_error(const char*) { __builtin_trap(); }
WB_TRAPS void __throw_domain_error(const char*) { __builtin_trap(); }
WB_TRAPS void __throw_invalid_argument(const char*) { __builtin_trap(); }
WB_TRAPS void __throw_length_error(const char*) { __builtin_trap(); }
WB_TRAPS void __throw_out_of_range(const char*) { __builtin_trap(); }
template <class... _Arguments>
WB_TRAPS void __throw_out_of_range_fmt(const char*, _Arguments...) { __builtin_trap(); }
WB_TRAPS void __throw_runtime_error(const char*) { __builtin_trap(); }
WB_TRAPS void __throw_range_error(const char*) { __builtin_trap(); }
WB_TRAPS void __throw_overflow_error(const char*) { __builtin_trap(); }
WB_TRAPS void __throw_underflow_error(const char*) { __builtin_trap(); }
}  // namespace std
#undef WB_TRAPS
#endif

// libstdc++'s strings, which are the host's.
#pragma GCC system_header
// What it reads itself is for both sides.
#include <ext/alloc_traits.h>
#if __cplusplus >= 201103L
#include <bits/functional_hash.h>
#endif
#if __cplusplus >= 201703L
#include <string_view>
#endif
#include "../warpbeam/cxx/host_only_begin.h"
#include_next <bits/basic_string.h>
#include "../warpbeam/cxx/host_only_end.h"

// libstdc++'s strings, which are the host's.
#pragma GCC system_header
#include "../warpbeam/cxx/host_only_begin.h"
#include_next <bits/basic_string.h>
#include "../warpbeam/cxx/host_only_end.h"

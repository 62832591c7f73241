// The toolkit checks the host compiler here; clang is the only one.
#pragma once
#include "host_defines.h"

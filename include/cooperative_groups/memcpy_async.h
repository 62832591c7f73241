// cooperative_groups::memcpy_async and wait.
#pragma once
#pragma GCC system_header
#include "../warpbeam/cooperative/memcpy_async.h"

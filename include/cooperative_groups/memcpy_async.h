// cooperative_groups::memcpy_async and wait.
#pragma once
#pragma GCC system_header
#include "../warpbeam/hide_macros.h"
#include "../warpbeam/cooperative/memcpy_async.h"
#include "../warpbeam/restore_macros.h"

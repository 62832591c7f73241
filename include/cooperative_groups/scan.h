// cooperative_groups::inclusive_scan and exclusive_scan.
#pragma once
#pragma GCC system_header
#include "../warpbeam/hide_macros.h"
#include "../warpbeam/cooperative/reduce.h"
#include "../warpbeam/restore_macros.h"

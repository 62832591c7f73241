// cooperative_groups::inclusive_scan and exclusive_scan.
#pragma once
#pragma GCC system_header
#include "../warpbeam/cooperative/reduce.h"

// cooperative_groups::reduce and its operations.
#pragma once
#pragma GCC system_header
#include "../warpbeam/cooperative/reduce.h"

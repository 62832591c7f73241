// Cooperative groups.
#pragma once
#pragma GCC system_header
#include "warpbeam/hide_macros.h"
#include "warpbeam/cxx/implied.h"
#include "warpbeam/cooperative/groups.h"
#include "warpbeam/cooperative/tiles.h"
#include "warpbeam/restore_macros.h"

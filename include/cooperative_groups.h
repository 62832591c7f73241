// Cooperative groups.
#pragma once
#pragma GCC system_header
#include "warpbeam/cooperative/groups.h"
#include "warpbeam/cooperative/tiles.h"

#pragma once
#include "warpbeam/device/vector_functions.h"
#define __VECTOR_FUNCTIONS_H__

#pragma once
#include "warpbeam/device/vector_types.h"
#define __VECTOR_TYPES_H__

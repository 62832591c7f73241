// The types of the runtime and the built-in vectors.
#pragma once
#include "device_types.h"
#include "driver_types.h"
#include "surface_types.h"
#include "texture_types.h"
#include "vector_types.h"

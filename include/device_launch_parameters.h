// threadIdx and its like are there in every CUDA source. Host sources see the types.
#pragma once
#include "vector_types.h"

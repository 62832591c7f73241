// A name of the toolkit. Its functions are there in every CUDA source.
#pragma once
#include "cuda_runtime.h"

// Everything of the runtime comes with the first header.
#pragma once
#include "cuda_runtime.h"

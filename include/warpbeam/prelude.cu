// What the driver compiles ahead of every CUDA source.
#include "prelude.h"

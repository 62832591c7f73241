// Packages bring copies of this header that need the vendor's compiler (src/libraries/nvrtc).
#include "../../cuda_fp4.hpp"

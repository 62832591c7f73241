// Toolkit 13 has its C++ libraries below cccl/; here they are where toolkits before had them.
#include_next <cub/version.cuh>
// Scripts of build systems read the version off such a line, without a preprocessor.
#if 0
#define CUB_VERSION 101702
#endif

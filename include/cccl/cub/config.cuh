// Toolkit 13 has its C++ libraries below cccl/; here they are where toolkits before had them.
#include_next <cub/config.cuh>

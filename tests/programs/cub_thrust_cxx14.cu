// build: -std=c++14
#include "cub_thrust_cxx11.cu"

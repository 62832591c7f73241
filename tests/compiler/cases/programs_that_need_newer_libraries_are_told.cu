// A header that newer libraries may have is told of with the option that gets them, unless one was chosen.
// run: nvcc -c %s
// expect: status 1
// expect: err has --cccl fetched
// run: WARPBEAM_CCCL=none nvcc -c %s
// expect: status 1
// expect: err lacks --cccl fetched
#include <cuda/no_such_header>
__global__ void k() {}

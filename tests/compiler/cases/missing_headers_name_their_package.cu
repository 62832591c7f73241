// A header that is not there is told with the package that has it.
// run: nvcc -c %s
// expect: status 1
// expect: err has 'CL/no_such_header.h' file not found
// expect: err has opencl-headers
#include <CL/no_such_header.h>
__global__ void k() {}

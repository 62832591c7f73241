// An error that both passes find is told of once, and the host's own too.
// run: nvcc %s
// expect: status 1
// expect: err has 1 of /error: use of undeclared identifier .undefined_thing/
// expect: err has %s:12:23: error
// expect: err has %s:13:14: error
// expect: err has 2 errors generated.
// run: warpbeam run %s
// expect: status 1
// expect: err has %s:12:23
#include <cstdio>
__global__ void k() { undefined_thing(); }
int main() { host_error; }

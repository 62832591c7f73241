// An error that only the device's pass finds is told of.
// run: nvcc %s
// expect: status 1
// expect: err has %s:6:23: error
void host();
__global__ void k() { host(); }
int main() {}

// A kernel's arguments are known where it is launched; packs of a template are.
// run: nvcc -c %s
// expect: status 1
// expect: err has %s:8:
// expect: err has a __global__ function cannot have ellipsis
// expect: err lacks %s:7:
template <class... T> __global__ void good(T...) {}
__global__ void k(int n, ...) {}

// Kernels in a static library.
// run: nvcc -lib %s -o libf.a
// run: nvcc m.cpp libf.a -o m
// run: RECORD=1 ./m
// expect: status 4
// expect: err has kernel _Z1gv
__global__ void g() {} void f() { g<<<1, 1>>>(); }
//--- m.cpp
void f(); int main() { f(); return 4; }

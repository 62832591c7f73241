// Kernels in a shared library.
// run: nvcc -shared -Xcompiler -fPIC %s -o libf.so
// run: nvcc m.cpp -L. -lf -Xlinker -rpath,. -o m
// run: ./m
// expect: status 5
__global__ void k() {} int f() { k<<<1, 1>>>(); return 5; }
//--- m.cpp
int f(); int main() { return f(); }

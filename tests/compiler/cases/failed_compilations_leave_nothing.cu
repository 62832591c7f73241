// What the compiler's second attempts read is nobody's file.
// run: nvcc -c %s
// expect: status 1
// run: nvcc -x c++ -c %s
// expect: status 1
// run: nvcc %s -o e
// expect: status 1
// run: ls
// expect: out is err\n%s\nout
__global__ void k() {}
int main() { k < < < 1, 1 >>>(; }

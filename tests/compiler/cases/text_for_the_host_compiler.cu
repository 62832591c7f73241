// -cuda gives a text that other compilers compile, with the container in it.
// needs: g++
// run: nvcc -cuda %s -o %s.cpp
// run: nvcc -g --cuda hello.cu
// expect: hello.cu.cpp.ii is there
// run: g++ -g -c %s.cpp -o %n.o
// run: nvcc %n.o -o m
// run: RECORD=1 ./m
// expect: out has "a\b" {
// expect: err has twice
// run: clang++-19 -g -c %s.cpp -o %n.o
// run: nvcc %n.o -o m
// run: RECORD=1 ./m
// expect: out has "a\b" {
// expect: err has twice
// run: nvcc -cuda -rdc=true %s
// expect: status 1
// expect: err has relocatable
#include <cstdio>
template <class T> __global__ void twice(T* p) { p[threadIdx.x] *= 2; }
int main() {
  std::printf("\"%s\" {\t}\n", "a\\b");
  twice<<<1, 32>>>((float*)nullptr);
}
//--- hello.cu
__global__ void k(int* p) { p[threadIdx.x] += 1; }
int main() { k<<<1, 32>>>(nullptr); }

// Objects with OpenMP that other compilers link: each compiler's threads have their own library.
// needs: /usr/lib/llvm-19/lib/clang/19/include/omp.h g++
// run: nvcc -Xcompiler -fopenmp -c %s
// run: g++ -fopenmp m.cpp %n.o -o m -L$tree/lib -lcudart -Wl,-rpath,$tree/lib
// run: ./m
// expect: out has 7 15
// run: nvcc -Xcompiler -fopenmp m.cpp %n.o -o n
// run: ./n
// expect: out has 7 15
// run: nvcc -Xcompiler -fopenmp,-fPIC -c %s
// run: g++ -shared %n.o -o libk.so -L$tree/lib -lcudart
// run: g++ -fopenmp m.cpp -L. -lk -Wl,-rpath,.:$tree/lib -o o
// run: ./o
// expect: out has 7 15
#include <omp.h>
static int early = omp_get_max_threads();
int from_clang() {
  int seen = 0;
#pragma omp parallel num_threads(4)
  {
#pragma omp critical
    seen |= 1 << omp_get_thread_num();
  }
  return early > 0 ? seen : 0;
}
//--- m.cpp
#include <omp.h>
#include <cstdio>
int from_clang();
int main() {
  int seen = 0;
#pragma omp parallel num_threads(3) reduction(| : seen)
  seen |= 1 << omp_get_thread_num();
  std::printf("%d %d\n", seen, from_clang());
}

// Objects lie here or in -odir, under the names of their sources.
// run: nvcc -c %s f.cpp
// expect: %n.o is there
// expect: f.o is there
// run: mkdir objects
// run: nvcc -c %s -odir objects
// expect: objects/%n.o is there
__global__ void k(int* p) { p[threadIdx.x] += 1; }
int main() {
  k<<<1, 32>>>(nullptr);
  return 1;
}
//--- f.cpp
int f() { return 0; }

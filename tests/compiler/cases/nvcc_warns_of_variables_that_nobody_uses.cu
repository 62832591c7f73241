// As nvcc, but not of constants.
// run: nvcc -c %s -o %n.o
// expect: err has %s:8:7: warning: unused variable 'unused'
// expect: err lacks kSeen
// run: nvcc -w -c %s -o %n.o
// expect: err is empty
__global__ void k(int* p) {
  int unused = 3;
  *p = 1;
}
const int kSeen = 4;
int main() { k<<<1, 1>>>(nullptr); }

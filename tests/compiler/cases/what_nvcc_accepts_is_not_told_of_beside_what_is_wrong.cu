// Where some errors of clang's are none to nvcc and others are, the messages tell of the others.
// run: nvcc -c %s
// expect: status 1
// expect: err has %s:12:52: error: use of undeclared identifier 'nothing'
// expect: err lacks expected expression
// expect: err has 1 error generated.
// run: nvcc -c shadow.cu
// expect: status 1
// expect: err has shadow.cu:3:47: error: declaration of 'T' shadows template parameter
// expect: err lacks expected expression
__global__ void k(int* p) { *p = 1; }
void go(int* p) { k << /* grid */ < 1, 4 >> > (p); nothing(p); }
int main() { go(nullptr); }
//--- shadow.cu
__global__ void k(int* p) { *p = 1; }
inline void go(int* p) { k << /* grid */ < 1, 4 >> > (p); }
template <class T> struct A { template <class T> void f(T); };
int main() { go(nullptr); }

// Options that only GCC knows, and functions with names that only clang knows.
// run: nvcc -c -Xcompiler -fipa-pta,-fno-gnu-unique %s
// expect: err is empty
// run: nvcc -c -Xcompiler --no-such-thing %s
// expect: status 1
// expect: err has no-such-thing
static unsigned long long inline __rdtsc() { return 7; }
__global__ void k(unsigned long long* p) { *p = 1; }
int main() { return (int)__rdtsc() - 7; }

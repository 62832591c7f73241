// -c with -o takes one source.
// run: nvcc -c %s b.cu -o x.o
// expect: status 1
// expect: err has single input file
int main() {}
//--- b.cu
int f();

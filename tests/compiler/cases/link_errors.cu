// The linker's errors are told.
// run: nvcc %s
// expect: status 1
// expect: err has undefined reference
void f(); int main() { f(); }

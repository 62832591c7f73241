// Warnings come of what the program says, not of what templates of the standard library do.
// run: nvcc -c %s
// expect: err is empty
// run: cp %s %n.cpp
// run: nvcc -c %n.cpp
// expect: err is empty
// run: nvcc -c g.cu
// expect: err has get_temporary_buffer
#include <algorithm>
int main() { int a[] = {2, 1}; std::stable_sort(a, a + 2); return a[0] - 1; }
//--- g.cu
#include <memory>
int main() { return std::get_temporary_buffer<int>(1).second < 0; }

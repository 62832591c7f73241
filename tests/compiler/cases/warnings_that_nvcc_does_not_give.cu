// clang's own warnings are given with -Wall alone.
// run: nvcc --Werror all-warnings %s -o w
// expect: err is empty
// run: nvcc -Xcompiler -Wall -c %s
// expect: err has Wshift-op-parentheses
// expect: err has Wdangling-else
#include <cstdlib>
int main(int n, char**) {
  float f = (float)rand() / RAND_MAX;
  if (n) if (n > 2) n = 1; else n = 0;
  const struct { int first, second; } pair = {.first = n, .second = 2};
  auto [first, second] = pair;  // lambdas may take them since C++20
  return n << 3 - (n & 1 == 1) + (f > 2) + [second] { return second; }();
}

// needs: /usr/include/thrust/version.h
// Sorted bytes: a thread's neighbours in shared memory begin anywhere.
#include <thrust/device_vector.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cstdio>
#include <vector>

int main() {
  int wrong = 0;
  for (int n : {100, 1000, 4000}) {
    std::vector<signed char> items(n), sorted(n);
    for (int i = 0; i < n; ++i) items[i] = static_cast<signed char>(i * 37 % 251 - 125);
    thrust::device_vector<signed char> v(items.begin(), items.end());
    thrust::sort(v.begin(), v.end());
    thrust::copy(v.begin(), v.end(), sorted.begin());
    std::sort(items.begin(), items.end());
    wrong += items != sorted;
  }
  std::puts(wrong ? "FAILED" : "PASSED");
  return wrong != 0;
}

// As with nvcc, a constexpr function may call what no constant can be made of, on either side.
// run: nvcc -c %s
// run: nvcc -std=c++11 -c %s
// run: nvcc -std=c++20 -c %s
#include <cmath>
template <class T> struct Complex { T re, im; constexpr T abs() const { return sqrt(re * re + im * im); } };
constexpr float two() { return log(2.0f); }
__host__ __device__ constexpr double both(double x) { return std::pow(x, 2.0) + sqrt(x); }
__global__ void k(double* o, double x) { o[0] = both(x) + Complex<double>{x, x}.abs(); }
int main() { return two() < both(2); }

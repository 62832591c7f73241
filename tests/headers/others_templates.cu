// Functions of the device library go before templates of the same names that a `using namespace` brings, as with nvcc.
// arch: 80 90
namespace other {
struct Wrong {};
#define WB_ONE(name) template <class T> __host__ __device__ Wrong name(T) { return {}; }
WB_ONE(abs) WB_ONE(sqrt) WB_ONE(rsqrt) WB_ONE(floor) WB_ONE(exp) WB_ONE(__popc) WB_ONE(__clz)
#define WB_TWO(name) template <class T, class U> __host__ __device__ Wrong name(T const&, U const&) { return {}; }
WB_TWO(min) WB_TWO(max) WB_TWO(atan2) WB_TWO(hypot) WB_TWO(fmod)
template <class T> __host__ __device__ Wrong fma(T, T, T) { return {}; }
template <class T> __device__ Wrong __ldg(const T*) { return {}; }
template <class T> __device__ Wrong atomicAdd(T*, T) { return {}; }
template <class T> __device__ Wrong __shfl_down_sync(unsigned, T, unsigned, int = 32) { return {}; }
template <class T> __device__ Wrong __reduce_add_sync(unsigned, T) { return {}; }
}  // namespace other
namespace chosen {
using namespace other;
// Of these pairs nvcc has functions of its own.
__host__ __device__ double both(int i, unsigned u, float f, double d, long long l) {
  return min(3, i) + max(i, i) + min(3u, i) + max(u, u) + min(f, 1.0f) + max(f, d) + min(l, 3ll) + abs(i) + sqrt(d) + floor(f) + exp(f) + atan2(d, d) +
         hypot(f, f) + fmod(d, d) + fma(f, f, f);
}
__global__ void kernel(float* o, int* p, int i, unsigned u, double d, unsigned long s) {
  o[0] = float(both(i, u, o[1], d, 5)) + rsqrt(o[2]) + __ldg(o + 3) + atomicAdd(o + 4, 1.0f) + __shfl_down_sync(~0u, o[5], 1);
  p[0] = __popc(u) + __clz(i) + int(__reduce_add_sync(~0u, u)) + atomicAdd(p + 1, 2);
  (void)Wrong(min(s, 3));  // of this one it has not
}
}  // namespace chosen
namespace own {
int min(int a, int b) { return a < b ? a : b; }
template <class T>
__host__ __device__ T max(T a, T b) {
  return a < b ? b : a;
}
__global__ void kernel(int* o) { o[0] = max(o[1], o[2]); }
int use() { return min(2, 3) + max(4, 5); }
}  // namespace own
__device__ int min(int a, int b) { return a < b ? a : b; }
__global__ void kernel(int* o, unsigned long n) { o[0] = min(o[1], 3) + int(min(n, 3)) + int(max(3, n)); }

// Built-in vector types: sizes, alignments, constructors, vector loads and stores, dim3, operators of one's own.
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

static_assert(sizeof(char3) == 3 && sizeof(char4) == 4 && sizeof(short3) == 6 && sizeof(int3) == 12 &&
                  sizeof(float4) == 16,
              "sizes");
static_assert(alignof(float2) == 8 && alignof(float4) == 16 && alignof(float3) == 4 && alignof(uchar4) == 4,
              "alignments");
static_assert(alignof(double2) == 16 && sizeof(double2) == 16 && sizeof(double3) == 24 && sizeof(longlong2) == 16,
              "wide");

inline __host__ __device__ float4 operator+(float4 a, float4 b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
inline __host__ __device__ float4 operator*(float4 a, float s) {
  return make_float4(a.x * s, a.y * s, a.z * s, a.w * s);
}
inline __host__ __device__ void operator+=(int2& a, int2 b) { a.x += b.x, a.y += b.y; }

struct Particle {
  float3 position;
  uchar4 colour;
  double2 charge;
};

__global__ void k(float4* f4, int2* i2, uchar4* c4, double2* d2, longlong2* l2, short3* s3, Particle* p, ushort2* u2,
                  char1* c1, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  f4[i] = (f4[i] + make_float4(1, 2, 3, 4)) * 0.5f;
  i2[i] += make_int2(i, -i);
  uchar4 c = c4[i];
  c4[i] = make_uchar4(c.w, c.z, c.y, c.x);
  d2[i] = make_double2(d2[i].y, d2[i].x);
  l2[i].x += (long long)i << 33;
  s3[i] = make_short3(s3[i].z, s3[i].x, s3[i].y);
  Particle q = p[i];
  q.position.x += q.charge.x;
  q.position.z = (float)q.colour.w;
  q.charge = make_double2(q.charge.y * 2, i);
  p[i] = q;
  u2[i].y = (unsigned short)(u2[i].x * 3);
  c1[i].x = (signed char)-c1[i].x;
}

template <class T>
struct Buffer {
  T host[100], *device;
  Buffer() { CHECK(cudaMalloc(&device, sizeof host)); }
  void up() { CHECK(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice)); }
  void down() { CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost)); }
};

int main() {
  const int n = 100;
  Buffer<float4> f4;
  Buffer<int2> i2;
  Buffer<uchar4> c4;
  Buffer<double2> d2;
  Buffer<longlong2> l2;
  Buffer<short3> s3;
  Buffer<Particle> p;
  Buffer<ushort2> u2;
  Buffer<char1> c1;
  for (int i = 0; i < n; i++) {
    f4.host[i] = make_float4(i, i + 1, i + 2, i + 3);
    i2.host[i] = make_int2(i * 2, i * 3);
    c4.host[i] = make_uchar4(i, i + 1, i + 2, i + 3);
    d2.host[i] = make_double2(i * 0.5, i * 0.25);
    l2.host[i] = make_longlong2(i, -i);
    s3.host[i] = make_short3(i, i * 2, i * 3);
    p.host[i].position = make_float3(i, i, i), p.host[i].colour = make_uchar4(1, 2, 3, i),
    p.host[i].charge = make_double2(0.5, i);
    u2.host[i] = make_ushort2(i * 100, 0);
    c1.host[i] = make_char1(i);
  }
  f4.up(), i2.up(), c4.up(), d2.up(), l2.up(), s3.up(), p.up(), u2.up(), c1.up();
  k<<<4, 32>>>(f4.device, i2.device, c4.device, d2.device, l2.device, s3.device, p.device, u2.device, c1.device, n);
  CHECK(cudaGetLastError());
  f4.down(), i2.down(), c4.down(), d2.down(), l2.down(), s3.down(), p.down(), u2.down(), c1.down();
  int bad = 0;
  for (int i = 0; i < n; i++) {
    bad += f4.host[i].x != (i + 1) * 0.5f || f4.host[i].w != (i + 7) * 0.5f || i2.host[i].x != 3 * i ||
           i2.host[i].y != 2 * i;
    bad += c4.host[i].x != (unsigned char)(i + 3) || c4.host[i].w != i || d2.host[i].x != i * 0.25 ||
           d2.host[i].y != i * 0.5;
    bad += l2.host[i].x != i + ((long long)i << 33) || l2.host[i].y != -i || s3.host[i].x != i * 3 ||
           s3.host[i].z != i * 2;
    bad += p.host[i].position.x != i + 0.5f || p.host[i].position.z != i || p.host[i].charge.x != 2.0 * i ||
           p.host[i].charge.y != i;
    bad += p.host[i].colour.z != 3 || u2.host[i].y != i * 300 || c1.host[i].x != -i;
  }
  dim3 a, b(2), c(3, 4), d = {5, 6, 7};
  uint3 e = d;
  bad += a.x * a.y * a.z != 1 || b.x != 2 || b.y != 1 || c.y != 4 || c.z != 1 || e.z != 7 || dim3(e).y != 6;
  printf("vector_types: %d wrong, %s\n", bad, bad ? "FAILED" : "PASSED");
  return bad != 0;
}

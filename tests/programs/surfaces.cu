// Surface objects and references: reads and writes of every size, what the boundary modes do, layers, volumes and cube
// faces, formatted stores and reductions by PTX, queries, and what a texture over the same array then reads.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

int failures = 0;
void expect(bool right, const char* what, int at) {
  if (right) return;
  if (++failures < 20) std::printf("wrong: %s at %d\n", what, at);
}

surface<void, cudaSurfaceType2D> by_reference;

template <class T>
__global__ void transpose_like(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int w, int h) {
  const int x = threadIdx.x, y = threadIdx.y;
  T v = surf2Dread<T>(from, x * int(sizeof(T)), y);
  surf2Dwrite(v, to, (w - 1 - x) * int(sizeof(T)), h - 1 - y);
}

__global__ void copy_by_reference(cudaSurfaceObject_t to) {
  float v;
  surf2Dread(&v, by_reference, threadIdx.x * 4, threadIdx.y);
  surf2Dwrite(v + 1, by_reference, threadIdx.x * 4, threadIdx.y);
  surf2Dwrite(v, to, threadIdx.x * 4, threadIdx.y);
}

__global__ void boundaries(cudaSurfaceObject_t s, float* out) {
  const int xs[] = {-4, 0, 28, 32, 400}, x = xs[threadIdx.x % 5], y = int(threadIdx.x / 5) - 1;
  out[threadIdx.x] = surf2Dread<float>(s, x, y, cudaBoundaryModeZero);
  out[threadIdx.x + 30] = surf2Dread<float>(s, x, y, cudaBoundaryModeClamp);
}
__global__ void lost_writes(cudaSurfaceObject_t s) { surf2Dwrite(77.0f, s, 32 + int(threadIdx.x) * 4, 0, cudaBoundaryModeZero); }

__global__ void other_shapes(cudaSurfaceObject_t line, cudaSurfaceObject_t solid, cudaSurfaceObject_t layers, cudaSurfaceObject_t cube, float* out) {
  const int i = threadIdx.x;
  surf1Dwrite(float(i), line, i * 4);
  surf3Dwrite(float(10 + i), solid, (i % 2) * 4, i / 2 % 2, i / 4);
  surf2DLayeredwrite(float(20 + i), layers, (i % 2) * 4, i / 2 % 2, i / 4);
  surfCubemapwrite(float(30 + i), cube, (i % 2) * 4, i / 2 % 2, 4 + i / 4);
  out[i] = surf1Dread<float>(line, i * 4);
  out[i + 8] = surf3Dread<float>(solid, (i % 2) * 4, i / 2 % 2, i / 4);
  out[i + 16] = surf2DLayeredread<float>(layers, (i % 2) * 4, i / 2 % 2, i / 4);
  out[i + 24] = surfCubemapread<float>(cube, (i % 2) * 4, i / 2 % 2, 4 + i / 4);
}

__global__ void by_ptx(cudaSurfaceObject_t bytes, cudaSurfaceObject_t words, unsigned* out) {
  if (threadIdx.x == 0)
    asm volatile("sust.p.2d.v4.b32.trap [%0, {%1, %2}], {%3, %4, %5, %6};" ::"l"(bytes), "r"(1), "r"(0), "r"(5), "r"(300), "r"(0), "r"(255) : "memory");
  asm volatile("sured.b.add.2d.u32.trap [%0, {%1, %2}], %3;" ::"l"(words), "r"(4), "r"(1), "r"(3u) : "memory");
  asm volatile("sured.b.max.2d.s32.trap [%0, {%1, %2}], %3;" ::"l"(words), "r"(8), "r"(1), "r"(int(threadIdx.x) - 40) : "memory");
  asm volatile("suq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(words));
  asm volatile("suq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(words));
}

__global__ void through_texture(cudaTextureObject_t t, float* out) { out[threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, 0.5f); }

cudaArray_t array_of(const cudaChannelFormatDesc& d, size_t w, size_t h, size_t depth = 0, unsigned flags = 0) {
  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &d, make_cudaExtent(w, h, depth), flags | cudaArraySurfaceLoadStore));
  return array;
}
cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = array;
  return r;
}
cudaSurfaceObject_t surface_of(cudaArray_t array) {
  const cudaResourceDesc r = resource_of(array);
  cudaSurfaceObject_t s;
  CHECK(cudaCreateSurfaceObject(&s, &r));
  return s;
}

template <class T>
void sizes(const char* name) {
  const cudaChannelFormatDesc d = cudaCreateChannelDesc<T>();
  cudaArray_t from = array_of(d, 8, 4), to = array_of(d, 8, 4);
  std::vector<T> host(32), got(32);
  auto* bytes = reinterpret_cast<unsigned char*>(host.data());
  for (size_t k = 0; k < 32 * sizeof(T); ++k) bytes[k] = static_cast<unsigned char>(k * 7 + 3);
  const size_t row = 8 * sizeof(T);
  CHECK(cudaMemcpy2DToArray(from, 0, 0, host.data(), row, row, 4, cudaMemcpyHostToDevice));
  transpose_like<T><<<1, dim3(8, 4)>>>(surface_of(from), surface_of(to), 8, 4);
  CHECK(cudaMemcpy2DFromArray(got.data(), row, to, 0, 0, row, 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) expect(memcmp(&got[i], &host[31 - i], sizeof(T)) == 0, name, i);
  CHECK(cudaFreeArray(from));
  CHECK(cudaFreeArray(to));
}

int main() {
  sizes<unsigned char>("uchar");
  sizes<char2>("char2");
  sizes<unsigned short>("ushort");
  sizes<float>("float");
  sizes<uchar4>("uchar4");
  sizes<short4>("short4");
  sizes<int2>("int2");
  sizes<float4>("float4");

  const cudaChannelFormatDesc f1 = cudaCreateChannelDesc<float>();
  cudaArray_t plane = array_of(f1, 8, 4), copy = array_of(f1, 8, 4);
  std::vector<float> host(32), got(64);
  for (int i = 0; i < 32; ++i) host[i] = static_cast<float>(i + 1);
  CHECK(cudaMemcpy2DToArray(plane, 0, 0, host.data(), 32, 32, 4, cudaMemcpyHostToDevice));
  float* out;
  CHECK(cudaMalloc(&out, 64 * sizeof(float)));
  boundaries<<<1, 30>>>(surface_of(plane), out);
  CHECK(cudaMemcpy(got.data(), out, 60 * sizeof(float), cudaMemcpyDeviceToHost));
  const int columns[] = {0, 0, 7, 7, 7};
  for (int i = 0; i < 30; ++i) {
    const int y = i / 5 - 1, cy = y < 0 ? 0 : y > 3 ? 3 : y;
    const bool in = (i % 5 == 1 || i % 5 == 2) && y >= 0 && y < 4;
    expect(got[i] == (in ? host[y * 8 + columns[i % 5]] : 0.0f), "zero", i);
    expect(got[i + 30] == host[cy * 8 + columns[i % 5]], "clamp", i);
  }
  lost_writes<<<1, 8>>>(surface_of(plane));
  std::vector<float> same(32);
  CHECK(cudaMemcpy2DFromArray(same.data(), 32, plane, 0, 0, 32, 4, cudaMemcpyDeviceToHost));
  expect(same == host, "writes outside are lost", 0);

  CHECK(cudaBindSurfaceToArray(by_reference, plane));
  copy_by_reference<<<1, dim3(8, 4)>>>(surface_of(copy));
  CHECK(cudaMemcpy2DFromArray(same.data(), 32, copy, 0, 0, 32, 4, cudaMemcpyDeviceToHost));
  expect(same == host, "reference read", 0);
  const cudaResourceDesc r = resource_of(plane);
  cudaTextureDesc plain{};
  cudaTextureObject_t t;
  CHECK(cudaCreateTextureObject(&t, &r, &plain, nullptr));
  through_texture<<<1, 8>>>(t, out);
  CHECK(cudaMemcpy(got.data(), out, 32, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 8; ++i) expect(got[i] == i + 2, "written by reference", i);

  other_shapes<<<1, 8>>>(surface_of(array_of(f1, 8, 0)), surface_of(array_of(f1, 2, 2, 2)), surface_of(array_of(f1, 2, 2, 2, cudaArrayLayered)),
                         surface_of(array_of(f1, 2, 2, 6, cudaArrayCubemap)), out);
  CHECK(cudaMemcpy(got.data(), out, 32 * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) expect(got[i] == (i / 8) * 10 + i % 8, "shapes", i);

  cudaArray_t bytes = array_of(cudaCreateChannelDesc<uchar4>(), 4, 2), words = array_of(cudaCreateChannelDesc<int>(), 4, 2);
  std::vector<int> zeros(8, -100), read(8);
  zeros[5] = 0;
  CHECK(cudaMemcpy2DToArray(words, 0, 0, zeros.data(), 16, 16, 2, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2DToArray(bytes, 0, 0, zeros.data(), 16, 16, 2, cudaMemcpyHostToDevice));
  auto* answers = reinterpret_cast<unsigned*>(out);
  by_ptx<<<1, 64>>>(surface_of(bytes), surface_of(words), answers);
  CHECK(cudaMemcpy2DFromArray(read.data(), 16, words, 0, 0, 16, 2, cudaMemcpyDeviceToHost));
  expect(read[5] == 64 * 3 && read[6] == 23, "reductions", 0);
  CHECK(cudaMemcpy2DFromArray(read.data(), 16, bytes, 0, 0, 16, 2, cudaMemcpyDeviceToHost));
  expect(static_cast<unsigned>(read[1]) == 0xff00ff05u, "formatted store saturates", 0);
  unsigned extent[2];
  CHECK(cudaMemcpy(extent, out, 8, cudaMemcpyDeviceToHost));
  expect(extent[0] == 4 && extent[1] == 2, "queries", 0);

  if (failures == 0) std::printf("ok\n");
  return failures != 0;
}

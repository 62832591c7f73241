// Every way to move and fill memory: 2-D and 3-D copies with pitches, offsets, memset in all forms, device to device,
// symbols with offsets, asynchronous forms, peer copies to oneself, and overlapping ranges of a large allocation.
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

__global__ void add_one_2d(float* p, size_t pitch, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) ((float*)((char*)p + y * pitch))[x] += 1.0f;
}
__global__ void add_one_3d(cudaPitchedPtr p, cudaExtent e) {
  char* base = (char*)p.ptr;
  size_t slice = p.pitch * e.height;
  for (int z = blockIdx.x; z < e.depth; z += gridDim.x)
    for (int y = threadIdx.y; y < e.height; y += blockDim.y) {
      int* row = (int*)(base + z * slice + y * p.pitch);
      for (int x = threadIdx.x; x < e.width / sizeof(int); x += blockDim.x) row[x] += z * 10000 + y * 100 + x;
    }
}

__device__ int d_numbers[8] = {1, 2, 3, 4};
__constant__ float c_numbers[4];
__global__ void read_constant(float* out) { out[threadIdx.x] = c_numbers[threadIdx.x] * d_numbers[threadIdx.x]; }

// What copies and fills of boxes say about boxes that do not fit: recorded on an H100.
static int box_rules() {
  int bad = 0;
  static char from[4096];
  char* to;
  CHECK(cudaMalloc(&to, sizeof from));
  cudaArray_t array;
  const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<char>();
  CHECK(cudaMalloc3DArray(&array, &bytes, make_cudaExtent(20, 10, 6)));
  const auto value = cudaErrorInvalidValue, pitch = cudaErrorInvalidPitchValue, fine = cudaSuccess;
  struct { size_t x, y, z, width, height, depth, pitch, rows; cudaError_t wanted, fill; } boxes[] = {
      {0, 0, 0, 8, 9, 1, 64, 9, fine, fine},    {0, 0, 0, 8, 10, 1, 64, 9, value, value}, {0, 1, 0, 8, 9, 1, 64, 9, value, fine},
      {0, 0, 0, 8, 2, 1, 64, 1, value, value},  {0, 0, 0, 8, 2, 1, 64, 0, fine, value},   {0, 0, 0, 8, 2, 2, 64, 0, pitch, value},
      {0, 0, 0, 8, 10, 2, 64, 9, pitch, value}, {0, 1, 0, 8, 9, 2, 64, 9, value, fine},   {0, 0, 1, 8, 2, 1, 64, 1, value, value},
      {0, 0, 0, 64, 2, 1, 64, 9, fine, fine},   {0, 0, 0, 65, 2, 1, 64, 9, pitch, value}, {1, 0, 0, 64, 2, 1, 64, 9, value, fine},
      {3, 0, 0, 62, 1, 1, 64, 9, value, fine},  {0, 0, 0, 65, 1, 1, 64, 9, value, fine},  {0, 0, 0, 8, 1, 1, 0, 9, fine, fine},
      {0, 0, 0, 8, 2, 1, 0, 9, pitch, value},   {0, 0, 0, 8, 2, 1, 4, 9, pitch, value},   {0, 0, 0, 8, 1, 1, 4, 9, value, fine}};
  for (const auto& b : boxes) {
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(from, b.pitch, 60, b.rows);
    p.dstPtr = make_cudaPitchedPtr(to, 70, 60, 16);
    p.srcPos = make_cudaPos(b.x, b.y, b.z);
    p.extent = make_cudaExtent(b.width, b.height, b.depth);
    p.kind = cudaMemcpyHostToDevice;
    bad += cudaMemcpy3D(&p) != b.wanted;
    if (b.x + b.y + b.z == 0) bad += cudaMemset3D(make_cudaPitchedPtr(to, b.pitch, 60, b.rows), 1, p.extent) != b.fill;
  }
  // Arrays are device memory at the end that is read; the end that is written may be anything to HostToHost.
  struct { cudaMemcpyKind kind; cudaError_t reading, writing; } kinds[] = {
      {cudaMemcpyHostToHost, value, fine}, {cudaMemcpyHostToDevice, value, fine}, {cudaMemcpyDeviceToHost, fine, value},
      {cudaMemcpyDeviceToDevice, fine, value}, {cudaMemcpyDefault, fine, fine}};
  for (const auto& k : kinds) {
    cudaMemcpy3DParms out = {}, in = {};
    out.srcArray = in.dstArray = array;
    out.dstPtr = make_cudaPitchedPtr(to, 64, 60, 9), in.srcPtr = make_cudaPitchedPtr(from, 64, 60, 9);
    out.extent = in.extent = make_cudaExtent(8, 2, 1);
    out.kind = in.kind = k.kind;
    bad += cudaMemcpy3D(&out) != k.reading;
    bad += cudaMemcpy3D(&in) != k.writing;
  }
  cudaGetLastError();
  CHECK(cudaFreeArray(array));
  CHECK(cudaFree(to));
  return bad;
}

int main() {
  int bad = 0;
  const int w = 37, h = 21;
  float host[h][50], back[h][w], *d;
  size_t pitch;
  for (int y = 0; y < h; y++)
    for (int x = 0; x < 50; x++) host[y][x] = y * 100.0f + x;
  CHECK(cudaMallocPitch((void**)&d, &pitch, w * sizeof(float), h));
  bad += pitch < w * sizeof(float) || pitch % 32 != 0;
  CHECK(cudaMemcpy2D(d, pitch, host, sizeof host[0], w * sizeof(float), h, cudaMemcpyHostToDevice));
  add_one_2d<<<dim3(3, 2), dim3(16, 16)>>>(d, pitch, w, h);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy2D(back, sizeof back[0], d, pitch, w * sizeof(float), h, cudaMemcpyDeviceToHost));
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) bad += back[y][x] != host[y][x] + 1;
  CHECK(cudaMemset2D(d, pitch, 0, 5 * sizeof(float), 3));
  CHECK(cudaMemcpy2DAsync(back, sizeof back[0], d, pitch, w * sizeof(float), h, cudaMemcpyDeviceToHost, 0));
  CHECK(cudaStreamSynchronize(0));
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) bad += back[y][x] != (y < 3 && x < 5 ? 0.0f : host[y][x] + 1);

  cudaExtent extent = make_cudaExtent(19 * sizeof(int), 11, 5);
  cudaPitchedPtr volume;
  CHECK(cudaMalloc3D(&volume, extent));
  bad += volume.xsize != extent.width || volume.ysize != 11;
  CHECK(cudaMemset3D(volume, 0, extent));
  add_one_3d<<<3, dim3(8, 8)>>>(volume, extent);
  std::vector<int> cube(19 * 11 * 5, -1);
  cudaMemcpy3DParms parms = {};
  parms.srcPtr = volume;
  parms.dstPtr = make_cudaPitchedPtr(cube.data(), 19 * sizeof(int), 19 * sizeof(int), 11);
  parms.extent = extent;
  parms.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&parms));
  for (int z = 0; z < 5; z++)
    for (int y = 0; y < 11; y++)
      for (int x = 0; x < 19; x++) bad += cube[(z * 11 + y) * 19 + x] != z * 10000 + y * 100 + x;
  parms.srcPos = make_cudaPos(2 * sizeof(int), 3, 1);  // a box from the middle
  parms.dstPos = make_cudaPos(0, 0, 0);
  parms.extent = make_cudaExtent(4 * sizeof(int), 2, 2);
  CHECK(cudaMemcpy3D(&parms));
  bad += cube[0] != 10302 || cube[19 + 3] != 10405 || cube[11 * 19] != 20302 || cube[4] != 4;

  unsigned char bytes[64], *d_bytes;
  CHECK(cudaMalloc(&d_bytes, 64));
  CHECK(cudaMemset(d_bytes, 0x11, 64));
  CHECK(cudaMemset(d_bytes + 3, 0x1AB, 5));  // only the low byte counts
  CHECK(cudaMemsetAsync(d_bytes + 60, 0, 4, 0));
  CHECK(cudaMemcpy(d_bytes + 32, d_bytes + 1, 9, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy(bytes, d_bytes, 64, cudaMemcpyDefault));
  for (int i = 0; i < 64; i++) {
    int want = i >= 60 ? 0 : i >= 3 && i < 8 ? 0xAB : i >= 34 && i < 39 ? 0xAB : 0x11;
    bad += bytes[i] != want;
  }
  unsigned char copy[64];
  CHECK(cudaMemcpy(copy, bytes, 64, cudaMemcpyHostToHost));
  bad += memcmp(copy, bytes, 64) != 0;

  int five = 50, numbers[8];
  float f[4] = {0.5f, 1.5f, 2.5f, 3.5f}, products[4], *d_f;
  CHECK(cudaMemcpyToSymbol(d_numbers, &five, sizeof five, 2 * sizeof(int)));
  CHECK(cudaMemcpyToSymbolAsync(c_numbers, f, sizeof f, 0, cudaMemcpyHostToDevice, 0));
  CHECK(cudaMemcpyFromSymbol(numbers, d_numbers, sizeof numbers));
  bad += numbers[0] != 1 || numbers[2] != 50 || numbers[3] != 4 || numbers[7] != 0;
  CHECK(cudaMalloc(&d_f, sizeof f));
  read_constant<<<1, 4>>>(d_f);
  CHECK(cudaMemcpy(products, d_f, sizeof f, cudaMemcpyDeviceToHost));
  bad += products[0] != 0.5f || products[2] != 125.0f || products[3] != 14.0f;
  void* address;
  CHECK(cudaGetSymbolAddress(&address, d_numbers));
  CHECK(cudaMemcpy(&five, (int*)address + 3, sizeof five, cudaMemcpyDeviceToHost));
  bad += five != 4;

  const int n = 100000;
  std::vector<int> big(n), got(n);
  for (int i = 0; i < n; i++) big[i] = i * 7;
  int *a, *b, *pinned;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMalloc(&a, n * 4));
  CHECK(cudaMallocAsync((void**)&b, n * 4, stream));
  CHECK(cudaMallocHost(&pinned, n * 4));
  CHECK(cudaMemcpyAsync(a, big.data(), n * 4, cudaMemcpyHostToDevice, stream));
  CHECK(cudaMemcpyPeerAsync(b, 0, a, 0, n * 4, stream));
  CHECK(cudaMemcpyAsync(pinned, b, n * 4, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaFreeAsync(b, stream));
  CHECK(cudaStreamSynchronize(stream));
  bad += memcmp(pinned, big.data(), n * 4) != 0;
  CHECK(cudaMemcpy(got.data() + 10, a + 500, (n - 510) * 4, cudaMemcpyDeviceToHost));
  for (int i = 10; i < n - 500; i += 997) bad += got[i] != (i + 490) * 7;
  cudaPointerAttributes attr;
  CHECK(cudaPointerGetAttributes(&attr, a + 5));
  bad += attr.type != cudaMemoryTypeDevice || attr.devicePointer != a + 5;
  CHECK(cudaPointerGetAttributes(&attr, pinned));
  bad += attr.type != cudaMemoryTypeHost;
  CHECK(cudaPointerGetAttributes(&attr, big.data()));
  bad += attr.type != cudaMemoryTypeUnregistered;
  CHECK(cudaFree(a));
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaStreamDestroy(stream));
  bad += box_rules();
  printf("copies_and_pitches: %d wrong, %s\n", bad, bad ? "FAILED" : "PASSED");
  return bad != 0;
}

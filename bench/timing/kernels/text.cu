// Bytes and strings: upper case, counts of words, search for a pattern, edit distances, checksums by table.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                             \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));           \
      return 1;                                                                              \
    }                                                                                        \
  } while (0)
#define THRICE for (int round = 0; round < 3; ++round)

__constant__ char pattern[16];
__constant__ unsigned crc_table[256];

__global__ void upper(char* text, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && text[i] >= 'a' && text[i] <= 'z') text[i] -= 32;
}

__global__ void words(const char* text, int n, int* count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool start = i < n && text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
  unsigned mask = __ballot_sync(0xffffffff, start);
  if (threadIdx.x % 32 == 0 && mask) atomicAdd(count, __popc(mask));
}

__global__ void search(const char* text, int n, int length, int* hits) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i + length <= n; i += gridDim.x * blockDim.x) {
    int k = 0;
    while (k < length && text[i + k] == pattern[k]) ++k;
    if (k == length) atomicAdd(hits, 1);
  }
}

__global__ void edit_distance(const char* words, int* distances, int length) {
  int row[25];
  const char *a = words, *b = words + (blockIdx.x * blockDim.x + threadIdx.x + 1) * length;
  for (int j = 0; j <= length; ++j) row[j] = j;
  for (int i = 1; i <= length; ++i) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= length; ++j) {
      int above = row[j];
      row[j] = min(min(row[j - 1], above) + 1, diagonal + (a[i - 1] != b[j - 1]));
      diagonal = above;
    }
  }
  distances[blockIdx.x * blockDim.x + threadIdx.x] = row[length];
}

__global__ void checksums(const unsigned char* data, unsigned* out, int length) {
  const unsigned char* p = data + size_t(blockIdx.x * blockDim.x + threadIdx.x) * length;
  unsigned crc = 0xffffffffu;
  for (int i = 0; i < length; ++i) crc = crc_table[(crc ^ p[i]) & 255] ^ crc >> 8;
  out[blockIdx.x * blockDim.x + threadIdx.x] = ~crc;
}

int main() {
  const int n = 1 << 20;
  std::vector<char> host(n);
  unsigned state = 5;
  for (auto& c : host) {
    state = state * 1664525u + 1013904223u;
    c = (state >> 28) < 3 ? ' ' : 'a' + (state >> 24) % 26;
  }
  std::vector<unsigned> table(256);
  for (unsigned i = 0; i < 256; ++i) {
    unsigned c = i;
    for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
    table[i] = c;
  }
  CHECK(cudaMemcpyToSymbol(pattern, "the quick", 9));
  CHECK(cudaMemcpyToSymbol(crc_table, table.data(), 1024));
  char* text;
  int* out;
  CHECK(cudaMalloc(&text, n));
  CHECK(cudaMalloc(&out, 65536 * 4));
  CHECK(cudaMemset(out, 0, 4));
  CHECK(cudaMemcpy(text, host.data(), n, cudaMemcpyHostToDevice));
  THRICE words<<<n / 256, 256>>>(text, n, out);
  THRICE search<<<528, 256>>>(text, n, 9, out);
  THRICE edit_distance<<<64, 128>>>(text, out, 24);
  THRICE checksums<<<32, 128>>>((unsigned char*)text, (unsigned*)out, 256);
  THRICE upper<<<n / 1024, 1024>>>(text, n);
  int one;
  CHECK(cudaMemcpy(&one, out, 4, cudaMemcpyDeviceToHost));
  std::printf("%d\n", one);
  return 0;
}

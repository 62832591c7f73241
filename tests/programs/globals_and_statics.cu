// Variables of every kind at file scope: initialised, arrays, pointers to other variables, constant structures,
// managed, static inside a function, in namespaces, in templates, as class members, with and without const.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

struct Config {
  int size;
  float scale[3];
  struct {
    short a;
    char b;
  } tail;
};

__device__ int d_plain;
__device__ int d_array[5] = {5, 4, 3, 2, 1};
__device__ double d_matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
__device__ int* d_pointer = &d_array[2];
__device__ const char* d_text = "hello from a pointer";
__device__ char d_chars[] = "an array of characters";
__device__ Config d_config = {7, {0.5f, 1.5f, 2.5f}, {-3, 'q'}};
__constant__ Config c_config = {9, {3.0f, 4.0f, 5.0f}, {12, 'r'}};
__constant__ Config c_from_host;
__constant__ int* c_pointer;
__device__ __managed__ int m_value = 100;
__device__ __managed__ float m_array[4] = {1, 2, 3, 4};
static __device__ int s_internal = 55;
const int kHostConstant = 31;
constexpr float kScale = 2.5f;
__device__ constexpr int kDeviceTable[4] = {10, 20, 30, 40};
enum { kFirst = 3, kSecond };

namespace space {
__device__ unsigned long long counter = 1ull << 40;
namespace {
__constant__ unsigned char bytes[3] = {200, 100, 50};
}
}  // namespace space

template <typename T>
__device__ T t_value;

struct Holder {
  static constexpr int kMember = 77;
};
__device__ int d_outside = 66;

__device__ int next_ticket() {
  static int ticket = 1000;  // one for all threads, keeps its value between launches
  return atomicAdd(&ticket, 1);
}

__device__ int length(const char* s) {
  int n = 0;
  while (s[n]) n++;
  return n;
}

__global__ void use(long long* out) {
  out[0] = d_plain++;
  out[1] = d_array[0] + d_array[4] + *d_pointer + d_pointer[1];
  out[2] = (long long)(d_matrix[1][2] * 10 + d_matrix[0][1]);
  out[3] = length(d_text) * 100 + d_text[0];
  out[4] = length(d_chars) * 100 + (long long)sizeof d_chars;
  out[5] = d_config.size + (long long)(d_config.scale[2] * 2) + d_config.tail.a + d_config.tail.b;
  out[6] = c_config.size + (long long)c_config.scale[1] + c_config.tail.a + c_config.tail.b;
  out[7] = c_from_host.size + (long long)c_from_host.scale[0] + c_from_host.tail.a + c_from_host.tail.b;
  out[8] = *c_pointer;
  out[9] = m_value;
  m_value += 11;
  m_array[3] *= 2;
  out[10] = s_internal + kHostConstant + kSecond + d_outside + Holder::kMember;
  out[11] = (long long)space::counter + space::bytes[0];
  t_value<int> = 5;
  t_value<float> = 2.5f;
  out[12] = t_value<int> + (long long)(t_value<float> * 2);
  out[13] = next_ticket();
  int i = (int)out[0] & 3;
  out[14] = (long long)(kScale * 2) + kDeviceTable[i];
  d_array[1] = 99;
}

// A table of strings that is no variable of the file's, and a choice that becomes one.
__device__ const char* name_of(int k) {
  switch (k) {
    case 0: return "zero";
    case 1: return "one";
    case 2: return "two";
    case 3: return "three";
    default: return "many";
  }
}
__global__ void name(char* out) {
  const char* words[] = {"red", "green", "blue", "alpha"};
  out[threadIdx.x] = words[threadIdx.x % 4][0];
  out[8 + threadIdx.x] = name_of(threadIdx.x)[2];
}

int main() {
  long long out[15], *d_out;
  int bad = 0, *address;
  Config config = {21, {8.0f, 0, 0}, {-1, 'A'}};
  CHECK(cudaMalloc(&d_out, sizeof out));
  CHECK(cudaMemcpyToSymbol(c_from_host, &config, sizeof config));
  CHECK(cudaGetSymbolAddress((void**)&address, d_array));
  int* fourth = address + 3;
  CHECK(cudaMemcpyToSymbol(c_pointer, &fourth, sizeof fourth));
  m_value += 1;
  for (int round = 0; round < 2; round++) {
    use<<<1, 1>>>(d_out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    const long long want[15] = {round,
                                5 + 1 + 3 + 2,
                                62,
                                2000 + 'h',
                                2200 + 23,
                                7 + 5 - 3 + 'q',
                                9 + 4 + 12 + 'r',
                                21 + 8 - 1 + 'A',
                                2,
                                101 + 11 * round,
                                55 + 31 + 4 + 66 + 77,
                                (1ll << 40) + 200,
                                10,
                                1000 + round,
                                round ? 5 + 20 : 5 + 10};
    for (int i = 0; i < 15; i++)
      if (out[i] != want[i]) printf("  round %d, %d: %lld, not %lld\n", round, i, out[i], want[i]), bad++;
  }
  int array[5];
  size_t size = 0;
  CHECK(cudaMemcpyFromSymbol(array, d_array, sizeof array));
  CHECK(cudaGetSymbolSize(&size, d_matrix));
  bad += array[1] != 99 || array[0] != 5 || size != 48 || m_value != 123 || m_array[3] != 16.0f || m_array[0] != 1.0f;
  char names[17] = {}, *d_names;
  CHECK(cudaMalloc(&d_names, sizeof names));
  name<<<1, 8>>>(d_names);
  CHECK(cudaMemcpy(names, d_names, 16, cudaMemcpyDeviceToHost));
  bad += std::strcmp(names, "rgbargbareornnnn") != 0;
  printf("globals_and_statics: %s\n", bad ? "FAILED" : "PASSED");
  return bad != 0;
}

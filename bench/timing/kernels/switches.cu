// Interpreters and state machines: a switch of eight by lane and by warp, a stack machine, function pointers, classes of numbers.
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

__device__ float operation(int which, float x) {
  switch (which) {
    case 0: return x + 1.5f;
    case 1: return x * 0.75f;
    case 2: return sqrtf(fabsf(x));
    case 3: return __expf(-x * 0.01f);
    case 4: return x > 10 ? x - 10 : x + 3;
    case 5: return x / 3.0f;
    case 6: return fminf(x, 100.0f) * x * 0.001f;
    default: return -x;
  }
}

__global__ void choose(const unsigned char* codes, float* out, int rounds, int shift) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = i % 100;
  for (int r = 0; r < rounds; ++r) x = operation(codes[((i >> shift) + r) & 4095] & 7, x);
  out[i] = x;
}

__global__ void stack_machine(const unsigned char* program, int length, float* out) {
  float stack[8];
  int top = 0, i = blockIdx.x * blockDim.x + threadIdx.x;
  stack[0] = i * 0.01f;
  for (int pc = 0; pc < length; ++pc) {
    switch (program[pc] & 7) {
      case 0: if (top < 7) { stack[top + 1] = stack[top]; ++top; } break;
      case 1: if (top > 0) { stack[top - 1] += stack[top]; --top; } break;
      case 2: if (top > 0) { stack[top - 1] *= stack[top]; --top; } break;
      case 3: stack[top] = stack[top] * 0.5f + 1; break;
      case 4: stack[top] = fabsf(stack[top]); break;
      case 5: if (stack[top] > 50) stack[top] = 1; break;
      default: stack[top] -= program[pc];
    }
  }
  out[i] = stack[top];
}

typedef float (*Function)(float);
__device__ float twice(float x) { return x * 2; }
__device__ float square(float x) { return x * x * 0.01f; }
__device__ float shift_by(float x) { return x - 7; }
__device__ float reciprocal(float x) { return 1 / (x + 100); }
__device__ Function table[4] = {twice, square, shift_by, reciprocal};

__global__ void by_pointer(float* out, int rounds, int shift) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = i % 50;
  for (int r = 0; r < rounds; ++r) x = table[((i >> shift) + r) & 3](x);
  out[i] = x;
}

__global__ void parse_numbers(const char* text, int* out, int length) {
  const char* p = text + (blockIdx.x * blockDim.x + threadIdx.x) * length;
  int state = 0, value = 0, sum = 0;
  for (int k = 0; k < length; ++k) {
    char c = p[k];
    if (state == 0) {
      if (c >= '0' && c <= '9') { value = c - '0'; state = 1; }
      else if (c == '-') state = 2;
    } else if (state == 1) {
      if (c >= '0' && c <= '9') value = value * 10 + c - '0';
      else { sum += value; state = 0; }
    } else {
      if (c >= '0' && c <= '9') { value = '0' - c; state = 1; }
      else state = 0;
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main() {
  const int n = 1 << 16;
  std::vector<unsigned char> host(1 << 20);
  unsigned state = 11;
  for (auto& v : host) v = "0123456789- ,;ab"[(state = state * 1664525u + 1013904223u) >> 28];
  unsigned char* codes;
  float* out;
  CHECK(cudaMalloc(&codes, 1 << 20));
  CHECK(cudaMalloc(&out, n * 4));
  CHECK(cudaMemcpy(codes, host.data(), 1 << 20, cudaMemcpyHostToDevice));
  THRICE choose<<<n / 256, 256>>>(codes, out, 24, 0);
  THRICE choose<<<n / 256, 256>>>(codes, out, 24, 5);
  THRICE stack_machine<<<132, 128>>>(codes, 200, out);
  THRICE by_pointer<<<132, 128>>>(out, 24, 0);
  THRICE by_pointer<<<132, 128>>>(out, 24, 5);
  THRICE parse_numbers<<<64, 128>>>((char*)codes, (int*)out, 100);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}

// Structures with gaps, and with members narrower than a word, that are copied as a whole: which of their bytes move, in how many
// accesses. h100/members.csv has what an H100's counters gave.
#include <cuda_runtime.h>
#include <cstdio>

struct Flagged { char flag; float value; };
struct Numbered { int number; double value; };
struct Tail { float value; char kind; };
struct Mixed { short small; char kind; int large; };
struct Point { float3 at; unsigned char material; float weight; };
struct Sparse { char kind; double value; short small; };
struct Owner { char kind; float* data; };
struct Full { char a; bool b; short c; float d, e; };
struct Text { int length; char letters[5]; };
struct __align__(8) Small { char kind; short small; float value; };

template <class T> __device__ void change(T& v) { v.value *= 2; }
__device__ void change(Mixed& v) { v.large += v.small; }
__device__ void change(Point& v) { v.weight *= v.at.x; }
__device__ void change(Owner& v) { v.kind += 1; }
__device__ void change(Full& v) { v.d += v.e; }
__device__ void change(Text& v) { v.length += v.letters[2]; }

template <class T> __global__ void changes(T* to, const T* from) {
  T v = from[threadIdx.x];
  change(v);
  to[threadIdx.x] = v;
}
__device__ bool wanted(const Flagged& v) { return v.value >= 0; }
__device__ bool wanted(const Mixed& v) { return v.kind >= 0; }
__device__ bool wanted(const Point& v) { return v.material < 200; }
__device__ bool wanted(const Sparse& v) { return v.small >= 0; }
template <class T> __global__ void chooses(T* to, const T* from) {
  T v = from[threadIdx.x];
  if (wanted(v)) to[threadIdx.x] = v;
}

template <class T> void run(char* a, char* b) { changes<<<1, 50>>>((T*)a, (const T*)b); }
template <class T> void run_choice(char* a, char* b) { chooses<<<1, 50>>>((T*)a, (const T*)b); }

int main() {
  char *a, *b;
  cudaMalloc(&a, 4096), cudaMalloc(&b, 4096);
  cudaMemset(a, 0, 4096), cudaMemset(b, 0, 4096);
  run<Flagged>(a, b), run<Numbered>(a, b), run<Tail>(a, b), run<Mixed>(a, b), run<Point>(a, b);
  run<Sparse>(a, b), run<Owner>(a, b), run<Full>(a, b), run<Text>(a, b), run<Small>(a, b);
  run_choice<Flagged>(a, b), run_choice<Mixed>(a, b), run_choice<Point>(a, b), run_choice<Sparse>(a, b);
  puts(cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(a), cudaFree(b);
}

// Reads a little outside of an allocation, which a GPU's large pages let pass: they give what is there, and are told of. Writes, what
// was freed and what is far away are faults.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

#include <cuda_runtime.h>

// A stencil as in SRAD: neighbours are read before the border is asked about.
__global__ void stencil(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float left = in[i - 1], right = in[i + 1];
  out[i] = in[i] + (i > 0 ? left : 0.0f) + (i < n - 1 ? right : 0.0f);
}
__global__ void read_at(const int* p, long at, int* out) { *out = p[at] + 1; }
__global__ void write_at(int* p, long at) { p[at] = 1; }

static std::string output_of(const std::string& words, const char* before = "") {
  char path[4096] = {};
  if (readlink("/proc/self/exe", path, sizeof path - 1) < 0) return "";
  FILE* pipe = popen((std::string(before) + " '" + path + "' " + words + " 2>&1").c_str(), "r");
  std::string text;
  for (int c; pipe && (c = fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  return text + "status " + std::to_string(WEXITSTATUS(pclose(pipe)));
}

static int child(const char* mode) {
  int *p, *gone, *out, value = 0;
  cudaMalloc(&gone, 4096);
  cudaMalloc(&p, 4096);
  cudaMalloc(&out, 4);
  cudaFree(gone);
  if (!strcmp(mode, "near")) read_at<<<1, 1>>>(p, 1500, out);
  if (!strcmp(mode, "before")) read_at<<<1, 1>>>(p, -1, out);
  if (!strcmp(mode, "far")) read_at<<<1, 1>>>(p, 3 << 20, out);
  if (!strcmp(mode, "freed")) read_at<<<1, 1>>>(gone, 1, out);
  if (!strcmp(mode, "write")) write_at<<<1, 1>>>(p, -1);
  return cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost) != cudaSuccess || value != 1;
}

static int check(const std::string& words, const char* text, bool wanted = true, const char* before = "") {
  const std::string said = output_of(words, before);
  if ((said.find(text) != said.npos) == wanted) return 0;
  printf("%s: '%s' is %s\n%s\n", words.c_str(), text, wanted ? "not in" : "in", said.c_str());
  return 1;
}

static int stencils(int n) {
  float *in, *out, *host = new float[n];
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  for (int i = 0; i < n; ++i) host[i] = 1;
  cudaMemcpy(in, host, n * sizeof(float), cudaMemcpyHostToDevice);
  int failures = 0;
  for (int round = 0; round < 3; ++round) {  // interpreted, then compiled
    stencil<<<n / 128, 128>>>(in, out, n);
    failures += cudaMemcpy(host, out, n * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess;
    for (int i = 0; i < n; ++i) failures += host[i] != (i == 0 || i == n - 1 ? 2 : 3);
  }
  cudaFree(in);
  cudaFree(out);
  delete[] host;
  return failures;
}

int main(int count, char** words) {
  if (count > 1 && !strcmp(words[1], "stencil")) return stencils(1 << 10) + stencils(1 << 20);
  if (count > 1) return child(words[1]);
  int failures = check("stencil", "status 0") + check("stencil", "reads 4 bytes outside of an allocation");
  failures += check("before", "4 bytes before the nearest allocation") + check("stencil", "reads were outside of an allocation");  // which of a stencil's blocks is first is chance
  failures += check("near", "status 0") + check("near", "1 read was outside of an allocation") + check("before", "status 0");
  failures += check("far", "status 1") + check("freed", "status 1") + check("write", "status 1") + check("write", "invalid __global__ write");
  failures += check("near", "status 1", true, "WARPBEAM_STRICT=1") + check("near", "outside of an allocation", false, "WARPBEAM_STRICT=1");
  printf(failures ? "%d failed\n" : "all right\n", failures);
  return failures != 0;
}

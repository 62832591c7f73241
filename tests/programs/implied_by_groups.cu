// What <cooperative_groups.h> and libcu++ bring along of the standard library: programs lean on it without asking.
#include <cooperative_groups.h>

namespace groups = cooperative_groups;

__global__ void largest(const float* in, int n, float* out) {
  const auto warp = groups::tiled_partition<32>(groups::this_thread_block());
  float most = -FLT_MAX;
  for (int i = warp.thread_rank(); i < n; i += warp.size()) most = fmaxf(most, in[i]);
  for (int step = warp.size() / 2; step > 0; step /= 2) most = fmaxf(most, warp.shfl_xor(most, step));
  if (warp.thread_rank() == 0) *out = most;
}

void need(cudaError_t error, const std::string& what) {
  if (error != cudaSuccess) throw std::runtime_error(what + ": " + cudaGetErrorString(error));
}

int main() {
  float* in;
  float* out;
  const uint32_t n = 100;
  try {
    need(cudaMallocManaged(&in, n * sizeof(float)), "in");
    need(cudaMallocManaged(&out, sizeof(float)), "out");
    for (uint32_t i = 0; i < n; ++i) in[i] = -1.0f - i % 7;
    largest<<<1, 32>>>(in, n, out);
    need(cudaDeviceSynchronize(), "largest");
    errno = 0;
    if (*out != -1 || DBL_MAX < FLT_MAX || INT_MAX < 0 || strlen("abc") != 3 || !isalpha('a')) return 1;
  } catch (const std::exception& e) {
    fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}

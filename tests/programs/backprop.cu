// One training step of a two-layer network: forward with a shared-memory tree, then weight adjustment.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

#define WIDTH 16
#define HEIGHT 16
#define ETA 0.3f
#define MOMENTUM 0.3f

__global__ void layerforward(float* input, float* weights, float* partial, int in, int hid) {
  int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int index = (hid + 1) * HEIGHT * by + (hid + 1) * ty + tx + 1 + (hid + 1);
  int index_in = HEIGHT * by + ty + 1;
  __shared__ float input_node[HEIGHT];
  __shared__ float weight_matrix[HEIGHT][WIDTH];
  if (tx == 0) input_node[ty] = input[index_in];
  __syncthreads();
  weight_matrix[ty][tx] = weights[index];
  __syncthreads();
  weight_matrix[ty][tx] = weight_matrix[ty][tx] * input_node[ty];
  __syncthreads();
  for (int i = 1; i <= __log2f(HEIGHT); i++) {
    int power_two = __powf(2, i);
    if (ty % power_two == 0) weight_matrix[ty][tx] += weight_matrix[ty + power_two / 2][tx];
    __syncthreads();
  }
  if (tx == 0) partial[by * hid + ty] = weight_matrix[tx][ty];
}

__global__ void adjust(const float* delta, int hid, const float* ly, int in, float* w, float* oldw) {
  int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int index = (hid + 1) * HEIGHT * by + (hid + 1) * ty + tx + 1 + (hid + 1);
  int index_y = HEIGHT * by + ty + 1, index_x = tx + 1;
  w[index] += ((ETA * delta[index_x] * ly[index_y]) + (MOMENTUM * oldw[index]));
  oldw[index] = ((ETA * delta[index_x] * ly[index_y]) + (MOMENTUM * oldw[index]));
  __syncthreads();
  if (ty == 0 && by == 0) {
    w[index_x] += ((ETA * delta[index_x]) + (MOMENTUM * oldw[index_x]));
    oldw[index_x] = ((ETA * delta[index_x]) + (MOMENTUM * oldw[index_x]));
  }
}

int main() {
  const int in = 1024, hid = 16, blocks = in / HEIGHT;
  std::vector<float> input(in + 1), w((in + 1) * (hid + 1)), old(w.size()), delta(hid + 1), partial(blocks * hid);
  unsigned s = 11;
  auto rnd = [&] { return (float)((s = s * 1664525u + 1013904223u) >> 16) / 65536.0f - 0.5f; };
  for (auto* v : {&input, &w, &old, &delta})
    for (float& x : *v) x = rnd();
  std::vector<float> w0 = w, old0 = old;
  float *d_in, *d_w, *d_old, *d_delta, *d_part;
  CHECK(cudaMalloc(&d_in, input.size() * 4));
  CHECK(cudaMalloc(&d_w, w.size() * 4));
  CHECK(cudaMalloc(&d_old, w.size() * 4));
  CHECK(cudaMalloc(&d_delta, delta.size() * 4));
  CHECK(cudaMalloc(&d_part, partial.size() * 4));
  CHECK(cudaMemcpy(d_in, input.data(), input.size() * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_w, w.data(), w.size() * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_old, old.data(), w.size() * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_delta, delta.data(), delta.size() * 4, cudaMemcpyHostToDevice));
  dim3 grid(1, blocks), threads(16, 16);
  layerforward<<<grid, threads>>>(d_in, d_w, d_part, in, hid);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(partial.data(), d_part, partial.size() * 4, cudaMemcpyDeviceToHost));
  adjust<<<grid, threads>>>(d_delta, hid, d_in, in, d_w, d_old);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(w.data(), d_w, w.size() * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(old.data(), d_old, w.size() * 4, cudaMemcpyDeviceToHost));
  int bad = 0;
  for (int j = 1; j <= hid; j++) {
    double got = w0[j], want = w0[j];
    for (int b = 0; b < blocks; b++) got += partial[b * hid + j - 1];
    for (int k = 1; k <= in; k++) want += (double)w0[k * (hid + 1) + j] * input[k];
    bad += !(fabs(got - want) < 1e-3);
    if (j == 1) printf("hidden unit 1: %.4f\n", 1.0 / (1.0 + exp(-got)));
  }
  for (int k = 0; k <= in; k++)
    for (int j = 1; j <= hid; j++) {
      int i = k * (hid + 1) + j;
      double step = (double)ETA * delta[j] * (k ? input[k] : 1.0f) + (double)MOMENTUM * old0[i];
      bad += !(fabs(old[i] - step) < 1e-6) || !(fabs(w[i] - (w0[i] + step)) < 1e-6);
    }
  printf("backprop: %d wrong, %s\n", bad, bad ? "FAILED" : "PASSED");
  return bad != 0;
}

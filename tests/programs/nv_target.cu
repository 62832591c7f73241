// Code chosen by target through <nv/target>: bare, in parentheses, nested, and the first of a list.
#include <cstdio>
#include <nv/target>

__host__ __device__ int parenthesized() { NV_IF_TARGET(NV_IS_DEVICE, (int a = 1, b = 2; return a + b;), (return 10;)) }

__host__ __device__ int bare() { NV_IF_ELSE_TARGET(NV_IS_HOST, return 4;, int twice = 2 * 6; return twice;) }

__host__ __device__ int listed() {
  int result = 0;
  NV_DISPATCH_TARGET(NV_PROVIDES_SM_90, (result = 90;), NV_PROVIDES_SM_60,
                     (int parts[] = {50, 10}; result = parts[0] + parts[1];), NV_IS_HOST, (result = 7;), NV_ANY_TARGET,
                     (result = 1;))
  NV_IF_TARGET(NV_NO_TARGET, (result = -1;))
  NV_IF_TARGET(NV_IS_DEVICE, (NV_IF_TARGET(NV_PROVIDES_SM_50, (result += 1000;), (result += 2000;))))
  return result;
}

__global__ void on_the_device(int* out) {
  out[0] = parenthesized();
  out[1] = bare();
  out[2] = listed();
#if __CUDA_ARCH__ >= 900
  out[3] = 1090;
#elif __CUDA_ARCH__ >= 600
  out[3] = 1060;
#elif __CUDA_ARCH__ >= 500
  out[3] = 1001;
#else
  out[3] = 2001;
#endif
}

int main() {
  int* out;
  cudaMallocManaged(&out, 4 * sizeof(int));
  on_the_device<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  const bool right =
      parenthesized() == 10 && bare() == 4 && listed() == 7 && out[0] == 3 && out[1] == 12 && out[2] == out[3];
  printf(right ? "all right\n" : "%d %d %d on the host, %d %d %d on the device\n", parenthesized(), bare(), listed(),
         out[0], out[1], out[2]);
  return !right;
}

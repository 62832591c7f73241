// nvcc: no
// What old sources still use and newer toolkits have taken away: shuffles and votes without a mask, the thread-named
// synchronisation calls, device properties of their day, and kernels written for them.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

__global__ void old_shuffles(int* out) {
  int lane = threadIdx.x & 31, v = lane * 3;
  int a = __shfl(v, 5), b = __shfl_up(v, 2), c = __shfl_down(v, 3), d = __shfl_xor(v, 1), e = __shfl(v, 3, 16);
  float f = __shfl_xor(v * 0.5f, 16);
  int* o = out + threadIdx.x * 10;
  o[0] = a, o[1] = b, o[2] = c, o[3] = d, o[4] = e, o[5] = (int)(f * 2);
  o[6] = __any(lane == 7), o[7] = __all(lane < 31);
  o[8] = (int)__ballot(lane % 2);
  o[9] = __popc(__ballot(1));
}

__inline__ __device__ int warpReduce(int mySum) {
  mySum += __shfl_xor(mySum, 16);
  mySum += __shfl_xor(mySum, 8);
  mySum += __shfl_xor(mySum, 4);
  mySum += __shfl_xor(mySum, 2);
  mySum += __shfl_xor(mySum, 1);
  return mySum;
}

__global__ void reduceShfl(int* g_idata, int* g_odata, unsigned int n) {
  __shared__ int smem[32];
  unsigned int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= n) return;
  int mySum = warpReduce(g_idata[idx]);
  int laneIdx = threadIdx.x % warpSize, warpIdx = threadIdx.x / warpSize;
  if (laneIdx == 0) smem[warpIdx] = mySum;
  __syncthreads();
  mySum = (threadIdx.x < blockDim.x / warpSize) ? smem[laneIdx] : 0;
  if (warpIdx == 0) mySum = warpReduce(mySum);
  if (threadIdx.x == 0) g_odata[blockIdx.x] = mySum;
}

__global__ void add_arguments(int* p, int whole, float half) { *p = whole + (int)(2 * half); }

int main() {
  int bad = 0, out[64][10], *d;
  cudaDeviceProp prop;
  cudaGetDeviceProperties(&prop, 0);
  printf("clock %s, memory clock %s, overlap %d, compute mode %d, timeout %d\n",
         prop.clockRate > 0 ? "known" : "UNKNOWN", prop.memoryClockRate > 0 ? "known" : "UNKNOWN", prop.deviceOverlap,
         prop.computeMode, prop.kernelExecTimeoutEnabled);
  bad += prop.clockRate <= 0 || prop.memoryClockRate <= 0;
  if (cudaMalloc((void**)&d, sizeof out) != cudaSuccess) return 1;
  old_shuffles<<<1, 64>>>(d);
  bad += cudaThreadSynchronize() != cudaSuccess;
  cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost);
  for (int t = 0; t < 64; t++) {
    int l = t % 32;
    bad += out[t][0] != 15 || out[t][1] != (l < 2 ? l : l - 2) * 3 || out[t][2] != (l > 28 ? l : l + 3) * 3;
    bad += out[t][3] != (l ^ 1) * 3 || out[t][4] != (l / 16 * 16 + 3) * 3 || out[t][5] != (l ^ 16) * 3;
    bad += out[t][6] == 0 || out[t][7] != 0 || out[t][8] != (int)0xAAAAAAAA || out[t][9] != 32;
  }
  const int n = 4096;
  static int data[n], sums[n / 256];
  int *d_in, *d_out, total = 0, want = 0;
  for (int i = 0; i < n; i++) want += data[i] = i % 91;
  cudaMalloc((void**)&d_in, sizeof data);
  cudaMalloc((void**)&d_out, sizeof sums);
  cudaMemcpy(d_in, data, sizeof data, cudaMemcpyHostToDevice);
  reduceShfl<<<n / 256, 256>>>(d_in, d_out, n);
  cudaMemcpy(sums, d_out, sizeof sums, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n / 256; i++) total += sums[i];
  bad += total != want || cudaGetLastError() != cudaSuccess;
  // A launch argument by argument, and the kernel by its name.
  int *result, found = 0;
  cudaMalloc((void**)&result, sizeof(int));
  bad += cudaConfigureCall(dim3(1), dim3(1), 0, 0) != cudaSuccess || cudaSetupArgument(result, 0) != cudaSuccess ||
         cudaSetupArgument(40, 8) != cudaSuccess || cudaSetupArgument(1.0f, 12) != cudaSuccess || cudaLaunch(add_arguments) != cudaSuccess;
  cudaMemcpy(&found, result, sizeof found, cudaMemcpyDeviceToHost);
  bad += found != 42;
  cudaFree(result);
  double there = 1.5;  // devices without double precision wanted arguments converted; all others take them as they are
  bad += cudaSetDoubleForDevice(&there) != cudaSuccess || cudaSetDoubleForHost(&there) != cudaSuccess || there != 1.5;
  bad += cudaThreadExit() != cudaSuccess;
  printf("legacy_api: sum %d, %s\n", total, bad ? "FAILED" : "PASSED");
  return bad != 0;
}

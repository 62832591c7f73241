__global__ void fill(int* out) { out[threadIdx.x] = static_cast<int>(threadIdx.x); }
int sum_of_filled() {
  int* numbers;
  if (cudaMallocManaged(&numbers, 32 * sizeof(int))) return -1;
  fill<<<1, 32>>>(numbers);
  cudaDeviceSynchronize();
  int sum = 0;
  for (int i = 0; i < 32; ++i) sum += numbers[i];
  cudaFree(numbers);
  return sum;
}

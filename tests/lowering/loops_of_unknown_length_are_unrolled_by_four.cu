// By four where rounds are counted by a shift, not where that takes a division, as ptx of nvcc has it; also where one way through the loop needs the
// next number itself, and where the step is an int that is known at run time alone, which must not wrap.
// run: nvcc -ptx %s
// expect: ptx in by_32 has 5 of ld.global.f32
// expect: ptx in by_256 has 5 of ld.global.f32
// expect: ptx in by_blocks has 1 of ld.global.f32
// expect: ptx in rows has 5 of ld.global.f32
// expect: ptx in ways has 5 of ld.global.f32
// expect: ptx in step_of_int has 5 of ld.global
// expect: ptx in unsigned_step has 1 of ld.global
// expect: ptx in filled has 1 of ld.global
__global__ void by_32(const float* p, float* q, int n) { float s = 0; for (int i = threadIdx.x; i < n; i += 32) s += p[i]; q[threadIdx.x] = s; }
__global__ void by_256(const float* p, float* q, int n) { float s = 0; for (int i = threadIdx.x; i < n; i += 256) s += p[i]; q[threadIdx.x] = s; }
__global__ void by_blocks(const float* p, float* q, int n) { float s = 0; for (int i = threadIdx.x; i < n; i += blockDim.x) s += p[i]; q[threadIdx.x] = s; }
__global__ void rows(const float* p, float* q, const int* b) { float s = 0; for (int i = b[0]; i < b[1]; ++i) s += p[i]; q[threadIdx.x] = s; }
__global__ void ways(const float* p, float* q, int n) {
  __shared__ float s[99];
  for (int i = 0; i < n; ++i)
    if (threadIdx.x <= i) s[i * (i + 1) / 2 + threadIdx.x] = p[i];
  q[n] = s[n];
}
__global__ void step_of_int(const float* x, float* y, int n) {
  const int stride = blockDim.x * gridDim.x;
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) s += x[i];
  y[threadIdx.x] = s;
}
__global__ void unsigned_step(const float* x, float* y, int n) {
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) s += x[i];
  y[threadIdx.x] = s;
}
__global__ void filled(const float* x, float* y) {
  __shared__ float s[1600];
  for (int i = threadIdx.x; i < 1600; i += blockDim.x) s[i] = x[i];
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x * 3];
}

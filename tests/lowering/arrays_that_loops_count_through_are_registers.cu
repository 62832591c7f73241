// Loops with known bounds are repeated where that makes an array's places known; where the program says not to, it stays in memory.
// run: nvcc -ptx %s
// expect: ptx in registers lacks __local_depot
// expect: ptx in memory has __local_depot
#define KERNEL(name, says)                                                                                \
  __global__ void name(const float* a, const float* b, float* c) {                                        \
    float sums[64] = {};                                                                                  \
    for (int k = 0; k < 99; k++)                                                                          \
      says for (int i = 0; i < 8; i++)                                                                    \
        for (int j = 0; j < 8; j++) sums[8 * i + j] += a[8 * k + i] * b[8 * k + j];                       \
    says for (int i = 0; i < 8; i++)                                                                      \
      for (int j = 0; j < 8; j++) c[8 * i + j] = sums[8 * i + j] / (1 + sums[8 * j + i] * sums[8 * j + i]); \
  }
KERNEL(registers, )
KERNEL(memory, _Pragma("unroll 1"))

// As often as in nvcc's ptx: all turns of what is short, a power of two of what is long, two or four of an odd number, four of a number that is
// not known, none of one that is below 24. What becomes a constant in each turn makes room for more of them.
// run: nvcc -ptx %s
// expect: ptx in turns_60 has 60 of xor.b32
// expect: ptx in turns_64 has 64 of xor.b32
// expect: ptx in turns_72 has 8 of xor.b32
// expect: ptx in turns_80 has 16 of xor.b32
// expect: ptx in turns_1000 has 8 of xor.b32
// expect: ptx in turns_97 has 4 of xor.b32
// expect: ptx in turns_16_pairs_4 has 64 of xor.b32
// expect: ptx in turns_17_pairs_4 has 16 of xor.b32
// expect: ptx in turns_18_pairs_4 has 8 of xor.b32
// expect: ptx in turns_24_pairs_4 has 32 of xor.b32
// expect: ptx in turns_32_pairs_4 has 32 of xor.b32
// expect: ptx in turns_4_pairs_16 has 64 of xor.b32
// expect: ptx in turns_5_pairs_16 has 32 of xor.b32
// expect: ptx in below_17 has 1 of xor.b32
// expect: ptx in below_41 has 5 of xor.b32
// expect: ptx in unknown_pairs_8 has 40 of xor.b32
// expect: ptx in unknown_pairs_9 has 27 of xor.b32
// expect: ptx in unknown_pairs_14 has 42 of xor.b32
// expect: ptx in unknown_pairs_16 has 16 of xor.b32
// expect: ptx in constants_112 has 113 of ld.global
// expect: ptx in constants_144 has 145 of ld.global
// expect: ptx in constants_160 has 33 of ld.global
// expect: ptx in constants_64 has 129 of ld.global
#define PAIRS_1 x = (x ^ c) + x * d; x = (x >> 3) - c * x;
#define PAIRS_4 PAIRS_1 PAIRS_1 PAIRS_1 PAIRS_1
#define PAIRS_5 PAIRS_4 PAIRS_1
#define PAIRS_8 PAIRS_4 PAIRS_4
#define PAIRS_9 PAIRS_8 PAIRS_1
#define PAIRS_14 PAIRS_9 PAIRS_5
#define PAIRS_16 PAIRS_8 PAIRS_8
// In each turn, pairs of operations, of which the first is counted.
#define COUNTED(name, turns, pairs)                                  \
  __global__ void name(int* o, int n, int m, int c, int d) {         \
    int x = o[0];                                                    \
    for (int i = 0; i < n; i++) {                                    \
      asm volatile("// round");                                      \
      for (int j = 0; j < turns; j++) { pairs }                      \
    }                                                                \
    o[threadIdx.x] = x;                                              \
  }
COUNTED(turns_60, 60, PAIRS_1)
COUNTED(turns_64, 64, PAIRS_1)
COUNTED(turns_72, 72, PAIRS_1)
COUNTED(turns_80, 80, PAIRS_1)
COUNTED(turns_1000, 1000, PAIRS_1)
COUNTED(turns_97, 97, PAIRS_1)
COUNTED(turns_16_pairs_4, 16, PAIRS_4)
COUNTED(turns_17_pairs_4, 17, PAIRS_4)
COUNTED(turns_18_pairs_4, 18, PAIRS_4)
COUNTED(turns_24_pairs_4, 24, PAIRS_4)
COUNTED(turns_32_pairs_4, 32, PAIRS_4)
COUNTED(turns_4_pairs_16, 4, PAIRS_16)
COUNTED(turns_5_pairs_16, 5, PAIRS_16)
COUNTED(below_17, min(m, 16), PAIRS_1)
COUNTED(below_41, min(m, 40), PAIRS_1)
COUNTED(unknown_pairs_8, m, PAIRS_8)
COUNTED(unknown_pairs_9, m, PAIRS_9)
COUNTED(unknown_pairs_14, m, PAIRS_14)
COUNTED(unknown_pairs_16, m, PAIRS_16)
#define CONSTANT(name, turns, body)                                                  \
  __global__ void name(const int* p, const int* q, int* o, int n, int c) {           \
    int x = o[0];                                                                    \
    for (int i = 0; i < n; i++) {                                                    \
      asm volatile("// round" ::: "memory");                                         \
      for (int j = 0; j < turns; j++) { body; }                                      \
    }                                                                                \
    o[threadIdx.x] = x;                                                              \
  }
CONSTANT(constants_112, 112, x = (x ^ c) + p[j])
CONSTANT(constants_144, 144, x = (x ^ c) + p[j])
CONSTANT(constants_160, 160, x = (x ^ c) + p[j])
CONSTANT(constants_64, 64, x += p[j] * q[j])

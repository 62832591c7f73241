// The instructions behind mma.h: each macro names the registers of its operands, D first.
#ifndef WARPBEAM_DEVICE_MMA_INSTRUCTIONS_H
#define WARPBEAM_DEVICE_MMA_INSTRUCTIONS_H

#define WB_WMMA_LOAD_r1(words, x, p, stride) \
  asm volatile("wmma.load." words " {%0}, [%1], %2;" : "=r"(x[0]) : "l"(p), "r"(stride) : "memory")
#define WB_WMMA_LOAD_r2(words, x, p, stride) \
  asm volatile("wmma.load." words " {%0, %1}, [%2], %3;" : "=r"(x[0]), "=r"(x[1]) : "l"(p), "r"(stride) : "memory")
#define WB_WMMA_LOAD_r4(words, x, p, stride)                     \
  asm volatile("wmma.load." words " {%0, %1, %2, %3}, [%4], %5;" \
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])  \
               : "l"(p), "r"(stride)                             \
               : "memory")
#define WB_WMMA_LOAD_r8(words, x, p, stride)                                                                    \
  asm volatile("wmma.load." words " {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"                                \
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]), "=r"(x[4]), "=r"(x[5]), "=r"(x[6]), "=r"(x[7]) \
               : "l"(p), "r"(stride)                                                                            \
               : "memory")
#define WB_WMMA_LOAD_f8(words, x, p, stride)                                                                    \
  asm volatile("wmma.load." words " {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"                                \
               : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3]), "=f"(x[4]), "=f"(x[5]), "=f"(x[6]), "=f"(x[7]) \
               : "l"(p), "r"(stride)                                                                            \
               : "memory")
#define WB_WMMA_LOAD_d1(words, x, p, stride) \
  asm volatile("wmma.load." words " {%0}, [%1], %2;" : "=d"(x[0]) : "l"(p), "r"(stride) : "memory")
#define WB_WMMA_LOAD_d2(words, x, p, stride) \
  asm volatile("wmma.load." words " {%0, %1}, [%2], %3;" : "=d"(x[0]), "=d"(x[1]) : "l"(p), "r"(stride) : "memory")
#define WB_WMMA_STORE_r2(words, x, p, stride) \
  asm volatile("wmma.store.d." words " [%2], {%0, %1}, %3;" ::"r"(x[0]), "r"(x[1]), "l"(p), "r"(stride) : "memory")
#define WB_WMMA_STORE_r4(words, x, p, stride)                                                                     \
  asm volatile("wmma.store.d." words " [%4], {%0, %1, %2, %3}, %5;" ::"r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), \
               "l"(p), "r"(stride)                                                                                \
               : "memory")
#define WB_WMMA_STORE_r8(words, x, p, stride)                                                                          \
  asm volatile("wmma.store.d." words " [%8], {%0, %1, %2, %3, %4, %5, %6, %7}, %9;" ::"r"(x[0]), "r"(x[1]), "r"(x[2]), \
               "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]), "r"(x[7]), "l"(p), "r"(stride)                              \
               : "memory")
#define WB_WMMA_STORE_f8(words, x, p, stride)                                                                          \
  asm volatile("wmma.store.d." words " [%8], {%0, %1, %2, %3, %4, %5, %6, %7}, %9;" ::"f"(x[0]), "f"(x[1]), "f"(x[2]), \
               "f"(x[3]), "f"(x[4]), "f"(x[5]), "f"(x[6]), "f"(x[7]), "l"(p), "r"(stride)                              \
               : "memory")
#define WB_WMMA_STORE_d2(words, x, p, stride) \
  asm volatile("wmma.store.d." words " [%2], {%0, %1}, %3;" ::"d"(x[0]), "d"(x[1]), "l"(p), "r"(stride) : "memory")
#define WB_WMMA_r4_r8_r8_r4(words, d, a, b, c)                                                                      \
  asm volatile("wmma.mma" words                                                                                     \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19}, "  \
               "{%20, %21, %22, %23};"                                                                              \
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                                     \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]), \
                 "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]), "r"(c[0]), "r"(c[1]), \
                 "r"(c[2]), "r"(c[3]))
#define WB_WMMA_f8_r8_r8_f8(words, d, a, b, c)                                                                         \
  asm volatile("wmma.mma" words                                                                                        \
               " {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, " \
               "%21, %22, %23}, {%24, %25, %26, %27, %28, %29, %30, %31};"                                             \
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7])        \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]),    \
                 "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]), "f"(c[0]), "f"(c[1]),    \
                 "f"(c[2]), "f"(c[3]), "f"(c[4]), "f"(c[5]), "f"(c[6]), "f"(c[7]))
#define WB_WMMA_f8_r8_r8_r4(words, d, a, b, c)                                                                         \
  asm volatile("wmma.mma" words                                                                                        \
               " {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, " \
               "%21, %22, %23}, {%24, %25, %26, %27};"                                                                 \
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7])        \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]),    \
                 "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]), "r"(c[0]), "r"(c[1]),    \
                 "r"(c[2]), "r"(c[3]))
#define WB_WMMA_r4_r8_r8_f8(words, d, a, b, c)                                                                      \
  asm volatile("wmma.mma" words                                                                                     \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19}, "  \
               "{%20, %21, %22, %23, %24, %25, %26, %27};"                                                          \
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                                     \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]), \
                 "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]), "f"(c[0]), "f"(c[1]), \
                 "f"(c[2]), "f"(c[3]), "f"(c[4]), "f"(c[5]), "f"(c[6]), "f"(c[7]))
#define WB_WMMA_f8_r4_r4_f8(words, d, a, b, c)                                                                      \
  asm volatile("wmma.mma" words                                                                                     \
               " {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, {%16, %17, %18, %19, " \
               "%20, %21, %22, %23};"                                                                               \
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7])     \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "f"(c[0]), \
                 "f"(c[1]), "f"(c[2]), "f"(c[3]), "f"(c[4]), "f"(c[5]), "f"(c[6]), "f"(c[7]))
#define WB_WMMA_f8_r8_r2_f8(words, d, a, b, c)                                                                      \
  asm volatile("wmma.mma" words                                                                                     \
               " {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17}, {%18, %19, " \
               "%20, %21, %22, %23, %24, %25};"                                                                     \
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7])     \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]), \
                 "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "f"(c[4]), "f"(c[5]), "f"(c[6]), "f"(c[7]))
#define WB_WMMA_f8_r2_r8_f8(words, d, a, b, c)                                                                      \
  asm volatile("wmma.mma" words                                                                                     \
               " {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13, %14, %15, %16, %17}, {%18, %19, " \
               "%20, %21, %22, %23, %24, %25};"                                                                     \
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7])     \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), \
                 "r"(b[7]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]), "f"(c[4]), "f"(c[5]), "f"(c[6]), "f"(c[7]))
#define WB_WMMA_r8_r2_r2_r8(words, d, a, b, c)                                                                      \
  asm volatile("wmma.mma" words                                                                                     \
               " {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19};" \
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]), "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7])     \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), \
                 "r"(c[5]), "r"(c[6]), "r"(c[7]))
#define WB_WMMA_r8_r4_r1_r8(words, d, a, b, c)                                                                        \
  asm volatile(                                                                                                       \
      "wmma.mma" words                                                                                                \
      " {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, {%12}, {%13, %14, %15, %16, %17, %18, %19, %20};"       \
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]), "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7])                \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), \
        "r"(c[5]), "r"(c[6]), "r"(c[7]))
#define WB_WMMA_r8_r1_r4_r8(words, d, a, b, c)                                                                        \
  asm volatile(                                                                                                       \
      "wmma.mma" words                                                                                                \
      " {%0, %1, %2, %3, %4, %5, %6, %7}, {%8}, {%9, %10, %11, %12}, {%13, %14, %15, %16, %17, %18, %19, %20};"       \
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]), "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7])                \
      : "r"(a[0]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), \
        "r"(c[5]), "r"(c[6]), "r"(c[7]))
#define WB_WMMA_d2_d1_d1_d2(words, d, a, b, c)                     \
  asm volatile("wmma.mma" words " {%0, %1}, {%2}, {%3}, {%4, %5};" \
               : "=d"(d[0]), "=d"(d[1])                            \
               : "d"(a[0]), "d"(b[0]), "d"(c[0]), "d"(c[1]))
#define WB_WMMA_r2_r1_r1_r2(words, d, a, b, c)                     \
  asm volatile("wmma.mma" words " {%0, %1}, {%2}, {%3}, {%4, %5};" \
               : "=r"(d[0]), "=r"(d[1])                            \
               : "r"(a[0]), "r"(b[0]), "r"(c[0]), "r"(c[1]))

#endif

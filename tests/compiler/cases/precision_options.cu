// What the options of precision make of divisions, roots and sums of products.
// run: nvcc -ptx %s
// expect: ptx has div.rn.f32
// expect: ptx has fma.rn.f32
// expect: ptx has sqrt.rn.f32
// run: nvcc -ptx --fmad=false %s
// expect: ptx lacks fma
// run: nvcc -ptx -ftz=true %s
// expect: ptx has div.rn.ftz.f32
// run: nvcc -ptx -prec-div=false %s
// expect: ptx has div.full.f32
// run: nvcc -ptx -prec-sqrt=false %s
// expect: ptx has sqrt.approx.f32
// run: nvcc -ptx --use_fast_math %s
// expect: ptx has div.approx.ftz.f32
// expect: ptx has sqrt.approx.ftz.f32
__global__ void k(float* p, float a, float b) { p[0] = a / b + p[1] * a; p[2] = sqrtf(b); }

// As with nvcc: what only one file can call is inlined where it is called once, however large it is, and a `this` in shared
// memory is no generic pointer then. Other files may call it where code is relocatable.
// run: nvcc -ptx %s
// expect: ptx has 1 of .func
// expect: ptx has 1 of /^\.func.*_Z6calledi/
// expect: ptx has ld.shared.f32
// run: nvcc -rdc=true -ptx %s -o relocatable.ptx
// expect: relocatable.ptx has .visible .func  (.param .b32 func_retval0) _Z6unusedi
#define FOUR(x) x x x x
struct Line {
  float at[64];
  __device__ void turn(int n) { FOUR(FOUR(FOUR(at[threadIdx.x] = at[(threadIdx.x + n) % 64] * 2; __syncthreads(); n += at[n] > 1;))) }
};
__device__ int unused(int a) { return a + 1; }
__device__ __noinline__ int called(int a) { return a * 3; }
__global__ void k(float* out, int n) {
  __shared__ Line line;
  line.at[threadIdx.x] = out[threadIdx.x];
  line.turn(called(n));
  out[threadIdx.x] = line.at[threadIdx.x];
}

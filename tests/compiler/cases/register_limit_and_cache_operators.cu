// -maxrregcount and -dlcm stand in the PTX.
// run: nvcc -ptx -maxrregcount=40 -Xptxas -dlcm=cg %s
// expect: ptx has .maxnreg 40
// expect: ptx has ld.global.cg.u32
__global__ void k(int* p) { p[threadIdx.x] += 1; }
int main() {
  k<<<1, 32>>>(nullptr);
  return 1;
}

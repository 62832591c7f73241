// --keep leaves what lies between source and program, with nvcc's names.
// run: mkdir kept
// run: nvcc --keep -keep-dir kept %s -o h
// expect: kept/%n.ptx has .entry
// expect: kept/%n.fatbin is there
// expect: kept/%n.sm_90.cubin has .entry _Z1kPi
// run: nvcc -save-temps --keep-dir=kept -gencode arch=compute_70,code=sm_70 -gencode arch=compute_80,code=sm_80 -c %s
// expect: kept/%n.compute_70.ptx has .target sm_70
// expect: kept/%n.compute_80.ptx has .target sm_80
// expect: kept/%n.compute_80.cubin has sm_80
__global__ void k(int* p) { p[threadIdx.x] += 1; }
int main() {
  k<<<1, 32>>>(nullptr);
  return 1;
}

// -default-stream per-thread launches to the thread's stream.
// run: nvcc -default-stream per-thread %s -o h
// run: RECORD=1 ./h
// expect: status 1
// expect: err has launch per-thread stream
__global__ void k(int* p) { p[threadIdx.x] += 1; }
int main() {
  k<<<1, 32>>>(nullptr);
  return 1;
}

// From constants and from a kernel's own arguments too: one store of 16 bytes for each part, as nvcc makes it.
// run: profile --device h100 %s
// expect: chosen global_store_requests 1
// expect: chosen gst_transactions 16
// expect: pick global_store_requests 2
// expect: pick gst_transactions 64
// expect: fill global_store_requests 2
// expect: fill gst_transactions 64
struct Row { float4 a; int b, c, d, e; };
__constant__ int4 quads[64];
__constant__ Row rows[3];
__global__ void chosen(int4* o, const int* k) { o[threadIdx.x] = quads[k[threadIdx.x] & 63]; }
__global__ void pick(Row* o) { o[threadIdx.x] = rows[threadIdx.x % 3]; }
__global__ void fill(Row* o, Row r) { o[threadIdx.x] = r; }
int main() {
  Row *o, r{{1, 2, 3, 4}, 5, 6, 7, 8}, back[32];
  int* k;
  cudaMalloc(&o, 4096);
  cudaMalloc(&k, 128);
  cudaMemset(k, 0, 128);
  cudaMemcpyToSymbol(rows, &r, sizeof r);
  chosen<<<1, 32>>>((int4*)o, k), pick<<<1, 32>>>(o), fill<<<1, 32>>>(o, r);
  cudaMemcpy(back, o, sizeof back, cudaMemcpyDeviceToHost);
  return cudaDeviceSynchronize() != cudaSuccess || back[31].a.w != 4 || back[31].e != 8;
}

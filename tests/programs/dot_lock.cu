// Dot products combined under a mutex built from atomicCAS, and a hash table with one lock per bucket.
#include <cstdio>
#include <cstdlib>

#define HANDLE_ERROR(err) (HandleError(err, __FILE__, __LINE__))
static void HandleError(cudaError_t err, const char* file, int line) {
  if (err != cudaSuccess) {
    printf("%s in %s at line %d\n", cudaGetErrorString(err), file, line);
    exit(EXIT_FAILURE);
  }
}

struct Lock {
  int* mutex;
  Lock(void) {
    HANDLE_ERROR(cudaMalloc((void**)&mutex, sizeof(int)));
    HANDLE_ERROR(cudaMemset(mutex, 0, sizeof(int)));
  }
  ~Lock(void) {}
  __device__ void lock(void) {
    while (atomicCAS(mutex, 0, 1) != 0)
      ;
    __threadfence();
  }
  __device__ void unlock(void) {
    __threadfence();
    atomicExch(mutex, 0);
  }
};

const int N = 33 * 1024, threadsPerBlock = 256, blocksPerGrid = 32;

__global__ void dot(Lock lock, float* a, float* b, float* c) {
  __shared__ float cache[threadsPerBlock];
  int tid = threadIdx.x + blockIdx.x * blockDim.x, cacheIndex = threadIdx.x;
  float temp = 0;
  while (tid < N) {
    temp += a[tid] * b[tid];
    tid += blockDim.x * gridDim.x;
  }
  cache[cacheIndex] = temp;
  __syncthreads();
  int i = blockDim.x / 2;
  while (i != 0) {
    if (cacheIndex < i) cache[cacheIndex] += cache[cacheIndex + i];
    __syncthreads();
    i /= 2;
  }
  if (cacheIndex == 0) {
    lock.lock();
    *c += cache[0];
    lock.unlock();
  }
}

// A chained hash table: lanes of a warp take turns so that no two of them fight for a lock at once.
struct Entry {
  unsigned key;
  void* value;
  Entry* next;
};
const int kBuckets = 64, kEntries = 4096;

__global__ void add_to_table(unsigned* keys, Entry** buckets, Entry* pool, int* locks) {
  int tid = threadIdx.x + blockIdx.x * blockDim.x, stride = blockDim.x * gridDim.x;
  while (tid < kEntries) {
    unsigned key = keys[tid];
    size_t hash = key % kBuckets;
    for (int i = 0; i < 32; i++) {
      if ((tid % 32) == i) {
        Entry* location = &pool[tid];
        location->key = key;
        location->value = (void*)(size_t)(key + 1);
        while (atomicCAS(&locks[hash], 0, 1) != 0)
          ;
        __threadfence();
        location->next = ((Entry* volatile*)buckets)[hash];
        ((Entry* volatile*)buckets)[hash] = location;
        __threadfence();
        atomicExch(&locks[hash], 0);
      }
    }
    tid += stride;
  }
}

int main() {
  float *a = new float[N], *b = new float[N], c = 0;
  float *dev_a, *dev_b, *dev_c;
  HANDLE_ERROR(cudaMalloc((void**)&dev_a, N * sizeof(float)));
  HANDLE_ERROR(cudaMalloc((void**)&dev_b, N * sizeof(float)));
  HANDLE_ERROR(cudaMalloc((void**)&dev_c, sizeof(float)));
  double want = 0;
  for (int i = 0; i < N; i++) {
    a[i] = (float)(i % 64);
    b[i] = (float)(i % 4);
    want += a[i] * b[i];  // sums stay below 2^24: exact
  }
  HANDLE_ERROR(cudaMemcpy(dev_a, a, N * sizeof(float), cudaMemcpyHostToDevice));
  HANDLE_ERROR(cudaMemcpy(dev_b, b, N * sizeof(float), cudaMemcpyHostToDevice));
  HANDLE_ERROR(cudaMemcpy(dev_c, &c, sizeof(float), cudaMemcpyHostToDevice));
  Lock lock;
  dot<<<blocksPerGrid, threadsPerBlock>>>(lock, dev_a, dev_b, dev_c);
  HANDLE_ERROR(cudaGetLastError());
  HANDLE_ERROR(cudaMemcpy(&c, dev_c, sizeof(float), cudaMemcpyDeviceToHost));
  printf("dot product %.0f, expected %.0f\n", c, want);
  int bad = c != want;

  unsigned *keys = new unsigned[kEntries], *d_keys;
  for (int i = 0; i < kEntries; i++) keys[i] = (unsigned)i * 2654435761u;
  Entry **d_buckets, *d_pool, *heads[kBuckets], *pool = new Entry[kEntries];
  int* d_locks;
  HANDLE_ERROR(cudaMalloc(&d_keys, kEntries * sizeof(unsigned)));
  HANDLE_ERROR(cudaMalloc(&d_buckets, sizeof heads));
  HANDLE_ERROR(cudaMalloc(&d_pool, kEntries * sizeof(Entry)));
  HANDLE_ERROR(cudaMalloc(&d_locks, kBuckets * sizeof(int)));
  HANDLE_ERROR(cudaMemset(d_buckets, 0, sizeof heads));
  HANDLE_ERROR(cudaMemset(d_locks, 0, kBuckets * sizeof(int)));
  HANDLE_ERROR(cudaMemcpy(d_keys, keys, kEntries * sizeof(unsigned), cudaMemcpyHostToDevice));
  add_to_table<<<8, 128>>>(d_keys, d_buckets, d_pool, d_locks);
  HANDLE_ERROR(cudaGetLastError());
  HANDLE_ERROR(cudaMemcpy(heads, d_buckets, sizeof heads, cudaMemcpyDeviceToHost));
  HANDLE_ERROR(cudaMemcpy(pool, d_pool, kEntries * sizeof(Entry), cudaMemcpyDeviceToHost));
  int found = 0;
  for (int h = 0; h < kBuckets; h++)
    for (Entry* e = heads[h]; e && found <= kEntries; e = pool[e - d_pool].next, found++) {
      const Entry& entry = pool[e - d_pool];
      bad += entry.key % kBuckets != (unsigned)h || (size_t)entry.value != (size_t)(entry.key + 1);
    }
  bad += found != kEntries;
  printf("dot_lock: %d entries in the table, %s\n", found, bad ? "FAILED" : "PASSED");
  delete[] a;
  delete[] b;
  delete[] keys;
  delete[] pool;
  return bad != 0;
}

// merge_path: two sorted arrays become one, with every thread merging the same number of elements.
// Look at `cross`: a binary search along a diagonal of the merge grid finds where a thread's part begins, so no thread
// waits for another and equal keys keep their order (the merge is stable).
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

constexpr int kPerThread = 7;

struct Item {
  int key;
  int origin;  // which array and place it came from, to see stability
};

// How many of the first `diagonal` outputs come from a.
__device__ int cross(const Item* a, int na, const Item* b, int nb, int diagonal) {
  int low = max(0, diagonal - nb), high = min(diagonal, na);
  while (low < high) {
    int middle = (low + high) / 2;
    if (a[middle].key <= b[diagonal - 1 - middle].key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

__global__ void merge(const Item* a, int na, const Item* b, int nb, Item* out) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, total = na + nb;
  int begin = min(thread * kPerThread, total), end = min(begin + kPerThread, total);
  int i = cross(a, na, b, nb, begin), j = begin - i;
  for (int k = begin; k < end; ++k) {
    bool from_a = j >= nb || (i < na && a[i].key <= b[j].key);
    out[k] = from_a ? a[i++] : b[j++];
  }
}

static std::vector<Item> rising(int n, int step, int tag) {
  std::vector<Item> items(n);
  int key = tag;
  for (int i = 0; i < n; ++i) {
    key += (i * 13 + tag) % step;  // steps of zero make equal keys
    items[i] = {key, tag * 1000000 + i};
  }
  return items;
}

static int try_sizes(int na, int nb) {
  std::vector<Item> a = rising(na, 5, 1), b = rising(nb, 3, 2), out(na + nb), expected(na + nb);
  Item *d_a, *d_b, *d_out;
  CHECK(cudaMalloc(&d_a, na * sizeof(Item) + 1));
  CHECK(cudaMalloc(&d_b, nb * sizeof(Item) + 1));
  CHECK(cudaMalloc(&d_out, (na + nb) * sizeof(Item)));
  CHECK(cudaMemcpy(d_a, a.data(), na * sizeof(Item), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_b, b.data(), nb * sizeof(Item), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(d_out, 0xff, (na + nb) * sizeof(Item)));
  int threads = (na + nb + kPerThread - 1) / kPerThread;
  merge<<<(threads + 127) / 128, 128>>>(d_a, na, d_b, nb, d_out);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), d_out, out.size() * sizeof(Item), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_a));
  CHECK(cudaFree(d_b));
  CHECK(cudaFree(d_out));
  std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin(),
             [](const Item& x, const Item& y) { return x.key < y.key; });
  int wrong = 0;
  for (size_t i = 0; i < out.size(); ++i) wrong += out[i].key != expected[i].key || out[i].origin != expected[i].origin;
  std::printf("%6d + %6d elements: %d wrong\n", na, nb, wrong);
  return wrong;
}

int main(int argc, char** argv) {
  int wrong = try_sizes(argc > 1 ? std::atoi(argv[1]) : 30000, argc > 2 ? std::atoi(argv[2]) : 45001);
  wrong += try_sizes(1, 1000) + try_sizes(1000, 1) + try_sizes(0, 77) + try_sizes(512, 512);
  std::printf("merge_path: %s\n", wrong ? "FAILED" : "all merges are sorted and stable");
  return wrong != 0;
}

// What compilers make of ways through a kernel that end alike, of structures that are narrower than a word and of values that are
// read again behind a store: how often a GPU's warps ask for memory then. h100/ways.csv has what an H100 counted.
#include <cuda_runtime.h>

__device__ int index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// --- stores at the end of several ways
__global__ void in_a_condition(const int* k, int* out, int n) {
  const int i = index();
  if (i < n) {
    if (k[i] & 1) out[i] = 1;
    else out[i] = k[i] * 3;
  }
}
__global__ void returns(const int* k, int* out, int n) {
  const int i = index();
  if (i >= n) return;
  if (k[i] & 1) {
    out[i] = 1;
    return;
  }
  out[i] = k[i] * 3;
}
__global__ void chooses(const int* k, float* out) {
  const int i = index();
  switch (k[i]) {
    case 0: out[i] = 3; break;
    case 1: out[i] = i; break;
    case 5: out[i] = 7 * i; break;
    default: out[i] = 0;
  }
}
__global__ void copies_or_clears(const float* in, float* out, int n) {
  const int i = index();
  if (i < n) out[i] = in[i];
  else out[i] = 0;
}
__global__ void two_arrays(const int* k, float* odd, float* even) {
  const int i = index();
  if (k[i] & 1) odd[i] = 1;
  else even[i] = 2;
}
__global__ void counts_both(const int* k, int* out) {
  const int i = index();
  if (k[i] & 1) atomicAdd(&out[i], 3);
  else atomicAdd(&out[i], 5);
}
__global__ void one_value(const int* k, float* out) {
  const int i = index();
  if (k[i] & 1) out[i] = 1;
  else out[i] = 2;
}
__global__ void sorts(float* v, unsigned distance, unsigned run) {
  const unsigned i = index(), other = i ^ distance;
  if (other <= i) return;
  if ((i & run) == 0) {
    if (v[i] > v[other]) {
      const float t = v[i];
      v[i] = v[other];
      v[other] = t;
    }
  } else {
    if (v[i] < v[other]) {
      const float t = v[i];
      v[i] = v[other];
      v[other] = t;
    }
  }
}
__global__ void long_ways(const float* in, float* out) {
  const int i = index();
  float v = in[i];
  if (i % 2) {
    for (int k = 0; k < 20; ++k) v = v * 1.01f + 3;
    out[i] = v;
  } else {
    for (int k = 0; k < 30; ++k) v = v * .99f - 1;
    out[i] = v;
  }
}
__global__ void edges(const unsigned char* in, unsigned char* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
    out[y * width + x] = 0;
    return;
  }
  const int across = in[y * width + x + 1] - in[y * width + x - 1], down = in[(y + 1) * width + x] - in[(y - 1) * width + x];
  out[y * width + x] = min(abs(across) + abs(down), 255);
}

// --- structures of bytes and shorts
struct Colour {
  unsigned char r, g, b;
};
struct Offsets {
  short x, y, z;
};
struct Word {
  char letters[5];
};
template <class T>
__global__ void changes_places(T* all, int n) {
  const int i = index();
  const T left = all[i];
  all[i] = all[n - 1 - i];
  all[n - 1 - i] = left;
}

// --- read again
template <class T>
__global__ void scans_down(T* out, const T* in, int n) {
  extern __shared__ char bytes[];
  T* const s = reinterpret_cast<T*>(bytes);
  const int t = threadIdx.x;
  int offset = n;
  s[2 * t] = in[2 * t];
  s[2 * t + 1] = in[2 * t + 1];
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      const int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
      const T left = s[a];
      s[a] = s[b];
      s[b] += left;
    }
  }
  __syncthreads();
  out[2 * t] = s[2 * t];
  out[2 * t + 1] = s[2 * t + 1];
}

int main() {
  constexpr int kWords = 4096;
  static int host[kWords];
  for (int i = 0; i < kWords; ++i) host[i] = i * 2654435761u >> 27;
  static float numbers[kWords];
  for (int i = 0; i < kWords; ++i) numbers[i] = host[i] - 10;
  int *k, *out;
  float* in;
  cudaMalloc(&k, sizeof host);
  cudaMalloc(&in, sizeof numbers);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(k, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, sizeof host);
  auto* floats = reinterpret_cast<float*>(out);
  in_a_condition<<<2, 64>>>(k, out, 100);
  returns<<<2, 64>>>(k, out, 100);
  chooses<<<2, 64>>>(k, floats);
  copies_or_clears<<<2, 64>>>(in, floats, 75);
  two_arrays<<<2, 64>>>(k, floats, floats + 1024);
  counts_both<<<2, 64>>>(k, out);
  one_value<<<2, 64>>>(k, floats);
  sorts<<<2, 64>>>(in, 1, 2);
  sorts<<<2, 64>>>(in, 4, 16);
  sorts<<<2, 64>>>(in, 32, 64);
  long_ways<<<2, 64>>>(in, floats);
  edges<<<dim3(3, 3), dim3(16, 8)>>>(reinterpret_cast<unsigned char*>(in), reinterpret_cast<unsigned char*>(out), 45, 20);
  changes_places<<<1, 40>>>(reinterpret_cast<Colour*>(in), 90);
  changes_places<<<1, 40>>>(reinterpret_cast<uchar3*>(in), 90);
  changes_places<<<1, 40>>>(reinterpret_cast<Offsets*>(in), 90);
  changes_places<<<1, 40>>>(reinterpret_cast<short3*>(in), 90);
  changes_places<<<1, 40>>>(reinterpret_cast<Word*>(in), 90);
  scans_down<<<1, 128, 1024>>>(out, k, 256);
  scans_down<<<1, 64, 512>>>(floats, in, 128);
  return cudaDeviceSynchronize();
}

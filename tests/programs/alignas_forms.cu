// alignas with an expression that has a `>`, a type, and a number.
#include <cstdio>

template <class T>
struct Box {
  alignas(alignof(T) > 16 ? alignof(T) : 16) unsigned char bytes[sizeof(T)];
};
struct alignas(64) Line {
  int values[4];
};
struct Slot {
  alignas(double) char bytes[12];
};

__global__ void sizes(int* out) {
  out[0] = alignof(Box<char>);
  out[1] = alignof(Line);
  out[2] = alignof(Slot);
  out[3] = sizeof(Line);
}

int main() {
  int* out;
  cudaMallocManaged(&out, 4 * sizeof(int));
  sizes<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  const bool right = out[0] == 16 && out[1] == 64 && out[2] == 8 && out[3] == 64 && alignof(Box<char>) == 16 && alignof(Slot) == 8;
  std::printf("alignments %d %d %d, size %d: %s\n", out[0], out[1], out[2], out[3], right ? "as written" : "WRONG");
  return right ? 0 : 1;
}

// Descriptions of the channels of texels by their kind: normalized numbers, compressed blocks, planes.
#include <cstdio>

template <cudaChannelFormatKind k>
static bool is(int x, int y, int z, int w) {
  const cudaChannelFormatDesc d = cudaCreateChannelDesc<k>();
  return d.x == x && d.y == y && d.z == z && d.w == w && d.f == k;
}

int main() {
  const cudaChannelFormatDesc d = cudaCreateChannelDescNV12(), none = cudaCreateChannelDesc<void>();
  bool right = d.x == 8 && d.y == 8 && d.z == 8 && d.w == 0 && d.f == cudaChannelFormatKindNV12 && none.f == cudaChannelFormatKindNone;
  right &= is<cudaChannelFormatKindSignedNormalized8X1>(8, 0, 0, 0) && is<cudaChannelFormatKindUnsignedNormalized16X2>(16, 16, 0, 0);
  right &= is<cudaChannelFormatKindUnsignedNormalized8X4>(8, 8, 8, 8) && is<cudaChannelFormatKindUnsignedNormalized1010102>(10, 10, 10, 2);
  right &= is<cudaChannelFormatKindUnsignedBlockCompressed7SRGB>(8, 8, 8, 8) && is<cudaChannelFormatKindSignedBlockCompressed4>(8, 0, 0, 0);
  right &= is<cudaChannelFormatKindUnsignedBlockCompressed5>(8, 8, 0, 0) && is<cudaChannelFormatKindSignedBlockCompressed6H>(16, 16, 16, 0);
  std::puts(right ? "PASSED" : "FAILED");
  return !right;
}

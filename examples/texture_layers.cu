// A stack of images in one array: a layered texture is asked with the number of a layer, which is never mixed with its
// neighbours, and a gather takes one channel of the four texels around a point.
// What to see: the layer is an integer and clamped, filtering stays inside a layer, and gathers of a picture of two
// channels give four values of the one that was asked for, from the lower left counter-clockwise.
#include <cstdio>
#include <vector>

constexpr int kWidth = 32, kHeight = 16, kLayers = 5;

__global__ void read_layers(cudaTextureObject_t stack, float* out) {
  const int x = threadIdx.x, y = threadIdx.y, layer = blockIdx.x;
  // Half-way between two texels: their mean.
  out[(layer * kHeight + y) * kWidth + x] = tex2DLayered<float>(stack, x + 1.0f, y + 0.5f, layer);
}

__global__ void read_beyond(cudaTextureObject_t stack, float* out) {
  out[0] = tex2DLayered<float>(stack, 3.5f, 2.5f, kLayers + 7);
}

__global__ void gather(cudaTextureObject_t picture, float4* out) {
  out[0] = tex2Dgather<float4>(picture, 8.0f, 4.0f, 0);
  out[1] = tex2Dgather<float4>(picture, 8.0f, 4.0f, 1);
}

cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureFilterMode filter) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = filter;
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &how, nullptr);
  return texture;
}

float texel(int x, int y, int layer) { return (float)(1000 * layer + 10 * y + x * x); }

// The extent's depth counts layers, both where the array is made and where it is filled.
cudaArray_t make_stack() {
  std::vector<float> texels;
  for (int layer = 0; layer < kLayers; ++layer)
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x) texels.push_back(texel(x, y, layer));
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t stack;
  cudaMalloc3DArray(&stack, &format, make_cudaExtent(kWidth, kHeight, kLayers), cudaArrayLayered);
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(texels.data(), kWidth * sizeof(float), kWidth, kHeight);
  copy.dstArray = stack;
  copy.extent = make_cudaExtent(kWidth, kHeight, kLayers);
  copy.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&copy);
  return stack;
}

bool layers_are_apart() {
  cudaArray_t stack = make_stack();
  cudaTextureObject_t texture = texture_of(stack, cudaFilterModeLinear);
  constexpr int kCount = kLayers * kHeight * kWidth;
  float* out;
  cudaMalloc(&out, kCount * sizeof(float));
  read_layers<<<kLayers, dim3(kWidth, kHeight)>>>(texture, out);
  std::vector<float> got(kCount);
  cudaMemcpy(got.data(), out, kCount * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) {
    const int x = i % kWidth, y = i / kWidth % kHeight, layer = i / kWidth / kHeight, next = x + 1 < kWidth ? x + 1 : x;
    wrong += got[i] != (texel(x, y, layer) + texel(next, y, layer)) / 2;
  }
  read_beyond<<<1, 1>>>(texture, out);
  float last;
  cudaMemcpy(&last, out, sizeof last, cudaMemcpyDeviceToHost);
  std::printf("%d layers: %d of %d wrong; beyond the last layer: %g\n", kLayers, wrong, kCount, last);
  cudaDestroyTextureObject(texture);
  cudaFreeArray(stack);
  cudaFree(out);
  return wrong == 0 && last == texel(3, 2, kLayers - 1);
}

bool gathers_take_a_channel() {
  std::vector<float2> texels;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) texels.push_back(make_float2((float)(100 * y + x), (float)-(100 * y + x)));
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
  cudaArray_t picture;
  cudaMallocArray(&picture, &format, kWidth, kHeight, cudaArrayTextureGather);
  cudaMemcpy2DToArray(picture, 0, 0, texels.data(), kWidth * sizeof(float2), kWidth * sizeof(float2), kHeight, cudaMemcpyHostToDevice);
  cudaTextureObject_t texture = texture_of(picture, cudaFilterModePoint);
  float4 got[2], *out;
  cudaMalloc(&out, sizeof got);
  gather<<<1, 1>>>(texture, out);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  bool good = true;
  for (int channel = 0; channel < 2; ++channel) {
    const float4 g = got[channel];
    const float sign = channel ? -1.0f : 1.0f;
    std::printf("channel %d around (8, 4): %g %g %g %g\n", channel, g.x, g.y, g.z, g.w);
    good = good && g.x == sign * 407 && g.y == sign * 408 && g.z == sign * 308 && g.w == sign * 307;
  }
  cudaDestroyTextureObject(texture);
  cudaFreeArray(picture);
  cudaFree(out);
  return good;
}

int main() {
  bool good = layers_are_apart();
  good = gathers_take_a_channel() && good && cudaGetLastError() == cudaSuccess;
  std::printf("%s\n", good ? "PASS" : "FAIL");
  return !good;
}

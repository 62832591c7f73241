// The C interface of random numbers. A call makes its numbers on the host, a chunk at a time; those for the device are
// copied behind the work on the generator's stream.
#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "base/handle_table.h"
#include "cuda_runtime_api.h"
#include "libraries/curand/directions.h"
#include "libraries/curand/source.h"

#define WB_EXPORT __attribute__((visibility("default")))

using namespace warpbeam::curand;

struct curandGenerator_st {
  curandRngType_t type;
  bool on_host;
  std::unique_ptr<Source> source;
  cudaStream_t stream = nullptr;
  unsigned long long seed = 0, offset = 0;
  unsigned int dimensions = 1;
  bool legacy_order = false;
  bool moved = true;  // seed, offset, order or dimensions changed since numbers were last made
  std::mutex mutex;

  bool quasi() const { return type >= CURAND_RNG_QUASI_DEFAULT; }
};

namespace {

constexpr size_t kChunk = size_t{1} << 20;

auto& generators() {
  static auto* table = new warpbeam::HandleTable<curandGenerator_st>;
  return *table;
}

template <class Body>
curandStatus_t with_generator(curandGenerator_t handle, Body&& body) noexcept {
  try {
    const auto generator = generators().find(handle);
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    std::lock_guard lock(generator->mutex);
    return body(*generator);
  } catch (const std::bad_alloc&) {
    return CURAND_STATUS_ALLOCATION_FAILED;
  } catch (...) {
    return CURAND_STATUS_INTERNAL_ERROR;
  }
}

std::unique_ptr<Source> source_of(const curandGenerator_st& g) {
  return g.quasi() ? sobol(g.type, g.dimensions) : pseudorandom(g.type, g.legacy_order);
}

curandStatus_t create(curandGenerator_t* handle, curandRngType_t type, bool on_host) {
  if (!handle) return CURAND_STATUS_OUT_OF_RANGE;
  auto generator = std::make_shared<curandGenerator_st>();
  generator->type = type;
  generator->on_host = on_host;
  if (!source_of(*generator)) return CURAND_STATUS_TYPE_ERROR;
  if (!on_host && cudaFree(nullptr) != cudaSuccess) return CURAND_STATUS_INITIALIZATION_FAILED;
  *handle = generator.get();
  generators().add(std::move(generator));
  return CURAND_STATUS_SUCCESS;
}

void make_ready(curandGenerator_st& g) {
  if (!g.moved) return;
  g.source = source_of(g);
  g.source->seek(g.seed, g.offset);
  g.moved = false;
}

curandStatus_t generate(curandGenerator_t handle, const Request& request, void* out, size_t count) {
  return with_generator(handle, [&](curandGenerator_st& g) {
    make_ready(g);
    Source& source = *g.source;
    if (!source.makes(request.kind)) return CURAND_STATUS_TYPE_ERROR;
    if (count % source.multiple(request.kind) != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    if (count == 0) return CURAND_STATUS_SUCCESS;
    if (!out) return CURAND_STATUS_OUT_OF_RANGE;
    const size_t bytes = bytes_of(request.kind);
    if (g.on_host) {
      source.fill(request, out, count, 0, count);
      return CURAND_STATUS_SUCCESS;
    }
    if (cudaPeekAtLastError() != cudaSuccess) return CURAND_STATUS_PREEXISTING_FAILURE;
    std::vector<char> chunk(std::min(count, kChunk) * bytes);
    for (size_t done = 0; done < count; done += kChunk) {
      const size_t part = std::min(count - done, kChunk);
      source.fill(request, chunk.data(), part, done, count);
      const cudaError_t copied =
          cudaMemcpyAsync(static_cast<char*>(out) + done * bytes, chunk.data(), part * bytes, cudaMemcpyDefault, g.stream);
      if (copied != cudaSuccess || cudaStreamSynchronize(g.stream) != cudaSuccess) return CURAND_STATUS_LAUNCH_FAILURE;
    }
    return CURAND_STATUS_SUCCESS;
  });
}

}  // namespace

WB_EXPORT curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t rng_type) {
  return create(generator, rng_type, false);
}

WB_EXPORT curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t rng_type) {
  return create(generator, rng_type, true);
}

WB_EXPORT curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  return generators().remove(generator) ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}

WB_EXPORT curandStatus_t curandGetVersion(int* version) {
  if (!version) return CURAND_STATUS_OUT_OF_RANGE;
  *version = CURAND_VERSION;
  return CURAND_STATUS_SUCCESS;
}

WB_EXPORT curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
  if (!value) return CURAND_STATUS_OUT_OF_RANGE;
  switch (type) {
    case MAJOR_VERSION: *value = CURAND_VER_MAJOR; return CURAND_STATUS_SUCCESS;
    case MINOR_VERSION: *value = CURAND_VER_MINOR; return CURAND_STATUS_SUCCESS;
    case PATCH_LEVEL: *value = CURAND_VER_PATCH; return CURAND_STATUS_SUCCESS;
  }
  return CURAND_STATUS_OUT_OF_RANGE;
}

WB_EXPORT curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  return with_generator(generator, [&](curandGenerator_st& g) {
    g.stream = stream;
    return CURAND_STATUS_SUCCESS;
  });
}

WB_EXPORT curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  return with_generator(generator, [&](curandGenerator_st& g) {
    if (g.quasi()) return CURAND_STATUS_TYPE_ERROR;
    g.seed = seed;
    g.moved = true;
    return CURAND_STATUS_SUCCESS;
  });
}

WB_EXPORT curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  return with_generator(generator, [&](curandGenerator_st& g) {
    if (g.type == CURAND_RNG_PSEUDO_MTGP32 || g.type == CURAND_RNG_PSEUDO_MT19937) return CURAND_STATUS_TYPE_ERROR;
    g.offset = offset;
    g.moved = true;
    return CURAND_STATUS_SUCCESS;
  });
}

WB_EXPORT curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order) {
  return with_generator(generator, [&](curandGenerator_st& g) {
    // Sequences that are seeded apart, or as many as suit a device, have the default order's numbers here.
    const bool pseudo = order >= CURAND_ORDERING_PSEUDO_BEST && order <= CURAND_ORDERING_PSEUDO_DYNAMIC;
    if (g.quasi() ? order != CURAND_ORDERING_QUASI_DEFAULT : !pseudo) return CURAND_STATUS_OUT_OF_RANGE;
    const bool legacy = order == CURAND_ORDERING_PSEUDO_LEGACY;
    g.moved |= legacy != g.legacy_order;
    g.legacy_order = legacy;
    return CURAND_STATUS_SUCCESS;
  });
}

WB_EXPORT curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned int num_dimensions) {
  return with_generator(generator, [&](curandGenerator_st& g) {
    if (!g.quasi()) return CURAND_STATUS_TYPE_ERROR;
    if (num_dimensions < 1 || num_dimensions > kSobolDimensions) return CURAND_STATUS_OUT_OF_RANGE;
    g.dimensions = num_dimensions;
    g.moved = true;
    return CURAND_STATUS_SUCCESS;
  });
}

WB_EXPORT curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  return with_generator(generator, [&](curandGenerator_st& g) {
    make_ready(g);
    return CURAND_STATUS_SUCCESS;
  });
}

WB_EXPORT curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* outputPtr, size_t num) {
  return generate(generator, {Kind::Bits}, outputPtr, num);
}

WB_EXPORT curandStatus_t curandGenerateLongLong(curandGenerator_t generator, unsigned long long* outputPtr, size_t num) {
  return generate(generator, {Kind::LongBits}, outputPtr, num);
}

WB_EXPORT curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* outputPtr, size_t num) {
  return generate(generator, {Kind::Uniform}, outputPtr, num);
}

WB_EXPORT curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* outputPtr, size_t num) {
  return generate(generator, {Kind::UniformDouble}, outputPtr, num);
}

WB_EXPORT curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* outputPtr, size_t n, float mean, float stddev) {
  return generate(generator, {Kind::Normal, mean, stddev}, outputPtr, n);
}

WB_EXPORT curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* outputPtr, size_t n, double mean, double stddev) {
  return generate(generator, {Kind::NormalDouble, mean, stddev}, outputPtr, n);
}

WB_EXPORT curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* outputPtr, size_t n, float mean, float stddev) {
  return generate(generator, {Kind::LogNormal, mean, stddev}, outputPtr, n);
}

WB_EXPORT curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* outputPtr, size_t n, double mean,
                                                       double stddev) {
  return generate(generator, {Kind::LogNormalDouble, mean, stddev}, outputPtr, n);
}

WB_EXPORT curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int* outputPtr, size_t n, double lambda) {
  if (!(lambda > 0) || lambda > 400000) return CURAND_STATUS_OUT_OF_RANGE;
  return generate(generator, {Kind::Poisson, lambda}, outputPtr, n);
}

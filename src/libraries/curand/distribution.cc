// Distributions that kernels draw from with curand_discrete: a table of probabilities in device memory.
#include <cmath>
#include <vector>

#include "cuda_runtime_api.h"
#include "warpbeam/curand/discrete.h"

namespace {

// From where on a normal number is used, as cuRAND documents.
constexpr double kLargestTable = 2000, kLargestMean = 400000;

struct Table {
  unsigned int shift;
  std::vector<double> at_most;
};

// Ten standard deviations to both sides, and enough for small means: what lies beyond has less than 2^-53.
Table poisson_table(double mean) {
  const double width = 10 * std::sqrt(mean) + 20;
  Table table{static_cast<unsigned int>(std::fmax(0, std::floor(mean - width))), {}};
  const auto last = static_cast<unsigned int>(std::ceil(mean + width));
  double total = 0;
  for (unsigned int k = table.shift; k <= last; ++k) {
    total += std::exp(k * std::log(mean) - mean - std::lgamma(k + 1.0));
    table.at_most.push_back(total);
  }
  table.at_most.back() = 1;
  return table;
}

}  // namespace

#define WB_EXPORT extern "C" __attribute__((visibility("default")))

WB_EXPORT curandStatus_t curandCreatePoissonDistribution(double lambda, curandDiscreteDistribution_t* distribution) {
  if (!distribution) return CURAND_STATUS_NOT_INITIALIZED;
  if (!(lambda > 0) || lambda > kLargestMean) return CURAND_STATUS_OUT_OF_RANGE;
  if (cudaPeekAtLastError() != cudaSuccess) return CURAND_STATUS_PREEXISTING_FAILURE;
  const Table table = lambda > kLargestTable ? Table{} : poisson_table(lambda);
  const size_t bytes = table.at_most.size() * sizeof(double);
  char* memory = nullptr;
  if (cudaMalloc(reinterpret_cast<void**>(&memory), sizeof(curandDiscreteDistribution_st) + bytes) != cudaSuccess)
    return CURAND_STATUS_ALLOCATION_FAILED;
  auto* values = reinterpret_cast<double*>(memory + sizeof(curandDiscreteDistribution_st));
  const curandDiscreteDistribution_st head = {lambda, table.shift, static_cast<unsigned int>(table.at_most.size()), values};
  if (cudaMemcpy(memory, &head, sizeof head, cudaMemcpyHostToDevice) != cudaSuccess ||
      (bytes && cudaMemcpy(values, table.at_most.data(), bytes, cudaMemcpyHostToDevice) != cudaSuccess)) {
    cudaFree(memory);
    return CURAND_STATUS_INITIALIZATION_FAILED;
  }
  *distribution = reinterpret_cast<curandDiscreteDistribution_t>(memory);
  return CURAND_STATUS_SUCCESS;
}

WB_EXPORT curandStatus_t curandDestroyDistribution(curandDiscreteDistribution_t distribution) {
  if (!distribution) return CURAND_STATUS_NOT_INITIALIZED;
  return cudaFree(distribution) == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}

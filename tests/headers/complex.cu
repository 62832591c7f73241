// cuComplex, std::complex, and the toolkit's header names.
#include <channel_descriptor.h>
#include <cuComplex.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <device_atomic_functions.h>
#include <device_functions.h>
#include <device_launch_parameters.h>
#include <library_types.h>
#include <math_constants.h>
#include <math_functions.h>
#include <sm_20_atomic_functions.h>
#include <sm_60_atomic_functions.h>
#include <vector_functions.h>
#include <vector_types.h>

__host__ __device__ double both(cuDoubleComplex a, cuDoubleComplex b) {
  cuFloatComplex f = cuComplexDoubleToFloat(a);
  f = cuCaddf(cuCmulf(f, f), cuCdivf(cuCsubf(f, cuConjf(f)), make_cuComplex(1, 2)));
  const cuDoubleComplex d = cuCfma(a, b, cuCdiv(cuCmul(a, b), cuCadd(a, make_cuDoubleComplex(1, 2))));
  return cuCabs(d) + cuCabsf(f) + cuCreal(d) + cuCimagf(f);
}
__global__ void kernel(cuDoubleComplex* z, double* out) { *out = both(z[0], z[1]); }
double host() { return both(make_cuDoubleComplex(1, 2), make_cuDoubleComplex(3, 4)); }

// build: -lnvrtc
// Compiles a kernel while the program runs: NVRTC turns text into PTX, the driver API loads and launches it. What to see:
// one template, instantiated for a type that the program names, and the log of a text with a mistake.
#include <cuda.h>
#include <nvrtc.h>

#include <cstdio>
#include <string>
#include <vector>

const char* kText = R"(
template <class T>
__global__ void polynomial(const T* x, T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = ((DEGREE * x[i]) + 2) * x[i] + 1;
}
)";

std::string log_of(nvrtcProgram program) {
  size_t size = 0;
  nvrtcGetProgramLogSize(program, &size);
  std::string log(size, '\0');
  nvrtcGetProgramLog(program, log.data());
  return log.c_str();
}

int main() {
  nvrtcProgram program;
  nvrtcCreateProgram(&program, kText, "polynomial.cu", 0, nullptr, nullptr);
  nvrtcAddNameExpression(program, "polynomial<double>");
  const char* options[] = {"--gpu-architecture=compute_70", "-DDEGREE=3", "--std=c++17"};
  if (nvrtcCompileProgram(program, 3, options) != NVRTC_SUCCESS) {
    std::printf("%s", log_of(program).c_str());
    return 1;
  }
  size_t size = 0;
  nvrtcGetPTXSize(program, &size);
  std::string ptx(size, '\0');
  nvrtcGetPTX(program, ptx.data());
  const char* name = nullptr;
  nvrtcGetLoweredName(program, "polynomial<double>", &name);
  std::printf("polynomial<double> is %s\n", name);

  CUcontext context;
  CUmodule module;
  CUfunction function;
  cuInit(0);
  cuCtxCreate(&context, nullptr, 0, 0);
  if (cuModuleLoadData(&module, ptx.c_str()) != CUDA_SUCCESS) return 2;
  if (cuModuleGetFunction(&function, module, name) != CUDA_SUCCESS) return 3;
  nvrtcDestroyProgram(&program);

  int n = 1000;
  std::vector<double> x(n), y(n);
  for (int i = 0; i < n; ++i) x[i] = i * 0.25;
  CUdeviceptr dx, dy;
  cuMemAlloc(&dx, n * sizeof(double));
  cuMemAlloc(&dy, n * sizeof(double));
  cuMemcpyHtoD(dx, x.data(), n * sizeof(double));
  void* arguments[] = {&dx, &dy, &n};
  cuLaunchKernel(function, (n + 127) / 128, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr);
  cuMemcpyDtoH(y.data(), dy, n * sizeof(double));
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += y[i] != (3 * x[i] + 2) * x[i] + 1;
  std::printf("%d wrong\n", wrong);
  cuCtxDestroy(context);

  nvrtcCreateProgram(&program, "__global__ void k(int* p) {\n  *p = nothing;\n}\n", "mistake.cu", 0, nullptr, nullptr);
  bool refused = nvrtcCompileProgram(program, 0, nullptr) == NVRTC_ERROR_COMPILATION;
  std::printf("%s", log_of(program).c_str());
  nvrtcDestroyProgram(&program);
  return wrong != 0 || !refused;
}

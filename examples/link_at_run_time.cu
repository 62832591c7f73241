// build: -lnvJitLink -lnvrtc -lcuda
// A plug-in for a kernel: the program compiles a function that its user wrote with NVRTC, and nvJitLink joins it with a
// kernel that was compiled before.
// What to see: neither step needs a device or a context; one kernel runs with two functions; the linker names a function
// that is missing.
#include <cuda.h>
#include <nvJitLink.h>
#include <nvrtc.h>

#include <cstdio>
#include <string>
#include <vector>

const char* const kKernel = R"(
extern "C" __device__ float shape(float x);
extern "C" __global__ void apply(float* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = shape(data[i]);
}
)";

std::string compile(const char* text) {
  nvrtcProgram program;
  const char* options[] = {"--gpu-architecture=compute_75", "-rdc=true"};
  nvrtcCreateProgram(&program, text, "part.cu", 0, nullptr, nullptr);
  if (nvrtcCompileProgram(program, 2, options) != NVRTC_SUCCESS) return "";
  size_t size = 0;
  nvrtcGetPTXSize(program, &size);
  std::string ptx(size, '\0');
  nvrtcGetPTX(program, &ptx[0]);
  nvrtcDestroyProgram(&program);
  return ptx;
}

// The texts as one image; where they do not fit together it is empty, and `log` says why.
std::vector<char> link(const std::vector<std::string>& texts, std::string* log) {
  nvJitLinkHandle linker;
  const char* options[] = {"-arch=sm_75"};
  if (nvJitLinkCreate(&linker, 1, options) != NVJITLINK_SUCCESS) return {};
  bool good = true;
  for (const std::string& text : texts)
    good = nvJitLinkAddData(linker, NVJITLINK_INPUT_PTX, text.data(), text.size(), "part.ptx") == NVJITLINK_SUCCESS && good;
  good = good && nvJitLinkComplete(linker) == NVJITLINK_SUCCESS;
  size_t size = 0;
  nvJitLinkGetErrorLogSize(linker, &size);
  log->assign(size + 1, '\0');
  nvJitLinkGetErrorLog(linker, &(*log)[0]);
  std::vector<char> image;
  if (good && nvJitLinkGetLinkedCubinSize(linker, &size) == NVJITLINK_SUCCESS) {
    image.resize(size);
    nvJitLinkGetLinkedCubin(linker, image.data());
  }
  nvJitLinkDestroy(&linker);
  return image;
}

// What the linked kernel makes of 0, 1, 2 …; nothing where it cannot be loaded.
std::vector<float> run(const std::vector<char>& image) {
  std::vector<float> numbers(100);
  int n = (int)numbers.size();
  for (int i = 0; i < n; ++i) numbers[i] = (float)i;
  CUmodule module;
  CUfunction apply;
  CUdeviceptr data;
  if (cuModuleLoadData(&module, image.data()) != CUDA_SUCCESS || cuModuleGetFunction(&apply, module, "apply") != CUDA_SUCCESS) return {};
  cuMemAlloc(&data, n * sizeof(float));
  cuMemcpyHtoD(data, numbers.data(), n * sizeof(float));
  void* arguments[] = {&data, &n};
  cuLaunchKernel(apply, 1, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr);
  if (cuMemcpyDtoH(numbers.data(), data, n * sizeof(float)) != CUDA_SUCCESS) numbers.clear();
  cuMemFree(data);
  cuModuleUnload(module);
  return numbers;
}

int main() {
  const std::string kernel = compile(kKernel);
  const std::string square = compile("extern \"C\" __device__ float shape(float x) { return x * x; }");
  const std::string half = compile("extern \"C\" __device__ float shape(float x) { return x / 2; }");
  std::string log;
  bool good = link({kernel}, &log).empty() && log.find("shape") != std::string::npos;
  std::printf("the kernel alone: %s\n", log.c_str());
  const std::vector<char> squares = link({kernel, square}, &log), halves = link({kernel, half}, &log);

  cudaFree(nullptr);  // makes the context
  const std::vector<float> a = run(squares), b = run(halves);
  good = good && a.size() == 100 && b.size() == 100;
  for (int i = 0; good && i < 100; ++i) good = a[i] == (float)(i * i) && b[i] == i / 2.0f;
  if (good) std::printf("shape(9) is %g, and then %g\n", a[9], b[9]);
  std::printf("%s\n", good ? "PASS" : "FAIL");
  return !good;
}

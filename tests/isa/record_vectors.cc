// Runs the cases of a folder on the first device and writes their raw outputs, two 8-byte numbers per thread, to
// outputs.bin. Stands alone so that it can be built on the machine that has the device: c++ record_vectors.cc -lcuda
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr unsigned kThreads = 1024, kWarp = 32;
constexpr int kInputs = 5;
constexpr size_t kPerModule = 400;

void check(CUresult r, const char* what) {
  if (r == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(r, &text);
  std::fprintf(stderr, "%s: %s\n", what, text ? text : "?");
  std::exit(1);
}

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream s;
  s << in.rdbuf();
  return s.str();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: %s FOLDER OUTPUTS\n", argv[0]), 2;
  const std::string folder = argv[1];
  check(cuInit(0), "cuInit");
  CUdevice device;
  CUcontext context;
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  const std::string inputs = read(folder + "/inputs.bin");
  CUdeviceptr in, out;
  check(cuMemAlloc(&in, inputs.size()), "cuMemAlloc");
  check(cuMemAlloc(&out, kThreads * 16), "cuMemAlloc");
  check(cuMemcpyHtoD(in, inputs.data(), inputs.size()), "cuMemcpyHtoD");
  std::ifstream list(folder + "/cases.txt");
  std::ofstream results(argv[2], std::ios::binary);
  std::vector<char> buffer(kThreads * 16);
  CUmodule module = nullptr;
  size_t n = 0;
  for (std::string line; std::getline(list, line); ++n) {
    if (n % kPerModule == 0) {
      const std::string path = folder + "/m" + std::to_string(n / kPerModule) + ".ptx";
      char log[8192] = "";
      CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
      void* values[] = {log, reinterpret_cast<void*>(sizeof(log))};
      if (module) check(cuModuleUnload(module), "cuModuleUnload");
      const CUresult r = cuModuleLoadDataEx(&module, read(path).c_str(), 2, options, values);
      if (r != CUDA_SUCCESS) std::fprintf(stderr, "%s: %s\n", path.c_str(), log);
      check(r, "cuModuleLoadDataEx");
    }
    std::stringstream words(line);
    std::string kernel;
    words >> kernel;
    CUdeviceptr pointers[kInputs + 1];
    void* params[kInputs + 1];
    for (int k = 0; k < kInputs; ++k) {
      int table;
      words >> table;
      pointers[k] = table < 0 ? in : in + static_cast<size_t>(table) * kThreads * 8;
    }
    pointers[kInputs] = out;
    for (int k = 0; k <= kInputs; ++k) params[k] = &pointers[k];
    CUfunction f;
    check(cuModuleGetFunction(&f, module, kernel.c_str()), kernel.c_str());
    check(cuMemsetD8(out, 0xee, kThreads * 16), "cuMemsetD8");
    check(cuLaunchKernel(f, kThreads / kWarp, 1, 1, kWarp, 1, 1, 0, nullptr, params, nullptr), kernel.c_str());
    check(cuMemcpyDtoH(buffer.data(), out, buffer.size()), kernel.c_str());
    results.write(buffer.data(), static_cast<std::streamsize>(buffer.size()));
  }
  std::printf("%zu cases\n", n);
}

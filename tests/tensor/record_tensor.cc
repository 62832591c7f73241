// Runs the tensor cases on the first device. Stands alone so that it can be built where the device is:
//   c++ -std=c++20 record_tensor.cc tensor_cases.cc tensor_map_cases.cc -lcuda -o record && ./record FOLDER
// It writes FOLDER/cases.bin and FOLDER/maps.bin, the raw outputs in the order of the cases.
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "tensor_cases.h"
#include "tensor_map_cases.h"

using namespace warpbeam::tensor_test;

namespace {

void check(CUresult r, const char* what) {
  if (r == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(r, &text);
  std::fprintf(stderr, "%s: %s\n", what, text ? text : "?");
  std::exit(1);
}

CUmodule load(const std::string& text) {
  static char log[65536];
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof(log))};
  CUmodule module = nullptr;
  const CUresult r = cuModuleLoadDataEx(&module, text.c_str(), 2, options, values);
  if (r != CUDA_SUCCESS) std::fprintf(stderr, "%s\n", log);
  check(r, "cuModuleLoadDataEx");
  return module;
}

void record_cases(const std::string& folder) {
  const auto cases = tensor_cases();
  std::string text = tensor_module_header();
  for (const auto& c : cases) text += c.text;
  CUmodule module = load(text);
  CUdeviceptr in, out;
  check(cuMemAlloc(&in, 16 << 20), "cuMemAlloc");
  check(cuMemAlloc(&out, 16 << 20), "cuMemAlloc");
  std::ofstream results(folder + "/cases.bin", std::ios::binary);
  for (const auto& c : cases) {
    std::vector<uint32_t> words;
    for (int t = 0; t < c.trials; ++t) {
      const auto w = c.input(t);
      words.insert(words.end(), w.begin(), w.end());
    }
    const size_t bytes = static_cast<size_t>(c.output_words) * 4 * static_cast<size_t>(c.threads * c.trials);
    check(cuMemcpyHtoD(in, words.data(), words.size() * 4), "cuMemcpyHtoD");
    check(cuMemsetD8(out, 0xee, bytes), "cuMemsetD8");
    CUfunction f;
    check(cuModuleGetFunction(&f, module, c.kernel.c_str()), c.name.c_str());
    void* params[] = {&in, &out};
    check(cuLaunchKernel(f, static_cast<unsigned>(c.trials), 1, 1, static_cast<unsigned>(c.threads), 1, 1, 0, nullptr, params, nullptr),
          c.name.c_str());
    std::vector<char> buffer(bytes);
    check(cuMemcpyDtoH(buffer.data(), out, bytes), c.name.c_str());
    results.write(buffer.data(), static_cast<std::streamsize>(bytes));
  }
  std::printf("%zu cases\n", cases.size());
}

// A failing kernel takes its process with it: `next` tells where to go on.
void record_maps(const std::string& folder, size_t first, int next) {
  const auto cases = tensor_map_cases();
  std::string text = tensor_module_header();
  for (size_t k = 0; k < cases.size(); ++k) text += tensor_map_kernel(cases[k], "m" + std::to_string(k));
  CUmodule module = load(text);
  CUdeviceptr global, store, dump;
  check(cuMemAlloc(&global, kMapGlobalBytes), "cuMemAlloc");
  check(cuMemAlloc(&store, kMapStoreBytes), "cuMemAlloc");
  check(cuMemAlloc(&dump, kMapStoreBytes), "cuMemAlloc");
  std::vector<uint32_t> words(kMapGlobalBytes / 4);
  for (uint32_t i = 0; i < words.size(); ++i) words[i] = map_word(i);
  check(cuMemcpyHtoD(global, words.data(), kMapGlobalBytes), "cuMemcpyHtoD");
  std::ofstream results(folder + "/maps.bin", std::ios::binary | std::ios::app);
  for (size_t k = first; k < cases.size(); ++k) {
    const TensorMapCase& c = cases[k];
    const size_t after = k + 1;
    if (write(next, &after, sizeof after) != sizeof after) std::exit(1);
    const bool loads = c.copy == MapCopy::Load;
    std::vector<char> buffer(loads ? kMapSharedBytes : kMapStoreBytes, static_cast<char>(0xab));
    alignas(64) CUtensorMap map;
    std::memset(&map, 0, sizeof map);
    void* base = reinterpret_cast<void*>((loads ? global : store) + c.base);
    const auto rank = static_cast<cuuint32_t>(c.rank);
    const auto type = static_cast<CUtensorMapDataType>(c.type);
    const auto interleave = static_cast<CUtensorMapInterleave>(c.interleave);
    const auto swizzle = static_cast<CUtensorMapSwizzle>(c.swizzle);
    const auto fill = static_cast<CUtensorMapFloatOOBfill>(c.fill);
    CUresult r;
    if (c.im2col)
      r = cuTensorMapEncodeIm2col(&map, type, rank, base, reinterpret_cast<const cuuint64_t*>(c.dims),
                                  reinterpret_cast<const cuuint64_t*>(c.strides), c.lower, c.upper, c.channels, c.pixels, c.steps,
                                  interleave, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
    else
      r = cuTensorMapEncodeTiled(&map, type, rank, base, reinterpret_cast<const cuuint64_t*>(c.dims),
                                 reinterpret_cast<const cuuint64_t*>(c.strides), c.box, c.steps, interleave, swizzle,
                                 CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
    if (r != CUDA_SUCCESS) {
      std::printf("map '%s' refused: %d\n", c.name.c_str(), static_cast<int>(r));
    } else {
      check(cuMemsetD8(store, 0x3c, kMapStoreBytes), "cuMemsetD8");
      CUfunction f;
      check(cuModuleGetFunction(&f, module, ("m" + std::to_string(k)).c_str()), "cuModuleGetFunction");
      int x[8] = {c.at[0], c.at[1], c.at[2], c.at[3], c.at[4], c.offsets[0], c.offsets[1], c.offsets[2]};
      void* params[] = {&map, &dump, &x[0], &x[1], &x[2], &x[3], &x[4], &x[5], &x[6], &x[7]};
      check(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, params, nullptr), c.name.c_str());
      if (const CUresult failed = cuMemcpyDtoH(buffer.data(), loads ? dump : store, buffer.size()); failed != CUDA_SUCCESS) {
        std::printf("map '%s' failed: %d\n", c.name.c_str(), static_cast<int>(failed));
        results.write(buffer.data(), static_cast<std::streamsize>(buffer.size()));
        results.close();
        std::fflush(stdout);
        std::exit(1);
      }
    }
    results.write(buffer.data(), static_cast<std::streamsize>(buffer.size()));
  }
  std::printf("%zu maps\n", cases.size());
}

void open_device() {
  check(cuInit(0), "cuInit");
  CUdevice device;
  CUcontext context;
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

template <class Body>
int in_child(Body&& body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    open_device();
    body();
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]), 2;
  const std::string folder = argv[1];
  std::remove((folder + "/maps.bin").c_str());
  int status = in_child([&] { record_cases(folder); });
  size_t first = 0;
  for (int tries = 0; tries < 64; ++tries) {
    int ends[2];
    if (pipe(ends)) return 1;
    const int result = in_child([&] { record_maps(folder, first, ends[1]); });
    close(ends[1]);
    for (size_t k; read(ends[0], &k, sizeof k) == sizeof k;) first = k;
    close(ends[0]);
    if (result == 0) break;
    status |= 1;
  }
  return status != 0;
}

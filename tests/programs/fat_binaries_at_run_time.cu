// nvFatbin: PTX for two architectures in one container, which the driver loads; what it refuses.

// build: -lnvfatbin -lcuda
#include <cuda.h>
#include <nvFatbin.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

static int failures = 0;
#define EXPECT(condition) \
  if (!(condition)) printf("line %d: %s\n", __LINE__, #condition), ++failures
#define IS(call, want) EXPECT((call) == (want))

static std::string kernel(int cc, int value) {
  return ".version 7.0\n.target sm_" + std::to_string(cc) + "\n.address_size 64\n.visible .entry k(.param .u64 p) { .reg .b64 %a; ld.param.u64 %a, [p]; st.global.u32 [%a], " +
         std::to_string(value) + "; ret; }\n";
}

int main() {
  cudaFree(nullptr);
  nvFatbinHandle h = nullptr;
  const char *options[] = {"-64", "-compress=false"}, *wrong[] = {"-nonsense"};
  IS(nvFatbinCreate(&h, wrong, 1), NVFATBIN_ERROR_UNRECOGNIZED_OPTION);
  IS(nvFatbinCreate(&h, options, 2), NVFATBIN_SUCCESS);
  const std::string old = kernel(52, 1), fresh = kernel(70, 2);
  IS(nvFatbinAddPTX(h, old.c_str(), old.size() + 1, "52", "k", nullptr), NVFATBIN_SUCCESS);
  IS(nvFatbinAddPTX(h, fresh.c_str(), fresh.size() + 1, "70", "k", ""), NVFATBIN_SUCCESS);
  IS(nvFatbinAddPTX(h, fresh.c_str(), fresh.size() + 1, "60", "k", nullptr), NVFATBIN_ERROR_PTX_ARCH_MISMATCH);
  IS(nvFatbinAddPTX(h, fresh.c_str(), fresh.size() + 1, "sixty", "k", nullptr), NVFATBIN_ERROR_INVALID_ARCH);
  IS(nvFatbinAddPTX(h, "", 1, "60", "k", nullptr), NVFATBIN_ERROR_EMPTY_INPUT);
  IS(nvFatbinAddPTX(h, "hello", 6, "60", "k", nullptr), NVFATBIN_ERROR_MISSING_PTX_VERSION);
  IS(nvFatbinAddCubin(h, fresh.c_str(), fresh.size(), "75", "k"), NVFATBIN_SUCCESS);  // as NVRTC here gives it
  IS(nvFatbinAddCubin(h, "hello", 6, "75", "k"), NVFATBIN_ERROR_ELF_SIZE_MISMATCH);
  IS(nvFatbinAddIndex(h, "hello", 6, "k"), NVFATBIN_ERROR_INVALID_INDEX);
  size_t size = 0;
  IS(nvFatbinSize(h, &size), NVFATBIN_SUCCESS);
  std::vector<char> image(size);
  IS(nvFatbinGet(h, image.data()), NVFATBIN_SUCCESS);
  IS(nvFatbinDestroy(&h), NVFATBIN_SUCCESS);
  EXPECT(!h);
  IS(nvFatbinDestroy(&h), NVFATBIN_ERROR_NULL_POINTER);
  IS(nvFatbinSize(nullptr, &size), NVFATBIN_ERROR_NULL_POINTER);
  EXPECT(!nvFatbinGetErrorString(NVFATBIN_SUCCESS) && strlen(nvFatbinGetErrorString(NVFATBIN_ERROR_INVALID_ARCH)));

  CUmodule module;
  CUfunction f;
  IS(cuModuleLoadData(&module, image.data()), CUDA_SUCCESS);
  IS(cuModuleGetFunction(&f, module, "k"), CUDA_SUCCESS);
  int *p, out = 0;
  cudaMalloc(&p, 4);
  void* arguments[] = {&p};
  IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_SUCCESS);
  cudaMemcpy(&out, p, 4, cudaMemcpyDeviceToHost);
  EXPECT(out == 2);
  printf(failures ? "%d failed\n" : "all right\n", failures);
  return failures != 0;
}

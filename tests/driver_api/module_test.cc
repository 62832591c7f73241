// Modules, libraries, functions and launches.
#include <cuda_runtime_api.h>

#include <cstring>
#include <fstream>

#include "fixture.h"

namespace {

class Modules : public Driver {};

TEST_F(Modules, give_functions_and_variables) {
  CUfunction missing = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&missing, module, "subtract"), CUDA_ERROR_NOT_FOUND);
  unsigned count = 0;
  OK(cuModuleGetFunctionCount(&count, module));
  EXPECT_EQ(count, 6u);
  std::vector<CUfunction> all(count);
  OK(cuModuleEnumerateFunctions(all.data(), count, module));
  const char* name = nullptr;
  OK(cuFuncGetName(&name, all[0]));
  EXPECT_STREQ(name, "add");
  CUmodule back = nullptr;
  OK(cuFuncGetModule(&back, all[0]));
  EXPECT_EQ(back, module);
  CUdeviceptr table = 0;
  size_t bytes = 0;
  OK(cuModuleGetGlobal(&table, &bytes, module, "table"));
  EXPECT_EQ(bytes, 16u);
  EXPECT_EQ(read(table, 2), 30);
  EXPECT_EQ(cuModuleGetGlobal(&table, &bytes, module, "chair"), CUDA_ERROR_NOT_FOUND);
  OK(cuModuleGetGlobal(nullptr, &bytes, module, "table"));
  CUmoduleLoadingMode mode;
  OK(cuModuleGetLoadingMode(&mode));
}

// Libraries of templates bring tens of thousands, each of which would take two of the 65,530 places that a process maps.
TEST_F(Modules, may_have_very_many_variables) {
  const int each = 12'000, modules = 4;
  std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n";
  for (int i = 0; i < each; ++i) text += ".weak .global .align 4 .u32 v" + std::to_string(i) + " = " + std::to_string(i) + ";\n";
  std::vector<CUmodule> loaded(modules);
  for (CUmodule& one : loaded) OK(cuModuleLoadData(&one, text.c_str()));
  for (const CUmodule one : loaded)
    for (const int i : {0, 1'000, each - 1}) {
      CUdeviceptr place = 0;
      size_t bytes = 0;
      OK(cuModuleGetGlobal(&place, &bytes, one, ("v" + std::to_string(i)).c_str()));
      EXPECT_EQ(bytes, 4u);
      EXPECT_EQ(read(place), i);
    }
  for (const CUmodule one : loaded) OK(cuModuleUnload(one));
}

TEST_F(Modules, come_from_files) {
  std::string path = testing::TempDir() + "/kernels.ptx";
  std::ofstream(path) << kKernels;
  CUmodule loaded;
  OK(cuModuleLoad(&loaded, path.c_str()));
  OK(cuModuleUnload(loaded));
  EXPECT_EQ(cuModuleLoad(&loaded, "/no/such/file"), CUDA_ERROR_FILE_NOT_FOUND);
}

TEST_F(Modules, an_unloaded_one_is_refused) {
  CUfunction put = function("put");
  OK(cuModuleUnload(module));
  EXPECT_EQ(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleGetFunction(&put, module, "put"), CUDA_ERROR_INVALID_HANDLE);
  int value = 0;
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, put), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleUnload(reinterpret_cast<CUmodule>(0x1234)), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLaunchKernel(reinterpret_cast<CUfunction>(0x1234), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Modules, unloading_gives_the_variables_memory_back) {
  size_t before = 0, after = 0, total = 0;
  OK(cuMemGetInfo(&before, &total));
  CUmodule again;
  OK(cuModuleLoadData(&again, kKernels));
  OK(cuModuleUnload(again));
  OK(cuMemGetInfo(&after, &total));
  EXPECT_EQ(before, after);
}

TEST_F(Modules, of_another_context_cannot_be_launched) {
  CUfunction here = function("bound");
  CUcontext second = nullptr;
  OK(cuCtxCreate(&second, nullptr, 0, device));
  EXPECT_EQ(cuLaunchKernel(here, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
  OK(cuCtxDestroy(second));
}

TEST_F(Modules, bad_ptx_fills_the_log) {
  const char* bad = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry k() { frobnicate.u32 %r1; ret; }\n";
  char info[256] = "?", errors[1024] = "?";
  float milliseconds = -1;
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_INFO_LOG_BUFFER,  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_WALL_TIME,        CU_JIT_MAX_REGISTERS};
  void* values[] = {
      errors, reinterpret_cast<void*>(sizeof errors), info, reinterpret_cast<void*>(sizeof info), nullptr, reinterpret_cast<void*>(32)};
  CUmodule loaded;
  EXPECT_EQ(cuModuleLoadDataEx(&loaded, bad, 6, options, values), CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::strstr(errors, "frobnicate"), nullptr) << errors;
  EXPECT_EQ(reinterpret_cast<size_t>(values[1]), std::strlen(errors) + 1);
  std::memcpy(&milliseconds, &values[4], sizeof milliseconds);
  EXPECT_GE(milliseconds, 0);
  values[1] = reinterpret_cast<void*>(sizeof errors);
  values[3] = reinterpret_cast<void*>(sizeof info);
  OK(cuModuleLoadDataEx(&loaded, kKernels, 6, options, values));
  EXPECT_STREQ(errors, "");
  EXPECT_NE(std::strstr(info, "function add"), nullptr) << info;
  char tiny[8];
  values[0] = tiny;
  values[1] = reinterpret_cast<void*>(sizeof tiny);
  EXPECT_EQ(cuModuleLoadDataEx(&loaded, bad, 2, options, values), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(std::strlen(tiny), 7u);
  options[0] = static_cast<CUjit_option>(99);
  EXPECT_EQ(cuModuleLoadDataEx(&loaded, kKernels, 2, options, values), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Modules, machine_code_is_refused_with_a_reason) {
  const char elf[64] =
      "\x7f"
      "ELF\2\1\1";
  char errors[512] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {errors, reinterpret_cast<void*>(sizeof errors)};
  CUmodule loaded;
  EXPECT_EQ(cuModuleLoadDataEx(&loaded, elf, 2, options, values), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_NE(std::strstr(errors, "machine code"), nullptr) << errors;
  EXPECT_EQ(cuModuleLoadData(&loaded, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleLoadData(nullptr, kKernels), CUDA_ERROR_INVALID_VALUE);
}

// A fat binary with an entry for each: machine code (kind 2) of no meaning, or PTX (kind 1).
std::string fat_binary(std::initializer_list<std::pair<int, std::string>> entries) {
  auto bytes = [](const auto& value) { return std::string(reinterpret_cast<const char*>(&value), sizeof value); };
  std::string body;
  for (const auto& [cc, text] : entries) {
    const size_t size = (text.size() + 8) / 8 * 8;
    body += bytes(static_cast<uint16_t>(text.empty() ? 2 : 1)) + bytes(uint16_t{0x101}) + bytes(uint32_t{64}) + bytes(uint64_t{size}) +
            std::string(8, '\0') + bytes(uint16_t{0}) + bytes(uint16_t{7}) + bytes(static_cast<uint32_t>(cc)) + std::string(8, '\0') +
            bytes(uint64_t{0x11}) + std::string(16, '\0') + text + std::string(size - text.size(), '\0');
  }
  return bytes(uint32_t{0xBA55ED50}) + bytes(uint16_t{1}) + bytes(uint16_t{16}) + bytes(uint64_t{body.size()}) + body;
}

TEST_F(Modules, newer_ptx_stands_in_for_machine_code_that_the_gpu_would_run) {
  int major = 0, minor = 0;
  OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  OK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  const int own = 10 * major + minor;
  std::string newer = kKernels, newest = "rubbish";
  newer.replace(newer.find("sm_50"), 5, "sm_120");
  CUmodule loaded = nullptr;
  CUfunction found = nullptr;
  OK(cuModuleLoadData(&loaded, fat_binary({{own, ""}, {121, newest}, {120, newer}}).c_str()));
  OK(cuModuleGetFunction(&found, loaded, "put"));
  EXPECT_EQ(cuModuleLoadData(&loaded, fat_binary({{own - 10, ""}, {own + 1, ""}, {120, newer}}).c_str()), CUDA_ERROR_NO_BINARY_FOR_GPU)
      << "no GPU like this would run it";
  EXPECT_EQ(cuModuleLoadData(&loaded, fat_binary({{own, ""}}).c_str()), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST_F(Modules, functions_have_attributes) {
  int value = 0;
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function("bound")));
  EXPECT_EQ(value, 64);
  CUfunction shared = function("shared");
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, shared));
  EXPECT_EQ(value, 1024);
  OK(cuFuncSetAttribute(shared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000));
  OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared));
  EXPECT_EQ(value, 60000);
  for (int i = 0; i < CU_FUNC_ATTRIBUTE_MAX; ++i)
    EXPECT_EQ(cuFuncGetAttribute(&value, static_cast<CUfunction_attribute>(i), shared), CUDA_SUCCESS) << i;
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, shared), CUDA_ERROR_INVALID_VALUE);
  OK(cuFuncSetCacheConfig(shared, CU_FUNC_CACHE_PREFER_SHARED));
  OK(cuFuncSetSharedMemConfig(shared, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE));
  size_t offset = 9, size = 9;
  OK(cuFuncGetParamInfo(function("add"), 1, &offset, &size));
  EXPECT_EQ(offset, 8u);
  EXPECT_EQ(size, 4u);
  EXPECT_EQ(cuFuncGetParamInfo(function("add"), 3, &offset, &size), CUDA_ERROR_INVALID_VALUE);
  CUfunctionLoadingState state;
  OK(cuFuncLoad(shared));
  OK(cuFuncIsLoaded(&state, shared));
  EXPECT_EQ(state, CU_FUNCTION_LOADING_STATE_LOADED);
}

TEST_F(Modules, occupancy_is_the_models) {
  int blocks = 0, grid = 0, block = 0;
  CUfunction shared = function("shared");
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shared, 256, 0));
  EXPECT_GT(blocks, 0);
  int same = 0;
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&same, shared, 256, 0, 0));
  EXPECT_EQ(same, blocks);
  OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function("bound"), nullptr, 0, 0));
  EXPECT_EQ(block, 64);
  OK(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, shared, [](int size) { return size_t(size) * 4; }, 0, 128, 0));
  EXPECT_LE(block, 128);
  EXPECT_GT(grid, 0);
  size_t bytes = 0;
  OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, shared, 1, 256));
  EXPECT_GT(bytes, 0u);
  CUlaunchConfig config{};
  config.gridDimX = 8;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 128;
  int size = 0, clusters = 0;
  OK(cuOccupancyMaxPotentialClusterSize(&size, shared, &config));
  EXPECT_EQ(size, 8);
  OK(cuOccupancyMaxActiveClusters(&clusters, shared, &config));
  EXPECT_GT(clusters, 0);
}

TEST_F(Modules, launches_take_arguments_in_a_buffer) {
  CUdeviceptr ptr = allocate(400);
  struct {
    CUdeviceptr to;
    int value, count;
  } buffer{ptr, 7, 100};
  size_t size = sizeof buffer;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  OK(cuLaunchKernel(function("add"), 4, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_EQ(read(ptr, 99), 7);
  size = sizeof buffer + 4;
  EXPECT_EQ(cuLaunchKernel(function("add"), 4, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  size = 12;  // the count is missing: a device launches all the same
  OK(cuLaunchKernel(function("add"), 4, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
  void* both[] = {&ptr, &ptr, &ptr};
  EXPECT_EQ(cuLaunchKernel(function("add"), 4, 1, 1, 32, 1, 1, 0, nullptr, both, extra), CUDA_ERROR_INVALID_VALUE);
}

// The pointer of one module's function is the pointer of the other's kernel, which launches nothing by itself.
TEST_F(Modules, do_not_call_each_others_function_pointers) {
  constexpr char kHead[] = ".version 7.0\n.target sm_50\n.address_size 64\n";
  const std::string giver = std::string(kHead) + R"(
.visible .func called() { ret; }
.visible .entry give(.param .u64 to) {
  .reg .b64 %a, %f;
  ld.param.u64 %a, [to];
  mov.u64 %f, called;
  st.global.u64 [%a], %f;
  ret;
})";
  const std::string caller = std::string(kHead) + R"(
.visible .entry call_it(.param .u64 f) {
  .reg .b64 %f;
  ld.param.u64 %f, [f];
  prototype: .callprototype _ ();
  call %f, prototype;
  ret;
})";
  CUmodule first, second;
  CUfunction give, call_it;
  OK(cuModuleLoadData(&first, giver.c_str()));
  OK(cuModuleLoadData(&second, caller.c_str()));
  OK(cuModuleGetFunction(&give, first, "give"));
  OK(cuModuleGetFunction(&call_it, second, "call_it"));
  CUdeviceptr to = allocate(8);
  void* arguments[] = {&to};
  OK(cuLaunchKernel(give, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  uint64_t pointer = 0;
  OK(cuMemcpyDtoH(&pointer, to, sizeof pointer));
  void* pointers[] = {&pointer};
  OK(cuLaunchKernel(call_it, 1, 1, 1, 32, 1, 1, 0, nullptr, pointers, nullptr));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_INVALID_PC);
}

TEST_F(Modules, launches_are_checked) {
  CUdeviceptr ptr = allocate(64);
  int value = 1;
  void* arguments[] = {&ptr, &value};
  CUfunction put = function("put");
  EXPECT_EQ(cuLaunchKernel(put, 0, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchKernel(put, 1, 1, 1, 2048, 1, 1, 0, nullptr, arguments, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 1 << 20, nullptr, arguments, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuLaunchKernel(put, 1, 1, 1, 1, 1, 1, 0, reinterpret_cast<CUstream>(0x77), arguments, nullptr), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Modules, launches_with_attributes_and_cooperative_ones_run) {
  CUdeviceptr ptr = allocate(64);
  int value = 21;
  void* arguments[] = {&ptr, &value};
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  OK(cuLaunchKernelEx(&config, function("put"), arguments, nullptr));
  EXPECT_EQ(read(ptr), 21);
  value = 22;
  OK(cuLaunchCooperativeKernel(function("put"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments));
  EXPECT_EQ(read(ptr), 22);
  EXPECT_EQ(cuLaunchCooperativeKernel(function("put"), 1 << 20, 1, 1, 1024, 1, 1, 0, nullptr, arguments),
            CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  CUstream stream;
  OK(cuStreamCreate(&stream, 0));
  value = 23;
  CUDA_LAUNCH_PARAMS list[] = {{function("put"), 1, 1, 1, 1, 1, 1, 0, stream, arguments}};
  OK(cuLaunchCooperativeKernelMultiDevice(list, 1, 0));
  OK(cuStreamSynchronize(stream));
  EXPECT_EQ(read(ptr), 23);
  EXPECT_EQ(cuLaunchCooperativeKernelMultiDevice(list, 2, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Modules, launches_of_the_first_interface_run) {
  CUdeviceptr ptr = allocate(400);
  CUfunction add = function("add");
  OK(cuFuncSetBlockShape(add, 32, 1, 1));
  OK(cuFuncSetSharedSize(add, 0));
  OK(cuParamSetv(add, 0, &ptr, sizeof ptr));
  OK(cuParamSeti(add, 8, 5));
  OK(cuParamSeti(add, 12, 100));
  OK(cuParamSetSize(add, 16));
  OK(cuLaunchGrid(add, 4, 1));
  EXPECT_EQ(read(ptr, 99), 5);
  OK(cuLaunchGridAsync(add, 4, 1, nullptr));
  EXPECT_EQ(read(ptr, 99), 10);
  OK(cuLaunch(add));
  EXPECT_EQ(read(ptr, 31), 15);
  EXPECT_EQ(read(ptr, 32), 10);
  OK(cuParamSetf(function("put"), 8, 1.0f));
  OK(cuParamSetv(function("put"), 0, &ptr, sizeof ptr));
  OK(cuLaunch(function("put")));
  EXPECT_EQ(read(ptr), 0x3f800000);
  EXPECT_EQ(cuFuncSetBlockShape(add, 0, 1, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Modules, the_runtime_launches_functions_of_the_driver) {
  CUdeviceptr ptr = allocate(64);
  int value = 31;
  void* arguments[] = {&ptr, &value};
  ASSERT_EQ(cudaLaunchKernel(function("put"), dim3(1), dim3(1), arguments, 0, nullptr), cudaSuccess);
  EXPECT_EQ(read(ptr), 31);
}

class Libraries : public Driver {};

TEST_F(Libraries, belong_to_no_context) {
  CUlibrary library;
  OK(cuLibraryLoadData(&library, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0));
  unsigned count = 0;
  OK(cuLibraryGetKernelCount(&count, library));
  EXPECT_EQ(count, 6u);
  std::vector<CUkernel> all(count);
  OK(cuLibraryEnumerateKernels(all.data(), count, library));
  CUkernel put;
  OK(cuLibraryGetKernel(&put, library, "put"));
  EXPECT_EQ(cuLibraryGetKernel(&put, library, "none"), CUDA_ERROR_NOT_FOUND);
  const char* name;
  OK(cuKernelGetName(&name, put));
  EXPECT_STREQ(name, "put");
  CUlibrary back;
  OK(cuKernelGetLibrary(&back, put));
  EXPECT_EQ(back, library);
  size_t offset, size;
  OK(cuKernelGetParamInfo(put, 1, &offset, &size));
  EXPECT_EQ(offset, 8u);
  int value = 0;
  OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, put, device));
  EXPECT_EQ(value, 1024);
  OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 50000, put, device));
  OK(cuKernelSetCacheConfig(put, CU_FUNC_CACHE_PREFER_L1, device));

  CUdeviceptr table = 0, other_table = 0;
  size_t bytes = 0;
  OK(cuLibraryGetGlobal(&table, &bytes, library, "table"));
  EXPECT_EQ(bytes, 16u);
  EXPECT_EQ(cuLibraryGetManaged(&other_table, &bytes, library, "table"), CUDA_ERROR_NOT_FOUND);
  CUdeviceptr ptr = allocate(64);
  value = 41;
  void* arguments[] = {&ptr, &value};
  OK(cuLaunchKernel(reinterpret_cast<CUfunction>(put), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_EQ(read(ptr), 41);

  CUcontext second = nullptr;
  OK(cuCtxCreate(&second, nullptr, 0, device));
  OK(cuLibraryGetGlobal(&other_table, &bytes, library, "table"));
  EXPECT_NE(table, other_table) << "each context has its own";
  CUfunction function;
  OK(cuKernelGetFunction(&function, put));
  CUmodule as_module;
  OK(cuLibraryGetModule(&as_module, library));
  CUfunction same;
  OK(cuModuleGetFunction(&same, as_module, "put"));
  EXPECT_EQ(same, function);
  ptr = allocate(64);
  OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_EQ(read(ptr), 41);
  OK(cuLibraryUnload(library));
  EXPECT_EQ(cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuKernelGetName(&name, put), CUDA_ERROR_INVALID_HANDLE);
  OK(cuCtxDestroy(second));
}

TEST_F(Libraries, come_from_files) {
  std::string path = testing::TempDir() + "/library.ptx";
  std::ofstream(path) << kKernels;
  CUlibrary library;
  OK(cuLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  OK(cuLibraryUnload(library));
  EXPECT_EQ(cuLibraryLoadFromFile(&library, "/no/such/file", nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_EQ(cuLibraryLoadData(&library, "rubbish", nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_ERROR_INVALID_IMAGE);
}

}  // namespace

TEST(RuntimeLibraries, are_the_drivers) {
  cudaLibrary_t library;
  ASSERT_EQ(cudaLibraryLoadData(&library, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0), cudaSuccess);
  unsigned count = 0;
  ASSERT_EQ(cudaLibraryGetKernelCount(&count, library), cudaSuccess);
  EXPECT_EQ(count, 6u);
  std::vector<cudaKernel_t> all(count);
  ASSERT_EQ(cudaLibraryEnumerateKernels(all.data(), count, library), cudaSuccess);
  cudaKernel_t put;
  ASSERT_EQ(cudaLibraryGetKernel(&put, library, "put"), cudaSuccess);
  EXPECT_EQ(cudaLibraryGetKernel(&put, library, "none"), cudaErrorSymbolNotFound);
  ASSERT_EQ(cudaLibraryGetKernel(&put, library, "put"), cudaSuccess);
  void* table = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(cudaLibraryGetGlobal(&table, &bytes, library, "table"), cudaSuccess);
  EXPECT_EQ(bytes, 16u);
  EXPECT_EQ(cudaLibraryGetManaged(&table, &bytes, library, "table"), cudaErrorSymbolNotFound);
  int value = 91;
  void* arguments[] = {&table, &value};
  ASSERT_EQ(cudaLaunchKernel(reinterpret_cast<const void*>(put), dim3(1), dim3(1), arguments, 0, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(&value, table, sizeof value, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, 91);
  ASSERT_EQ(cudaLibraryUnload(library), cudaSuccess);
  EXPECT_EQ(cudaLibraryUnload(library), cudaErrorInvalidResourceHandle);
  std::string path = testing::TempDir() + "/runtime_library.ptx";
  std::ofstream(path) << kKernels;
  ASSERT_EQ(cudaLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0), cudaSuccess);
  ASSERT_EQ(cudaLibraryUnload(library), cudaSuccess);
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status;
  ASSERT_EQ(cudaGetDriverEntryPoint("cuMemAlloc", &function, cudaEnableDefault, &status), cudaSuccess);
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuMemAlloc_v2));
  ASSERT_EQ(cudaGetDriverEntryPointByVersion("cuLibraryLoadData", &function, 11000, cudaEnableDefault, &status), cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointVersionNotSufficent);
}

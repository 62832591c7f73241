// build: -lcuda
// Two PTX texts, one program: the first calls a function that the second defines, and the driver links them at run time.
// What to see: the function is named when it is missing, a text with a mistake is refused with its line, and the linked
// program runs.
#include <cuda.h>

#include <cstdio>
#include <cstring>

const char* const kCaller = R"(
.version 7.0
.target sm_50
.address_size 64
.extern .func (.param .b32 result) twice_plus_one (.param .b32 value);
.visible .entry apply(.param .u64 data)
{
  .reg .b32 %i, %v; .reg .b64 %a, %o;
  ld.param.u64 %a, [data];
  mov.u32 %i, %tid.x;
  mul.wide.u32 %o, %i, 4;
  add.s64 %a, %a, %o;
  ld.global.u32 %v, [%a];
  {
    .param .b32 in; .param .b32 out;
    st.param.b32 [in], %v;
    call (out), twice_plus_one, (in);
    ld.param.b32 %v, [out];
  }
  st.global.u32 [%a], %v;
  ret;
}
)";
const char* const kFunction = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .func (.param .b32 result) twice_plus_one (.param .b32 value)
{
  .reg .b32 %v;
  ld.param.b32 %v, [value];
  mad.lo.s32 %v, %v, 2, 1;
  st.param.b32 [result], %v;
  ret;
}
)";
const char* const kMistake = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .func oops() { ad.s32 %r1, %r2, %r3; ret; }\n";

// Links the texts; `log` gets what the linker has to say.
CUresult link(const char* const* texts, int count, CUmodule* module, char* log, size_t size) {
  log[0] = 0;
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, (void*)size};
  CUlinkState state;
  CUresult status = cuLinkCreate(2, options, values, &state);
  if (status != CUDA_SUCCESS) return status;
  for (int i = 0; i < count && status == CUDA_SUCCESS; ++i)
    status = cuLinkAddData(state, CU_JIT_INPUT_PTX, (void*)texts[i], std::strlen(texts[i]) + 1, i ? "function.ptx" : "caller.ptx", 0, nullptr, nullptr);
  void* image = nullptr;
  size_t bytes = 0;
  if (status == CUDA_SUCCESS) status = cuLinkComplete(state, &image, &bytes);
  if (status == CUDA_SUCCESS) status = cuModuleLoadData(module, image);  // the image lives as long as the state
  cuLinkDestroy(state);
  return status;
}

int main() {
  cudaFree(nullptr);  // makes the context
  char log[2048];
  CUmodule module;
  bool good = true;
  const char* alone[] = {kCaller};
  good = link(alone, 1, &module, log, sizeof log) != CUDA_SUCCESS && std::strstr(log, "twice_plus_one");
  std::printf("caller alone: %s\n", log);
  const char* mistaken[] = {kCaller, kMistake};
  good = link(mistaken, 2, &module, log, sizeof log) != CUDA_SUCCESS && log[0] && good;
  std::printf("with a mistake: %s\n", log);
  const char* both[] = {kCaller, kFunction};
  CUfunction apply;
  if (link(both, 2, &module, log, sizeof log) != CUDA_SUCCESS || cuModuleGetFunction(&apply, module, "apply") != CUDA_SUCCESS) {
    std::printf("%s\nFAIL\n", log);
    return 1;
  }
  int host[32];
  for (int i = 0; i < 32; ++i) host[i] = i;
  CUdeviceptr data;
  cuMemAlloc(&data, sizeof host);
  cuMemcpyHtoD(data, host, sizeof host);
  void* arguments[] = {&data};
  good = cuLaunchKernel(apply, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS && good;
  cuMemcpyDtoH(host, data, sizeof host);
  for (int i = 0; i < 32; ++i) good = good && host[i] == 2 * i + 1;
  std::printf("both: 2 * 31 + 1 = %d\n%s\n", host[31], good ? "PASS" : "FAIL");
  cuMemFree(data);
  cuModuleUnload(module);
  return !good;
}

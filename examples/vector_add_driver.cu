// Adds two vectors through the driver API: the kernel is PTX text that the program loads when it runs. What to see: a
// context, a module, a launch and the copies by hand, where <<<…>>> does all that unseen; then the errors that the
// driver gives for what is not there.
#include <cuda.h>

#include <cstdio>
#include <vector>

#define CHECK(call)                                                       \
  do {                                                                    \
    if (CUresult result = (call); result != CUDA_SUCCESS) {               \
      const char* name = nullptr;                                         \
      cuGetErrorName(result, &name);                                      \
      std::printf("%s: %s\n", #call, name ? name : "?");                  \
      return 1;                                                           \
    }                                                                     \
  } while (0)

const char* kAdd = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 sum, .param .u32 n)
{
  .reg .pred %out;
  .reg .b32 %i, %n, %block, %threads;
  .reg .f32 %x, %y;
  .reg .b64 %a, %b, %s, %offset;
  mov.u32 %block, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mov.u32 %i, %tid.x;
  mad.lo.s32 %i, %block, %threads, %i;
  ld.param.u32 %n, [n];
  setp.ge.u32 %out, %i, %n;
  @%out bra done;
  ld.param.u64 %a, [a];
  ld.param.u64 %b, [b];
  ld.param.u64 %s, [sum];
  mul.wide.u32 %offset, %i, 4;
  add.s64 %a, %a, %offset;
  add.s64 %b, %b, %offset;
  add.s64 %s, %s, %offset;
  ld.global.f32 %x, [%a];
  ld.global.f32 %y, [%b];
  add.f32 %x, %x, %y;
  st.global.f32 [%s], %x;
done:
  ret;
}
)";

int main() {
  CHECK(cuInit(0));
  CUdevice device;
  CHECK(cuDeviceGet(&device, 0));
  char name[100];
  int major, minor;
  CHECK(cuDeviceGetName(name, sizeof name, device));
  CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  CHECK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  std::printf("%s, compute capability %d.%d\n", name, major, minor);

  CUcontext context;
  CHECK(cuCtxCreate(&context, nullptr, 0, device));
  CUmodule module;
  CHECK(cuModuleLoadData(&module, kAdd));
  CUfunction add;
  CHECK(cuModuleGetFunction(&add, module, "add"));

  unsigned n = 50000;
  size_t bytes = n * sizeof(float);
  std::vector<float> a(n), b(n), sum(n);
  for (unsigned i = 0; i < n; ++i) a[i] = i * 0.5f, b[i] = 3.0f * i;
  CUdeviceptr da, db, ds;
  CHECK(cuMemAlloc(&da, bytes));
  CHECK(cuMemAlloc(&db, bytes));
  CHECK(cuMemAlloc(&ds, bytes));
  CHECK(cuMemcpyHtoD(da, a.data(), bytes));
  CHECK(cuMemcpyHtoD(db, b.data(), bytes));
  void* arguments[] = {&da, &db, &ds, &n};
  CHECK(cuLaunchKernel(add, (n + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cuCtxSynchronize());
  CHECK(cuMemcpyDtoH(sum.data(), ds, bytes));
  for (unsigned i = 0; i < n; ++i)
    if (sum[i] != a[i] + b[i]) {
      std::printf("sum[%u] is %g, not %g\n", i, sum[i], a[i] + b[i]);
      return 1;
    }
  std::printf("%u sums are right\n", n);

  CUfunction missing;
  const char* what = nullptr;
  cuGetErrorString(cuModuleGetFunction(&missing, module, "subtract"), &what);
  std::printf("asking for a kernel that is not there: %s\n", what);

  CHECK(cuMemFree(da));
  CHECK(cuMemFree(db));
  CHECK(cuMemFree(ds));
  CHECK(cuModuleUnload(module));
  CHECK(cuCtxDestroy(context));
  return 0;
}

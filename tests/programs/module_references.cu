// Texture and surface references of a module, bound by the driver API: linear memory, pitched memory, arrays, mipmaps.
// build: -lcuda
#include <cuda.h>

#include <cstdio>
#include <cstdlib>

#define EXPECT(call, wanted)                                                        \
  do {                                                                              \
    CUresult status_ = (call);                                                      \
    if (status_ != (wanted)) {                                                      \
      printf("line %d: %s gave %d\n", __LINE__, #call, static_cast<int>(status_));  \
      exit(1);                                                                      \
    }                                                                               \
  } while (0)
#define CU(call) EXPECT(call, CUDA_SUCCESS)
#define REQUIRE(condition)                                    \
  do {                                                        \
    if (!(condition)) {                                       \
      printf("line %d: not so: %s\n", __LINE__, #condition);  \
      exit(1);                                                \
    }                                                         \
  } while (0)

// Each kernel writes what it reads at (x, y) or at x.
const char* text = R"(
.version 7.8
.target sm_75
.address_size 64
.global .texref flat;
.global .texref plane;
.global .surfref surface;
.visible .entry read_flat(.param .u64 out, .param .u32 x) {
  .reg .b32 %r<3>; .reg .f32 %f<5>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [x];
  tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [flat, {%r1}];
  st.global.f32 [%rd1], %f1;
  ret;
}
.visible .entry read_plane(.param .u64 out, .param .f32 x, .param .f32 y, .param .f32 level) {
  .reg .f32 %f<9>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  ld.param.f32 %f5, [x];
  ld.param.f32 %f6, [y];
  ld.param.f32 %f7, [level];
  tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [plane, {%f5, %f6}], %f7;
  st.global.f32 [%rd1], %f1;
  ret;
}
.visible .entry write_surface(.param .u64 out, .param .u32 x) {
  .reg .b32 %r<5>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [x];
  mov.u32 %r2, 1;
  suld.b.2d.b32.trap %r3, [surface, {%r1, %r2}];
  st.global.u32 [%rd1], %r3;
  mov.u32 %r4, 0x42F60000;
  sust.b.2d.b32.trap [surface, {%r1, %r2}], %r4;
  ret;
}
)";

CUmodule module;
CUdeviceptr out;

template <class... Args>
float run(const char* name, Args... args) {
  CUfunction function;
  CU(cuModuleGetFunction(&function, module, name));
  void* pointers[] = {&out, &args...};
  CU(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, pointers, nullptr));
  float value;
  CU(cuMemcpyDtoH(&value, out, sizeof value));
  return value;
}

CUarray make_array(float first) {
  CUarray array;
  CUDA_ARRAY3D_DESCRIPTOR shape{};
  shape.Width = 16;
  shape.Height = 8;
  shape.Format = CU_AD_FORMAT_FLOAT;
  shape.NumChannels = 1;
  shape.Flags = CUDA_ARRAY3D_SURFACE_LDST;
  CU(cuArray3DCreate(&array, &shape));
  float values[128];
  for (int i = 0; i < 128; ++i) values[i] = first + static_cast<float>(i);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = values;
  copy.srcPitch = copy.WidthInBytes = 64;
  copy.Height = 8;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  CU(cuMemcpy2D(&copy));
  return array;
}

int main() {
  CUdevice device;
  CUcontext context;
  CU(cuInit(0));
  CU(cuDeviceGet(&device, 0));
  CU(cuDevicePrimaryCtxRetain(&context, device));
  CU(cuCtxSetCurrent(context));
  CU(cuModuleLoadData(&module, text));
  CU(cuMemAlloc(&out, 256));
  CUtexref flat, plane;
  CUsurfref surface;
  CU(cuModuleGetTexRef(&flat, module, "flat"));
  CU(cuModuleGetTexRef(&plane, module, "plane"));
  CU(cuModuleGetSurfRef(&surface, module, "surface"));
  EXPECT(cuModuleGetTexRef(&plane, module, "nothing"), CUDA_ERROR_NOT_FOUND);
  EXPECT(cuModuleGetSurfRef(&surface, module, "flat"), CUDA_ERROR_NOT_FOUND);

  // Linear memory.
  CUdeviceptr line, got = 0;
  CU(cuMemAlloc(&line, 4096));
  float values[1024];
  for (int i = 0; i < 1024; ++i) values[i] = static_cast<float>(3 * i);
  CU(cuMemcpyHtoD(line, values, sizeof values));
  CU(cuTexRefSetFormat(flat, CU_AD_FORMAT_FLOAT, 1));
  size_t offset = 99;
  CU(cuTexRefSetAddress(&offset, flat, line, 4096));
  REQUIRE(offset == 0);
  CU(cuTexRefGetAddress(&got, flat));
  REQUIRE(got == line);
  REQUIRE(run("read_flat", 5) == 15 && run("read_flat", 1023) == 3069);
  CUfunction function;
  CU(cuModuleGetFunction(&function, module, "read_flat"));
  CU(cuParamSetTexRef(function, CU_PARAM_TR_DEFAULT, flat));

  // Pitched memory.
  CUDA_ARRAY_DESCRIPTOR shape{};
  shape.Width = 16;
  shape.Height = 8;
  shape.Format = CU_AD_FORMAT_FLOAT;
  shape.NumChannels = 1;
  CU(cuTexRefSetFormat(plane, CU_AD_FORMAT_FLOAT, 1));
  CU(cuTexRefSetAddressMode(plane, 0, CU_TR_ADDRESS_MODE_CLAMP));
  CU(cuTexRefSetAddressMode(plane, 1, CU_TR_ADDRESS_MODE_CLAMP));
  CU(cuTexRefSetFilterMode(plane, CU_TR_FILTER_MODE_POINT));
  CU(cuTexRefSetAddress2D(plane, &shape, line, 512));
  REQUIRE(run("read_plane", 2.5f, 3.5f, 0.f) == 3 * (3 * 128 + 2));
  REQUIRE(run("read_plane", 200.f, 0.f, 0.f) == 3 * 15);  // clamped

  // An array.
  CUarray array = make_array(1000), bound;
  CU(cuTexRefSetArray(plane, array, CU_TRSA_OVERRIDE_FORMAT));
  CU(cuTexRefGetArray(&bound, plane));
  REQUIRE(bound == array);
  REQUIRE(run("read_plane", 4.5f, 1.5f, 0.f) == 1020);
  CU(cuTexRefSetFilterMode(plane, CU_TR_FILTER_MODE_LINEAR));
  REQUIRE(run("read_plane", 5.f, 1.5f, 0.f) == 1020.5f);
  CU(cuTexRefSetFlags(plane, CU_TRSF_NORMALIZED_COORDINATES));
  REQUIRE(run("read_plane", 4.5f / 16, 1.5f / 8, 0.f) == 1020);

  // A surface: what it held comes back, and 123 is written.
  CU(cuSurfRefSetArray(surface, array, 0));
  CU(cuSurfRefGetArray(&bound, surface));
  REQUIRE(bound == array);
  REQUIRE(run("write_surface", 16) == 1020);
  REQUIRE(run("read_plane", 4.5f / 16, 1.5f / 8, 0.f) == 123);

  // Levels.
  CUmipmappedArray levels, bound_levels;
  CUDA_ARRAY3D_DESCRIPTOR whole{};
  whole.Width = whole.Height = 4;
  whole.Format = CU_AD_FORMAT_FLOAT;
  whole.NumChannels = 1;
  CU(cuMipmappedArrayCreate(&levels, &whole, 3));
  for (unsigned level = 0; level < 3; ++level) {
    CUarray part;
    CU(cuMipmappedArrayGetLevel(&part, levels, level));
    float constant[16];
    for (float& v : constant) v = 10.0f * static_cast<float>(level + 1);
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = constant;
    copy.srcPitch = copy.WidthInBytes = (4 >> level) * sizeof(float);
    copy.Height = 4 >> level;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = part;
    CU(cuMemcpy2D(&copy));
  }
  CU(cuTexRefSetMipmappedArray(plane, levels, CU_TRSA_OVERRIDE_FORMAT));
  CU(cuTexRefGetMipmappedArray(&bound_levels, plane));
  REQUIRE(bound_levels == levels);
  CU(cuTexRefSetMipmapFilterMode(plane, CU_TR_FILTER_MODE_LINEAR));
  CU(cuTexRefSetMipmapLevelClamp(plane, 0, 2));
  REQUIRE(run("read_plane", 0.5f, 0.5f, 1.f) == 20);
  REQUIRE(run("read_plane", 0.5f, 0.5f, 0.5f) == 15);
  REQUIRE(run("read_plane", 0.5f, 0.5f, 9.f) == 30);
  CU(cuMipmappedArrayDestroy(levels));
  CU(cuArrayDestroy(array));
  CU(cuModuleUnload(module));
  CU(cuDevicePrimaryCtxRelease(device));
  puts("PASSED");
}

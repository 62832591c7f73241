// Arrays, texture and surface objects, texture references.
#include <cstring>

#include "fixture.h"

namespace {

// fetch: out[i] = tex1D element i of a texture object; fetch_reference: of the reference `tex`.
constexpr char kFetch[] = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .global .texref tex;
.visible .entry fetch(.param .u64 out, .param .u64 object)
{
  .reg .b32 %i; .reg .f32 %x, %r<5>; .reg .b64 %o, %t, %a;
  mov.u32 %i, %tid.x;
  cvt.rn.f32.u32 %x, %i;
  add.f32 %x, %x, 0f3F000000;
  ld.param.u64 %t, [object];
  tex.1d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%t, {%x}];
  ld.param.u64 %a, [out];
  mul.wide.u32 %o, %i, 4;
  add.s64 %a, %a, %o;
  st.global.f32 [%a], %r1;
  ret;
}
.visible .entry fetch_reference(.param .u64 out)
{
  .reg .b32 %i; .reg .f32 %x, %r<5>; .reg .b64 %o, %a;
  mov.u32 %i, %tid.x;
  cvt.rn.f32.u32 %x, %i;
  add.f32 %x, %x, 0f3F000000;
  tex.1d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [tex, {%x}];
  ld.param.u64 %a, [out];
  mul.wide.u32 %o, %i, 4;
  add.s64 %a, %a, %o;
  st.global.f32 [%a], %r1;
  ret;
}
)";

class Textures : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    OK(cuModuleLoadData(&fetching, kFetch));
    CUDA_ARRAY_DESCRIPTOR line{8, 0, CU_AD_FORMAT_FLOAT, 1};
    OK(cuArrayCreate(&array, &line));
    for (int i = 0; i < 8; ++i) values[i] = 1.5f * i;
    OK(cuMemcpyHtoA(array, 0, values, sizeof values));
    out = allocate(64);
  }
  void expect_values(const char* kernel, std::vector<void*> arguments) {
    CUfunction function;
    OK(cuModuleGetFunction(&function, fetching, kernel));
    OK(cuMemsetD8(out, 0xff, 32));
    OK(cuLaunchKernel(function, 1, 1, 1, 8, 1, 1, 0, nullptr, arguments.data(), nullptr));
    float back[8];
    OK(cuMemcpyDtoH(back, out, sizeof back));
    for (int i = 0; i < 8; ++i) EXPECT_EQ(back[i], values[i]);
  }
  CUmodule fetching = nullptr;
  CUarray array = nullptr;
  CUdeviceptr out = 0;
  float values[8];
};

TEST_F(Textures, arrays_are_described_and_copied) {
  CUDA_ARRAY_DESCRIPTOR line;
  OK(cuArrayGetDescriptor(&line, array));
  EXPECT_EQ(line.Width, 8u);
  EXPECT_EQ(line.Format, CU_AD_FORMAT_FLOAT);
  EXPECT_EQ(line.NumChannels, 1u);
  float back[8] = {};
  OK(cuMemcpyAtoH(back, array, 0, sizeof back));
  EXPECT_EQ(back[7], values[7]);
  OK(cuMemcpyAtoD(out, array, 8, 8));
  OK(cuMemcpyDtoA(array, 0, out, 4));
  OK(cuMemcpyAtoH(back, array, 0, 4));
  EXPECT_EQ(back[0], values[2]);
  OK(cuMemcpyAtoA(array, 4, array, 28, 4));
  OK(cuMemcpyAtoHAsync(back, array, 4, 4, nullptr));
  OK(cuCtxSynchronize());
  EXPECT_EQ(back[0], values[7]);
  OK(cuMemcpyHtoAAsync(array, 0, values, 4, nullptr));
  CUDA_ARRAY3D_DESCRIPTOR box{4, 4, 4, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_SURFACE_LDST}, facts;
  CUarray cube;
  OK(cuArray3DCreate(&cube, &box));
  OK(cuArray3DGetDescriptor(&facts, cube));
  EXPECT_EQ(facts.Depth, 4u);
  EXPECT_EQ(facts.Format, CU_AD_FORMAT_UNSIGNED_INT8);
  EXPECT_EQ(facts.NumChannels, 4u);
  unsigned char bytes[16 * 16] = {1, 2, 3};
  CUDA_MEMCPY3D p{};
  p.srcMemoryType = CU_MEMORYTYPE_HOST;
  p.srcHost = bytes;
  p.srcPitch = 16;
  p.srcHeight = 4;
  p.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  p.dstArray = cube;
  p.WidthInBytes = 16;
  p.Height = 4;
  p.Depth = 4;
  OK(cuMemcpy3D(&p));
  p.WidthInBytes = 15;
  EXPECT_EQ(cuMemcpy3D(&p), CUDA_ERROR_INVALID_VALUE) << "not whole elements";
  OK(cuArrayDestroy(cube));
  EXPECT_NE(cuArrayDestroy(cube), CUDA_SUCCESS);
  CUmipmappedArray mipmap;
  CUarray level;
  OK(cuMipmappedArrayCreate(&mipmap, &box, 2));
  OK(cuMipmappedArrayGetLevel(&level, mipmap, 1));
  OK(cuArray3DGetDescriptor(&facts, level));
  EXPECT_EQ(facts.Width, 2u);
  OK(cuMipmappedArrayDestroy(mipmap));
  line.NumChannels = 3;
  EXPECT_EQ(cuArrayCreate(&array, &line), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Textures, objects_are_fetched_and_described) {
  CUDA_RESOURCE_DESC resource{}, facts;
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC texture{}, how;
  texture.addressMode[0] = CU_TR_ADDRESS_MODE_CLAMP;
  CUtexObject object = 0;
  OK(cuTexObjectCreate(&object, &resource, &texture, nullptr));
  expect_values("fetch", {&out, &object});
  OK(cuTexObjectGetResourceDesc(&facts, object));
  EXPECT_EQ(facts.res.array.hArray, array);
  OK(cuTexObjectGetTextureDesc(&how, object));
  EXPECT_EQ(how.addressMode[0], CU_TR_ADDRESS_MODE_CLAMP);
  OK(cuTexObjectDestroy(object));
  CUDA_ARRAY3D_DESCRIPTOR plane{8, 8, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
  CUarray surface_array;
  OK(cuArray3DCreate(&surface_array, &plane));
  resource.res.array.hArray = surface_array;
  CUsurfObject surface = 0;
  OK(cuSurfObjectCreate(&surface, &resource));
  OK(cuSurfObjectGetResourceDesc(&facts, surface));
  EXPECT_EQ(facts.res.array.hArray, surface_array);
  OK(cuSurfObjectDestroy(surface));
  EXPECT_EQ(cuTexObjectCreate(nullptr, &resource, &texture, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Textures, views_are_described) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC texture{};
  CUDA_RESOURCE_VIEW_DESC view{}, back{};
  view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
  view.width = 8;
  CUtexObject object = 0;
  OK(cuTexObjectCreate(&object, &resource, &texture, &view));
  OK(cuTexObjectGetResourceViewDesc(&back, object));
  EXPECT_EQ(back.format, CU_RES_VIEW_FORMAT_FLOAT_1X32);
  EXPECT_EQ(back.width, 8u);
  OK(cuTexObjectDestroy(object));
}

TEST_F(Textures, tensor_maps_get_another_address) {
  const CUdeviceptr here = allocate(4096), there = allocate(4096);
  const cuuint64_t dims[] = {16, 16}, strides[] = {64};
  const cuuint32_t box[] = {8, 8}, steps[] = {1, 1};
  CUtensorMap map, other;
  for (auto [m, at] : {std::pair{&map, here}, std::pair{&other, there}})
    OK(cuTensorMapEncodeTiled(m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, reinterpret_cast<void*>(at), dims, strides, box, steps,
                              CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                              CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  EXPECT_NE(std::memcmp(&map, &other, sizeof map), 0);
  OK(cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(there)));
  EXPECT_EQ(std::memcmp(&map, &other, sizeof map), 0);
  EXPECT_EQ(cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(there + 4)), CUDA_ERROR_INVALID_VALUE) << "not a multiple of 16";
}

TEST_F(Textures, references_are_bound_and_described) {
  CUtexref tex, missing;
  OK(cuModuleGetTexRef(&tex, fetching, "tex"));
  EXPECT_EQ(cuModuleGetTexRef(&missing, fetching, "none"), CUDA_ERROR_NOT_FOUND);
  OK(cuTexRefSetAddressMode(tex, 0, CU_TR_ADDRESS_MODE_CLAMP));
  OK(cuTexRefSetFilterMode(tex, CU_TR_FILTER_MODE_POINT));
  OK(cuTexRefSetFlags(tex, 0));
  OK(cuTexRefSetFormat(tex, CU_AD_FORMAT_FLOAT, 1));
  OK(cuTexRefSetArray(tex, array, CU_TRSA_OVERRIDE_FORMAT));
  expect_values("fetch_reference", {&out});
  CUarray bound;
  OK(cuTexRefGetArray(&bound, tex));
  EXPECT_EQ(bound, array);
  CUaddress_mode address;
  CUfilter_mode filter;
  CUarray_format format;
  int channels = 0;
  unsigned flags = 9;
  OK(cuTexRefGetAddressMode(&address, tex, 0));
  EXPECT_EQ(address, CU_TR_ADDRESS_MODE_CLAMP);
  OK(cuTexRefGetFilterMode(&filter, tex));
  OK(cuTexRefGetFormat(&format, &channels, tex));
  EXPECT_EQ(format, CU_AD_FORMAT_FLOAT);
  EXPECT_EQ(channels, 1);
  OK(cuTexRefGetFlags(&flags, tex));
  EXPECT_EQ(flags, 0u);
  EXPECT_EQ(cuTexRefSetArray(tex, array, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuTexRefDestroy(tex), CUDA_ERROR_INVALID_VALUE) << "its module's";
  OK(cuTexRefCreate(&tex));
  OK(cuTexRefSetMaxAnisotropy(tex, 4));
  int most = 0;
  OK(cuTexRefGetMaxAnisotropy(&most, tex));
  EXPECT_EQ(most, 4);
  OK(cuTexRefSetMipmapFilterMode(tex, CU_TR_FILTER_MODE_LINEAR));
  OK(cuTexRefGetMipmapFilterMode(&filter, tex));
  EXPECT_EQ(filter, CU_TR_FILTER_MODE_LINEAR);
  float bias = 0, least = 0, top = 0;
  OK(cuTexRefSetMipmapLevelBias(tex, 1.5f));
  OK(cuTexRefGetMipmapLevelBias(&bias, tex));
  EXPECT_EQ(bias, 1.5f);
  OK(cuTexRefSetMipmapLevelClamp(tex, 1, 2));
  OK(cuTexRefGetMipmapLevelClamp(&least, &top, tex));
  EXPECT_EQ(top, 2);
  OK(cuTexRefDestroy(tex));
  EXPECT_EQ(cuTexRefDestroy(tex), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace

// Linking at run time, and what comes of it launched through the driver API.
#include <cuda.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <nvJitLink.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "fatbin/write.h"

#define OK(expression) ASSERT_EQ(expression, NVJITLINK_SUCCESS)
#define CU(expression) ASSERT_EQ(expression, CUDA_SUCCESS)

namespace {

const std::string kCaller = R"(
.version 7.0
.target sm_52
.address_size 64
.extern .func (.param .b32 result) twice_plus_one (.param .b32 value);
.visible .entry apply(.param .u64 data)
{
  .reg .b32 %v; .reg .b64 %a;
  ld.param.u64 %a, [data];
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

const std::string kFunction = R"(
.version 7.0
.target sm_52
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

const std::string kMistake = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .func oops() { ad.s32 %r1, %r2, %r3; ret; }\n";

// As in an object file: the container lies on a boundary of eight bytes.
std::string fatbin(const std::string& text, int cc) { return warpbeam::fatbin::write({{cc, text}}); }
std::string object(const std::string& text, int cc) {
  return std::string(
             "\x7f"
             "ELF") +
         std::string(60, '\0') + fatbin(text, cc);
}

class NvJitLink : public testing::Test {
 protected:
  void TearDown() override {
    if (link) EXPECT_EQ(nvJitLinkDestroy(&link), NVJITLINK_SUCCESS);
  }
  nvJitLinkResult create(std::vector<const char*> options) {
    return nvJitLinkCreate(&link, static_cast<uint32_t>(options.size()), options.data());
  }
  nvJitLinkResult add(nvJitLinkInputType type, const std::string& bytes, const char* name = nullptr) {
    return nvJitLinkAddData(link, type, bytes.data(), bytes.size(), name);
  }
  std::string log() {
    size_t size = 0;
    EXPECT_EQ(nvJitLinkGetErrorLogSize(link, &size), NVJITLINK_SUCCESS);
    std::string text(size, '?');
    EXPECT_EQ(nvJitLinkGetErrorLog(link, text.data()), NVJITLINK_SUCCESS);
    return text.c_str();
  }
  std::string cubin() {
    size_t size = 0;
    EXPECT_EQ(nvJitLinkGetLinkedCubinSize(link, &size), NVJITLINK_SUCCESS);
    std::string bytes(size, '?');
    EXPECT_EQ(nvJitLinkGetLinkedCubin(link, bytes.data()), NVJITLINK_SUCCESS);
    return bytes;
  }
  // Completes the link and has 20 become 41.
  void expect_it_runs() {
    ASSERT_EQ(nvJitLinkComplete(link), NVJITLINK_SUCCESS) << log();
    CUcontext context;
    CUmodule module;
    CUfunction apply;
    CUdeviceptr data;
    int value = 20;
    CU(cuInit(0));
    CU(cuCtxCreate(&context, nullptr, 0, 0));
    CU(cuModuleLoadData(&module, cubin().data()));
    CU(cuModuleGetFunction(&apply, module, "apply"));
    CU(cuMemAlloc(&data, sizeof value));
    CU(cuMemcpyHtoD(data, &value, sizeof value));
    void* arguments[] = {&data};
    CU(cuLaunchKernel(apply, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    CU(cuMemcpyDtoH(&value, data, sizeof value));
    CU(cuCtxDestroy(context));
    EXPECT_EQ(value, 41);
  }
  nvJitLinkHandle link = nullptr;
};

TEST_F(NvJitLink, links_texts_and_they_run) {
  OK(create({"-arch=sm_90"}));
  size_t size = 0;
  OK(add(NVJITLINK_INPUT_PTX, kCaller, "caller.ptx"));
  OK(add(NVJITLINK_INPUT_PTX, kFunction)) << "neither a name nor a closing zero is needed";
  EXPECT_EQ(nvJitLinkGetLinkedCubinSize(link, &size), NVJITLINK_ERROR_INTERNAL) << "not yet linked";
  expect_it_runs();
  EXPECT_EQ(log(), "");
  EXPECT_EQ(nvJitLinkComplete(link), NVJITLINK_ERROR_INTERNAL) << "once is enough";
  EXPECT_EQ(add(NVJITLINK_INPUT_PTX, kFunction), NVJITLINK_ERROR_INTERNAL) << "too late";
  EXPECT_EQ(nvJitLinkGetLinkedPtxSize(link, &size), NVJITLINK_ERROR_INVALID_INPUT) << "that needs -lto";
}

TEST_F(NvJitLink, knows_what_it_is_given) {
  for (const auto& caller : {kCaller, fatbin(kCaller, 52), object(kCaller, 52)}) {
    OK(create({"-arch=sm_75", "-verbose"}));
    OK(add(NVJITLINK_INPUT_ANY, caller, "caller"));
    OK(add(NVJITLINK_INPUT_OBJECT, object(kFunction, 70), "function.o"));
    OK(add(NVJITLINK_INPUT_OBJECT,
           std::string("\x7f"
                       "ELF") +
               std::string(60, '\0'),
           "host_only.o"));
    expect_it_runs();
    size_t size = 0;
    OK(nvJitLinkGetInfoLogSize(link, &size));
    std::string info(size, '?');
    OK(nvJitLinkGetInfoLog(link, info.data()));
    EXPECT_NE(info.find("caller"), info.npos) << info;
    OK(nvJitLinkDestroy(&link));
    EXPECT_EQ(link, nullptr);
  }
}

TEST_F(NvJitLink, links_what_was_linked_and_reads_files) {
  OK(create({"-arch=sm_90"}));
  OK(add(NVJITLINK_INPUT_PTX, kFunction));
  OK(nvJitLinkComplete(link));
  const std::string path = testing::TempDir() + "/function.cubin", first = cubin();
  std::ofstream(path, std::ios::binary) << first;
  OK(nvJitLinkDestroy(&link));
  OK(create({"-arch=sm_90"}));
  for (size_t size : {size_t{9}, size_t{20}, first.size() - 1})
    EXPECT_EQ(add(NVJITLINK_INPUT_CUBIN, first.substr(0, size)), NVJITLINK_ERROR_INVALID_INPUT) << "the end is missing";
  OK(nvJitLinkAddFile(link, NVJITLINK_INPUT_CUBIN, path.c_str()));
  EXPECT_EQ(nvJitLinkAddFile(link, NVJITLINK_INPUT_ANY, "/no/such/file"), NVJITLINK_ERROR_INVALID_INPUT);
  EXPECT_NE(log().find("/no/such/file"), std::string::npos);
  OK(add(NVJITLINK_INPUT_CUBIN, kCaller)) << "what NVRTC calls a cubin";
  expect_it_runs();
}

TEST_F(NvJitLink, names_what_is_missing) {
  OK(create({"-arch=sm_90"}));
  OK(add(NVJITLINK_INPUT_PTX, kCaller, "caller.ptx"));
  EXPECT_EQ(nvJitLinkComplete(link), NVJITLINK_ERROR_INTERNAL);
  EXPECT_NE(log().find("twice_plus_one"), std::string::npos) << log();
}

TEST_F(NvJitLink, refuses_mistakes_when_they_come) {
  OK(create({"-arch=sm_75"}));
  EXPECT_EQ(add(NVJITLINK_INPUT_PTX, kMistake, "mistake.ptx"), NVJITLINK_ERROR_PTX_COMPILE);
  EXPECT_NE(log().find("mistake.ptx: line 4"), std::string::npos) << log();
  const std::string newer = ".version 8.0\n.target sm_90\n.address_size 64\n";
  EXPECT_EQ(add(NVJITLINK_INPUT_PTX, newer, "newer.ptx"), NVJITLINK_ERROR_PTX_COMPILE);
  EXPECT_EQ(add(NVJITLINK_INPUT_FATBIN, fatbin(newer, 90), "newer.fatbin"), NVJITLINK_ERROR_INVALID_INPUT);
  EXPECT_EQ(add(NVJITLINK_INPUT_PTX, "hello"), NVJITLINK_ERROR_INCORRECT_INPUT_TYPE);
  EXPECT_EQ(add(NVJITLINK_INPUT_FATBIN, kCaller), NVJITLINK_ERROR_INCORRECT_INPUT_TYPE);
  EXPECT_EQ(add(NVJITLINK_INPUT_NONE, kCaller), NVJITLINK_ERROR_INCORRECT_INPUT_TYPE);
  EXPECT_EQ(add(NVJITLINK_INPUT_ANY, "hello"), NVJITLINK_ERROR_UNRECOGNIZED_INPUT);
  EXPECT_EQ(nvJitLinkAddData(link, NVJITLINK_INPUT_PTX, nullptr, 5, ""), NVJITLINK_ERROR_INVALID_INPUT);
  const std::string whole = fatbin(kCaller, 52);
  EXPECT_EQ(add(NVJITLINK_INPUT_ANY, whole.substr(0, whole.size() / 2), "half.fatbin"), NVJITLINK_ERROR_INVALID_INPUT);
  OK(add(NVJITLINK_INPUT_PTX, kCaller)) << "the link goes on without them";
  OK(add(NVJITLINK_INPUT_PTX, kFunction));
  expect_it_runs();
}

TEST_F(NvJitLink, has_no_use_for_lto_ir) {
  const std::string lto_ir = std::string(
                                 "\xed"
                                 "CN\x7f") +
                             std::string(60, '\1');
  OK(create({"-arch=sm_90"}));
  EXPECT_EQ(add(NVJITLINK_INPUT_LTOIR, lto_ir), NVJITLINK_ERROR_LTO_NOT_ENABLED);
  EXPECT_EQ(add(NVJITLINK_INPUT_LTOIR, kCaller), NVJITLINK_ERROR_INCORRECT_INPUT_TYPE);
  OK(nvJitLinkComplete(link)) << "nothing is a program too";
  OK(nvJitLinkDestroy(&link));
  OK(create({"-arch=sm_90", "-lto"}));
  EXPECT_EQ(add(NVJITLINK_INPUT_ANY, lto_ir, "a.ltoir"), NVJITLINK_ERROR_NVVM_COMPILE);
  EXPECT_NE(log().find("a.ltoir: LTO-IR"), std::string::npos) << log();
  EXPECT_EQ(nvJitLinkComplete(link), NVJITLINK_ERROR_NVVM_COMPILE);
  OK(nvJitLinkDestroy(&link));
  OK(create({"-arch=compute_90", "-lto", "-ptx"}));
  OK(add(NVJITLINK_INPUT_PTX, kFunction));
  EXPECT_EQ(nvJitLinkComplete(link), NVJITLINK_ERROR_INCORRECT_INPUT_TYPE);
}

TEST_F(NvJitLink, reads_options) {
  struct Case {
    std::vector<const char*> options;
    nvJitLinkResult result;
  } cases[] = {
      {{"-lto"}, NVJITLINK_ERROR_MISSING_ARCH},
      {{"-arch=sm_90a", "-O3", "-g", "-lineinfo", "-time", "-maxrregcount=32", "-ftz=1", "-Xptxas=-v", "-no-cache"}, NVJITLINK_SUCCESS},
      {{"-arch=sm_120"}, NVJITLINK_SUCCESS},
      {{"-arch=sm_999"}, NVJITLINK_ERROR_UNRECOGNIZED_ARCH},
      {{"-arch=foo"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
      {{"-arch=sm_90", "-O1"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
      {{"-arch=sm_90", "-fma"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
      {{"-arch", "sm_90"}, NVJITLINK_ERROR_UNRECOGNIZED_OPTION},
      {{"-arch=sm_90", "-ptx"}, NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS},
      {{"-arch=compute_90"}, NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(create(c.options), c.result) << c.options.back();
    ASSERT_NE(link, nullptr) << "for its log";
    EXPECT_EQ(log().empty(), c.result == NVJITLINK_SUCCESS) << c.options.back();
    OK(nvJitLinkDestroy(&link));
  }
}

TEST_F(NvJitLink, wants_its_arguments) {
  unsigned major = 0;
  EXPECT_EQ(nvJitLinkVersion(&major, nullptr), NVJITLINK_ERROR_NULL_INPUT);
  EXPECT_EQ(nvJitLinkCreate(nullptr, 0, nullptr), NVJITLINK_ERROR_NULL_INPUT);
  EXPECT_EQ(nvJitLinkDestroy(&link), NVJITLINK_ERROR_NULL_INPUT);
  EXPECT_EQ(nvJitLinkComplete(nullptr), NVJITLINK_ERROR_NULL_INPUT);
  OK(create({"-arch=sm_90"}));
  EXPECT_EQ(nvJitLinkGetErrorLogSize(link, nullptr), NVJITLINK_ERROR_NULL_INPUT);
  nvJitLinkHandle copy = link;
  OK(nvJitLinkDestroy(&copy));
  EXPECT_EQ(nvJitLinkComplete(link), NVJITLINK_ERROR_INVALID_INPUT) << "it is gone";
  link = nullptr;
}

// Programs built with a toolkit's header ask for these names.
TEST_F(NvJitLink, has_the_names_of_every_toolkit) {
  for (const char* name : {"__nvJitLinkCreate_12_0", "__nvJitLinkComplete_12_9", "__nvJitLinkGetLinkedCubin_13_0"})
    EXPECT_NE(dlsym(RTLD_DEFAULT, name), nullptr) << name;
}

}  // namespace

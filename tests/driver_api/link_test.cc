// The linker, and values in memory that streams wait for.
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "fixture.h"

namespace {

constexpr char kCaller[] = R"(
.version 7.0
.target sm_50
.address_size 64
.extern .func (.param .u32 out) twice(.param .u32 in);
.extern .global .u32 offset;
.visible .entry run(.param .u64 to, .param .u32 value)
{
  .reg .b32 %r<3>; .reg .b64 %a, %o;
  ld.param.u32 %r1, [value];
  {
    .param .u32 in; .param .u32 out;
    st.param.u32 [in], %r1;
    call (out), twice, (in);
    ld.param.u32 %r1, [out];
  }
  mov.u64 %o, offset;
  ld.global.u32 %r2, [%o];
  add.s32 %r1, %r1, %r2;
  ld.param.u64 %a, [to];
  st.global.u32 [%a], %r1;
  ret;
}
)";

constexpr char kCallee[] = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .global .u32 offset = 1000;
.visible .func (.param .u32 out) twice(.param .u32 in)
{
  .reg .b32 %r1;
  ld.param.u32 %r1, [in];
  add.s32 %r1, %r1, %r1;
  st.param.u32 [out], %r1;
  ret;
}
)";

class Link : public Driver {
 protected:
  void add(const char* text, const char* name) {
    OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char*>(text), std::strlen(text) + 1, name, 0, nullptr, nullptr));
  }
  void run(void* image) {
    CUmodule linked;
    CUfunction function;
    OK(cuModuleLoadData(&linked, image));
    OK(cuModuleGetFunction(&function, linked, "run"));
    CUdeviceptr ptr = allocate(64);
    int value = 21;
    void* arguments[] = {&ptr, &value};
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    EXPECT_EQ(read(ptr), 1042);
  }
  CUlinkState state = nullptr;
};

TEST_F(Link, joins_texts_and_its_result_loads_and_links_again) {
  OK(cuLinkCreate(0, nullptr, nullptr, &state));
  add(kCaller, "caller");
  add(kCallee, "callee");
  void* image = nullptr;
  size_t size = 0;
  OK(cuLinkComplete(state, &image, &size));
  EXPECT_GT(size, 0u);
  run(image);
  CUlinkState again;
  OK(cuLinkCreate(0, nullptr, nullptr, &again));
  OK(cuLinkAddData(again, CU_JIT_INPUT_CUBIN, image, size, "linked", 0, nullptr, nullptr));
  void* second = nullptr;
  OK(cuLinkComplete(again, &second, &size));
  run(second);
  OK(cuLinkDestroy(again));
  OK(cuLinkDestroy(state));
  EXPECT_EQ(cuLinkDestroy(state), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLinkComplete(state, &image, &size), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Link, takes_files) {
  std::string path = testing::TempDir() + "/callee.ptx";
  std::ofstream(path) << kCallee;
  OK(cuLinkCreate(0, nullptr, nullptr, &state));
  add(kCaller, "caller");
  OK(cuLinkAddFile(state, CU_JIT_INPUT_PTX, path.c_str(), 0, nullptr, nullptr));
  EXPECT_EQ(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/no/such/file", 0, nullptr, nullptr), CUDA_ERROR_FILE_NOT_FOUND);
  void* image = nullptr;
  OK(cuLinkComplete(state, &image, nullptr));
  run(image);
  OK(cuLinkDestroy(state));
}

TEST_F(Link, reports_what_is_missing) {
  char errors[1024] = "", info[1024] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                            CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {errors, reinterpret_cast<void*>(sizeof errors), info, reinterpret_cast<void*>(sizeof info)};
  OK(cuLinkCreate(4, options, values, &state));
  add(kCaller, "caller");
  void* image = nullptr;
  EXPECT_NE(cuLinkComplete(state, &image, nullptr), CUDA_SUCCESS);
  EXPECT_NE(std::strstr(errors, "twice"), nullptr) << errors;
  OK(cuLinkDestroy(state));
  char elf[64] =
      "\x7f"
      "ELF";
  OK(cuLinkCreate(0, nullptr, nullptr, &state));
  EXPECT_EQ(cuLinkAddData(state, CU_JIT_INPUT_CUBIN, elf, sizeof elf, "cubin", 0, nullptr, nullptr), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(cuLinkComplete(state, &image, nullptr), CUDA_ERROR_INVALID_VALUE) << "nothing to link";
  OK(cuLinkDestroy(state));
}

class Values : public Driver {};

TEST_F(Values, are_written_and_waited_for_in_stream_order) {
  CUdeviceptr flag = allocate(64), result = allocate(64);
  CUstream waiting, writing;
  OK(cuStreamCreate(&waiting, CU_STREAM_NON_BLOCKING));
  OK(cuStreamCreate(&writing, CU_STREAM_NON_BLOCKING));
  OK(cuStreamWaitValue32(waiting, flag, 5, CU_STREAM_WAIT_VALUE_GEQ));
  OK(put(result, 61, waiting));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(cuStreamQuery(waiting), CUDA_ERROR_NOT_READY);
  OK(cuStreamWriteValue32(writing, flag, 4, CU_STREAM_WRITE_VALUE_DEFAULT));
  OK(cuStreamSynchronize(writing));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(cuStreamQuery(waiting), CUDA_ERROR_NOT_READY);
  OK(cuStreamWriteValue32(writing, flag, 6, CU_STREAM_WRITE_VALUE_DEFAULT));
  OK(cuStreamSynchronize(waiting));
  EXPECT_EQ(read(result), 61);

  OK(cuStreamWriteValue64(writing, flag + 8, 0xf0ull << 40, 0));
  OK(cuStreamWaitValue64(waiting, flag + 8, 0x10ull << 40, CU_STREAM_WAIT_VALUE_AND));
  OK(cuStreamWaitValue64(waiting, flag + 8, 0xf0ull << 40, CU_STREAM_WAIT_VALUE_EQ));
  OK(cuStreamWaitValue32(waiting, flag + 8, 1, CU_STREAM_WAIT_VALUE_NOR));
  OK(cuStreamSynchronize(waiting));
  EXPECT_EQ(cuStreamWaitValue32(waiting, flag + 2, 1, 0), CUDA_ERROR_INVALID_VALUE) << "not aligned";
  EXPECT_EQ(cuStreamWriteValue32(waiting, 0x1000, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamWriteValue32(reinterpret_cast<CUstream>(0x77), flag, 1, 0), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Values, come_in_batches) {
  CUdeviceptr flag = allocate(64);
  CUstreamBatchMemOpParams batch[4] = {};
  batch[0].writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, flag, {7}, 0, 0};
  batch[1].memoryBarrier = {CU_STREAM_MEM_OP_BARRIER, 0};
  batch[2].waitValue = {CU_STREAM_MEM_OP_WAIT_VALUE_32, flag, {7}, CU_STREAM_WAIT_VALUE_EQ, 0};
  batch[3].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  batch[3].writeValue.address = flag + 8;
  batch[3].writeValue.value64 = 9;
  OK(cuStreamBatchMemOp(nullptr, 4, batch, 0));
  OK(cuCtxSynchronize());
  EXPECT_EQ(read(flag), 7);
  EXPECT_EQ(read(flag, 2), 9);
  batch[3].writeValue.address = 12;
  batch[0].writeValue.value = 8;
  EXPECT_EQ(cuStreamBatchMemOp(nullptr, 4, batch, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(read(flag), 7) << "none of a batch that is refused";
}

}  // namespace

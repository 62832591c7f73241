// NVVM's intermediate language to PTX, and what comes of it run through the driver API.
#include <cuda.h>
#include <gtest/gtest.h>
#include <nvJitLink.h>
#include <nvvm.h>

#include <string>
#include <vector>

#define OK(expression) ASSERT_EQ(expression, NVVM_SUCCESS) << log()
#define CU(expression) ASSERT_EQ(expression, CUDA_SUCCESS)

namespace {

// With typed pointers, as NVVM's dialect has them: in types of functions and of structures, behind `byval`, in annotations.
const std::string kKernel = R"(
target triple = "nvptx64-nvidia-cuda"
%Pair = type { i32, %Pair* }
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare { i32, i1 } @llvm.nvvm.vote.sync(i32, i32, i1)
declare { i32, i1 } @llvm.nvvm.shfl.sync.i32(i32, i32, i32, i32, i32)
declare i32 @added(i32, i32)
define void @apply(i32 addrspace(1)* %data, %Pair* byval align 8 %pair) { ; a comment with i8*
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %place = getelementptr i32, i32 addrspace(1)* %data, i32 %lane
  %field = getelementptr %Pair, %Pair* %pair, i32 0, i32 0
  %base = load i32, i32* %field
  %odd = trunc i32 %lane to i1
  %voted = call { i32, i1 } @llvm.nvvm.vote.sync(i32 -1, i32 3, i1 %odd)
  %ballot = extractvalue { i32, i1 } %voted, 0
  %swapped = call { i32, i1 } @llvm.nvvm.shfl.sync.i32(i32 -1, i32 3, i32 %lane, i32 1, i32 31)
  %other = extractvalue { i32, i1 } %swapped, 0
  br i1 %odd, label %left, label %right
left:
  %a = call i32 asm sideeffect "activemask.b32 $0;", "=r"()
  br label %join
right:
  %b = call i32 asm sideeffect "activemask.b32 $0;", "=r"()
  br label %join
join:
  %mask = phi i32 [ %a, %left ], [ %b, %right ]
  %x = xor i32 %mask, %ballot
  %y = call i32 @added(i32 %x, i32 %base)
  %z = add i32 %y, %other
  store i32 %z, i32 addrspace(1)* %place
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{void (i32 addrspace(1)*, %Pair*)* @apply, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0}
)";

const std::string kAdded = R"(
target triple = "nvptx64-nvidia-cuda"
define i32 @added(i32 %x, i32 %y) {
  %s = add i32 %x, %y
  ret i32 %s
}
define i32 @unused(i32 %x) {
  ret i32 %x
}
)";

// What thread `lane` gets: all ones for odd ones, none for even ones, and its neighbour's number.
unsigned expected(unsigned lane) { return (lane % 2 ? 0u : 0xffffffffu) + 1000 + (lane ^ 1); }

class Nvvm : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(nvvmCreateProgram(&program), NVVM_SUCCESS); }
  void TearDown() override { EXPECT_EQ(nvvmDestroyProgram(&program), NVVM_SUCCESS); }
  nvvmResult add(const std::string& text) { return nvvmAddModuleToProgram(program, text.data(), text.size(), "test.ll"); }
  nvvmResult add_lazy(const std::string& text) { return nvvmLazyAddModuleToProgram(program, text.data(), text.size(), "lazy.ll"); }
  nvvmResult compile(std::vector<const char*> options = {"-arch=compute_90"}) {
    return nvvmCompileProgram(program, static_cast<int>(options.size()), options.data());
  }
  std::string result() {
    size_t size = 0;
    EXPECT_EQ(nvvmGetCompiledResultSize(program, &size), NVVM_SUCCESS);
    std::string text(size, '?');
    EXPECT_EQ(nvvmGetCompiledResult(program, text.data()), NVVM_SUCCESS);
    return text;
  }
  std::string log() {
    size_t size = 0;
    EXPECT_EQ(nvvmGetProgramLogSize(program, &size), NVVM_SUCCESS);
    std::string text(size, '?');
    EXPECT_EQ(nvvmGetProgramLog(program, text.data()), NVVM_SUCCESS);
    return text.c_str();
  }
  static void expect_it_runs(const std::string& image) {
    CUcontext context;
    CUmodule module;
    CUfunction apply;
    CUdeviceptr data;
    CU(cuInit(0));
    CU(cuCtxCreate(&context, nullptr, 0, 0));
    CU(cuModuleLoadData(&module, image.data()));
    CU(cuModuleGetFunction(&apply, module, "apply"));
    unsigned values[32] = {};
    CU(cuMemAlloc(&data, sizeof values));
    struct {
      int number;
      void* next;
    } pair = {1000, nullptr};
    void* arguments[] = {&data, &pair};
    CU(cuLaunchKernel(apply, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
    CU(cuMemcpyDtoH(values, data, sizeof values));
    CU(cuCtxDestroy(context));
    for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(values[lane], expected(lane)) << lane;
  }
  nvvmProgram program = nullptr;
};

TEST_F(Nvvm, makes_ptx_that_runs) {
  OK(add(kKernel));
  OK(add(kAdded));
  OK(nvvmVerifyProgram(program, 0, nullptr));
  for (const char* level : {"-opt=0", "-opt=3"}) {
    OK(compile({"-arch=compute_90", level}));
    expect_it_runs(result());
  }
  EXPECT_NE(result().find(".visible .func"), std::string::npos) << "others may be linked with it";
}

TEST_F(Nvvm, takes_of_a_lazy_module_what_is_needed) {
  OK(add(kKernel));
  OK(add_lazy(kAdded));
  OK(compile());
  EXPECT_EQ(result().find("unused"), std::string::npos);
  EXPECT_EQ(result().find(".visible .func"), std::string::npos);
  expect_it_runs(result());
}

TEST_F(Nvvm, options_choose_instructions) {
  OK(
      add("declare float @llvm.sqrt.f32(float)\ndefine float @f(float %x, float %y) {\n  %a = call float @llvm.sqrt.f32(float %x)\n"
          "  %b = fdiv float %a, %y\n  %c = fmul float %b, %x\n  %d = fadd float %c, %y\n  ret float %d\n}\n"));
  OK(compile({"-arch=compute_90"}));
  for (const char* text : {"sqrt.rn.f32", "div.rn.f32", "fma.rn.f32"}) EXPECT_NE(result().find(text), std::string::npos) << text;
  OK(compile({"-arch=compute_90", "-ftz=1", "-prec-sqrt=0", "-prec-div=0", "-fma=0"}));
  for (const char* text : {"sqrt.approx.ftz.f32", "div.full.ftz.f32", "add.rn.ftz.f32"})
    EXPECT_NE(result().find(text), std::string::npos) << text << result();
  OK(compile({"-arch=compute_90"}));
  EXPECT_NE(result().find("div.rn.f32"), std::string::npos) << "options are of one call";
}

TEST_F(Nvvm, says_what_is_wrong) {
  EXPECT_EQ(compile(), NVVM_ERROR_NO_MODULE_IN_PROGRAM);
  OK(add("define void @f() {\n  %x = ad i32 1, 2\n  ret void\n}\n"));
  EXPECT_EQ(nvvmVerifyProgram(program, 0, nullptr), NVVM_ERROR_INVALID_IR);
  EXPECT_NE(log().find("test.ll (2, 8): error: "), std::string::npos) << log();
  EXPECT_EQ(compile(), NVVM_ERROR_COMPILATION);
  EXPECT_EQ(compile({"-arch=compute_90", "-nonsense"}), NVVM_ERROR_INVALID_OPTION);
  EXPECT_NE(log().find("-nonsense is an unsupported option"), std::string::npos) << log();
  EXPECT_EQ(nvvmAddModuleToProgram(program, nullptr, 0, nullptr), NVVM_ERROR_INVALID_INPUT);
}

TEST_F(Nvvm, names_functions_that_nobody_has) {
  OK(add("declare i32 @llvm.nvvm.nonsense()\ndefine i32 @f() {\n  %x = call i32 @llvm.nvvm.nonsense()\n  ret i32 %x\n}\n"));
  EXPECT_EQ(compile(), NVVM_ERROR_COMPILATION);
  EXPECT_NE(log().find("llvm.nvvm.nonsense"), std::string::npos) << log();
}

TEST_F(Nvvm, knows_versions_of_the_language) {
  OK(add("!nvvmir.version = !{!0}\n!0 = !{i32 9, i32 0}\n"));
  EXPECT_EQ(compile(), NVVM_ERROR_IR_VERSION_MISMATCH);
}

TEST_F(Nvvm, code_for_a_link_is_linked_and_runs) {
  nvvmProgram second = nullptr;
  OK(add(kKernel));
  OK(compile({"-arch=compute_90", "-gen-lto"}));
  const std::string first = result();
  OK(nvvmCreateProgram(&second));
  std::swap(program, second);
  OK(add(kAdded));
  OK(compile({"-arch=compute_90", "-gen-lto"}));
  const std::string other = result();
  std::swap(program, second);
  OK(nvvmDestroyProgram(&second));
  for (const bool to_ptx : {false, true}) {
    nvJitLinkHandle link = nullptr;
    const char* options[] = {"-arch=sm_90", "-lto", "-ptx"};
    ASSERT_EQ(nvJitLinkCreate(&link, to_ptx ? 3 : 2, options), NVJITLINK_SUCCESS);
    ASSERT_EQ(nvJitLinkAddData(link, NVJITLINK_INPUT_LTOIR, first.data(), first.size(), "first"), NVJITLINK_SUCCESS);
    ASSERT_EQ(nvJitLinkAddData(link, NVJITLINK_INPUT_ANY, other.data(), other.size(), "second"), NVJITLINK_SUCCESS);
    ASSERT_EQ(nvJitLinkComplete(link), NVJITLINK_SUCCESS);
    size_t size = 0;
    ASSERT_EQ(to_ptx ? nvJitLinkGetLinkedPtxSize(link, &size) : nvJitLinkGetLinkedCubinSize(link, &size), NVJITLINK_SUCCESS);
    std::string image(size, '\0');
    ASSERT_EQ(to_ptx ? nvJitLinkGetLinkedPtx(link, image.data()) : nvJitLinkGetLinkedCubin(link, image.data()), NVJITLINK_SUCCESS);
    if (to_ptx) EXPECT_EQ(image.find("unused"), std::string::npos) << "functions are the program's own";
    expect_it_runs(image);
    ASSERT_EQ(nvJitLinkDestroy(&link), NVJITLINK_SUCCESS);
  }
}

}  // namespace

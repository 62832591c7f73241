// Run-time compilation, and what it makes launched through the driver API.
#include <cuda.h>
#include <gtest/gtest.h>
#include <nvrtc.h>

#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#define OK(expression) ASSERT_EQ(expression, NVRTC_SUCCESS)
#define CU(expression) ASSERT_EQ(expression, CUDA_SUCCESS)

namespace {

class Nvrtc : public testing::Test {
 protected:
  void TearDown() override {
    if (program) nvrtcDestroyProgram(&program);
  }
  void create(const char* text, const char* name = "test.cu") { OK(nvrtcCreateProgram(&program, text, name, 0, nullptr, nullptr)); }
  nvrtcResult compile(std::vector<const char*> options = {}) {
    return nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
  }
  std::string log() {
    size_t size = 0;
    EXPECT_EQ(nvrtcGetProgramLogSize(program, &size), NVRTC_SUCCESS);
    std::string text(size, '?');
    EXPECT_EQ(nvrtcGetProgramLog(program, text.data()), NVRTC_SUCCESS);
    return text.c_str();
  }
  std::string ptx() {
    size_t size = 0;
    EXPECT_EQ(nvrtcGetPTXSize(program, &size), NVRTC_SUCCESS);
    std::string text(size, '?');
    EXPECT_EQ(nvrtcGetPTX(program, text.data()), NVRTC_SUCCESS);
    return text.c_str();
  }
  nvrtcProgram program = nullptr;
};

TEST_F(Nvrtc, compiles_what_includes_nothing_and_it_runs) {
  create(R"(
    typedef unsigned int uint32_t;
    typedef long long int int64_t;  // not the C library's
    extern "C" __global__ void saxpy(float a, float* x, float* y, float* out, size_t n) {
      size_t i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) out[i] = a * x[i] + sqrtf(y[i]);
    })");
  OK(compile({"--gpu-architecture=compute_75", "--fmad=false", "-default-device", "--std=c++17", "-D SCALE=2"})) << log();
  EXPECT_EQ(log(), "");
  CUcontext context;
  CUmodule module;
  CUfunction saxpy;
  CU(cuInit(0));
  CU(cuCtxCreate(&context, nullptr, 0, 0));
  CU(cuModuleLoadData(&module, ptx().c_str()));
  CU(cuModuleGetFunction(&saxpy, module, "saxpy"));
  size_t n = 300, bytes = n * sizeof(float);
  std::vector<float> x(n), y(n), out(n);
  for (size_t i = 0; i < n; ++i) x[i] = float(i), y[i] = float(i * i);
  CUdeviceptr dx, dy, dout;
  CU(cuMemAlloc(&dx, bytes));
  CU(cuMemAlloc(&dy, bytes));
  CU(cuMemAlloc(&dout, bytes));
  CU(cuMemcpyHtoD(dx, x.data(), bytes));
  CU(cuMemcpyHtoD(dy, y.data(), bytes));
  float a = 2;
  void* arguments[] = {&a, &dx, &dy, &dout, &n};
  CU(cuLaunchKernel(saxpy, 3, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  CU(cuMemcpyDtoH(out.data(), dout, bytes));
  for (size_t i = 0; i < n; ++i) EXPECT_EQ(out[i], 2 * x[i] + std::sqrt(y[i]));
  CU(cuCtxDestroy(context));
}

TEST_F(Nvrtc, has_initializer_lists_and_classes_of_numbers_without_a_header) {
  create(R"(
    __device__ int sum(std::initializer_list<int> list) {
      int total = 0;
      for (int value : list) total += value;
      return total + list.size();
    }
    extern "C" __global__ void k(float f, double d, int* out) {
      *out = sum({1, 2, 3}) + isnan(f) + ::isinf(d) + isfinite(f) + signbit(d);
    })");
  OK(compile({"--std=c++11"})) << log();
  EXPECT_NE(ptx().find(".entry k"), std::string::npos);
}

// CCCL asks like this who compiles it, and takes nothing of the host's from NVRTC.
TEST_F(Nvrtc, is_no_other_compiler_to_a_libcudacxx_that_the_program_brings) {
  const auto place = std::filesystem::temp_directory_path() / ("warpbeam_nvrtc_" + std::to_string(getpid()));
  std::filesystem::create_directories(place / "cuda" / "std" / "__cccl");
  std::ofstream(place / "cuda" / "std" / "__cccl" / "compiler.h") << R"(
    #if defined(__clang__) || defined(__GNUC__) || defined(__NVCC__) || !defined(__CUDACC_RTC__) || __has_include(<assert.h>)
    #error "another compiler"
    #endif
  )";
  const std::string option = "-I" + place.string();
  create(R"(
    #include <cuda/std/__cccl/compiler.h>
    #include <cuda_fp16.h>
    extern "C" __global__ void k(__half* out) { *out = __float2half(1.f); }
  )");
  EXPECT_EQ(compile({option.c_str()}), NVRTC_SUCCESS) << log();
  EXPECT_NE(ptx().find(".entry k"), std::string::npos);
  std::filesystem::remove_all(place);
}

TEST_F(Nvrtc, gives_templates_and_variables_their_lowered_names) {
  create(R"(
    template <typename T> __global__ void fill(T* to, T value) { to[threadIdx.x] = value; }
    namespace inner { __device__ int counter; __constant__ float limit = 5; __global__ void plain() { ++counter; } }
  )");
  for (const char* name : {"fill<float>", "&fill<int>", "inner::plain", "&inner::counter", "&inner::limit"})
    OK(nvrtcAddNameExpression(program, name));
  const char* lowered = nullptr;
  EXPECT_EQ(nvrtcGetLoweredName(program, "fill<float>", &lowered), NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
  OK(compile()) << log();
  EXPECT_EQ(nvrtcAddNameExpression(program, "late"), NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
  EXPECT_EQ(nvrtcGetLoweredName(program, "fill<double>", &lowered), NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
  std::string text = ptx();
  EXPECT_EQ(text.find("name_expression"), std::string::npos) << "nothing of the machinery is left";
  CUcontext context;
  CUmodule module;
  CU(cuInit(0));
  CU(cuCtxCreate(&context, nullptr, 0, 0));
  CU(cuModuleLoadData(&module, text.c_str()));
  for (const char* name : {"fill<float>", "&fill<int>", "inner::plain"}) {
    CUfunction function;
    OK(nvrtcGetLoweredName(program, name, &lowered));
    CU(cuModuleGetFunction(&function, module, lowered)) << name << " is " << lowered;
  }
  CUdeviceptr address;
  size_t size = 0;
  OK(nvrtcGetLoweredName(program, "&inner::limit", &lowered));
  CU(cuModuleGetGlobal(&address, &size, module, lowered));
  float limit = 0;
  CU(cuMemcpyDtoH(&limit, address, sizeof limit));
  EXPECT_EQ(limit, 5);
  CU(cuCtxDestroy(context));
}

// No kernel writes them, and the host does.
TEST_F(Nvrtc, keeps_static_variables_for_the_host) {
  create(R"(
    static __constant__ int table[4];
    static __device__ int scale;
    extern "C" __global__ void sum(int* to) { *to = (table[0] + table[3]) * scale; }
  )");
  OK(nvrtcAddNameExpression(program, "&table"));
  OK(compile()) << log();
  CUcontext context;
  CUmodule module;
  CUfunction sum;
  CU(cuInit(0));
  CU(cuCtxCreate(&context, nullptr, 0, 0));
  CU(cuModuleLoadData(&module, ptx().c_str()));
  CU(cuModuleGetFunction(&sum, module, "sum"));
  const char* lowered = nullptr;
  OK(nvrtcGetLoweredName(program, "&table", &lowered));
  CUdeviceptr table, scale, to;
  size_t size = 0;
  CU(cuModuleGetGlobal(&table, &size, module, lowered));
  EXPECT_EQ(size, 16u);
  CU(cuModuleGetGlobal(&scale, &size, module, "scale")) << "nvcc's name";
  CU(cuMemAlloc(&to, 4));
  const int values[] = {10, 0, 0, 11}, two = 2;
  CU(cuMemcpyHtoD(table, values, sizeof values));
  CU(cuMemcpyHtoD(scale, &two, sizeof two));
  void* arguments[] = {&to};
  CU(cuLaunchKernel(sum, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  int result = 0;
  CU(cuMemcpyDtoH(&result, to, sizeof result));
  EXPECT_EQ(result, 42);
  CU(cuCtxDestroy(context));
}

TEST_F(Nvrtc, knows_textures_and_surfaces_without_a_header) {
  create(R"(
    extern "C" __global__ void copy(cudaTextureObject_t from, cudaSurfaceObject_t to, float4* texture) {
      const uchar4 texel = tex2D<uchar4>(from, threadIdx.x + 0.5f, 0.5f);
      surf2Dwrite(texel, to, 4 * threadIdx.x, 0, cudaBoundaryModeTrap);
      *texture = tex3D<float4>(from, 0, 0, 0);
    })");
  OK(compile()) << log();
  EXPECT_NE(ptx().find("tex.2d.v4.u32.f32"), std::string::npos);
  EXPECT_NE(ptx().find("sust.b.2d"), std::string::npos);
}

TEST_F(Nvrtc, sees_headers_that_come_as_text) {
  const char* headers[] = {"#pragma once\n__device__ inline int twice(int x) { return 2 * x; }\n",
                           "#include \"deep/twice.h\"\n#define FOUR twice(2)\n"};
  const char* names[] = {"deep/twice.h", "four.h"};
  OK(nvrtcCreateProgram(&program,
                        "#include <four.h>\n#include <cuda_fp16.h>\n__global__ void k(int* p, __half* h) { *p = FOUR; "
                        "*h = __float2half(1); }",
                        nullptr, 2, headers, names));
  OK(compile({"--gpu-architecture=sm_90"})) << log();
  size_t size = 0;
  OK(nvrtcGetCUBINSize(program, &size));
  EXPECT_GT(size, 0u);
  std::vector<char> cubin(size);
  OK(nvrtcGetCUBIN(program, cubin.data()));
  CUcontext context;
  CUmodule module;
  CU(cuInit(0));
  CU(cuCtxCreate(&context, nullptr, 0, 0));
  CU(cuModuleLoadData(&module, cubin.data()));
  CU(cuCtxDestroy(context));
}

TEST_F(Nvrtc, only_the_programs_own_functions_are_the_devices_by_default) {
  create(R"(
    #include <cuda_runtime.h>
    #include <cooperative_groups.h>
    #include <cuComplex.h>
    #include <cuda_fp16.h>
    #include <cuda_pipeline.h>
    #include <curand_kernel.h>
    #include <math_constants.h>
    #include <cuda/atomic>
    #include <cuda/barrier>
    #include <cuda/std/cstdint>
    #include <cuda/std/tuple>
    int twice(int x) { return 2 * x + (threadIdx.x & 0); }
    __global__ void k(cuda::std::int32_t* p) { *p = twice(21); })");
  OK(compile({"-default-device"})) << log();
  EXPECT_EQ(log(), "");
}

TEST_F(Nvrtc, tells_which_toolkit_it_is_of) {
  create("#if CUDART_VERSION / 1000 != __CUDACC_VER_MAJOR__ || CUDART_VERSION != __CUDART_API_VERSION\n#error\n#endif\n");
  OK(compile()) << log();
  OK(nvrtcDestroyProgram(&program));
  create("#include <cuda_runtime.h>\n__global__ void k(int* p) { *p = CUDART_VERSION; }\n");
  OK(compile()) << log();
  EXPECT_EQ(log(), "");
}

TEST_F(Nvrtc, reports_errors_with_the_programs_name_and_line) {
  create("__global__ void k(int* p) {\n  *p = not_there_at_all;\n}\n", "user_kernel.cu");
  EXPECT_EQ(compile(), NVRTC_ERROR_COMPILATION);
  EXPECT_NE(log().find("user_kernel.cu(2): error: use of undeclared identifier 'not_there_at_all'"), std::string::npos) << log();
  EXPECT_NE(log().find("1 error detected in the compilation of \"user_kernel.cu\"."), std::string::npos) << log();
  size_t size;
  EXPECT_EQ(nvrtcGetPTXSize(program, &size), NVRTC_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(compile({"--no-such-option"}), NVRTC_ERROR_INVALID_OPTION);
  EXPECT_NE(log().find("no-such-option"), std::string::npos) << log();
}

// Jitify and its kin read the name out of the log, and find who includes it by the name that they gave.
TEST_F(Nvrtc, names_a_missing_header_as_nvrtc_does) {
  const char *texts[] = {"\n#include <deeper/missing.h>\n"}, *names[] = {"outer/header.h"};
  OK(nvrtcCreateProgram(&program, "#include <outer/header.h>\n", "user_kernel.cu", 1, texts, names));
  EXPECT_EQ(compile(), NVRTC_ERROR_COMPILATION);
  EXPECT_EQ(
      log().find(
          "In file included from user_kernel.cu:1:\nouter/header.h(2): catastrophic error: cannot open source file \"deeper/missing.h\""),
      0u)
      << log();
}

// As CuPy does: nothing of the host is read then, whatever of Warpbeam's is included.
TEST_F(Nvrtc, a_program_with_its_own_libcudacxx_gets_nothing_of_the_host) {
  const std::filesystem::path own = std::filesystem::temp_directory_path() / ("own-libcudacxx." + std::to_string(getpid()));
  std::filesystem::create_directories(own / "cuda" / "std" / "__cccl");
  std::filesystem::create_directories(own / "cuda" / "__barrier");
  std::ofstream(own / "cuda" / "std" / "__cccl" / "compiler.h") << "#define _CCCL_VERSION_INVALID() 0\n#define _CCCL_COMPILER_NVRTC() 1\n";
  for (const char* header : {"__memory/address_space.h", "std/__atomic/scopes.h", "std/__barrier/barrier.h", "std/chrono"}) {
    std::filesystem::create_directories((own / "cuda" / header).parent_path());
    std::ofstream(own / "cuda" / header) << "";
  }
  std::ofstream(own / "cuda" / "__barrier" / "barrier_block_scope.h") << R"(
    #if _CCCL_COMPILER_NVRTC()
    #define IS_FIRST(type, member) !(&(((type*) 0)->member))
    #else
    #define IS_FIRST(type, member) !offsetof(type, member)
    #endif
    template <class T> struct Barrier { T t; __device__ void f() { static_assert(IS_FIRST(Barrier<T>, t), ""); } };
  )";
  create(R"(
    #include <cuda/std/__cccl/compiler.h>
    #include <cuda/__barrier/barrier_block_scope.h>
    #include <cooperative_groups.h>
    #include <cooperative_groups/memcpy_async.h>
    template <class T> struct Holds { T t; };
    extern "C" __global__ void k(void* place, int* out) {
      new (place) Holds<int>{7};
      cooperative_groups::this_grid().sync();
      Barrier<int>().f();
      *out = static_cast<Holds<int>*>(place)->t + sizeof(Barrier<int>) + _CCCL_COMPILER_NVRTC();
    }
    #ifdef EOF
    #error the header of the host was read
    #endif
  )");
  const std::string include = "-I" + own.string();
  OK(compile({include.c_str(), "-default-device"})) << log();
  std::filesystem::remove_all(own);
}

// A regular expression that goes a step deeper with each character ran out of stack at such a line.
TEST_F(Nvrtc, lines_of_tables_may_be_long) {
  std::string text = "__device__ unsigned long long table[] = {";
  for (int i = 0; i < 20000; ++i) text += std::to_string(i * 0x123456789abcdef1u) + "ull,";
  const std::string kernel = "__global__ void k(unsigned long long* p) { *p = table[threadIdx.x]; }";
  create((text + "};\n" + kernel).c_str());
  OK(nvrtcAddNameExpression(program, "k"));
  OK(compile()) << log();
  const char* lowered = nullptr;
  OK(nvrtcGetLoweredName(program, "k", &lowered));
  EXPECT_STREQ(lowered, "_Z1kPy");
  OK(nvrtcDestroyProgram(&program));

  create((text + "not_there};\n" + kernel).c_str(), "tables.cu");
  EXPECT_EQ(compile(), NVRTC_ERROR_COMPILATION);
  EXPECT_NE(log().find("tables.cu(1): error: use of undeclared identifier 'not_there'"), std::string::npos);
}

TEST_F(Nvrtc, refuses_name_expressions_that_name_nothing) {
  create("__global__ void k() {}");
  OK(nvrtcAddNameExpression(program, "nobody<int>"));
  EXPECT_EQ(compile(), NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
}

TEST_F(Nvrtc, runs_default_device_code_and_device_asserts) {
  create(
      "int helper(int x) { return x + 1; }\n__global__ void k(int* p) { assert(p); *p = helper(min(1, 2)); "
      "printf(\"%d\", *p); }");
  EXPECT_EQ(compile(), NVRTC_ERROR_COMPILATION) << "a function is the host's unless it says otherwise";
  OK(compile({"--device-as-default-execution-space"})) << log();
}

TEST_F(Nvrtc, kernels_are_kernels_where_functions_are_the_devices) {
  create(R"(
    struct half { short x; };
    int twice(int x) { return 2 * x; }
    template <class T> __global__ void k(T* p) { p[0] = twice(1); }
    template <> __global__ void k<half>(half* p) { p->x = twice(2); }
    namespace inner {
    __global__ void again(int* p);
    __global__ void __launch_bounds__(64) again(int* p) { *p = twice(*p); }
    int behind(int x) { return twice(x); }
    __global__ void more(int* p) { *p = behind(*p); }
    })");
  for (const char* name : {"k<half>", "k<float>", "inner::again", "inner::more"}) OK(nvrtcAddNameExpression(program, name));
  OK(compile({"--device-as-default-execution-space"})) << log();
}

TEST_F(Nvrtc, an_empty_argument_at_a_templates_end_is_none) {
  create(
      "template <class T, int... n> struct S { static constexpr int count = sizeof...(n); };\n"
      "__global__ void k(int* p) { *p = S<int,>::count + S<int, 1, >::count; p[1] = p[0] , p[2] > 0; }");
  OK(compile()) << log();
  EXPECT_EQ(log().find("error"), std::string::npos);
}

TEST_F(Nvrtc, packs_have_no_indices) {
  create("#ifdef __cpp_pack_indexing\n#error\n#endif\n");
  OK(compile()) << log();
}

TEST_F(Nvrtc, warns_of_variables_that_nobody_uses) {
  create("__global__ void k(int* p) {\n  int unused = 3;\n  *p = 1; }");
  OK(compile()) << log();
  EXPECT_NE(log().find("(2): warning: unused variable 'unused'"), std::string::npos) << log();
  OK(nvrtcDestroyProgram(&program));
  create("__global__ void k(int* p) {\n  int unused = 3;\n  *p = 1; }");
  OK(compile({"--disable-warnings"}));
  EXPECT_EQ(log(), "");
}

TEST_F(Nvrtc, kernels_launch_kernels) {
  const char* text = R"(
    extern "C" __global__ void inner(float* p, int n) { if (threadIdx.x < n) p[threadIdx.x] += 1; }
    extern "C" __global__ void outer(float* p, int n) { inner<<<1, n>>>(p + threadIdx.x * n, n); })";
  create(text);
  EXPECT_EQ(compile(), NVRTC_ERROR_COMPILATION);
  EXPECT_NE(log().find("requires separate compilation mode"), std::string::npos) << log();
  OK(nvrtcDestroyProgram(&program));
  create(text);
  OK(compile({"-dc"})) << log();
  size_t size = 0;
  OK(nvrtcGetPTXSize(program, &size));
  std::string ptx(size, '\0');
  OK(nvrtcGetPTX(program, ptx.data()));
  CUcontext context;
  CUmodule module;
  CUfunction outer;
  CUdeviceptr p;
  CU(cuInit(0));
  CU(cuCtxCreate(&context, nullptr, 0, 0));
  CU(cuModuleLoadData(&module, ptx.data()));
  CU(cuModuleGetFunction(&outer, module, "outer"));
  CU(cuMemAlloc(&p, 12 * sizeof(float)));
  CU(cuMemsetD32(p, 0, 12));
  int n = 3;
  void* arguments[] = {&p, &n};
  CU(cuLaunchKernel(outer, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr));
  float found[12];
  CU(cuMemcpyDtoH(found, p, sizeof found));
  for (float x : found) EXPECT_EQ(x, 1);
  CU(cuCtxDestroy(context));
}

TEST_F(Nvrtc, device_code_has_the_runtime_without_a_header) {
  create(R"(
    struct Owned {
      void* place;
      __device__ Owned() { if (cudaMalloc(&place, 16) != cudaSuccess) place = nullptr; }
      __device__ ~Owned() { cudaFree(place); }
    };
    __global__ void k(int* device) { Owned owned; if (cudaGetDevice(device) != cudaSuccess) *device = -1; })");
  OK(compile({"-rdc=true"})) << log();
}

// Jitify hands over the first line that way.
TEST_F(Nvrtc, what_a_program_includes_first_comes_after_what_is_built_in) {
  const char* text = "#include <curand_kernel.h>\n__global__ void k(int* p) { *p = cudaDeviceSynchronize(); }";
  const char *header = "#define cudaDeviceSynchronize() cudaSuccess\n", *name = "first.h";
  OK(nvrtcCreateProgram(&program, text, "test.cu", 1, &header, &name));
  OK(compile({"-include=first.h"})) << log();
}

TEST_F(Nvrtc, handles_and_versions_are_checked) {
  EXPECT_EQ(nvrtcCreateProgram(nullptr, "", "", 0, nullptr, nullptr), NVRTC_ERROR_INVALID_INPUT);
  EXPECT_EQ(nvrtcCreateProgram(&program, nullptr, "", 0, nullptr, nullptr), NVRTC_ERROR_INVALID_INPUT);
  create("");
  nvrtcProgram copy = program;
  size_t size;
  EXPECT_EQ(nvrtcGetPTXSize(program, &size), NVRTC_ERROR_INVALID_PROGRAM);
  OK(nvrtcDestroyProgram(&program));
  EXPECT_EQ(program, nullptr);
  EXPECT_EQ(nvrtcDestroyProgram(&copy), NVRTC_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(nvrtcCompileProgram(copy, 0, nullptr), NVRTC_ERROR_INVALID_PROGRAM);
  EXPECT_STREQ(nvrtcGetErrorString(NVRTC_ERROR_COMPILATION), "NVRTC_ERROR_COMPILATION");
  EXPECT_STREQ(nvrtcGetErrorString(static_cast<nvrtcResult>(99)), "NVRTC_ERROR unknown");
  int major = 0, minor = -1, count = 0;
  OK(nvrtcVersion(&major, &minor));
  EXPECT_EQ(major, 13);
  OK(nvrtcGetNumSupportedArchs(&count));
  std::vector<int> archs(count);
  OK(nvrtcGetSupportedArchs(archs.data()));
  EXPECT_EQ(archs.back(), 90);
  std::string type;
  OK(nvrtcGetTypeName<unsigned int>(&type));
  EXPECT_EQ(type, "unsigned int");
}

}  // namespace

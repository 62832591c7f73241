#include "compiler/device_launches.h"

#include <gtest/gtest.h>

namespace warpbeam::compiler {
namespace {

bool found(std::string_view text) { return find_device_launches(text) == DeviceLaunches::Found; }

TEST(DeviceLaunches, only_device_functions_count) {
  EXPECT_FALSE(found("__global__ void k(); int main() { k<<<1, 2>>>(); }"));
  EXPECT_FALSE(found("__host__ __device__ void f() { k<<<1, 2>>>(); }"));
  EXPECT_FALSE(found("__global__ void k() { } void f() { for (int i = 0; i < 3; ++i) { k<<<1, 2>>>(); } }"));
  EXPECT_FALSE(found("// __global__ void k() { k<<<1, 2>>>(); }\nconst char* s = \"__global__ {\"; void f() { k<<<1,1>>>(); }"));
  EXPECT_TRUE(found("__global__ void k(float a[], int n) { if (n) { k<<<1, 2>>>(a, n); } }"));
  EXPECT_TRUE(found("template <class T> __global__ __launch_bounds__(64) void k() { k<T, (3 > 2)><<<1, 2>>>(); }"));
  EXPECT_TRUE(found("struct S { __device__ void f() { k<<<1, 2>>>(); } void g(); };"));
  EXPECT_TRUE(found("__attribute__((global)) void k() { for (int i = 0; i < 2; ++i) k<<<1, 2>>>(); }"));
}

TEST(DeviceLaunches, a_macro_may_hold_one) {
  EXPECT_EQ(find_device_launches("#define GO(k) k<<<1, 1>>>()\n__global__ void a() { GO(b); }"), DeviceLaunches::Perhaps);
}

std::string rewritten(std::string_view statement) {
  const std::string text = rewrite_for_device("void f() { " + std::string(statement) + " }");
  return text.substr(11, text.size() - 13);
}

TEST(DeviceLaunches, launches_become_a_configuration_and_a_call) {
  const std::string c = "(::__warpbeam_configure_launch(";
  EXPECT_EQ(rewritten("k<<<g, b>>>(x);"), c + "g, b), k(x));");
  EXPECT_EQ(rewritten("if (a) (*k)<<<g, b>>>(x);"), "if (a) " + c + "g, b), (*k)(x));");
  EXPECT_EQ(rewritten("return ns::k<A<B>, 3><<<dim3(f<1>()), b, 0, s>>>();"), "return " + c + "dim3(f<1>()), b, 0, s), ns::k<A<B>, 3>());");
  EXPECT_EQ(rewritten("a->b.c[i]<<<1, 1>>>();"), c + "1, 1), a->b.c[i]());");
  EXPECT_EQ(rewritten("x = 1; ::k<<<1, 1>>>(y), z();"), "x = 1; " + c + "1, 1), ::k(y)), z();");
  EXPECT_EQ(rewritten("else k<<<1, 1>>>(f(g<<<1, 1>>>(), 2));"), "else " + c + "1, 1), k(f(" + c + "1, 1), g()), 2)));");
  EXPECT_EQ(rewritten("std::cout << x; a = b >> 3; f<g<h<int>>>(1);"), "std::cout << x; a = b >> 3; f<g<h<int>>>(1);");
}

TEST(DeviceLaunches, lines_stay_where_they_are) {
  const std::string text = "__global__ void k() { k\n<<<1,\n2>>>(\n); int here; }\n";
  const std::string device = rewrite_for_device(text), host = rewrite_for_host(text);
  auto line_of_here = [](const std::string& s) { return std::count(s.begin(), s.begin() + static_cast<long>(s.find("here")), '\n'); };
  EXPECT_EQ(line_of_here(device), 3);
  EXPECT_EQ(line_of_here(host), 3);
}

TEST(DeviceLaunches, the_host_pass_keeps_host_launches_only) {
  EXPECT_EQ(rewrite_for_host("__global__ void k() { k<<<1, 1>>>(); } void f() { k<<<1, 1>>>(); }"),
            "__global__ void k() { ((void)0); } void f() { k<<<1, 1>>>(); }");
}

}  // namespace
}  // namespace warpbeam::compiler

// NVTX for C++: every kind of event and range compiles, nests and moves.
#include <nvtx3/nvToolsExtCudaRt.h>

#include <cstdio>
#include <nvtx3/nvtx3.hpp>

struct Mine {
  static constexpr char const* name{"mine"};
};
struct Category {
  static constexpr char const* name{"category"};
  static constexpr uint32_t id{7};
};
struct Text {
  static constexpr char const* message{"registered"};
};

__global__ void add(int* p) { *p += 1; }

void named(int* p) {
  NVTX3_FUNC_RANGE();
  add<<<1, 1>>>(p);
}
void in_domain(int* p) {
  NVTX3_FUNC_RANGE_IN(Mine);
  add<<<1, 1>>>(p);
}

int main() {
  int* p;
  cudaMallocManaged(&p, sizeof *p);
  *p = 0;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  nvtxNameCudaStreamA(stream, "stream");
  {
    nvtx3::scoped_range range{"outer"};
    nvtx3::scoped_range_in<Mine> inner{"inner", nvtx3::rgb{127, 255, 0}, nvtx3::payload{42}, nvtx3::category{2}};
    nvtx3::event_attributes attributes{nvtx3::message{"again"}, nvtx3::color{0xff00ff00}};
    nvtx3::scoped_range third{attributes};
    named(p);
  }
  auto handle = nvtx3::start_range("started", nvtx3::argb{1, 2, 3, 4});
  in_domain(p);
  nvtx3::end_range(handle);
  auto& category = nvtx3::named_category_in<Mine>::get<Category>();
  auto& text = nvtx3::registered_string_in<Mine>::get<Text>();
  nvtx3::unique_range_in<Mine> first{text, category};
  nvtx3::unique_range_in<Mine> second{std::move(first)};
  nvtx3::mark("a moment", nvtx3::payload{2.5});
  nvtx3::mark_in<Mine>(text);
  cudaDeviceSynchronize();
  puts(*p == 2 ? "PASSED" : "FAILED");
  return *p != 2;
}

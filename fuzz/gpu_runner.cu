// Runs the kernels that `warpbeam fuzz --emit DIR` wrote on a real device, as the third opinion.
//   nvcc -O2 -std=c++17 fuzz/gpu_runner.cu -lcuda -o gpu_runner && ./gpu_runner DIR digests.txt [raw.bin]
// then, here: ./warpbeam fuzz --compare digests.txt
// Takes case<seed>.cubin where there is one, else case<seed>.ptx. With a third name, all outputs go there one after the
// other, in the order of the manifest.
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace {

// As fuzz/values.cc has it.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

// As fuzz/run.cc has it.
uint64_t mix_element(uint64_t h, const std::string& name, uint64_t size, const unsigned char* at) {
  uint64_t bits[2] = {};
  std::memcpy(bits, at, size);
  if (name.compare(0, 2, "%f") == 0 && (bits[0] & 0x7fffffff) > 0x7f800000) bits[0] = 0x7fffffff;
  if (name.compare(0, 2, "%g") == 0 && (bits[0] & ~uint64_t{0} >> 1) > 0x7ff0000000000000) bits[0] = ~uint64_t{0} >> 1;
  return mix(mix(h ^ bits[0]) ^ bits[1]);
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Empty, or what went wrong.
std::string error(CUresult result) {
  const char* name = "";
  if (result != CUDA_SUCCESS) cuGetErrorName(result, &name);
  return name;
}

struct Case {
  std::string seed;
  unsigned grid[3], block[3];
  uint64_t bytes, cells;
  struct Array {
    std::string name;
    uint64_t offset, bytes, count;  // bytes of an element
  };
  std::vector<Array> arrays;
};

std::string run(const Case& c, const std::string& directory, CUdeviceptr in, std::vector<unsigned char>& out) {
  std::string image = contents(directory + "/case" + c.seed + ".cubin");
  if (image.empty()) image = contents(directory + "/case" + c.seed + ".ptx");
  CUmodule module;
  if (std::string e = error(cuModuleLoadData(&module, image.c_str())); !e.empty()) return e;
  CUfunction kernel;
  CUdeviceptr d_out;
  std::string e = error(cuModuleGetFunction(&kernel, module, "k"));
  if (e.empty()) e = error(cuMemAlloc(&d_out, c.bytes));
  if (e.empty()) {
    cuMemsetD8(d_out, 0xee, c.bytes);
    cuMemsetD8(d_out + c.bytes - c.cells, 0, c.cells);
    unsigned first = 5, second = 0x1234567;
    float third = 1.5f;
    void* parameters[] = {&in, &d_out, &first, &second, &third};
    e = error(cuLaunchKernel(kernel, c.grid[0], c.grid[1], c.grid[2], c.block[0], c.block[1], c.block[2], 0, nullptr,
                             parameters, nullptr));
    if (e.empty()) e = error(cuCtxSynchronize());
    out.resize(c.bytes);
    if (e.empty()) e = error(cuMemcpyDtoH(out.data(), d_out, c.bytes));
    cuMemFree(d_out);
  }
  cuModuleUnload(module);
  return e;
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    std::cerr << "gpu_runner DIR digests.txt [raw.bin]\n";
    return 2;
  }
  const std::string directory = words[1];
  CUdevice device;
  CUcontext context;
  if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context)) {
    std::cerr << "no device\n";
    return 1;
  }
  const std::string input = contents(directory + "/input.bin");
  CUdeviceptr in;
  if (cuMemAlloc(&in, input.size()) || cuMemcpyHtoD(in, input.data(), input.size())) return 1;
  std::ofstream digests(words[2]), raw;
  if (count > 3) raw.open(words[3], std::ios::binary);
  std::ifstream manifest(directory + "/manifest.txt");
  int cases = 0, failed = 0;
  for (std::string text; std::getline(manifest, text); ++cases) {
    std::istringstream line(text);
    Case c;
    line >> c.seed >> c.grid[0] >> c.grid[1] >> c.grid[2] >> c.block[0] >> c.block[1] >> c.block[2] >> c.bytes >>
        c.cells;
    for (Case::Array a; line >> a.name >> a.offset >> a.bytes >> a.count;) c.arrays.push_back(a);
    std::vector<unsigned char> out;
    const std::string e = run(c, directory, in, out);
    out.resize(c.bytes);
    if (raw.is_open()) raw.write(reinterpret_cast<const char*>(out.data()), static_cast<std::streamsize>(out.size()));
    if (!e.empty()) {
      digests << c.seed << " failed " << e << "\n";
      std::cerr << c.seed << ": " << e << "\n";
      if (++failed > 20 || e.find("ADDRESS") != e.npos || e.find("LAUNCH") != e.npos) break;  // the context is lost
      continue;
    }
    for (const Case::Array& a : c.arrays) {
      uint64_t h = 0;
      for (uint64_t k = 0; k < a.count; ++k) h = mix_element(h, a.name, a.bytes, &out[a.offset + k * a.bytes]);
      char hex[24];
      std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(h));
      digests << c.seed << " " << a.name << " " << hex << "\n";
    }
  }
  std::cout << cases << " cases, " << failed << " failed\n";
  return failed != 0;
}

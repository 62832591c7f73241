// Registers PTX text the way a compiler's code does before main.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* device, const char* name, int limit, uint3*, uint3*, dim3*, dim3*, int*);
void __cudaRegisterVar(void** handle, char* host, char* device, const char* name, int external, size_t size, int constant, int global);
}

namespace kernels {

// A container as compilers embed it: 16 bytes of header, then for each entry 64 bytes of header and the text.
template <class T>
inline void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline std::string container(std::string_view ptx, uint32_t cc) {
  std::string text(ptx);
  text.resize((text.size() + 8) / 8 * 8, '\0');
  std::string entry;
  append<uint16_t>(entry, 1);
  append<uint16_t>(entry, 0x101);
  append<uint32_t>(entry, 64);
  append<uint64_t>(entry, text.size());
  append<uint64_t>(entry, 0);
  append<uint32_t>(entry, 0x80005);
  append<uint32_t>(entry, cc);
  append<uint64_t>(entry, 0);
  append<uint64_t>(entry, 0x11);
  append<uint64_t>(entry, 0);
  append<uint64_t>(entry, 0);
  std::string bytes;
  append<uint32_t>(bytes, 0xBA55ED50);
  append<uint16_t>(bytes, 1);
  append<uint16_t>(bytes, 16);
  append<uint64_t>(bytes, entry.size() + text.size());
  return bytes + entry + text;
}

struct Wrapper {
  uint32_t magic = 0x466243b1, version = 1;
  const void* container;
  const void* more = nullptr;
};

class Registration {
 public:
  struct Kernel {
    const void* host;
    const char* name;
  };
  struct Variable {
    void* host;
    const char* name;
    size_t size;
    bool constant;
  };
  Registration(std::string_view ptx, const std::vector<Kernel>& kernels, const std::vector<Variable>& variables = {})
      : bytes_(container(ptx, 50)), wrapper_{.container = bytes_.data()} {
    void** handle = __cudaRegisterFatBinary(&wrapper_);
    for (const Kernel& k : kernels)
      __cudaRegisterFunction(handle, static_cast<const char*>(k.host), const_cast<char*>(k.name), k.name, -1, nullptr, nullptr, nullptr,
                             nullptr, nullptr);
    for (const Variable& v : variables)
      __cudaRegisterVar(handle, static_cast<char*>(v.host), const_cast<char*>(v.name), v.name, 0, v.size, v.constant, 0);
    __cudaRegisterFatBinaryEnd(handle);
  }

 private:
  std::string bytes_;
  Wrapper wrapper_;
};

}  // namespace kernels

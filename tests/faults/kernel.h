// A PTX text on the machine, without the CUDA runtime in between.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "vm/machine.h"

namespace warpbeam::faults {

inline constexpr const char* kHeader = ".version 8.5\n.target sm_90\n.address_size 64\n";

struct Shape {
  uint32_t blocks = 1, threads = 32;
  uint32_t dynamic_shared = 0;
  uint32_t resident = 64;  // blocks the device holds at once
};

// Lines of a text begin after the header, so that line 1 of `body` is line 4 of what the machine sees.
class Kernel {
 public:
  explicit Kernel(const std::string& body) {
    const std::string text = kHeader + body;
    const std::string_view view = text;
    auto loaded = vm::Program::load({&view, 1}, memory_, {});
    if (!loaded) {
      ADD_FAILURE() << loaded.error().message;
      return;
    }
    program_ = std::move(*loaded);
  }

  vm::LaunchResult launch(Shape shape, const std::vector<uint64_t>& params = {}, const char* name = "k") {
    vm::Launch l;
    l.program = program_.get();
    l.kernel = program_ ? program_->find_kernel(name) : nullptr;
    if (!l.kernel) {
      ADD_FAILURE() << "there is no kernel " << name;
      return {};
    }
    l.grid = {shape.blocks, 1, 1};
    l.block = {shape.threads, 1, 1};
    l.dynamic_shared = shape.dynamic_shared;
    l.params.resize(params.size() * 8);
    if (!params.empty()) std::memcpy(l.params.data(), params.data(), l.params.size());
    l.memory = &memory_;
    l.resident_blocks = shape.resident;
    return vm::Machine::instance().run(std::move(l));
  }

  uint64_t allocate(uint64_t bytes) {
    auto a = memory_.allocate(bytes, 256, vm::MemoryKind::Device, "cudaMalloc");
    EXPECT_TRUE(a);
    return a ? a->base : 0;
  }
  vm::DeviceMemory& memory() { return memory_; }

 private:
  vm::DeviceMemory memory_{uint64_t(1) << 30};
  std::unique_ptr<vm::Program> program_;
};

template <class T>
T* at(uint64_t address) {
  return reinterpret_cast<T*>(address);
}

}  // namespace warpbeam::faults

// Copies by tensor maps, against what an H200 left in shared and global memory.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "recording.h"
#include "tensor_cases.h"
#include "tensor_map_cases.h"
#include "vm/machine.h"
#include "vm/tensor_map.h"

namespace warpbeam::tensor_test {
namespace {

vm::TensorMap map_of(const TensorMapCase& c, uint64_t base) {
  vm::TensorMap m;
  m.magic = vm::TensorMap::kMagic;
  m.type = static_cast<uint8_t>(c.type);
  m.rank = static_cast<uint8_t>(c.rank);
  m.interleave = static_cast<uint8_t>(c.interleave);
  m.swizzle = static_cast<uint8_t>(c.swizzle);
  m.fill = static_cast<uint8_t>(c.fill);
  m.im2col = c.im2col;
  m.channels = static_cast<uint16_t>(c.channels);
  m.pixels = static_cast<uint16_t>(c.pixels);
  m.address = base + c.base;
  for (int k = 0; k < 5; ++k) {
    m.dims[k] = static_cast<uint32_t>(c.dims[k]);
    m.box[k] = static_cast<uint16_t>(c.box[k]);
    m.steps[k] = static_cast<uint8_t>(c.steps[k]);
  }
  std::copy_n(c.strides, 4, m.strides);
  for (int k = 0; k < 3; ++k) {
    m.lower[k] = static_cast<int16_t>(c.lower[k]);
    m.upper[k] = static_cast<int16_t>(c.upper[k]);
  }
  return m;
}

TEST(TensorMaps, H200) {
  const auto recorded = read_recording();
  vm::DeviceMemory memory(uint64_t{1} << 32);
  const auto allocate = [&](uint64_t bytes) { return memory.allocate(bytes, 512, vm::MemoryKind::Device, "test")->base; };
  const uint64_t global = allocate(kMapGlobalBytes), store = allocate(kMapStoreBytes), dump = allocate(kMapStoreBytes);
  for (uint32_t i = 0; i < kMapGlobalBytes / 4; ++i) reinterpret_cast<uint32_t*>(global)[i] = map_word(i);
  const char* raw = std::getenv("WARPBEAM_RAW_TENSOR");
  size_t at = 0, different = 0, compared = 0;
  for (const TensorMapCase& c : tensor_map_cases()) {
    const bool loads = c.copy == MapCopy::Load;
    const size_t bytes = loads ? kMapSharedBytes : kMapStoreBytes, here = at;
    at += bytes;
    const std::string text = tensor_module_header() + tensor_map_kernel(c, "m");
    const std::string_view texts[] = {text};
    auto program = vm::Program::load(texts, memory, {});
    ASSERT_TRUE(program) << c.name << ": " << program.error().message;
    std::memset(reinterpret_cast<void*>(store), 0x3c, kMapStoreBytes);
    vm::Launch launch;
    launch.program = program->get();
    launch.kernel = (*program)->find_kernel("m");
    launch.block = {32, 1, 1};
    launch.memory = &memory;
    launch.params.resize(128 + 8 + 32);
    const vm::TensorMap map = map_of(c, loads ? global : store);
    const int x[] = {c.at[0], c.at[1], c.at[2], c.at[3], c.at[4], c.offsets[0], c.offsets[1], c.offsets[2]};
    std::memcpy(launch.params.data(), &map, sizeof map);
    std::memcpy(launch.params.data() + 128, &dump, 8);
    std::memcpy(launch.params.data() + 136, x, sizeof x);
    const vm::LaunchResult r = vm::Machine::instance().run(launch);
    const auto it = recorded.find("map: " + c.name);
    if (it == recorded.end()) {  // the device refused it as an illegal instruction
      EXPECT_EQ(r.trap.kind, vm::TrapKind::IllegalInstruction) << c.name << " " << r.trap.message;
      continue;
    }
    ++compared;
    const auto* ours = reinterpret_cast<const uint32_t*>(loads ? dump : store);
    if (r.trap.kind == vm::TrapKind::None && digest(ours, bytes / 4) == it->second) continue;
    ++different;
    std::printf("%s %s\n", c.name.c_str(), r.trap.message.c_str());
    if (!raw || r.trap.kind != vm::TrapKind::None) continue;
    std::ifstream in(std::string(raw) + "/maps.bin", std::ios::binary);
    in.seekg(static_cast<std::streamoff>(here));
    std::vector<uint32_t> theirs(bytes / 4);
    in.read(reinterpret_cast<char*>(theirs.data()), static_cast<std::streamsize>(bytes));
    int shown = 0;
    for (size_t k = 0; k < theirs.size(); ++k)
      if (ours[k] != theirs[k] && shown++ < 6) std::printf("    word %zu: ours %08x recorded %08x\n", k, ours[k], theirs[k]);
    std::printf("    %d words differ\n", shown);
  }
  EXPECT_EQ(different, 0u);
  std::printf("%zu copies compared\n", compared);
}

}  // namespace
}  // namespace warpbeam::tensor_test

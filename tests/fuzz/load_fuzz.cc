// libFuzzer target: any bytes go through the loader (parse, link, decode). It may refuse them, but never crash, hang or
// ask for memory out of proportion.
#include <cstdint>
#include <string_view>

#include "vm/program.h"

namespace vm = warpbeam::vm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static vm::DeviceMemory memory(uint64_t(1) << 28);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto program = vm::Program::load({&text, 1}, memory, {});
  // A refusal names what is wrong and is one of the loader's documented errors.
  if (!program && (program.error().message.empty() || program.error().code == 0)) __builtin_trap();
  return 0;
}

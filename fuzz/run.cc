#include "fuzz/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "fuzz/values.h"
#include "vm/engine.h"

namespace warpbeam::fuzz {

namespace {

// What `out` holds before the kernel runs.
constexpr int kUntouched = 0xee;

std::string hex(const std::vector<std::byte>& bytes, uint64_t offset, int count) {
  std::string text = "0x";
  for (int k = count - 1; k >= 0; --k) text += fmt::format("{:02x}", static_cast<unsigned>(bytes[offset + static_cast<uint64_t>(k)]));
  return text;
}

// The last line that may have written the register, not counting the function bodies before the entry.
std::string last_writer(const std::string& text, const std::string& name) {
  std::istringstream in(text.substr(0, text.find("mad.wide.u32 %a0, %gt, 1, %out;\nselp.u32")));
  std::string line, found;
  bool entry = false;
  for (int number = 1; std::getline(in, line); ++number) {
    entry = entry || line.starts_with(".visible .entry");
    if (line[0] == '@') line = line.substr(line.find(' ') + 1);
    const size_t at = line.find(name);
    if (!entry || at == std::string::npos) continue;
    const size_t comma = line.find(',');
    const size_t brace = line.find('}');
    const size_t results_end = line.find('{') < comma && brace != std::string::npos ? brace : comma;
    if (at < results_end) found = fmt::format("line {}: {}", number, line);
  }
  return found.empty() ? "no line" : found;
}

}  // namespace

std::vector<OutputArray> output_arrays(const Kernel& kernel) {
  std::vector<OutputArray> list;
  for (const DumpedRegister& r : dumped_registers(kernel)) list.push_back({r.name, r.bytes, r.offset, kernel.threads()});
  for (int k = 0; k < kSlotSizes; ++k) list.push_back({fmt::format("place{}", 1 << k), 1 << k, slot_offset(kernel, k), kernel.threads()});
  list.push_back({"cells", 8, cells_offset(kernel), kCells});
  return list;
}

std::optional<Engine> engine_named(std::string_view name) {
  if (name == "interpreter") return Engine::Interpreter;
  if (name == "jit") return Engine::Jit;
  return std::nullopt;
}

void choose_fast_engine() { setenv("WARPBEAM_ENGINE", "jit", 1); }

Bench::Bench() : memory_(uint64_t{1} << 32) {
  const std::vector<std::byte> input = input_bytes();
  in_ = memory_.allocate(input.size(), 256, vm::MemoryKind::Device, "input")->base;
  std::memcpy(reinterpret_cast<void*>(in_), input.data(), input.size());
}

Outcome Bench::run(const Kernel& kernel, Engine engine) {
  Outcome outcome;
  const std::string text = kernel.text();
  const std::string_view texts[] = {text};
  auto program = vm::Program::load(texts, memory_, {});
  if (!program) {
    outcome.failure = program.error().message;
    return outcome;
  }
  const uint64_t bytes = out_bytes(kernel);
  auto out = memory_.allocate(bytes, 256, vm::MemoryKind::Device, "output");
  if (!out) {
    outcome.failure = "out of memory";
    return outcome;
  }
  std::memset(reinterpret_cast<void*>(out->base), kUntouched, bytes);
  std::memset(reinterpret_cast<void*>(out->base + cells_offset(kernel)), 0, kCells * 8);
  vm::Launch launch;
  launch.program = program->get();
  launch.kernel = (*program)->find_kernel("k");
  launch.grid = kernel.grid;
  launch.block = kernel.block;
  launch.memory = &memory_;
  launch.resident_blocks = 64;
  const Parameters parameters{.in = in_, .out = out->base};
  launch.params.resize(launch.kernel->param_bytes);
  std::memcpy(launch.params.data(), &parameters, launch.params.size());
  launch.interpret = engine == Engine::Interpreter;
  if (!launch.interpret) outcome.compiled = vm::find_compiled(launch, false, true).kernel != nullptr;
  const vm::LaunchResult result = vm::Machine::instance().run(launch);
  if (result.trap.kind != vm::TrapKind::None) outcome.failure = result.trap.message + " at " + result.trap.location;
  outcome.out.resize(bytes);
  std::memcpy(outcome.out.data(), reinterpret_cast<const void*>(out->base), bytes);
  memory_.free(out->base);
  return outcome;
}

std::string describe_difference(const Kernel& kernel, const std::string& text, const Outcome& a, const Outcome& b) {
  if (a.failure != b.failure) return fmt::format("the first engine says '{}', the second '{}'", a.failure, b.failure);
  for (const OutputArray& array : output_arrays(kernel))
    for (uint64_t k = 0; k < array.count; ++k) {
      const uint64_t offset = array.offset + k * static_cast<uint64_t>(array.bytes);
      if (!std::memcmp(&a.out[offset], &b.out[offset], static_cast<size_t>(array.bytes))) continue;
      std::string where = fmt::format("{}[{}]", array.name, k);
      if (array.name[0] == '%')
        where = fmt::format("{} of thread {} of block {} (last written on {})", array.name, k % kernel.block_threads(),
                            k / kernel.block_threads(), last_writer(text, array.name));
      return fmt::format("{}: {} and {}", where, hex(a.out, offset, array.bytes), hex(b.out, offset, array.bytes));
    }
  return "";
}

namespace {

// Which NaN comes out depends on the order in which a compiler puts the operands, so all count as one.
uint64_t mix_element(uint64_t h, const OutputArray& array, const std::byte* at) {
  uint64_t bits[2] = {};
  std::memcpy(bits, at, static_cast<size_t>(array.bytes));
  if (array.name.starts_with("%f") && (bits[0] & 0x7fffffff) > 0x7f800000) bits[0] = 0x7fffffff;
  if (array.name.starts_with("%g") && (bits[0] & ~uint64_t{0} >> 1) > 0x7ff0000000000000) bits[0] = ~uint64_t{0} >> 1;
  return mix(mix(h ^ bits[0]) ^ bits[1]);
}

}  // namespace

std::vector<std::pair<std::string, uint64_t>> digests(const Kernel& kernel, const std::vector<std::byte>& out) {
  std::vector<std::pair<std::string, uint64_t>> list;
  for (const OutputArray& array : output_arrays(kernel)) {
    uint64_t h = 0;
    for (uint64_t k = 0; k < array.count; ++k) h = mix_element(h, array, &out[array.offset + k * static_cast<uint64_t>(array.bytes)]);
    list.emplace_back(array.name, h);
  }
  return list;
}

}  // namespace warpbeam::fuzz

// A kernel run by the interpreter and by the fast engine: both leave the same memory, or fail with the same report.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "vm/engine.h"

namespace warpbeam::vm {
inline constexpr uint32_t kWords = 4096;

// A kernel with the parameters `out` (an array of kWords words, in %out) and `n` (in %n). %t is the thread in the
// block, %i its number in the grid, %at the address of out[%i].
inline std::string kernel(const std::string& body) {
  return ".version 8.5\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 out, .param .u32 n) {\n"
         ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .b64 %d<20>; .reg .f64 %g<9>; .reg .b16 %h<9>;\n"
         ".reg .b32 %t, %i, %n, %c, %s; .reg .b64 %out, %at, %o;\n.shared .align 8 .b8 tile[4096];\n"
         "ld.param.u64 %out, [out]; ld.param.u32 %n, [n]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %s, "
         "%ntid.x;\n"
         "mad.lo.s32 %i, %c, %s, %t; mul.wide.s32 %o, %i, 4; add.s64 %at, %out, %o;\n" +
         body + "\n}\n";
}

struct Outcome {
  std::vector<uint32_t> words;
  std::string failure;
  bool operator==(const Outcome&) const = default;
};

class Engines : public testing::Test {
 protected:
  // Runs the kernel on both; gives what they agree on. `body` may also be a whole text.
  Outcome both(const std::string& body, std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block, uint32_t n, bool compiled = true) {
    DeviceMemory memory{uint64_t(1) << 30};
    const std::string text = body.starts_with(".version") ? body : kernel(body);
    const std::string_view view = text;
    auto program = Program::load({&view, 1}, memory, {});
    EXPECT_TRUE(program) << program.error().message;
    if (!program) return {};
    auto out = memory.allocate(kWords * 4, 256, MemoryKind::Device, "out");
    const auto run = [&](bool interpret) {
      auto* words = reinterpret_cast<uint32_t*>(out->base);
      for (uint32_t k = 0; k < kWords; ++k) words[k] = k * 2654435761u;
      Launch launch;
      launch.program = program->get();
      launch.kernel = (*program)->find_kernel("k");
      launch.grid = grid;
      launch.block = block;
      launch.memory = &memory;
      launch.resident_blocks = 64;
      launch.interpret = interpret;
      launch.cooperative = cooperative_;
      launch.params.resize(12);
      std::memcpy(launch.params.data(), &out->base, 8);
      std::memcpy(launch.params.data() + 8, &n, 4);
      if (!interpret) {
        const auto found = find_compiled(launch, false, true).kernel;
        EXPECT_EQ(found != nullptr, compiled) << body;
        plan_ = found ? found->plan() : "";
        plans_ += ", " + plan_ + ",";
      }
      const LaunchResult result = Machine::instance().run(std::move(launch));
      return Outcome{{words, words + kWords}, result.trap.kind == TrapKind::None ? "" : result.trap.paragraph()};
    };
    const Outcome slow = run(true);
    Outcome fast = run(false);
    for (int k = 1; k < rounds_ && fast == slow; ++k) fast = run(false);
    EXPECT_EQ(slow.failure, fast.failure) << body;
    // How far other blocks and other warps had come before a fault is not defined.
    const bool alone = grid[0] * grid[1] * grid[2] == 1 && block[0] * block[1] * block[2] <= 32;
    const bool defined = slow.failure.empty() || alone;
    for (uint32_t k = 0; k < kWords && defined; ++k)
      if (slow.words[k] != fast.words[k]) {
        ADD_FAILURE() << fmt::format("word {}: {:#x} interpreted, {:#x} compiled\n{}", k, slow.words[k], fast.words[k], body);
        break;
      }
    return slow;
  }
  bool cooperative_ = false;
  int rounds_ = 1;      // how often it is compiled code's turn
  bool planned(std::string_view technique) const { return plan_.find(technique) != std::string::npos; }
  // Did a kernel of this test get the technique?
  bool happened(std::string_view technique) const { return plans_.find(fmt::format(", {},", technique)) != std::string::npos; }
  // Is it a processor with AVX-512, and what is compiled for it?
  static bool wide_host() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           other_processor().empty();
  }
  static std::string_view other_processor() {
    const char* name = std::getenv("WARPBEAM_JIT_CPU");
    return name ? name : "";
  }
  static bool has_avx() { return other_processor().empty() ? __builtin_cpu_supports("avx") != 0 : other_processor() == "haswell"; }
  std::string plan_;    // of what was compiled for the last of them
  std::string plans_;   // of all of them
};

}  // namespace warpbeam::vm

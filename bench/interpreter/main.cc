// How fast the machine is: warp instructions per second of one core on two loops, and what a launch costs.
//
// One block runs on one host thread, so a grid of one block measures one core. The instructions are counted from the
// texts below: every statement of a loop body once per round and warp.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "vm/machine.h"

namespace {

using namespace warpbeam;
using Clock = std::chrono::steady_clock;

constexpr int kRuns = 5;  // the best one counts: others had company

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

struct Text {
  std::string text;
  uint64_t per_round = 0, around = 0;  // statements in the loop and outside of it
};

// Statements of a text are its semicolons, less those of declarations.
uint64_t statements(const std::string& text) { return static_cast<uint64_t>(std::count(text.begin(), text.end(), ';')); }

Text kernel_text(const std::string& declarations, const std::string& before, const std::string& loop, const std::string& after) {
  return {".version 8.5\n.target sm_90\n.address_size 64\n" + declarations + before + loop + after + "}\n", statements(loop),
          statements(before) + statements(after)};
}

Text fma_text() {
  std::string loop = "LOOP:\n";
  for (int k = 0; k < 8; ++k) loop += fmt::format("fma.rn.f32 %f{0}, %f{0}, %f8, %f9;\n", k);
  loop += "add.s32 %r1, %r1, -1; setp.ne.s32 %p, %r1, 0; @%p bra LOOP;\n";
  return kernel_text(
      ".visible .entry k(.param .u64 out, .param .u64 rounds) { .reg .f32 %f<10>; .reg .b32 %r<3>; .reg .b64 %d<2>; "
      ".reg .pred %p;\n",
      "ld.param.u64 %d1, [out]; ld.param.u32 %r1, [rounds]; mov.f32 %f8, 0f3F7FF000; mov.f32 %f9, 0f3F800000;\n", loop,
      "st.global.f32 [%d1], %f0; ret;\n");
}

// One 16x16 tile of C: a round takes a tile of A and one of B through shared memory.
Text product_text() {
  std::string loop =
      "LOOP: ld.global.f32 %f1, [%d1]; ld.global.f32 %f2, [%d2]; st.shared.f32 [%r3], %f1; st.shared.f32 [%r3+1024], "
      "%f2; bar.sync 0;\n";
  for (int k = 0; k < 16; ++k)
    loop += fmt::format("ld.shared.f32 %f3, [%r4+{}]; ld.shared.f32 %f4, [%r5+{}]; fma.rn.f32 %f0, %f3, %f4, %f0;\n", 4 * k, 1024 + 64 * k);
  loop +=
      "bar.sync 0; add.s64 %d1, %d1, 64; add.s64 %d2, %d2, 1024; add.s32 %r6, %r6, -1; setp.ne.s32 %p, %r6, 0; @%p bra "
      "LOOP;\n";
  return kernel_text(
      ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 rounds) { .reg .f32 %f<5>; .reg .b32 "
      "%r<8>; .reg .b64 %d<6>; .reg .pred %p;\n"
      ".shared .align 16 .b8 tiles[2048];\n",
      "ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [c]; ld.param.u32 %r6, [rounds]; mov.u32 %r1, "
      "%tid.x; mov.u32 %r2, %tid.y; mov.u32 %r7, tiles;\n"
      "shl.b32 %r4, %r2, 6; shl.b32 %r5, %r1, 2; add.s32 %r3, %r4, %r5; mul.lo.s32 %r0, %r6, %r4; cvt.u64.u32 %d4, "
      "%r0; cvt.u64.u32 %d5, %r5; add.s64 %d1, %d1, %d4; add.s64 %d1, %d1, %d5;\n"
      "cvt.u64.u32 %d4, %r3; add.s64 %d2, %d2, %d4; add.s64 %d3, %d3, %d4; add.s32 %r3, %r3, %r7; add.s32 %r4, %r4, "
      "%r7; add.s32 %r5, %r5, %r7; mov.f32 %f0, 0f00000000;\n",
      loop, "st.global.f32 [%d3], %f0; ret;\n");
}

struct Device {
  vm::DeviceMemory memory{uint64_t(1) << 32};

  std::unique_ptr<vm::Program> load(const std::string& text) {
    const std::string_view view = text;
    auto program = vm::Program::load({&view, 1}, memory, {});
    if (!program) {
      fmt::print(stderr, "bench: {}\n", program.error().message);
      std::exit(1);
    }
    return std::move(*program);
  }
  uint64_t allocate(uint64_t bytes) {
    auto a = memory.allocate(bytes, 256, vm::MemoryKind::Device, "bench");
    if (!a) std::exit(1);
    return a->base;
  }
  vm::Launch launch(const vm::Program& program, std::array<uint32_t, 3> block, const std::vector<uint64_t>& params) {
    vm::Launch l;
    l.program = &program;
    l.kernel = program.find_kernel("k");
    l.block = block;
    l.params.resize(params.size() * 8);
    if (!params.empty()) std::memcpy(l.params.data(), params.data(), l.params.size());
    l.memory = &memory;
    l.resident_blocks = 64;
    return l;
  }
};

void check(const vm::LaunchResult& result) {
  if (result.trap.kind == vm::TrapKind::None) return;
  fmt::print(stderr, "{}", result.trap.paragraph());
  std::exit(1);
}

// Million warp instructions per second.
double rate(Device& device, const Text& text, std::array<uint32_t, 3> block, std::vector<uint64_t> params, uint64_t rounds) {
  const auto program = device.load(text.text);
  params.push_back(rounds);
  const uint64_t warps = (block[0] * block[1] * block[2] + 31) / 32;
  double best = 1e30;
  for (int run = 0; run < kRuns; ++run) {
    const auto begin = Clock::now();
    check(vm::Machine::instance().run(device.launch(*program, block, params)));
    best = std::min(best, seconds_since(begin));
  }
  return static_cast<double>(warps * (text.per_round * rounds + text.around)) / best * 1e-6;
}

}  // namespace

int main() {
  Device device;
  constexpr uint64_t kTiles = 4000;
  const uint64_t a = device.allocate(16 * 16 * kTiles * 4), b = device.allocate(16 * 16 * kTiles * 4), c = device.allocate(1024);
  for (uint64_t k = 0; k < 256 * kTiles; ++k) reinterpret_cast<float*>(a)[k] = reinterpret_cast<float*>(b)[k] = 1.0f / 1024;

  fmt::print("fma loop            {:8.1f} M warp instructions/s on one core\n", rate(device, fma_text(), {256, 1, 1}, {c}, 20000));
  fmt::print("16x16 tiled product {:8.1f} M warp instructions/s on one core\n",
             rate(device, product_text(), {16, 16, 1}, {a, b, c}, kTiles));

  const auto empty = device.load(kernel_text(".visible .entry k() {\n", "", "", "ret;\n").text);
  constexpr int kLaunches = 5000;
  double best = 1e30;
  for (int run = 0; run < kRuns; ++run) {
    const auto begin = Clock::now();
    for (int n = 0; n < kLaunches; ++n) check(vm::Machine::instance().run(device.launch(*empty, {1, 1, 1}, {})));
    best = std::min(best, seconds_since(begin));
  }
  fmt::print("empty kernel        {:8.2f} us for launch and wait: {:.0f} launches/s\n", best / kLaunches * 1e6, kLaunches / best);
  best = 1e30;
  for (int run = 0; run < kRuns; ++run) {
    const auto begin = Clock::now();
    for (int n = 0; n < kLaunches; ++n) check(vm::Machine::instance().run(device.launch(*empty, {256, 1, 1}, {})));
    best = std::min(best, seconds_since(begin));
  }
  fmt::print("empty, 256 threads  {:8.2f} us for launch and wait\n", best / kLaunches * 1e6);
  return 0;
}

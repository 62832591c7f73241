// Replays what an H200 computed (tests/vectors/tensor.txt) on our machine.
//
// With WARPBEAM_RAW_TENSOR naming the folder of the raw recording, a case that differs also shows where.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "recording.h"
#include "tensor_cases.h"
#include "vm/machine.h"

namespace warpbeam::tensor_test {
namespace {

class Replay {
 public:
  Replay() : memory_(uint64_t{1} << 32) {
    inputs_ = *memory_.allocate(16 << 20, 256, vm::MemoryKind::Device, "inputs");
    outputs_ = *memory_.allocate(16 << 20, 256, vm::MemoryKind::Device, "outputs");
  }

  std::vector<uint32_t> run(const TensorCase& c, std::string& failure) {
    std::vector<uint32_t> words(static_cast<size_t>(c.output_words * c.threads * c.trials));
    const std::string text = tensor_module_header() + c.text;
    const std::string_view texts[] = {text};
    auto program = vm::Program::load(texts, memory_, {});
    if (!program) {
      failure = program.error().message;
      return words;
    }
    auto* to = reinterpret_cast<uint32_t*>(inputs_.base);
    for (int t = 0; t < c.trials; ++t)
      for (uint32_t w : c.input(t)) *to++ = w;
    vm::Launch launch;
    launch.program = program->get();
    launch.kernel = (*program)->find_kernel(c.kernel);
    launch.grid = {static_cast<uint32_t>(c.trials), 1, 1};
    launch.block = {static_cast<uint32_t>(c.threads), 1, 1};
    launch.memory = &memory_;
    const uint64_t pointers[] = {inputs_.base, outputs_.base};
    launch.params.resize(sizeof(pointers));
    std::memcpy(launch.params.data(), pointers, sizeof(pointers));
    const vm::LaunchResult r = vm::Machine::instance().run(launch);
    if (r.trap.kind != vm::TrapKind::None) failure = r.trap.message;
    std::memcpy(words.data(), reinterpret_cast<const void*>(outputs_.base), words.size() * 4);
    return words;
  }

 private:
  vm::DeviceMemory memory_;
  vm::Allocation inputs_, outputs_;
};

// Where the raw recording is at hand: how many words of which trials differ, and the first of them.
void explain(const TensorCase& c, size_t at, const std::vector<uint32_t>& ours) {
  const char* folder = std::getenv("WARPBEAM_RAW_TENSOR");
  if (!folder) return;
  std::ifstream in(std::string(folder) + "/cases.bin", std::ios::binary);
  in.seekg(static_cast<std::streamoff>(at));
  std::vector<uint32_t> theirs(ours.size());
  in.read(reinterpret_cast<char*>(theirs.data()), static_cast<std::streamsize>(theirs.size() * 4));
  const size_t per_trial = ours.size() / static_cast<size_t>(c.trials);
  int by_mode[8] = {}, shown = 0;
  for (size_t k = 0; k < ours.size(); ++k) {
    if (ours[k] == theirs[k]) continue;
    ++by_mode[k / per_trial % 8];
    if (shown++ < 4) std::printf("    trial %zu word %zu: ours %08x recorded %08x\n", k / per_trial, k % per_trial, ours[k], theirs[k]);
  }
  std::printf("    %d of %zu words differ; by kind of trial:", shown, ours.size());
  for (int n : by_mode) std::printf(" %d", n);
  std::printf("\n");
}

TEST(TensorVectors, H200) {
  const auto recorded = read_recording();
  ASSERT_FALSE(recorded.empty());
  Replay replay;
  size_t at = 0, compared = 0, different = 0;
  const char* only = std::getenv("WARPBEAM_TENSOR_CASE");
  for (const TensorCase& c : tensor_cases()) {
    const size_t bytes = static_cast<size_t>(c.output_words * c.threads * c.trials) * 4, here = at;
    at += bytes;
    if (only && c.name.find(only) == std::string::npos) continue;
    const auto it = recorded.find(c.name);
    if (it == recorded.end()) {
      ADD_FAILURE() << "not recorded: " << c.name;
      continue;
    }
    std::string failure;
    const auto ours = replay.run(c, failure);
    ++compared;
    if (failure.empty() && digest(ours.data(), ours.size()) == it->second) continue;
    ++different;
    std::printf("%s %s\n", c.name.c_str(), failure.c_str());
    if (failure.empty()) explain(c, here, ours);
  }
  EXPECT_EQ(different, 0u);
  std::printf("%zu cases compared\n", compared);
}

}  // namespace
}  // namespace warpbeam::tensor_test

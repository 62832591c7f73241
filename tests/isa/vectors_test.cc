// Replays the recorded value vectors on our machine. tests/vectors/h200.txt holds a line per case: the statement, the
// digest of what 1024 threads stored, and a few of the values themselves.
//
// With WARPBEAM_RAW_VECTORS naming the raw recording (outputs.bin of record_vectors), a case that differs also shows the
// operands for which it does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "isa/vectors.h"
#include "vm/machine.h"

namespace warpbeam::isa_test {

using namespace fuzz;

namespace {

struct Recorded {
  uint64_t digest = 0;
  std::string sample;
  size_t number = 0;  // of the case in the recording
};

std::map<std::string, Recorded> read_recording(const std::string& path) {
  std::map<std::string, Recorded> recorded;
  std::ifstream in(path);
  size_t number = 0;
  for (std::string line; std::getline(in, line); ++number) {
    const size_t first = line.find('\t'), second = line.find('\t', first + 1);
    recorded[line.substr(0, first)] = {std::stoull(line.substr(first + 1, 16), nullptr, 16), line.substr(second + 1), number};
  }
  return recorded;
}

// Lines `device  pattern  # reason` of differences.txt: where a device departs from the manual and we follow the manual.
std::vector<std::regex> device_differences() {
  std::vector<std::regex> list;
  std::ifstream in(WARPBEAM_ISA_TESTS "/differences.txt");
  for (std::string line; std::getline(in, line);) {
    std::stringstream words(line);
    std::string kind, pattern;
    words >> kind >> pattern;
    if (kind == "device") list.emplace_back("^" + pattern);
  }
  return list;
}

constexpr uint32_t kSampleFirst = 3, kSampleStep = 101;  // as digest_vectors takes them

std::string sample_of(const std::vector<uint64_t>& outputs) {
  std::string s;
  for (uint32_t t = kSampleFirst; t < kThreads; t += kSampleStep) s += fmt::format("{}{:x}", s.empty() ? "" : " ", outputs[t * 2]);
  return s;
}

class Replay {
 public:
  Replay() : memory_(uint64_t{1} << 32) { outputs_ = *memory_.allocate(kThreads * 16, 256, vm::MemoryKind::Device, "outputs"); }

  std::vector<uint64_t> run(const vm::Program& program, const VectorCase& c, std::string& failure) {
    std::vector<uint64_t> values(kThreads * 2);
    vm::Launch launch;
    launch.program = &program;
    launch.kernel = program.find_kernel(c.kernel);
    launch.grid = {kThreads / 32, 1, 1};
    launch.block = {32, 1, 1};
    launch.memory = &memory_;
    uint64_t pointers[kInputs + 1];
    for (int k = 0; k < kInputs; ++k) pointers[k] = c.inputs[k] == isa::Type::None ? outputs_.base : input(c.inputs[k], k);
    pointers[kInputs] = outputs_.base;
    launch.params.resize(sizeof(pointers));
    std::memcpy(launch.params.data(), pointers, sizeof(pointers));
    std::memset(reinterpret_cast<void*>(outputs_.base), 0xee, kThreads * 16);
    const vm::LaunchResult r = vm::Machine::instance().run(launch);
    if (r.trap.kind != vm::TrapKind::None) failure = r.trap.message;
    std::memcpy(values.data(), reinterpret_cast<const void*>(outputs_.base), kThreads * 16);
    return values;
  }
  vm::DeviceMemory& memory() { return memory_; }

 private:
  uint64_t input(isa::Type type, int operand) {
    auto [it, fresh] = inputs_.try_emplace({type, operand}, 0);
    if (fresh) {
      it->second = memory_.allocate(kThreads * 8, 256, vm::MemoryKind::Device, "inputs")->base;
      for (uint32_t t = 0; t < kThreads; ++t) reinterpret_cast<uint64_t*>(it->second)[t] = input_value(type, operand, t);
    }
    return it->second;
  }

  vm::DeviceMemory memory_;
  vm::Allocation outputs_;
  std::map<std::pair<isa::Type, int>, uint64_t> inputs_;
};

// Where the raw recording is at hand: the first differing threads with their operands.
void explain(const VectorCase& c, size_t number, const std::vector<uint64_t>& ours) {
  const char* path = std::getenv("WARPBEAM_RAW_VECTORS");
  if (!path) return;
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(number * kThreads * 16));
  std::vector<uint64_t> theirs(kThreads * 2);
  if (!in.read(reinterpret_cast<char*>(theirs.data()), kThreads * 16)) return;
  int differing = 0;
  for (uint32_t t = 0; t < kThreads; ++t) {
    if (theirs[t * 2] == ours[t * 2] && theirs[t * 2 + 1] == ours[t * 2 + 1]) continue;
    if (++differing > 4) continue;
    std::string operands;
    for (int k = 0; k < kInputs; ++k)
      if (c.inputs[k] != isa::Type::None) operands += fmt::format(" {:x}", input_value(c.inputs[k], k, t));
    fmt::print("    thread {}:{} gives {:x}|{:x}, recorded {:x}|{:x}\n", t, operands, ours[t * 2], ours[t * 2 + 1], theirs[t * 2],
               theirs[t * 2 + 1]);
  }
  fmt::print("    {} of {} threads differ\n", differing, kThreads);
}

TEST(Vectors, H200) {
  const auto recorded = read_recording(WARPBEAM_TEST_VECTORS "/h200.txt");
  ASSERT_FALSE(recorded.empty());
  const auto cases = vector_cases();
  Replay replay;
  const auto differences = device_differences();
  std::set<std::string> found;
  size_t compared = 0, unrecorded = 0, different = 0, known = 0;
  constexpr size_t kPerModule = 200;
  for (size_t first = 0; first < cases.size(); first += kPerModule) {
    std::string text = module_header(90) + kVectorVariables;
    const size_t last = std::min(first + kPerModule, cases.size());
    for (size_t n = first; n < last; ++n) text += cases[n].text;
    const std::string_view texts[] = {text};
    auto program = vm::Program::load(texts, replay.memory(), {});
    if (!program) {
      ADD_FAILURE() << program.error().message;
      continue;
    }
    for (size_t n = first; n < last; ++n) {
      const auto it = recorded.find(cases[n].statement.text());
      if (it == recorded.end()) {
        ++unrecorded;
        continue;
      }
      if (!found.insert(it->first).second) continue;
      if (std::any_of(differences.begin(), differences.end(), [&](const std::regex& r) { return std::regex_search(it->first, r); })) {
        ++known;
        continue;
      }
      std::string failure;
      const auto ours = replay.run(**program, cases[n], failure);
      ++compared;
      if (failure.empty() && digest(ours) == it->second.digest) continue;
      ++different;
      fmt::print("{} {}\n  ours     {}\n  recorded {}\n", it->first, failure, sample_of(ours), it->second.sample);
      explain(cases[n], it->second.number, ours);
    }
  }
  EXPECT_EQ(different, 0u);
  EXPECT_EQ(found.size(), recorded.size()) << "recorded statements that the table no longer has";
  fmt::print("{} cases compared, {} left to the manual, {} without a recording\n", compared, known, unrecorded);
}

}  // namespace
}  // namespace warpbeam::isa_test

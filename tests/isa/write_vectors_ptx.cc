// Writes what the recorder (record_vectors.cc) needs into a folder: modules, input cells and the list of cases.
#include <fmt/format.h>

#include <fstream>
#include <map>

#include "isa/vectors.h"

using namespace warpbeam;

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} FOLDER\n", argv[0]);
    return 2;
  }
  const std::string folder = argv[1];
  const auto cases = isa_test::vector_cases();
  std::map<std::pair<isa::Type, int>, int> tables;  // (type, operand) -> number in inputs.bin
  std::ofstream inputs(folder + "/inputs.bin", std::ios::binary), list(folder + "/cases.txt");
  constexpr size_t kPerModule = 400;
  std::ofstream module;
  for (size_t n = 0; n < cases.size(); ++n) {
    if (n % kPerModule == 0) {
      module = std::ofstream(fmt::format("{}/m{}.ptx", folder, n / kPerModule));
      module << fuzz::module_header(90) << isa_test::kVectorVariables;
    }
    module << cases[n].text;
    std::string line = cases[n].kernel;
    for (int k = 0; k < isa_test::kInputs; ++k) {
      const isa::Type t = cases[n].inputs[k];
      int table = -1;
      if (t != isa::Type::None) {
        auto [it, fresh] = tables.try_emplace({t, k}, static_cast<int>(tables.size()));
        table = it->second;
        if (fresh)
          for (uint32_t thread = 0; thread < isa_test::kThreads; ++thread) {
            const uint64_t v = fuzz::input_value(t, k, thread);
            inputs.write(reinterpret_cast<const char*>(&v), 8);
          }
      }
      line += fmt::format(" {}", table);
    }
    list << line << "\n";
  }
  fmt::print("{} cases, {} tables\n", cases.size(), tables.size());
}

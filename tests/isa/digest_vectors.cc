// Turns a recording (outputs.bin of record_vectors) into vectors.txt: a line per case with the digest of all outputs
// and the outputs of a few threads to look at.
#include <fmt/format.h>

#include <fstream>

#include "isa/vectors.h"

using namespace warpbeam;

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: {} OUTPUTS VECTORS\n", argv[0]);
    return 2;
  }
  std::ifstream in(argv[1], std::ios::binary);
  std::ofstream out(argv[2]);
  for (const auto& c : isa_test::vector_cases()) {
    std::vector<uint64_t> values(isa_test::kThreads * 2);
    if (!in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * 8)))
      return fmt::print(stderr, "too few outputs\n"), 1;
    out << c.statement.text() << fmt::format("\t{:016x}", isa_test::digest(values));
    for (uint32_t t = 3; t < isa_test::kThreads; t += 101) out << fmt::format("{}{:x}", t == 3 ? '\t' : ' ', values[t * 2]);
    out << "\n";
  }
}

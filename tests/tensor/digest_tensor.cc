// Turns a recording (the folder that record_tensor filled) into tensor.txt: a line per case with its digest and a few
// of the words themselves.
#include <cstdio>
#include <fstream>

#include "tensor_cases.h"
#include "tensor_map_cases.h"

using namespace warpbeam::tensor_test;

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s FOLDER > tensor.txt\n", argv[0]), 2;
  const std::string folder = argv[1];
  std::ifstream cases(folder + "/cases.bin", std::ios::binary), maps(folder + "/maps.bin", std::ios::binary);
  const auto line = [](const std::string& name, const std::vector<uint32_t>& words) {
    std::printf("%s\t%016llx\t", name.c_str(), static_cast<unsigned long long>(digest(words.data(), words.size())));
    for (size_t k = 0; k < words.size(); k += words.size() / 6 + 1) std::printf("%s%x", k ? " " : "", words[k]);
    std::printf("\n");
  };
  for (const auto& c : tensor_cases()) {
    std::vector<uint32_t> words(static_cast<size_t>(c.output_words * c.threads * c.trials));
    if (!cases.read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(words.size() * 4))) return 1;
    line(c.name, words);
  }
  for (const auto& c : tensor_map_cases()) {
    std::vector<uint32_t> words((c.copy == MapCopy::Load ? kMapSharedBytes : kMapStoreBytes) / 4);
    if (!maps.read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(words.size() * 4))) return 1;
    bool nothing = true;  // the device refused the map or the copy
    for (uint32_t w : words) nothing = nothing && w == 0xabababab;
    if (!nothing) line("map: " + c.name, words);
  }
}

#include "fuzz/exchange.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "fuzz/generate.h"

namespace warpbeam::fuzz {

bool emit_cases(const std::string& directory, uint64_t seed, uint64_t count) {
  namespace fs = std::filesystem;
  std::error_code failed;
  fs::create_directories(directory, failed);
  const std::vector<std::byte> input = input_bytes();
  std::ofstream(directory + "/input.bin", std::ios::binary)
      .write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
  std::ofstream manifest(directory + "/manifest.txt");
  const Palette palette(true);
  for (uint64_t k = 0; k < count; ++k) {
    const Kernel kernel = generate(seed + k, palette);
    std::ofstream(fmt::format("{}/case{}.ptx", directory, kernel.seed)) << kernel.text();
    manifest << fmt::format("{} {} {} {} {} {} {} {} {}", kernel.seed, kernel.grid[0], kernel.grid[1], kernel.grid[2], kernel.block[0],
                            kernel.block[1], kernel.block[2], out_bytes(kernel), kCells * 8);
    for (const OutputArray& a : output_arrays(kernel)) manifest << fmt::format(" {} {} {} {}", a.name, a.offset, a.bytes, a.count);
    manifest << "\n";
  }
  manifest.flush();
  if (!manifest) fmt::print(stderr, "warpbeam fuzz: cannot write into {}\n", directory);
  return static_cast<bool>(manifest);
}

bool compare_cases(const std::string& path, const std::string& raw, Engine engine) {
  std::ifstream in(path);
  if (!in) {
    fmt::print(stderr, "warpbeam fuzz: cannot read {}\n", path);
    return false;
  }
  std::map<uint64_t, std::map<std::string, std::string>> recorded;
  uint64_t seed;
  for (std::string name, digest; in >> seed >> name >> digest;) recorded[seed][name] = digest;
  const Palette palette(true);
  Bench bench;
  uint64_t different = 0;
  std::ifstream raw_in(raw, std::ios::binary);
  Outcome theirs;
  for (const auto& [number, arrays] : recorded) {
    const Kernel kernel = generate(number, palette);
    const Outcome ours = bench.run(kernel, engine);
    std::string names;
    if (arrays.contains("failed")) names = " failed on the device: " + arrays.at("failed");
    else if (!ours.failure.empty()) names = " failed here: " + ours.failure;
    else
      for (const auto& [name, digest] : digests(kernel, ours.out))
        if (const auto it = arrays.find(name); it == arrays.end() || it->second != fmt::format("{:016x}", digest)) names += " " + name;
    if (!raw.empty()) {
      theirs.out.resize(out_bytes(kernel));
      raw_in.read(reinterpret_cast<char*>(theirs.out.data()), static_cast<std::streamsize>(theirs.out.size()));
    }
    if (names.empty()) continue;
    ++different;
    fmt::print("seed {}:{}\n", number, names);
    if (!raw.empty() && ours.failure.empty()) fmt::print("  {}\n", describe_difference(kernel, kernel.text(), ours, theirs));
  }
  fmt::print("{} kernels compared with {}: {} differ\n", recorded.size(), path, different);
  return different == 0;
}

}  // namespace warpbeam::fuzz

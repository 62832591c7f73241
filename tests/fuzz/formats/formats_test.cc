// Some seconds of mutations of each format; format_fuzz looks for longer, and with sanitizers.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <random>

#include "formats.h"

namespace warpbeam::fuzz {
namespace {

constexpr auto kSeconds = std::chrono::seconds(5);
constexpr size_t kMostBytes = 8192;

std::string mutated(std::string bytes, const Format& format, std::mt19937_64& random) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % std::max<size_t>(n, 1)); };
  for (size_t steps = 1 + below(6); steps > 0; --steps) {
    const size_t at = below(bytes.size() + 1), count = std::min(below(16), bytes.size() - at);
    switch (random() % 7) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        if (at < bytes.size()) bytes[at] = static_cast<char>(random());
        break;
      case 2: bytes.erase(at, count); break;
      case 3: bytes.insert(at, bytes.substr(below(bytes.size()), below(64))); break;
      case 4: bytes.insert(at, format.words[below(format.words.size())]); break;
      case 5: bytes.replace(at, count, format.words[below(format.words.size())]); break;
      case 6:
        if (below(4) == 0) bytes.resize(at);
        break;
    }
  }
  if (bytes.size() > kMostBytes) bytes.resize(kMostBytes);
  return bytes;
}

class Formats : public testing::TestWithParam<size_t> {};

TEST_P(Formats, RefuseWhatIsDamaged) {
  const Format& format = formats()[GetParam()];
  const std::vector<std::string> seeds = format.seeds();
  for (const std::string& seed : seeds) {
    EXPECT_EQ(format.read(seed), !seed.starts_with("@SELF")) << seed;  // a file that names itself is refused
    for (size_t size = 0; size < std::min<size_t>(seed.size(), 300); ++size) format.read(std::string_view(seed).substr(0, size));
  }
  std::mt19937_64 random(GetParam() + 1);
  const auto end = std::chrono::steady_clock::now() + kSeconds;
  std::string last = seeds[0];
  for (size_t round = 0; std::chrono::steady_clock::now() < end; ++round) {
    last = mutated(round % 3 ? seeds[random() % seeds.size()] : last, format, random);
    alarm(20);  // what takes that long hangs
    format.read(last);
  }
  alarm(0);
}

INSTANTIATE_TEST_SUITE_P(All, Formats, testing::Range<size_t>(0, formats().size()),
                         [](const auto& info) { return std::string(formats()[info.param].name); });

}  // namespace
}  // namespace warpbeam::fuzz

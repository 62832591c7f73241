// The kinds of findings, from kinds.inc: those who find, those who show and those who judge speak of the same ones.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace warpbeam::findings {

enum class Check : uint8_t { Memory, Race, Init, Sync, Host, Leak };
inline constexpr std::array<std::string_view, 6> kChecks = {"memory", "race", "init", "sync", "host", "leak"};
constexpr std::string_view word(Check c) { return kChecks[static_cast<size_t>(c)]; }

enum class Kind : uint8_t {
#define WB_FINDING(name, word, check, about) name,
#include "findings/kinds.inc"
#undef WB_FINDING
};

struct KindRow {
  std::string_view word;
  Check check;
  std::string_view about;
};
inline constexpr KindRow kKinds[] = {
#define WB_FINDING(name, word, check, about) {word, Check::check, about},
#include "findings/kinds.inc"
#undef WB_FINDING
};

constexpr std::string_view word(Kind k) { return kKinds[static_cast<size_t>(k)].word; }
constexpr Check check_of(Kind k) { return kKinds[static_cast<size_t>(k)].check; }
constexpr const KindRow* find_kind(std::string_view word) {
  for (const KindRow& row : kKinds)
    if (row.word == word) return &row;
  return nullptr;
}

}  // namespace warpbeam::findings

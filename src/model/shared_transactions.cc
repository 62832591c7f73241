#include <algorithm>
#include <bit>

#include "model/transactions.h"

namespace warpbeam::model {
namespace {

// What each bank is asked for in one phase. Two lanes meet in a bank for free if they want the same row of it.
class Banks {
 public:
  void want(uint32_t bank, uint32_t row) {
    for (int i = count_[bank]; i-- > 0;)
      if (row_[bank][i] == row) return;
    row_[bank][count_[bank]++] = row;
    passes_ = std::max<int>(passes_, count_[bank]);
  }
  int passes() const { return passes_; }

 private:
  uint32_t row_[32][32];
  uint8_t count_[32] = {};
  int passes_ = 0;
};

uint32_t lanes_from(int first, int count) { return (count == 32 ? ~0u : (1u << count) - 1) << first; }

// Every 4-byte word the lanes touch, as word numbers.
template <class F>
void for_words(const WarpAccess& access, uint32_t lanes, F f) {
  for (uint32_t left = access.active & lanes; left; left &= left - 1) {
    uint64_t address = access.address[std::countr_zero(left)];
    uint32_t first = static_cast<uint32_t>(address / 4);
    uint32_t behind = static_cast<uint32_t>((address + access.bytes_per_lane - 1) / 4) + 1;  // 0 at multiples of 16 GiB
    for (uint32_t word = first; word != behind; ++word) f(word);
  }
}

void add_phase(SharedTraffic& traffic, int passes) {
  traffic.wavefronts += passes;
  if (passes > 0) ++traffic.ideal;
}

// 32 banks of 4 bytes: all lanes that want one word get it together.
int passes_by_word(const WarpAccess& access, uint32_t lanes) {
  Banks banks;
  for_words(access, lanes, [&](uint32_t word) { banks.want(word % 32, word); });
  return banks.passes();
}

// 32 banks of 8 bytes. In the 4-byte mode words 32 apart in an aligned run of 64 words sit side by side in one bank.
int passes_by_wide_row(const WarpAccess& access, uint32_t lanes, BankMode mode) {
  Banks banks;
  for_words(access, lanes, [&](uint32_t word) {
    if (mode == BankMode::EightBytes) banks.want(word / 2 % 32, word / 2);
    else banks.want(word % 32, word / 64);
  });
  return banks.passes();
}

// cc 1.x: each step serves every lane that wants one chosen word, and one lane in each other bank. The hardware does
// not say which word it chooses; the one most wanted in the fullest bank needs fewest steps.
int steps_with_one_broadcast(std::array<uint32_t, 16> words, uint32_t waiting) {
  int steps = 0;
  while (waiting) {
    ++steps;
    int in_bank[16] = {};
    for (uint32_t left = waiting; left; left &= left - 1) ++in_bank[words[std::countr_zero(left)] % 16];
    int fullest = static_cast<int>(std::max_element(in_bank, in_bank + 16) - in_bank);
    uint32_t chosen = 0;
    int most = 0;
    for (uint32_t left = waiting; left; left &= left - 1) {
      uint32_t word = words[std::countr_zero(left)];
      if (static_cast<int>(word % 16) != fullest) continue;
      int wanted = 0;
      for (uint32_t other = waiting; other; other &= other - 1) wanted += words[std::countr_zero(other)] == word;
      if (wanted > most) {
        most = wanted;
        chosen = word;
      }
    }
    uint32_t busy_banks = 1u << fullest;
    for (uint32_t left = waiting; left; left &= left - 1) {
      int lane = std::countr_zero(left);
      uint32_t bank = 1u << (words[lane] % 16);
      if (words[lane] != chosen && (busy_banks & bank)) continue;
      busy_banks |= bank;
      waiting &= ~(1u << lane);
    }
  }
  return steps;
}

// Wider words are as many separate 4-byte requests.
SharedTraffic sixteen_banks(const WarpAccess& access) {
  SharedTraffic traffic;
  int words_per_lane = std::max(1, access.bytes_per_lane / 4);
  for (int half = 0; half < 32; half += 16) {
    uint32_t waiting = access.active >> half & 0xffff;
    for (int part = 0; part < words_per_lane; ++part) {
      std::array<uint32_t, 16> words{};
      for (int lane = 0; lane < 16; ++lane) words[lane] = static_cast<uint32_t>(access.address[half + lane] / 4 + part);
      add_phase(traffic, steps_with_one_broadcast(words, waiting));
    }
  }
  return traffic;
}

// Whether neighbouring phases of a wide load are read as one: for every active lane of the warp its partner (lane ^ 1, or
// for all of them lane ^ 2) is inactive or wants the same address, so that the lanes together want half as much. Measured
// on an H200 (tests/profile): one lane in the second half-warp that has no such partner keeps the phases of the first
// half-warp apart too.
bool phases_merge(const WarpAccess& access) {
  for (int partner : {1, 2}) {
    bool all = true;
    for (uint32_t left = access.active; left && all; left &= left - 1) {
      int lane = std::countr_zero(left);
      int other = lane ^ partner;
      all = !(access.active >> other & 1) || access.address[lane] == access.address[other];
    }
    if (all) return true;
  }
  return false;
}

// As many as the banks can serve at once.
int lanes_of_phase(const WarpAccess& access) { return access.bytes_per_lane <= 4 ? 32 : access.bytes_per_lane == 8 ? 16 : 8; }

SharedTraffic by_phases(const WarpAccess& access, bool merges) {
  SharedTraffic traffic;
  const int lanes = lanes_of_phase(access);
  if (lanes == 32) {
    add_phase(traffic, passes_by_word(access, ~0u));
    return traffic;
  }
  const bool merged = merges && !access.store && !access.rows && phases_merge(access);
  for (int first = 0; first < 32; first += 2 * lanes) {
    uint32_t pair = lanes_from(first, 2 * lanes);
    if (merged) {
      add_phase(traffic, passes_by_word(access, pair));
    } else {
      add_phase(traffic, passes_by_word(access, lanes_from(first, lanes)));
      add_phase(traffic, passes_by_word(access, lanes_from(first + lanes, lanes)));
    }
  }
  return traffic;
}

// Lanes that want one bank, or as many neighbouring ones as their words fill, take turns; those that want one word of it too.
int turns_by_bank(const WarpAccess& access, uint32_t lanes, unsigned banks) {
  const auto words = static_cast<unsigned>(std::max(1, access.bytes_per_lane / 4));
  int lanes_of[32] = {};
  int most = 0;
  for (uint32_t left = access.active & lanes; left; left &= left - 1) {
    const auto bank = access.address[std::countr_zero(left)] / (4 * words) % (banks / words);
    most = std::max(most, ++lanes_of[bank]);
  }
  return most;
}

}  // namespace

SharedTraffic shared_atomic_traffic(BankRule rule, const WarpAccess& access, SharedAtomic form) {
  SharedTraffic traffic;
  if (!access.active) return traffic;
  if (form == SharedAtomic::Increment) {
    add_phase(traffic, passes_by_word(access, ~0u));
    return traffic;
  }
  const int times = form == SharedAtomic::CompareSwap ? 2 : 1;
  const int lanes = lanes_of_phase(access);
  for (int first = 0; first < 32; first += lanes) {
    const int turns = turns_by_bank(access, lanes_from(first, lanes), rule == BankRule::HalfWarp16 ? 16 : 32);
    if (!turns) continue;
    traffic.wavefronts += times * turns;
    traffic.ideal += times * turns - (turns - 1);
  }
  return traffic;
}

SharedTraffic shared_copy_traffic(const WarpAccess& from, const WarpAccess& to) {
  SharedTraffic traffic;
  const int lanes = lanes_of_phase(to);
  for (int first = 0; first < 32; first += lanes) {
    const uint32_t phase = lanes_from(first, lanes);
    add_phase(traffic, std::max(turns_by_bank(from, phase, 32), turns_by_bank(to, phase, 32)));
  }
  return traffic;
}

SharedTraffic shared_traffic(BankRule rule, const WarpAccess& access, BankMode mode, bool merges_phases) {
  switch (rule) {
    case BankRule::HalfWarp16: return sixteen_banks(access);
    case BankRule::Banks32: return by_phases(access, false);
    case BankRule::Phases32: return by_phases(access, merges_phases);
    case BankRule::Banks32x8: {
      SharedTraffic traffic;
      int lanes = access.bytes_per_lane <= 8 ? 32 : 16;
      for (int first = 0; first < 32; first += lanes) add_phase(traffic, passes_by_wide_row(access, lanes_from(first, lanes), mode));
      return traffic;
    }
  }
  return {};
}

}  // namespace warpbeam::model

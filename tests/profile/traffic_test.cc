// The quick ways of counting an access's traffic give what the model gives.
#include "observe/profiler/traffic.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "vm/access.h"

namespace warpbeam::observe {
namespace {

using isa::Space;
using vm::AccessKind;

struct Case {
  vm::Access access;
  model::WarpAccess same;  // to the model
};

// Lanes anywhere within so many elements, and lanes of a kind: all at one place, few places, side by side, a stride.
class Cases {
 public:
  Case next(AccessKind kind, uint64_t elements, uint32_t bytes, Space space) {
    Case c;
    c.access.space = space;
    c.access.kind = kind;
    c.access.bytes = bytes;
    c.access.mask = below(3) ? ~0u : static_cast<uint32_t>(random_()) | 1u << below(32);
    const uint64_t base = space == Space::Shared ? 0 : (uint64_t{1} << 40) + below(64) * bytes;
    const uint64_t form = below(5), stride = below(40), first = below(elements);
    for (uint64_t l = 0; l < 32; ++l) {
      const uint64_t place = form == 0   ? first
                             : form == 1 ? first + stride * l
                             : form == 2 ? first + below(1 + stride)
                             : form == 3 ? first + l / (1 + stride)
                                         : below(elements);
      c.access.address[l] = base + place % elements * bytes;
    }
    const uint64_t any = c.access.address[static_cast<size_t>(std::countr_zero(c.access.mask))];
    for (uint64_t l = 0; l < 32; ++l)
      if (!(c.access.mask >> l & 1)) c.access.address[l] = any;
    c.same.address = c.access.address;
    c.same.active = c.access.mask;
    c.same.bytes_per_lane = static_cast<int>(bytes);
    c.same.store = kind == AccessKind::Write;
    return c;
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }
  std::mt19937_64 random_{7};
};

constexpr int kTimes = 20'000;
constexpr uint64_t kRanges[] = {1, 8, 40, 256, 4000, 60'000, 70'000, 1'000'000, 3'000'000'000};

void expect_as_modelled(const Case& c, const Traffic& t, const model::GlobalTraffic& traffic) {
  const auto distinct = model::global_traffic(model::GlobalRule::Sectors, c.same);
  EXPECT_EQ(t.requests, static_cast<uint64_t>(traffic.requests));
  EXPECT_EQ(t.transactions, static_cast<uint64_t>(traffic.segment_count));
  EXPECT_EQ(t.sectors, static_cast<uint64_t>(distinct.sectors));
  EXPECT_EQ(t.ideal, static_cast<uint64_t>(model::ideal_sectors(distinct)));
  EXPECT_EQ(t.lines, static_cast<uint64_t>(traffic.lines));
  EXPECT_EQ(t.bytes, static_cast<uint64_t>(model::distinct_bytes(c.same)));
  EXPECT_EQ(t.bytes_moved, static_cast<uint64_t>(traffic.bytes_moved()));
}

TEST(Traffic, of_global_memory_is_the_models) {
  const model::Device& device = model::default_device();
  ptx::Instruction source{};
  vm::Insn insn;
  insn.source = &source;
  Cases cases;
  for (int k = 0; k < kTimes && !testing::Test::HasFailure(); ++k) {
    const AccessKind kind = k % 3 == 0 ? AccessKind::Read : k % 3 == 1 ? AccessKind::Write : AccessKind::Atomic;
    const bool atomic = kind == AccessKind::Atomic;
    Case c =
        cases.next(kind, kRanges[static_cast<size_t>(k) % std::size(kRanges)], atomic ? 2u << k / 5 % 4 : 1u << k / 7 % 5, Space::Global);
    c.same.compares = atomic && k % 7 == 0;
    Counts counts;
    source.form.mods.op = c.same.compares ? isa::Op::Cas : isa::Op::Add;
    count_access(device, model::BankMode::FourBytes, insn, c.access, counts);
    EXPECT_EQ(counts.to_global, 1u);
    expect_as_modelled(c, counts.global,
                       atomic ? model::global_atomic_traffic(device.global_rule, c.same) : model::global_traffic(device, c.same));
    if (testing::Test::HasFailure())
      ADD_FAILURE() << "case " << k << ", " << c.access.bytes << " bytes a lane, lanes " << std::hex << c.access.mask;
  }
}

TEST(Traffic, of_shared_memory_is_the_models) {
  const model::Device& device = model::default_device();
  const ptx::Instruction source{};
  vm::Insn insn;
  insn.source = &source;
  Cases cases;
  for (int k = 0; k < kTimes && !testing::Test::HasFailure(); ++k) {
    const Case c =
        cases.next(k % 2 ? AccessKind::Read : AccessKind::Write, kRanges[static_cast<size_t>(k) % 5], 1u << k / 7 % 5, Space::Shared);
    Counts counts;
    count_access(device, model::BankMode::FourBytes, insn, c.access, counts);
    const model::SharedTraffic traffic = model::shared_traffic(device, c.same);
    EXPECT_EQ(counts.to_shared, 1u);
    EXPECT_EQ(counts.shared.wavefronts, static_cast<uint64_t>(traffic.wavefronts));
    EXPECT_EQ(counts.shared.conflicts, static_cast<uint64_t>(traffic.conflicts()));
    EXPECT_EQ(counts.shared.bytes, static_cast<uint64_t>(model::distinct_bytes(c.same)));
    if (testing::Test::HasFailure())
      ADD_FAILURE() << "case " << k << ", " << c.access.bytes << " bytes a lane, lanes " << std::hex << c.access.mask;
  }
}

}  // namespace
}  // namespace warpbeam::observe

// Loads whose addresses differ by constants: read once and shifted, unless something stands between them.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

constexpr const char* kWho[] = {"", "setp.gt.u32 %p1, %t, 41; @%p1 bra S;", "and.b32 %r9, %i, 5; setp.eq.u32 %p1, %r9, 4; @%p1 bra S;"};

std::string sum_of(const std::string& load, const std::string& at, std::initializer_list<int> offsets, const std::string& between = "") {
  std::string text;
  int k = 0;
  for (const int o : offsets)
    text +=
        fmt::format("{} %r{}, [{}+{}]; {} mad.lo.u32 %r1, %r1, 31, %r{}; ", load, 2 + k % 6, at, 4 * o, k == 1 ? between : "", 2 + k % 6),
        ++k;
  return text;
}

TEST_F(Engines, AgreeOnWindowsOfGlobalMemory) {
  for (const char* who : kWho)
    for (const char* load : {"ld.global.u32", "ld.volatile.global.u32", "ld.global.nc.u32"}) {
      const auto run = [&](std::initializer_list<int> offsets, const char* between = "") {
        both(fmt::format("mov.u32 %r1, 7; {} {} S: st.global.u32 [%at+8192], %r1; ret;", who, sum_of(load, "%at", offsets, between)),
             {2, 1, 1}, {128, 1, 1}, 0);
      };
      run({0, 1, 2});
      run({4, 3, 5, 2, 6, 1, 7, 0, 8});
      run({16, 0, 32, 17, 16});
      run({0, 40, 80, 3, 44, 81, 2, 42, 82});
      run({3, 1, 2, 0, 4}, "bar.sync 0;");
      run({3, 1, 2, 0, 4}, "membar.gl;");
    }
  EXPECT_TRUE(happened("straight code"));
  EXPECT_TRUE(happened("dense accesses"));
  EXPECT_TRUE(happened("next blocks named"));
  if (wide_host()) EXPECT_TRUE(happened("windows"));
}

// What is loaded behind an acquire is not loaded before it.
TEST_F(Engines, AgreeOnWindowsBehindAnAcquire) {
  const auto planned_with = [&](const char* between) {
    both(fmt::format("mov.u32 %r1, 7; {} st.global.u32 [%at+8192], %r1; ret;", sum_of("ld.global.u32", "%at", {0, 1, 2, 3}, between)),
         {2, 1, 1}, {128, 1, 1}, 0);
    return planned("windows");
  };
  if (!wide_host()) GTEST_SKIP() << "there are none";
  EXPECT_TRUE(planned_with("ld.global.u32 %r9, [%out+16000];"));
  EXPECT_FALSE(planned_with("ld.acquire.gpu.global.u32 %r9, [%out+16000];"));
}

// A store between them is seen by those behind it.
TEST_F(Engines, AgreeOnWindowsThatAreWrittenTo) {
  for (const char* who : kWho) {
    both(fmt::format("mov.u32 %r1, 7; and.b32 %r8, %t, 31; mov.u64 %d1, tile; mul.wide.u32 %d2, %t, 4; add.s64 %d1, "
                     "%d1, %d2; st.shared.u32 [%d1], %i; st.shared.u32 [%d1+512], %t; bar.sync 0; {} {} S: "
                     "st.global.u32 [%at], %r1; ret;",
                     who, sum_of("ld.shared.u32", "%d1", {2, 1, 0, 3, 4}, "st.shared.u32 [%d1], %r8;")),
         {2, 1, 1}, {32, 1, 1}, 0);
    both(fmt::format("mov.u32 %r1, 7; {} {} S: st.global.u32 [%at+8192], %r1; ret;", who,
                     sum_of("ld.global.u32", "%at", {2, 1, 0, 3, 4}, "st.global.u32 [%at], %t;")),
         {1, 1, 1}, {32, 1, 1}, 0);
  }
}

// The first word of some warps' windows or the last one lies outside of the allocation.
TEST_F(Engines, AgreeOnWindowsThatEndInAFault) {
  for (const int shift : {-16, -8, 0, 8, 16384 - 256, 16384 - 248, 16384 - 128})
    both(fmt::format("mov.u32 %r1, 7; add.s64 %at, %at, {}; {} st.global.u32 [%at+{}], %r1; ret;", shift,
                     sum_of("ld.global.u32", "%at", {2, 1, 0, 3, 4}), shift > 8192 ? -8192 : 8192),
         {1, 1, 1}, {64, 1, 1}, 0);
}

// Elements of eight bytes, of which a register has half as many.
TEST_F(Engines, AgreeOnWindowsOfDoubles) {
  const auto sum = [](const std::string& load, std::initializer_list<int> offsets) {
    std::string text;
    for (const int o : offsets) text += fmt::format("{} %d3, [%d1+{}]; mad.lo.s64 %d4, %d4, 31, %d3; ", load, 8 * o);
    return text;
  };
  for (const char* who : kWho)
    for (const char* load : {"ld.global.u64", "ld.global.nc.f64"})
      for (const std::initializer_list<int>& offsets : {std::initializer_list<int>{0, 1, 2},
                                                        {4, 3, 5, 2, 6, 1, 7, 0, 8},
                                                        {16, 0, 32, 17, 16},
                                                        {9, 31, 8, 7, 24, 23},
                                                        {-1, 1, 0, 40, -30, 2}}) {
        std::string text = sum(load, offsets);
        if (load[10] == '.')  // as numbers
          for (size_t at = 0; (at = text.find("%d3, [", at)) != text.npos;)
            text.replace(at, 3, "%g1"), text.insert(text.find(';', at) + 1, " mov.b64 %d3, %g1;");
        both(
            fmt::format(
                "mov.u64 %d4, 7; mul.wide.u32 %d2, %i, 8; add.s64 %d1, %out, %d2; add.s64 %d1, %d1, 512; {} {} S: xor.b64 %d4, %d4, %d2; st.global.u64 [%d1+8192], %d4; ret;",
                who, text),
            {2, 1, 1}, {128, 1, 1}, 0);
      }
  if (wide_host()) EXPECT_TRUE(happened("windows"));
  for (const int shift : {-520, -512, 16384 - 1024, 16384 - 1020, 16384 - 768})
    both(
        fmt::format(
            "mov.u64 %d4, 7; mul.wide.u32 %d2, %i, 8; add.s64 %d1, %out, %d2; add.s64 %d1, %d1, {}; {} cvt.u32.u64 %r1, %d4; st.global.u32 [%at+8192], %r1; ret;",
            shift, sum("ld.global.u64", {2, 1, 0, 3, 4})),
        {1, 1, 1}, {32, 1, 1}, 0);
}

}  // namespace
}  // namespace warpbeam::vm

// Places in shared memory that are a number of the warp and a pattern of its lanes: within a window and beyond, rising and
// not, for all lanes and for some, up to faults.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

constexpr uint32_t kMasks[] = {0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 0x80000003u, 0xfffffffeu, 0xffffffffu};
constexpr const char* kWho[] = {"", "setp.gt.u32 %p1, %t, 41; @%p1 bra S;", "and.b32 %r9, %i, 5; setp.eq.u32 %p1, %r9, 4; @%p1 bra S;"};
constexpr const char kFill[] =
    "mov.u64 %d9, tile; mul.wide.u32 %d1, %t, 4; add.s64 %d1, %d9, %d1; mul.lo.u32 %r1, %i, 0x9e3779b1; st.shared.u32 "
    "[%d1], %r1; not.b32 %r1, %r1; st.shared.u32 [%d1+1024], %r1; st.shared.u32 [%d1+2048], %i; bar.sync 0; mov.u32 %r2, 7;\n";
constexpr const char kEnd[] =
    " bar.sync 0; ld.shared.u32 %r3, [%d1]; mad.lo.u32 %r2, %r2, 77, %r3; ld.shared.u32 %r3, [%d1+1024]; mad.lo.u32 "
    "%r2, %r2, 77, %r3; ld.shared.u32 %r3, [%d1+2048]; mad.lo.u32 %r2, %r2, 77, %r3; st.global.u32 [%at], %r2; ret;";

TEST_F(Engines, AgreeOnLoadsOfAPattern) {
  for (const char* who : kWho)
    for (const uint32_t n : kMasks)
      for (const int factor : {1, 2, 3, -1})
        both(fmt::format("{} and.b32 %r4, %t, %n; mad.lo.s32 %r4, %r4, {}, 250; add.s32 %r4, %r4, %t; and.b32 %r5, %n, -64; "
                         "mul.lo.s32 %r6, %r5, {}; sub.s32 %r4, %r4, %r6; and.b32 %r7, %t, -64; and.b32 %r7, %r7, %n; "
                         "mul.wide.s32 %d2, %r4, 4; add.s64 %d2, %d9, %d2; {} ld.shared.u32 %r2, [%d2]; ld.shared.u32 "
                         "%r8, [%d2+64]; xor.b32 %r2, %r2, %r8; S: {}",
                         kFill, factor, factor, who, kEnd),
             {1, 1, 1}, {96, 1, 1}, n & 127);
}

TEST_F(Engines, AgreeOnStoresOfAPattern) {
  for (const char* who : kWho)
    for (const uint32_t n : kMasks)
      for (const char* combine : {"add", "sub"})
        both(fmt::format("{} shl.b32 %r4, %t, 1; and.b32 %r5, %n, %t; {}.s32 %r4, %r4, %r5; add.s32 %r4, %r4, 200; cvt.u64.u32 "
                         "%d2, %r4; shl.b64 %d2, %d2, 2; add.s64 %d2, %d9, %d2; {} st.shared.u32 [%d2+8], %i; "
                         "ld.shared.u32 %r6, [%d2+-16]; add.u32 %r2, %r2, %r6; S: {}",
                         kFill, combine, who, kEnd),
             {1, 1, 1}, {96, 1, 1}, n);
}

// Butterflies and the like: masks that are constants, the same in all blocks, in a block or in a warp only.
TEST_F(Engines, AgreeOnLanesThatAreFlipped) {
  for (const char* who : kWho)
    for (const char* op : {"xor", "or"})
      for (const char* mask : {"mov.u32 %r10, %n", "mov.u32 %r10, 1", "mov.u32 %r10, 33", "and.b32 %r10, %c, %n",
                               "shr.u32 %r11, %t, 5; mul.lo.u32 %r12, %r11, %n; and.b32 %r10, %r12, 127"})
        for (const uint32_t n : {0u, 1u, 5u, 31u, 32u, 77u, 127u})
          both(fmt::format(
                   "{} {}; {}.b32 %r14, %r10, %t; mul.wide.u32 %d2, %r14, 4; add.s64 %d3, %d9, %d2; {} ld.shared.u32 %r15, [%d3+1024]; "
                   "ld.shared.u32 %r16, [%d3]; mad.lo.u32 %r2, %r15, 5, %r16; st.shared.u32 [%d3+2048], %r2; S: {}",
                   kFill, mask, op, who, kEnd),
               {2, 1, 1}, {96, 1, 1}, n);
  if (wide_host()) EXPECT_TRUE(happened("uniform plus pattern"));
}

TEST_F(Engines, AgreeOnPatternsThatLeaveSharedMemory) {
  for (const char* who : kWho)
    for (const uint32_t n : {1u, 7u, 31u, 63u})
      for (const int offset : {-4, -64, 3600, 3800, 4000, 4090, 1})
        both(fmt::format("{} and.b32 %r4, %n, %t; mul.wide.u32 %d2, %r4, 4; add.s64 %d2, %d9, %d2; {} st.shared.u32 "
                         "[%d2+{}], %i; S: {}",
                         kFill, who, offset, kEnd),
             {1, 1, 1}, {96, 1, 1}, n);
}

// Sums of 32 bits that wrap around before they are widened.
TEST_F(Engines, AgreeOnPatternsThatWrapAround) {
  for (const char* widen : {"u32", "s32"})
    for (const uint32_t n : {3u, 31u})
      for (const uint32_t from : {0xfffffff0u, 0x7ffffff0u, 0xffffffe0u, 0u})
        both(fmt::format("{} and.b32 %r4, %t, %n; add.u32 %r4, %r4, {}; mul.wide.{} %d2, %r4, 4; cvt.u32.u64 %r5, %d2; "
                         "shr.u64 %d3, %d2, 32; cvt.u32.u64 %r6, %d3; xor.b32 %r2, %r5, %r6; add.s64 %d2, %d9, %d2; "
                         "add.s64 %d2, %d2, 256; setp.gt.u32 %p2, %n, 99; @!%p2 bra S; st.shared.u32 [%d2], %r2; S: {}",
                         kFill, from, widen, kEnd),
             {1, 1, 1}, {96, 1, 1}, n);
}

// Lanes that take no part may lie in front of shared memory: `b[j - 1]` for j >= 1, of which nothing is known but that it came from memory.
TEST_F(Engines, AgreeOnStretchesThatBeginInFrontOfSharedMemory) {
  for (const char* type : {"u8", "s8", "u16", "u32"})
    for (const int before : {1, 2, 20})
      for (const char* first : {"mov.u32 %r4, tile;", "mov.u32 %r4, 0;"}) {
        const int bytes = type[1] == '8' ? 1 : type[1] == '1' ? 2 : 4;
        both(
            fmt::format(
                "{} st.shared.u32 [%d1+1024], %t; bar.sync 0; ld.shared.u32 %r5, [%d1+1024]; setp.lt.u32 %p1, %t, {}; @%p1 bra S; {} mad.lo.s32 %r4, %r5, {}, %r4; "
                "sub.s32 %r4, %r4, {}; ld.shared.{} %r2, [%r4]; bar.warp.sync -1; st.shared.{} [%r4], %r5; S: {}",
                kFill, before, first, bytes, before * bytes, type, type, kEnd),
            {1, 1, 1}, {96, 1, 1}, 0);
      }
}

// The network of a sort by merging, where each thread has a pair to itself and each of whose registers is written once, as compilers write them: the pattern is looked at.
TEST_F(Engines, AgreeOnPartnersThatArePatterns) {
  for (const uint32_t n : {1u, 2u, 4u, 8u, 16u, 32u, 64u})
    both(
        std::string(kFill) +
            "shl.b32 %r10, %t, 1; sub.s32 %r11, %n, 1; and.b32 %r12, %t, %r11; sub.s32 %r13, %r10, %r12; mul.wide.s32 %d2, %r13, 4; add.s64 %d3, %d9, %d2; add.s32 %r14, %r13, %n; mul.wide.s32 %d4, %r14, "
            "4; add.s64 %d5, %d9, %d4; ld.shared.u32 %r15, [%d3]; ld.shared.u32 %r16, [%d5]; setp.gt.u32 %p2, %r15, %r16; @!%p2 bra S; st.shared.u32 [%d3], %r16; st.shared.u32 [%d5], %r15; "
            "S: " +
            std::string(kEnd),
        {2, 1, 1}, {128, 1, 1}, n);
  if (wide_host()) EXPECT_TRUE(happened("uniform plus pattern"));
}

}  // namespace
}  // namespace warpbeam::vm

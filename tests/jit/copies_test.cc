// cp.async: places side by side and apart, for all lanes and some, with fewer bytes read than written, and what is wrong.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

std::string copy_and_read(const char* from, const char* to, const char* some, const char* copy) {
  return fmt::format(
      "mov.u32 %r9, tile; mul.lo.u32 %r1, %t, 16; add.u32 %r1, %r1, %r9; mov.u32 %r4, 9; st.shared.v4.u32 [%r1], {{%t, %r4, %t, %r4}}; bar.sync 0; and.b32 %r2, %t, 15; shr.u32 %r3, %t, 4; "
      "{}; mul.wide.u32 %d1, %r5, 1; add.s64 %d1, %out, %d1; {}; add.u32 %r6, %r6, %r9; {}; {}; cp.async.wait_all; E: bar.sync 0; xor.b32 %r7, %t, 37; mul.lo.u32 %r7, %r7, 16; "
      "add.u32 %r7, %r7, %r9; ld.shared.v4.u32 {{%r10, %r11, %r12, %r13}}, [%r7]; mad.lo.u32 %r10, %r10, 3, %r11; mad.lo.u32 %r12, %r12, 5, %r13; mad.lo.u32 %r10, %r10, 7, %r12; "
      "st.global.u32 [%at+8192], %r10; ret;",
      from, to, some, copy);
}

TEST_F(Engines, AgreeOnAsynchronousCopies) {
  for (const int bytes : {4, 8, 16})
    for (const char* from : {"mul.lo.u32 %r5, %t, {0}", "mad.lo.u32 %r5, %r3, 256, 0; mad.lo.u32 %r5, %r2, {0}, %r5",
                             "xor.b32 %r5, %t, 5; mul.lo.u32 %r5, %r5, {0}", "mov.u32 %r5, 64"})
      for (const char* to :
           {"mul.lo.u32 %r6, %t, {0}", "mad.lo.u32 %r6, %r3, 512, 0; mad.lo.u32 %r6, %r2, {0}, %r6", "mul.lo.u32 %r6, %t, 16"})
        for (const char* some : {"", "setp.ge.u32 %p1, %t, %n; @%p1 bra E"}) {
          both(copy_and_read(fmt::format(fmt::runtime(from), bytes).c_str(), fmt::format(fmt::runtime(to), bytes).c_str(), some,
                             fmt::format("cp.async.{}.shared.global [%r6], [%d1], {}", bytes == 16 ? "cg" : "ca", bytes).c_str()),
               {1, 1, 1}, {128, 1, 1}, 45);
        }
  EXPECT_TRUE(happened("copies"));
}

TEST_F(Engines, AgreeOnCopiesThatReadLess) {
  for (const char* copy :
       {"mov.u32 %r8, 3; cp.async.ca.shared.global [%r6], [%d1], 4, %r8", "mov.u32 %r8, 4; cp.async.ca.shared.global [%r6], [%d1], 4, %r8",
        "and.b32 %r8, %t, 7; cp.async.ca.shared.global [%r6], [%d1], 4, %r8",
        "setp.lt.u32 %p2, %t, %n; cp.async.ca.shared.global [%r6], [%d1], 4, %p2",
        "setp.lt.u32 %p2, %n, 3; cp.async.ca.shared.global [%r6], [%d1], 4, %p2",
        "setp.lt.u32 %p2, %t, %n; @%p2 cp.async.ca.shared.global [%r6+4], [%d1+8], 4"})
    for (const uint32_t n : {0u, 2u, 50u, 128u})
      both(copy_and_read("mul.lo.u32 %r5, %t, 4", "mul.lo.u32 %r6, %t, 4", "", copy), {1, 1, 1}, {128, 1, 1}, n);
}

TEST_F(Engines, AgreeOnCopiesThatFail) {
  for (const char* from : {"mul.lo.u32 %r5, %t, 4; add.u32 %r5, %r5, 16384", "mul.lo.u32 %r5, %t, 4; add.u32 %r5, %r5, 2"})
    both(copy_and_read(from, "mul.lo.u32 %r6, %t, 4", "", "cp.async.ca.shared.global [%r6], [%d1], 4"), {1, 1, 1}, {32, 1, 1}, 0);
  both(copy_and_read("mul.lo.u32 %r5, %t, 4", "mul.lo.u32 %r6, %t, 1000", "", "cp.async.ca.shared.global [%r6], [%d1], 4"), {1, 1, 1},
       {32, 1, 1}, 0);
}

}  // namespace
}  // namespace warpbeam::vm

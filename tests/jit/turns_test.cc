// Warps that wait for each other at different places: barriers for some of them, barriers in memory, and what becomes of the
// others when one is handed over or fails.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

// Warp 0 fills two buffers in turn, the others read them; `odd` is a thread whose index wraps around in round 3.
std::string producer(int odd) {
  return fmt::format(
      "mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r9, %n; setp.lt.u32 %p1, %t, 32; and.b32 %r3, %t, 31; mul.lo.u32 %r4, %r3, 4; "
      "mov.u32 %r5, tile; add.u32 %r4, %r4, %r5; @!%p1 bra C;\n"
      "P: setp.lt.u32 %p2, %r1, 2; and.b32 %r6, %r1, 1; @%p2 bra F; add.u32 %r7, %r6, 3; bar.sync %r7, %s; F: mad.lo.u32 %r8, %r1, 100, %t; "
      "mad.lo.u32 %r10, %r6, 128, %r4; st.shared.u32 [%r10], %r8; add.u32 %r7, %r6, 1; bar.arrive %r7, %s; add.u32 %r1, %r1, 1; "
      "setp.lt.u32 %p2, %r1, %r9; @%p2 bra P; bra E;\n"
      "C: and.b32 %r6, %r1, 1; add.u32 %r7, %r6, 1; bar.sync %r7, %s; mad.lo.u32 %r10, %r6, 128, %r4; ld.shared.u32 %r8, [%r10]; "
      "mad.lo.u32 %r2, %r2, 3, %r8; setp.ne.u32 %p3, %r1, 3; @%p3 bra N; sub.u32 %r11, %t, {}; mul.wide.u32 %d2, %r11, 2; "
      "cvt.u32.u64 %r11, %d2; xor.b32 %r2, %r2, %r11; N: add.u32 %r1, %r1, 1; add.u32 %r12, %r1, 1; setp.ge.u32 %p2, %r12, %r9; "
      "add.u32 %r7, %r6, 3; @%p2 bra L; bar.arrive %r7, %s; L: setp.lt.u32 %p2, %r1, %r9; @%p2 bra C;\n"
      "E: st.global.u32 [%at], %r2; ret;",
      odd);
}

TEST_F(Engines, AgreeOnBarriersOfSomeWarps) {
  for (const uint32_t threads : {64u, 128u, 256u})
    for (const uint32_t rounds : {2u, 7u}) both(producer(0), {3, 1, 1}, {threads, 1, 1}, rounds);
}

TEST_F(Engines, AgreeWhereOneIsHandedOverWhileOthersWait) {
  for (const int odd : {40, 70, 127}) both(producer(odd), {2, 1, 1}, {128, 1, 1}, 6);
}

TEST_F(Engines, AgreeWhereOneIsHandedOverWhileOthersHaveBeenLetGo) {
  // All pass barrier 2, which each warp comes to twice; then one meets an index that wraps around before others have gone on.
  for (const uint32_t first : {0u, 8u, 40u, 72u, 104u})
    both(
        "bar.arrive 2, 256; bar.sync 2, 256; add.u32 %r1, %n, %t; mul.wide.u32 %d1, %r1, 3; cvt.u32.u64 %r2, %d1; shr.u64 %d1, %d1, 32; cvt.u32.u64 %r3, %d1;\n"
        "xor.b32 %r2, %r2, %r3; st.global.u32 [%at], %r2; ret;",
        {2, 1, 1}, {128, 1, 1}, -first);
}

TEST_F(Engines, AgreeOnReductionsAtBarriersOfSomeWarps) {
  for (const uint32_t n : {0u, 5u, 40u, 70u, 200u})
    both(
        "shr.u32 %r1, %t, 6; add.u32 %r1, %r1, 4; setp.lt.u32 %p1, %t, %n; bar.red.popc.u32 %r2, %r1, 64, %p1; "
        "bar.red.and.pred %p2, %r1, 64, %p1; bar.red.or.pred %p3, %r1, 64, %p1; selp.u32 %r3, 100, 7, %p2; selp.u32 %r4, 1000, 3, %p3; "
        "bar.red.popc.u32 %r5, 0, %p1; mad.lo.u32 %r2, %r2, 17, %r3; add.u32 %r2, %r2, %r4; mad.lo.u32 %r2, %r5, 5000, %r2; st.global.u32 [%at], %r2; ret;",
        {2, 1, 1}, {128, 1, 1}, n);
}

// All threads exchange through shared memory, with a barrier in memory in between, waited for by what they were told on
// arriving, or by the phase's parity.
std::string rounds_at_barrier(const char* wait, uint32_t threads) {
  return fmt::format(
      "mov.u32 %r1, 0; mov.u32 %r2, %i; mov.u32 %r9, tile; add.u32 %r10, %r9, 2048; setp.ne.u32 %p1, %t, 0; @%p1 bra B; mbarrier.init.shared.b64 [%r10], {0}; "
      "B: bar.sync 0; mad.lo.u32 %r3, %t, 4, %r9; add.u32 %r4, %t, 33; rem.u32 %r4, %r4, {0}; mad.lo.u32 %r4, %r4, 4, %r9;\n"
      "L: st.shared.u32 [%r3], %r2; and.b32 %r5, %r1, 1; mbarrier.arrive.shared.b64 %d1, [%r10]; W: {1}; @!%p2 bra W; ld.shared.u32 %r6, [%r4]; mad.lo.u32 %r2, %r2, 5, %r6;\n"
      "bar.sync 0; add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, %n; @%p3 bra L; st.global.u32 [%at], %r2; ret;",
      threads, wait);
}

TEST_F(Engines, AgreeOnBarriersInMemory) {
  for (const char* wait : {"mbarrier.try_wait.shared.b64 %p2, [%r10], %d1", "mbarrier.test_wait.shared.b64 %p2, [%r10], %d1",
                           "mbarrier.try_wait.parity.shared.b64 %p2, [%r10], %r5", "mbarrier.test_wait.parity.shared.b64 %p2, [%r10], %r5"})
    for (const uint32_t threads : {32u, 96u, 100u, 256u}) both(rounds_at_barrier(wait, threads), {2, 1, 1}, {threads, 1, 1}, 6);
  EXPECT_TRUE(happened("barriers in memory"));
}

TEST_F(Engines, AgreeOnWhatArrivalsAreTold) {
  // By all lanes, by some, with counts, at barriers of their own; the last ones begin the next phase in the middle of a warp.
  for (const char* arrive : {"mbarrier.arrive.shared.b64 %d1, [%r10]", "mbarrier.arrive.shared.b64 %d1, [%r10], 2",
                             "mbarrier.arrive_drop.shared.b64 %d1, [%r10]", "mbarrier.arrive.noComplete.shared.b64 %d1, [%r10], 1"})
    for (const char* which : {"mov.u32 %r10, 2048", "and.b32 %r10, %t, 3; mad.lo.u32 %r10, %r10, 8, 2048"})
      for (const uint32_t n : {1u, 7u, 32u})
        both(
            fmt::format(
                "mov.u32 %r19, tile; setp.gt.u32 %p1, %t, 3; @%p1 bra B; mad.lo.u32 %r1, %t, 8, 2048; mbarrier.init.shared.b64 [%r1], 50; B: bar.sync 0; {}; setp.ge.u32 %p2, %t, %n; "
                "mov.u64 %d1, 0; @%p2 bra E; {}; E: bar.sync 0; mbarrier.pending_count.b64 %r2, %d1; shr.u64 %d2, %d1, 20; cvt.u32.u64 %r3, %d2; "
                "ld.shared.u32 %r4, [%r10]; xor.b32 %r2, %r2, %r3; mad.lo.u32 %r2, %r2, 3, %r4; st.global.u32 [%at], %r2; ret;",
                which, arrive),
            {1, 1, 1}, {64, 1, 1}, n);
}

TEST_F(Engines, AgreeOnFullAndEmptyBuffers) {
  // Warps 0 and 1 fill, 2 and 3 empty four buffers; each has two barriers of 64 arrivals.
  const char* body =
      "mov.u32 %r19, tile; mov.u32 %r1, 0; mov.u32 %r2, 0; setp.gt.u32 %p1, %t, 7; @%p1 bra I; mad.lo.u32 %r3, %t, 8, 2048; mbarrier.init.shared.b64 [%r3], 64; I: bar.sync 0; "
      "and.b32 %r4, %t, 63; setp.gt.u32 %p1, %t, 63; @%p1 bra C;\n"
      "P: and.b32 %r5, %r1, 3; shr.u32 %r6, %r1, 2; not.b32 %r6, %r6; and.b32 %r6, %r6, 1; mad.lo.u32 %r7, %r5, 8, 2048; W: mbarrier.try_wait.parity.shared.b64 %p2, [%r7+32], %r6; @!%p2 bra W; "
      "mad.lo.u32 %r8, %r5, 64, %r4; mul.lo.u32 %r8, %r8, 4; mad.lo.u32 %r9, %r1, 7, %i; st.shared.u32 [%r8], %r9; mbarrier.arrive.shared.b64 %d1, [%r7]; "
      "add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, %n; @%p3 bra P; bra E;\n"
      "C: and.b32 %r5, %r1, 3; shr.u32 %r6, %r1, 2; and.b32 %r6, %r6, 1; mad.lo.u32 %r7, %r5, 8, 2048; V: mbarrier.try_wait.parity.shared.b64 %p2, [%r7], %r6; @!%p2 bra V; "
      "xor.b32 %r8, %r4, 33; mad.lo.u32 %r8, %r5, 64, %r8; mul.lo.u32 %r8, %r8, 4; ld.shared.u32 %r9, [%r8]; mad.lo.u32 %r2, %r2, 3, %r9; mbarrier.arrive.shared.b64 %d1, [%r7+32]; "
      "add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, %n; @%p3 bra C;\n"
      "E: st.global.u32 [%at], %r2; ret;";
  for (const uint32_t rounds : {1u, 4u, 30u}) both(body, {3, 1, 1}, {128, 1, 1}, rounds);
}

TEST_F(Engines, AgreeOnBulkCopiesThatABarrierAwaits) {
  for (const uint32_t n : {64u, 128u})
    both(
        "mov.u32 %r10, tile; add.u32 %r10, %r10, 2048; setp.ne.u32 %p1, %t, 0; @%p1 bra B; mbarrier.init.shared.b64 [%r10], 1; fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared.b64 %d1, [%r10], 512; "
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [0], [%out], 512, [%r10]; B: bar.sync 0; W: mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0; @!%p2 bra W; "
        "mul.lo.u32 %r1, %t, 4; ld.shared.u32 %r2, [%r1]; mul.lo.u32 %r2, %r2, 3; st.shared.u32 [%r1+512], %r2; fence.proxy.async.shared::cta; bar.sync 0; @%p1 bra D; "
        "cp.async.bulk.global.shared::cta.bulk_group [%out+1024], [512], 256; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; D: ret;",
        {1, 1, 1}, {n, 1, 1}, n);
}

// Lanes of one warp that come to a barrier on different ways, or wait for each other: the interpreter lets them take turns.
TEST_F(Engines, AgreeOnLanesThatComeApart) {
  both(
      "and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, 5; @%p1 bra A; barrier.sync 1, 64; mov.u32 %r2, 7; bra E; A: barrier.sync 1, 64; mov.u32 %r2, 9; E: add.u32 %r2, %r2, %t; "
      "st.global.u32 [%at], %r2; ret;",
      {2, 1, 1}, {64, 1, 1}, 0);
  both(
      "mov.u32 %r19, tile; setp.ne.u32 %p1, %t, 0; @%p1 bra B; mbarrier.init.shared.b64 [2048], 33; B: bar.sync 0; setp.ne.u32 %p1, %t, 3; @%p1 bra A; mbarrier.arrive.shared.b64 %d1, [2048]; "
      "W: mbarrier.try_wait.shared.b64 %p2, [2048], %d1; @!%p2 bra W; bra E; A: mbarrier.arrive.shared.b64 %d1, [2048]; E: setp.ne.u32 %p1, %t, 32; @%p1 bra F; F: st.global.u32 [%at], %t; ret;",
      {2, 1, 1}, {33, 1, 1}, 0);
}

TEST_F(Engines, AgreeOnLanesThatLeaveBeforeABarrier) {
  for (const uint32_t n : {1u, 20u, 33u, 64u, 100u})
    both(
        "setp.ge.u32 %p1, %t, %n; @%p1 ret; mov.u32 %r9, tile; mad.lo.u32 %r9, %t, 4, %r9; st.shared.u32 [%r9], %i; bar.sync 0; setp.gt.u32 %p2, %t, 31; @%p2 bra E; bar.sync 2, 32; "
        "E: mov.u32 %r8, tile; ld.shared.u32 %r2, [%r8]; bar.sync 0; add.u32 %r2, %r2, %t; st.global.u32 [%at], %r2; ret;",
        {2, 1, 1}, {100, 1, 1}, n);
}

TEST_F(Engines, AgreeOnFaultsWhileOthersWait) {
  // Past the array; a barrier that is none; arrivals beyond the phase; barriers that do not exist; waits that nothing ends.
  for (const char* fault :
       {"st.global.u32 [%at+100000000], %t", "mbarrier.arrive.shared.b64 %d1, [64]", "mbarrier.arrive.shared.b64 %d1, [2048], 99",
        "mbarrier.arrive.shared.b64 %d1, [2052]", "mov.u32 %r3, 77; bar.sync %r3, 64", "mov.u32 %r3, 33; bar.sync 3, %r3",
        "bar.sync 5, 128", "mbarrier.test_wait.parity.shared.b64 %p3, [8192], 0"})
    both(
        fmt::format(
            "mov.u32 %r19, tile; setp.ne.u32 %p1, %t, 0; @%p1 bra B; mbarrier.init.shared.b64 [2048], 64; B: bar.sync 0; setp.ne.u32 %p2, %t, 40; shr.u32 %r1, %t, 5; setp.eq.u32 %p3, %r1, 1; @%p3 bra F; "
            "bar.sync 4, 64; bra E; F: {}; bar.sync 4, 64; E: ret;",
            fault),
        {1, 1, 1}, {64, 1, 1}, 0);
}

TEST_F(Engines, AgreeOnProductsOfWarpGroups) {
  // Sums of products of 64 x 16 and 16 x 8 halves, of one and of two groups of four warps.
  for (const uint32_t threads : {128u, 256u})
    both(
        "mov.u32 %r9, tile; and.b32 %r1, %t, 127; mad.lo.u32 %r1, %r1, 16, %r9; and.b32 %r2, %t, 7; mad.lo.u32 %r2, %r2, 65537, 1006647296; st.shared.v4.u32 [%r1], {%r2, %r2, %r2, %r2}; "
        "setp.gt.u32 %p2, %t, 15; @%p2 bra B; st.shared.v4.u32 [%r1+2048], {%r2, %r2, %r2, %r2}; B: fence.proxy.async; bar.sync 0; mov.u64 %d1, 68720001024; mov.u64 %d2, 68720001152; mov.u32 %r3, 0; "
        "mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;\n"
        "L: setp.ne.u32 %p1, %r3, 0; wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d2, %p1, 1, 1, 0, 0; wgmma.commit_group.sync.aligned; "
        "wgmma.wait_group.sync.aligned 0; add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, %n; @%p3 bra L; fma.rn.f32 %f1, %f2, 0f40400000, %f1; fma.rn.f32 %f3, %f4, 0f40A00000, %f3; add.f32 %f1, %f1, %f3; "
        "st.global.f32 [%at], %f1; ret;",
        {2, 1, 1}, {threads, 1, 1}, 3);
}

TEST_F(Engines, AgreeOnLocks) {
  // One lane of each warp adds under a lock; then all lanes do, which the interpreter has to let take turns.
  const char* add =
      "L: atom.global.cas.b32 %r1, [%out+8192], 12345, 1; setp.ne.u32 %p2, %r1, 12345; @%p2 bra L; ld.volatile.global.u32 %r2, [%out+8196]; add.u32 %r2, %r2, %i; "
      "st.volatile.global.u32 [%out+8196], %r2; membar.gl; atom.global.exch.b32 %r3, [%out+8192], 12345; E: st.global.u32 [%at], %t; ret;";
  for (const char* some : {"setp.ne.u32 %p1, %r5, 0; @%p1 bra E;", ""})
    both(
        fmt::format(
            "and.b32 %r5, %t, 31; setp.ne.u32 %p3, %i, 0; @%p3 bra S; st.volatile.global.u32 [%out+8196], 5; st.volatile.global.u32 [%out+8192], 12345; S: bar.sync 0; {} {}",
            some, add),
        {1, 1, 1}, {128, 1, 1}, 0, *some != 0);
}

TEST_F(Engines, AgreeOnBlocksThatWaitForOthers) {
  // For the one before, and for the last one.
  for (const char* awaited : {"sub.u32 %r1, %c, 1; setp.eq.u32 %p1, %c, 0", "mov.u32 %r1, 5; setp.eq.u32 %p1, %c, 5"})
    both(
        fmt::format(
            "{}; mul.wide.u32 %d1, %r1, 4; add.s64 %d1, %out, %d1; @%p1 bra D; W: ld.volatile.global.u32 %r2, [%d1+8192]; setp.lt.u32 %p2, %r2, 100000; @!%p2 bra W; D: bar.sync 0; "
            "setp.ne.u32 %p3, %t, 0; mul.wide.u32 %d2, %c, 4; add.s64 %d2, %out, %d2; @%p3 bra E; st.volatile.global.u32 [%d2+8192], %c; E: st.global.u32 [%at], %t; ret;",
            awaited),
        {6, 1, 1}, {64, 1, 1}, 0);
}

}  // namespace
}  // namespace warpbeam::vm

// The model of kernels' times in parts: caches against what they must hold, a multiprocessor against hand-made cases.
#include <gtest/gtest.h>

#include "model/device.h"
#include "timing/cache.h"
#include "timing/chip.h"
#include "timing/multiprocessor.h"
#include "timing/trace.h"

namespace warpbeam::timing {
namespace {

using assembly::MachineBlock;
using assembly::MachineCode;
using assembly::MachineInstruction;
using assembly::Operation;

MachineInstruction instruction(Operation operation, int reads, int writes, uint32_t ptx = 0) {
  MachineInstruction m;
  m.operation = operation;
  m.ptx = ptx;
  if (reads >= 0) m.reads[0] = {static_cast<int16_t>(reads), 1};
  if (writes >= 0) m.writes[0] = {static_cast<int16_t>(writes), 1};
  return m;
}

const Rates& h100() { return rates_of(*model::find_device("h100")); }

// A kernel of one basic block, of which every warp of every block goes through once.
Work work_of(assembly::MachineText text, uint32_t warps, uint64_t grid_blocks) {
  auto code = std::make_shared<MachineCode>();
  MachineBlock block;
  block.begin = 0;
  block.end = static_cast<uint32_t>(text.size());
  for (uint32_t k = 0; k < text.size(); ++k) text[k].ptx = k;
  code->block_of.assign(text.size(), 0);
  block.text = std::move(text);
  code->blocks.push_back(std::move(block));
  Work work;
  work.functions.push_back({code, {}});
  BlockTrace trace;
  trace.warps.resize(warps);
  for (WarpTrace& w : trace.warps) {
    w.steps.push_back({0, 0, ~0u, false, 0});
    w.instructions = w.executed = code->block_of.size();
  }
  trace.instructions = trace.executed = warps * code->block_of.size();
  work.blocks.push_back(trace);
  work.grid_blocks = grid_blocks;
  work.block_threads = 32 * warps;
  work.resident_blocks = std::max(1u, 64 / warps);
  work.instructions = grid_blocks * trace.executed;
  return work;
}

double cycles_of(const Work& work, uint64_t blocks = 1) { return run_multiprocessor(work, h100(), Share{}, alike(work, blocks)).cycles; }

TEST(Cache, KeepsWhatFitsAndForgetsTheOldest) {
  Cache cache(64 * Cache::kWays);
  for (uint64_t line = 0; line < 500; ++line) EXPECT_EQ(cache.access(line, 0xf).hit, 0);
  int hits = 0;
  for (uint64_t line = 0; line < 500; ++line) hits += cache.access(line, 0xf).hit == 0xf;
  EXPECT_GT(hits, 450);  // sets are not equally full
  cache.forget(3, 0x3);
  EXPECT_EQ(cache.access(3, 0xf).hit, 0xc);
  for (uint64_t line = 10000; line < 30000; ++line) cache.access(line, 0xf);
  EXPECT_EQ(cache.access(4, 0xf).hit, 0);
}

TEST(Trace, WhatComesBeforeALoopDoesNotHideHowItGoesOn) {
  BlockTrace block;
  block.instructions = 11, block.executed = 1000;
  WarpTrace& warp = block.warps.emplace_back();
  const auto loads = [&](uint32_t ptx, uint64_t line) {
    warp.accesses.push_back({.ptx = ptx, .space = Space::Global, .lines = 1, .first_line = static_cast<uint32_t>(block.lines.size())});
    block.lines.push_back({line, 0xf});
  };
  warp.steps.push_back({0, 0, ~0u, false, 0});
  for (uint64_t line = 0; line < 10; ++line) loads(0, line);
  for (uint64_t turn = 0; turn < 10; ++turn) {
    warp.steps.push_back({0, 1, ~0u, false, static_cast<uint32_t>(warp.accesses.size())});
    loads(1, turn);
  }
  find_late_lines(block);
  EXPECT_EQ(block.late_lines, 6u);  // of turns 4 to 9
}

TEST(Rates, EveryDeviceHasAll) {
  for (const model::Device& device : model::all_devices()) {
    const Rates& rates = rates_of(device);
    EXPECT_GT(rates.clock_mhz, 0) << device.key;
    EXPECT_GT(rates.launch_ns, 0) << device.key;
    for (const OperationRate& rate : rates.operations) EXPECT_GT(rate.interval, 0) << device.key;
  }
}

TEST(Multiprocessor, AChainTakesItsLatencies) {
  assembly::MachineText chain;
  for (int k = 0; k < 400; ++k) chain.push_back(instruction(Operation::FloatFma, 1, 1));
  const double latency = h100().of(Operation::FloatFma).latency;
  EXPECT_NEAR(cycles_of(work_of(chain, 1, 1)), 400 * latency, 10);
  // Eight warps hide each other's latencies: two for each scheduler.
  EXPECT_NEAR(cycles_of(work_of(chain, 8, 1)), 400 * latency, 60);
}

TEST(Multiprocessor, AResultComesLaterToTheOtherPipe) {
  assembly::MachineText chain;
  for (int k = 0; k < 400; ++k) chain.push_back(instruction(k % 2 ? Operation::Logic : Operation::FloatFma, 1, 1));
  EXPECT_NEAR(cycles_of(work_of(chain, 1, 1)), 400 * (h100().of(Operation::FloatFma).latency + h100().cross_pipe), 10);
}

TEST(Multiprocessor, SumsGoToThePipeWithLessToDo) {
  // Beside comparisons they are products by one, beside products they are sums.
  for (const Operation other : {Operation::Logic, Operation::IntMul}) {
    assembly::MachineText chain;
    for (int k = 0; k < 400; ++k) {
      chain.push_back(instruction(k % 2 ? Operation::IntAdd : other, 1, 1));
      chain.back().mnemonic = k % 2 ? "IADD3" : "";
    }
    EXPECT_NEAR(cycles_of(work_of(chain, 1, 1)), 400 * (h100().of(other).latency + h100().cross_pipe), 10);
  }
}

TEST(Multiprocessor, AUnitTakesOneInstructionAfterTheOther) {
  assembly::MachineText logic;
  for (int k = 0; k < 400; ++k) logic.push_back(instruction(Operation::Logic, -1, k % 32));
  const double interval = h100().of(Operation::Logic).interval;
  EXPECT_NEAR(cycles_of(work_of(logic, 4, 1)), 400 * interval, 60);
  EXPECT_NEAR(cycles_of(work_of(logic, 16, 1)), 4 * 400 * interval, 150);
}

TEST(Multiprocessor, AThirdRegisterHoldsTheScheduler) {
  const auto of = [](int shared) {  // operands that all have in common
    assembly::MachineText sums;
    for (int k = 0; k < 400; ++k) {
      MachineInstruction m = instruction(Operation::FloatFma, k % 32, k % 32);
      m.reads[1] = {static_cast<int16_t>(shared > 0 ? 100 : 32 + k % 32), 1};
      m.reads[2] = {static_cast<int16_t>(shared > 1 ? 101 : 64 + k % 32), 1};
      sums.push_back(m);
    }
    return run_multiprocessor(work_of(sums, 16, 1), h100(), Share{}, alike(work_of(sums, 16, 1), 1));
  };
  const auto apart = of(0), one = of(1), two = of(2);
  EXPECT_NEAR(two.cycles, 4 * 400, 150);
  EXPECT_NEAR(one.cycles, two.cycles, 20);
  EXPECT_NEAR(apart.cycles, 4 * 400 * (1 + h100().third_register), 150);
  EXPECT_GT(apart.stalls[static_cast<size_t>(Stall::Dispatch)], 0);
  EXPECT_LT(two.stalls[static_cast<size_t>(Stall::Dispatch)], 0.01 * apart.stalls[static_cast<size_t>(Stall::Dispatch)]);
}

TEST(Multiprocessor, OthersWaitForAWideProduct) {
  assembly::MachineText text;
  for (int k = 0; k < 400; ++k) text.push_back(instruction(k % 4 ? Operation::FloatAdd : Operation::IntMulWide, -1, k % 32));
  EXPECT_NEAR(cycles_of(work_of(text, 16, 1)), 4 * (400 + 100 * h100().wide_product), 200);
}

// One warp that loads from shared memory so many times, in so many passes over the banks.
Work loads_of_shared(int count, uint16_t passes, uint32_t warps = 1) {
  assembly::MachineText text;
  for (int k = 0; k < count; ++k) {
    text.push_back(instruction(Operation::LoadShared, -1, k % 64));
    text.back().access = true;
  }
  Work work = work_of(text, warps, 1);
  for (WarpTrace& w : work.blocks[0].warps)
    for (uint32_t k = 0; k < text.size(); ++k) {
      Access a{};
      a.ptx = k;
      a.space = Space::Shared;
      a.kind = Kind::Load;
      a.passes = passes;
      w.accesses.push_back(a);
    }
  return work;
}
double stalled(const Work& work, Stall why) {
  return run_multiprocessor(work, h100(), Share{}, alike(work, 1)).stalls[static_cast<size_t>(why)];
}

TEST(Multiprocessor, AWarpsAccessesAreIssuedApartUntilTheQueueIsFull) {
  const Rates& r = h100();
  const auto entries = static_cast<int>(r.path_entries);
  // As many as the queue holds wait for each other's issue alone, however long they take.
  const Work few = loads_of_shared(entries, 8), many = loads_of_shared(entries + 16, 8);
  EXPECT_NEAR(stalled(few, Stall::Wait), (entries - 1) * (r.path_own_interval - 1), 4);
  EXPECT_EQ(stalled(few, Stall::MioThrottle), 0);
  EXPECT_GT(stalled(many, Stall::MioThrottle), 0);
  // One scheduler brings them at half the path's speed.
  EXPECT_NEAR(cycles_of(loads_of_shared(400, 8)) - cycles_of(loads_of_shared(200, 8)), 200 * 8 * r.path_own_share, 40);
  EXPECT_NEAR(cycles_of(loads_of_shared(400, 8, 4)) - cycles_of(loads_of_shared(200, 8, 4)), 4 * 200 * 8, 100);
}

TEST(Multiprocessor, WhatAnAccessReadsIsWrittenOnceThePathHasTakenIt) {
  assembly::MachineText text;
  for (int k = 0; k < 100; ++k) {
    text.push_back(instruction(Operation::StoreShared, 1, -1));
    text.push_back(instruction(Operation::FloatAdd, -1, k % 2 ? 1 : 2));  // what every second one stores
  }
  const Work work = work_of(text, 1, 1);
  EXPECT_NEAR(stalled(work, Stall::ShortScoreboard), 50 * (h100().path_release - 1), 10);
}

TEST(Multiprocessor, BanksTakeWhatNoLaneExecutes) {
  const auto cycles = [](Operation operation) {
    assembly::MachineText text(200, instruction(operation, -1, 1));
    for (MachineInstruction& m : text) m.access = true;  // of which no warp has any
    return cycles_of(work_of(text, 16, 1));
  };
  EXPECT_NEAR(cycles(Operation::LoadShared), 16 * 200, 200);
  EXPECT_LT(cycles(Operation::LoadGlobal), 16 * 200 / 2);
}

TEST(Multiprocessor, LoopsBeyondTheCacheOfInstructionsWaitForThem) {
  const auto turn_of = [](int instructions, uint32_t warps) {
    assembly::MachineText text;
    for (int k = 0; k < instructions; ++k) text.push_back(instruction(Operation::FloatFma, -1, k % 32));
    Work work = work_of(text, warps, 1);
    const auto with = [&](size_t turns) {
      for (WarpTrace& w : work.blocks[0].warps) w.steps.assign(turns, w.steps[0]);
      return cycles_of(work);
    };
    const double few = with(3);
    return (with(8) - few) / 5 / instructions;
  };
  const Rates& r = h100();
  const auto near = static_cast<int>(r.instructions_near), behind = static_cast<int>(r.instructions_behind);
  EXPECT_NEAR(turn_of(near / 2, 1), 1, 0.05);
  EXPECT_NEAR(turn_of(2 * near, 1), r.instruction_line / 8, 0.05);
  EXPECT_NEAR(turn_of(2 * near, 4), r.instruction_line / 8, 0.05);  // side by side: what one has fetched the others have
  EXPECT_NEAR(turn_of(2 * near, 16), 4, 0.1);                       // and who issues as slowly does not wait
  EXPECT_NEAR(turn_of(2 * behind, 1), r.instruction_far_line / 8, 0.1);
}

TEST(Multiprocessor, ALineThatIsStoredInPartTakesLonger) {
  const auto of = [](bool whole) {
    assembly::MachineText text(50, instruction(Operation::StoreGlobal, 1, -1));
    for (MachineInstruction& m : text) m.access = true;
    Work work = work_of(text, 4, 1);
    BlockTrace& block = work.blocks[0];
    for (WarpTrace& w : block.warps)
      for (uint32_t k = 0; k < text.size(); ++k) {
        const auto first = static_cast<uint32_t>(block.lines.size());
        w.accesses.push_back(
            {.ptx = k, .space = Space::Global, .kind = Kind::Store, .lines = 8, .sectors = 8, .whole = whole, .first_line = first});
        for (uint32_t l = 0; l < 8; ++l) block.lines.push_back({1000 + 2 * (first + l), 0x1});
      }
    Share share;  // of an L2 that has nothing else to do
    share.l2_write = 1e6;
    return run_multiprocessor(work, h100(), share, alike(work, 1)).cycles;
  };
  EXPECT_NEAR(of(true), 4 * 50 * 8 * h100().store_sector, 300);
  EXPECT_NEAR(of(false), 4 * 50 * 8 * (h100().store_sector + h100().store_mask), 300);
}

TEST(Multiprocessor, WhatIsStoredToALineThatWaitsGoesWithIt) {
  // Four stores to the same sectors, one after the other; `lines` of each of them.
  const auto sectors_of = [](uint8_t lines) {
    assembly::MachineText text(64, instruction(Operation::StoreGlobal, 1, -1));
    for (MachineInstruction& m : text) m.access = true;
    Work work = work_of(text, 1, 1);
    BlockTrace& block = work.blocks[0];
    for (uint32_t k = 0; k < text.size(); ++k) {
      const auto first = static_cast<uint32_t>(block.lines.size());
      block.warps[0].accesses.push_back(
          {.ptx = k, .space = Space::Global, .kind = Kind::Store, .lines = lines, .sectors = lines, .whole = false, .first_line = first});
      for (uint32_t l = 0; l < lines; ++l) block.lines.push_back({1000 + 100 * (k / 4) + l, 0x1});
    }
    return run_multiprocessor(work, h100(), Share{}, alike(work, 1)).traffic.store;
  };
  EXPECT_EQ(sectors_of(4), 16 * 4);
  EXPECT_EQ(sectors_of(32), 64 * 32);  // more than wait
}

TEST(Multiprocessor, ADivisionMayTakeALongWay) {
  assembly::MachineText text(10, instruction(Operation::Special, 1, 2));
  for (MachineInstruction& m : text) m.access = true;
  const auto run = [&](uint32_t long_ones) {
    Work work = work_of(text, 1, 1);
    for (uint32_t k = 0; k < long_ones; ++k) work.blocks[0].warps[0].accesses.push_back({.ptx = k, .space = Space::None, .passes = 36});
    return run_multiprocessor(work, h100(), Share{}, alike(work, 1));
  };
  const auto quick = run(0), slow = run(5);
  EXPECT_EQ(slow.issued, quick.issued + 5 * 36);
  EXPECT_GT(slow.cycles, quick.cycles + 5 * 36);
}

TEST(Multiprocessor, LanesThatLeaveARepeatedLoopTakeTheirLastTurnsAlone) {
  // A loop of four turns at once; half of the lanes take `some` turns, the others `all`.
  const auto issued = [](size_t some, size_t all) {
    Work work = work_of(assembly::MachineText(10, instruction(Operation::Logic, -1, 1)), 1, 1);
    auto code = std::make_shared<MachineCode>(*work.functions[0].code);
    MachineBlock& loop = code->blocks[0];
    loop.turns = 4;
    for (int turn = 0; turn < 4; ++turn) loop.unrolled.insert(loop.unrolled.end(), loop.text.begin(), loop.text.end());
    work.functions[0].code = code;
    WarpTrace& warp = work.blocks[0].warps[0];
    warp.steps.clear();
    for (size_t k = 0; k < all; ++k) warp.steps.push_back({0, 0, k < some ? ~0u : 0xffffu, false, 0});
    warp.instructions = warp.executed = work.blocks[0].instructions = work.blocks[0].executed = 10 * all;
    return run_multiprocessor(work, h100(), Share{}, alike(work, 1)).issued;
  };
  EXPECT_EQ(issued(8, 8), 80);
  EXPECT_EQ(issued(5, 8), 90) << "one turn of those that take five";
  EXPECT_EQ(issued(7, 9), 110) << "three, with the one that the others have left";
}

TEST(Multiprocessor, AWarpWaitsForTheOthersAtABarrier) {
  assembly::MachineText text{instruction(Operation::FloatFma, 1, 1), instruction(Operation::Barrier, -1, -1),
                             instruction(Operation::FloatFma, 1, 1)};
  Work work = work_of(text, 8, 1);
  const auto run = run_multiprocessor(work, h100(), Share{}, alike(work, 1));
  EXPECT_EQ(run.issued, 8 * 3);
  EXPECT_GT(run.stalls[static_cast<size_t>(Stall::Barrier)], 0);
}

// Two places of a loop with a barrier behind each: at one the first warp takes long, at the other the second. What was kept of the warps
// ends at different barriers.
Work work_with_two_barriers(size_t turns, size_t kept_of_first, size_t kept_of_second) {
  auto code = std::make_shared<MachineCode>();
  for (int part = 0; part < 3; ++part) {
    MachineBlock block;
    const auto begin = static_cast<uint32_t>(code->block_of.size());
    for (uint32_t k = 0; k < 50; ++k) {
      const bool last = part < 2 && k == 9;
      block.text.push_back(last ? instruction(Operation::Barrier, -1, -1, begin + k) : instruction(Operation::FloatAdd, 2, 2, begin + k));
      if (last) break;
    }
    code->block_of.insert(code->block_of.end(), block.text.size(), static_cast<uint32_t>(part));
    block.begin = begin, block.end = static_cast<uint32_t>(code->block_of.size());
    code->blocks.push_back(std::move(block));
  }
  Work work;
  work.functions.push_back({code, {}});
  BlockTrace trace;
  for (const size_t kept : {kept_of_first, kept_of_second}) {
    const bool first = trace.warps.empty();
    WarpTrace w;
    const auto go = [&](uint32_t block) {
      const auto length = static_cast<uint64_t>(code->blocks[block].text.size());
      w.executed += length;
      if (w.steps.size() < kept) w.steps.push_back({0, block, ~0u, false, 0}), w.instructions += length;
    };
    for (size_t turn = 0; turn < turns; ++turn) {
      if (first) go(2);
      go(0);
      if (!first) go(2);
      go(1);
    }
    trace.instructions += w.instructions, trace.executed += w.executed;
    trace.warps.push_back(std::move(w));
  }
  work.blocks.push_back(trace);
  work.block_threads = 64;
  work.instructions = trace.executed;
  return work;
}

TEST(Multiprocessor, WarpsThatMeetAtBarriersGoOnFromTheSameOne) {
  const double all = cycles_of(work_with_two_barriers(200, ~size_t{0}, ~size_t{0}));
  EXPECT_NEAR(cycles_of(work_with_two_barriers(200, 31, 37)), all, 0.05 * all);
  EXPECT_NEAR(cycles_of(work_with_two_barriers(200, 40, 36)), all, 0.05 * all);
}

TEST(Multiprocessor, StallsAndIssuesAddUpToTheWarpsTime) {
  assembly::MachineText chain;
  for (int k = 0; k < 100; ++k) chain.push_back(instruction(k % 3 ? Operation::FloatFma : Operation::Special, 1, 1));
  const Work work = work_of(chain, 12, 1);
  const auto run = run_multiprocessor(work, h100(), Share{}, alike(work, 1));
  double sum = 0;
  for (double cycles : run.stalls) sum += cycles;
  EXPECT_NEAR(sum, run.warp_cycles, 0.1 * run.warp_cycles);
}

// A warp asks for a tile, all wait for the phase that ends when it is there.
TEST(Multiprocessor, WaitsForAPhaseWaitForTheCopy) {
  assembly::MachineText text{instruction(Operation::CopyBulk, -1, -1), instruction(Operation::Mbarrier, -1, -1),
                             instruction(Operation::FloatFma, 1, 1)};
  text[1].mnemonic = "SYNCS.PHASECHK";
  const auto cycles = [&](uint32_t lines) {
    Work work = work_of(text, 4, 1);
    work.functions[0].from_memory.resize(text.size());
    BlockTrace& trace = work.blocks[0];
    for (uint32_t k = 0; k < lines; ++k) trace.lines.push_back({k, 0xf});
    Access copy;
    copy.space = Space::Global;
    copy.kind = Kind::Copy;
    copy.bulk = true;
    copy.lines = static_cast<uint8_t>(lines);
    copy.sectors = static_cast<uint16_t>(4 * lines);
    if (lines) trace.warps[0].accesses.push_back(copy);
    return cycles_of(work);
  };
  EXPECT_GT(cycles(1), cycles(0) + h100().l2_latency);
  EXPECT_GT(cycles(128), cycles(1) + 127 * 128 / h100().l1_fill_bytes - 1);
}

TEST(Multiprocessor, TheClustersNetworkTakesOneLanesOperationAfterTheOther) {
  assembly::MachineText text(8, instruction(Operation::AtomicShared, -1, 1));
  for (MachineInstruction& m : text) m.access = true;
  const auto cycles = [&](bool cluster) {
    Work work = work_of(text, 8, 1);
    for (WarpTrace& w : work.blocks[0].warps)
      for (uint32_t k = 0; k < text.size(); ++k) {
        Access a;
        a.ptx = k;
        a.space = Space::Shared;
        a.kind = Kind::Atomic;
        a.cluster = cluster;
        a.lines = 32;
        w.accesses.push_back(a);
      }
    return cycles_of(work);
  };
  EXPECT_GT(cycles(true), 8 * 8 * 32 * h100().cluster_atomic);
  EXPECT_LT(cycles(false), 8 * 8 * 32 * h100().cluster_atomic / 2);
}

// Local memory of all threads that are at work, twice as much as L2 holds.
TEST(Multiprocessor, ThreadsOwnMemoryBeyondL2ComesFromMemory) {
  assembly::MachineText text(64, instruction(Operation::LoadLocal, -1, 1));
  for (MachineInstruction& m : text) m.access = true;
  const auto from_memory = [&](uint64_t grid) {
    Work work = work_of(text, 8, grid);
    BlockTrace& trace = work.blocks[0];
    for (uint32_t w = 0; w < 8; ++w)
      for (uint32_t k = 0; k < text.size(); ++k) {
        Access a;
        a.ptx = k;
        a.space = Space::Local;
        a.lines = 16;
        a.sectors = 64;
        a.first_line = static_cast<uint32_t>(trace.lines.size());
        for (uint32_t l = 0; l < 16; ++l) trace.lines.push_back({uint64_t{w} << 33 | (16 * k + l), 0xf});
        trace.warps[w].accesses.push_back(a);
      }
    return run_multiprocessor(work, h100(), Share{}, alike(work, 1)).traffic.dram_read;
  };
  EXPECT_EQ(from_memory(1), 0);
  EXPECT_GT(from_memory(100000), 0);
}

// printf serves one warp of the device after the other.
TEST(Multiprocessor, PrintsAreServedInTurn) {
  const assembly::MachineText text{instruction(Operation::Print, -1, -1), instruction(Operation::FloatFma, 1, 1)};
  const auto us = [&](uint32_t warps, double active) {
    const Work work = work_of(text, warps, 1);
    Share share;
    share.active = active;
    return run_multiprocessor(work, h100(), share, alike(work, 1)).cycles / h100().clock_ghz() / 1e3;
  };
  EXPECT_NEAR(us(1, 1), 23, 1);        // measured on an H100, all lanes: 23
  EXPECT_NEAR(us(32, 1), 357, 40);     // 355
  EXPECT_NEAR(us(1, 132), 1206, 120);  // 1205
}

// Lanes and warps that add to one float in shared memory take turns.
TEST(Multiprocessor, SumsOfFloatsInSharedMemoryTakeTurns) {
  assembly::MachineText text{instruction(Operation::AtomicLoop, 1, 2), instruction(Operation::FloatFma, 2, 1)};
  text[0].access = true;
  const auto cycles = [&](uint8_t lanes, uint32_t warps, bool same_word) {
    Work work = work_of(text, warps, 1);
    uint32_t word = 0;
    for (WarpTrace& w : work.blocks[0].warps) {
      w.accesses.push_back({.ptx = 0, .space = Space::Shared, .kind = Kind::Atomic, .lines = lanes, .first_line = word});
      word += same_word ? 0 : 4;
    }
    return cycles_of(work);
  };
  EXPECT_NEAR(cycles(32, 1, true), 3032, 200);
  EXPECT_NEAR(cycles(4, 1, true), 400 - 40, 60);  // without the load and the sum of the last turn
  EXPECT_NEAR(cycles(32, 4, true), 128 * 96, 600);
  EXPECT_LT(cycles(1, 8, false), 500);
}

// What others must have seen comes from L2 each time.
TEST(Multiprocessor, SomeLoadsPassL1) {
  assembly::MachineText text{instruction(Operation::LoadGlobal, -1, 1), instruction(Operation::FloatFma, 1, 1)};
  text[0].access = true;
  const auto hits = [&](bool past_l1) {
    Work work = work_of(text, 8, 1);
    work.blocks[0].lines.push_back({7, 0xf, false});
    for (WarpTrace& w : work.blocks[0].warps)
      w.accesses.push_back({.space = Space::Global, .kind = Kind::Load, .lines = 1, .sectors = 4, .past_l1 = past_l1});
    return run_multiprocessor(work, h100(), Share{}, alike(work, 1)).traffic.global_load_hit;
  };
  EXPECT_EQ(hits(false), 7 * 4);
  EXPECT_EQ(hits(true), 0);
}

// --- compute capability 1.x

double cycles_on_8800(const Work& work) {
  return run_multiprocessor(work, rates_of(*model::find_device("8800gtx")), Share{}, alike(work, 1)).cycles;
}

TEST(FirstGeneration, AWarpTakesFourCyclesWhateverItComputes) {
  assembly::MachineText text;
  for (int k = 0; k < 200; ++k)
    text.push_back(instruction(Operation::IntAdd, -1, 1)), text.push_back(instruction(Operation::FloatFma, -1, 2));
  EXPECT_NEAR(cycles_on_8800(work_of(text, 16, 1)), 16 * 400 * 4, 300);
}

TEST(FirstGeneration, LanesThatMeetInABankAreIssuedAgain) {
  const auto cycles = [](uint16_t conflicts) {
    assembly::MachineText text(100, instruction(Operation::LoadShared, -1, 1));
    for (MachineInstruction& m : text) m.access = true;
    Work work = work_of(text, 16, 1);
    for (WarpTrace& w : work.blocks[0].warps)
      for (uint32_t k = 0; k < 100; ++k)
        w.accesses.push_back({.ptx = k, .space = Space::Shared, .passes = static_cast<uint16_t>(2 + conflicts), .conflicts = conflicts});
    return cycles_on_8800(work);
  };
  const double each = rates_of(*model::find_device("8800gtx")).shared_replay;
  EXPECT_GT(each, 0);
  EXPECT_NEAR(cycles(0), 16 * 100 * 4, 300);
  EXPECT_NEAR(cycles(14) - cycles(4), 16 * 100 * 10 * each, 0.05 * 16 * 100 * 10 * each);
}

TEST(Multiprocessor, AStoreDropsWhatL1HadBeforeVolta) {
  assembly::MachineText text{instruction(Operation::LoadGlobal, -1, 1), instruction(Operation::StoreGlobal, 1, -1),
                             instruction(Operation::LoadGlobal, -1, 2)};
  for (MachineInstruction& m : text) m.access = true;
  Work work = work_of(text, 1, 1);
  work.blocks[0].lines.push_back({1000, 0xf});
  for (uint32_t k = 0; k < 3; ++k)
    work.blocks[0].warps[0].accesses.push_back(
        {.ptx = k, .space = Space::Global, .kind = k == 1 ? Kind::Store : Kind::Load, .lines = 1, .sectors = 4, .first_line = 0});
  const auto hits = [&](const char* device) {
    return run_multiprocessor(work, rates_of(*model::find_device(device)), Share{}, alike(work, 1)).traffic.global_load_hit;
  };
  EXPECT_EQ(hits("h100"), 4);
  EXPECT_EQ(hits("v100"), 4);
  EXPECT_EQ(hits("m2070"), 0);
}

TEST(Chip, MemoryTakesLongerWhereBlocksMeetInItsPartitions) {
  assembly::MachineText text;
  for (int k = 0; k < 16; ++k) text.push_back(instruction(Operation::LoadGlobal, -1, 1)), text.back().access = true;
  Work work = work_of(text, 8, 3000);
  for (uint32_t w = 0; w < 8; ++w)
    for (uint32_t k = 0; k < 16; ++k) {
      work.blocks[0].warps[w].accesses.push_back(
          {.ptx = k, .space = Space::Global, .lines = 1, .sectors = 4, .first_line = static_cast<uint32_t>(work.blocks[0].lines.size())});
      work.blocks[0].lines.push_back({1000 + w * 16 + k, 0xf});
    }
  work.resident_blocks = 3;
  work.functions[0].from_memory.assign(16, {4, 4, 4});
  work.read_sectors = 3000.0 * 8 * 16 * 4;
  const Rates& rates = rates_of(*model::find_device("gtx280"));
  const double spread = predict(work, rates).cycles;
  work.camping = 4;
  EXPECT_NEAR(predict(work, rates).cycles / spread, 4, 0.3);
}

TEST(Multiprocessor, WhatOthersLeaveOfMemoryCanBeUsedLater) {
  // Bytes at the end of a long chain, which come at once where a share of memory may be used later.
  assembly::MachineText text(400, instruction(Operation::IntAdd, 1, 1));
  for (int k = 0; k < 8; ++k) text.push_back(instruction(Operation::LoadGlobal, 1, 2)), text.back().access = true;
  Work work = work_of(text, 1, 1);
  BlockTrace& block = work.blocks[0];
  for (uint32_t k = 0; k < 8; ++k) {
    block.lines.push_back({1000 + k, 0xf});
    block.warps[0].accesses.push_back({.ptx = 400 + k, .space = Space::Global, .lines = 1, .sectors = 4, .first_line = k});
  }
  work.functions[0].from_memory.assign(408, {4, 4, 4});
  Rates rates = rates_of(*model::find_device("8800gtx"));
  Share share;
  share.dram = 1;
  const double with = run_multiprocessor(work, rates, share, alike(work, 1)).cycles;
  rates.share_slack = 0;
  EXPECT_NEAR(run_multiprocessor(work, rates, share, alike(work, 1)).cycles - with, 8 * 128, 100);
}

TEST(Chip, MoreBlocksTakeLonger) {
  assembly::MachineText text;
  for (int k = 0; k < 200; ++k) text.push_back(instruction(Operation::FloatFma, 1, 1));
  double last = 0;
  for (uint64_t blocks : {1, 132, 2000, 20000, 200000}) {
    const Prediction p = predict(work_of(text, 8, blocks), h100());
    EXPECT_GE(p.ns, last) << blocks;
    EXPECT_LE(p.low, p.ns);
    EXPECT_GE(p.high, p.ns);
    last = p.ns;
  }
}

TEST(Chip, OneLongBlockIsWaitedFor) {
  assembly::MachineText text;
  for (int k = 0; k < 400; ++k) text.push_back(instruction(Operation::FloatFma, 1, 1));
  Work work = work_of(text, 8, 528);
  const double even = predict(work, h100()).cycles;
  work.sizes.assign(528, static_cast<uint32_t>(work.blocks[0].executed));
  EXPECT_EQ(predict(work, h100()).cycles, even);
  work.sizes[300] *= 50;  // of which nothing was followed
  work.instructions += 49 * work.blocks[0].executed;
  const Prediction p = predict(work, h100());
  EXPECT_NEAR(p.cycles, 50 * 400 * 4 * h100().cycles_correction, 0.15 * p.cycles);
  EXPECT_NEAR(p.instructions, static_cast<double>(work.instructions), 0.01 * p.instructions);
}

TEST(Chip, WhatWasNotKeptIsAsLongAsItWas) {
  assembly::MachineText text;
  for (int k = 0; k < 1004; ++k) text.push_back(instruction(Operation::FloatFma, 1, 1));
  Work work = work_of(text, 1, 1);
  // Four instructions and a long turn of a loop.
  MachineCode code = *work.functions[0].code;
  MachineBlock turn = code.blocks[0];
  turn.text.erase(turn.text.begin(), turn.text.begin() + 4);
  turn.begin = 4;
  code.blocks[0].text.resize(4);
  code.blocks[0].end = 4;
  code.blocks.push_back(turn);
  std::fill(code.block_of.begin() + 4, code.block_of.end(), 1);
  work.functions[0].code = std::make_shared<const MachineCode>(code);
  for (uint64_t turns : {5, 7, 33}) {
    WarpTrace& w = work.blocks[0].warps[0];
    w.steps.assign(5, {0, 0, ~0u, false, 0});
    w.steps.insert(w.steps.end(), 5, {0, 1, ~0u, false, 0});
    w.instructions = work.blocks[0].instructions = 5 * 4 + 5 * 1000;
    w.executed = work.blocks[0].executed = work.instructions = 5 * 4 + turns * 1000;
    const Prediction p = predict(work, h100());
    EXPECT_NEAR(p.instructions, static_cast<double>(work.instructions), 0.03 * p.instructions) << turns;
  }
}

TEST(Chip, WorkThatBlocksFetchIsSharedByAll) {
  assembly::MachineText text{instruction(Operation::AtomicGlobal, 1, 1), instruction(Operation::FloatFma, 1, 1)};
  text[0].access = true;
  Work work = work_of(text, 1, 264);
  WarpTrace& w = work.blocks[0].warps[0];
  w.steps.clear();
  for (uint32_t turn = 0; turn < 100; ++turn) {
    w.steps.push_back({0, 0, ~0u, false, turn});
    w.accesses.push_back({.ptx = 0, .space = Space::Global, .kind = Kind::Atomic});
  }
  w.instructions = w.executed = work.blocks[0].instructions = work.blocks[0].executed = 200;
  work.sizes.assign(264, 2);
  work.sizes[0] = work.sizes[1] = 10000;  // had all, as the first that ran
  work.instructions = 20000 + 262 * 2;
  EXPECT_LT(predict(work, h100()).cycles, 100 * 900);
}

TEST(Chip, AnEmptyWorkIsALaunch) {
  Work work;
  EXPECT_GE(predict(work, h100()).ns, h100().launch_ns);
}

}  // namespace
}  // namespace warpbeam::timing

// Follows some blocks of a launch step by step, and all of them to memory, for the model of time (src/timing).
//
// A block that is followed is interpreted, so that there are few of them, spread evenly over the grid; where the accesses of
// all blocks go is told by compiled code too (BlockObserver::passed). Of these, one line of sixteen is kept: as many of the
// sets of L2 are simulated, at the launch's end.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "assembly/machine_code.h"
#include "model/device.h"
#include "observe/profiler/totals.h"
#include "timing/trace.h"
#include "timing/work.h"
#include "vm/code.h"
#include "vm/observer.h"

namespace warpbeam::observe {

// One of 16 lines, evenly: of neighbours, of strides of powers of two.
inline constexpr uint64_t kLinesPerSample = 16;
inline bool is_sampled(uint64_t line) {
  uint64_t folded = line ^ line >> 16;
  folded ^= folded >> 8;
  return ((folded ^ folded >> 4) & (kLinesPerSample - 1)) == 0;
}

struct Visit {  // of a sampled line
  uint64_t line = 0;
  uint32_t block = 0;
  uint32_t function = 0, instruction = 0;  // FunctionCode::index; its place in the PTX
  timing::Kind kind{};
  uint8_t sectors = 0;
  uint8_t bytes_of_sector = 32;  // of each that is touched, about
};

struct Visits {
  static constexpr uint64_t kPage = 64 << 10;  // bytes
  static constexpr size_t kMost = size_t{4} << 20;
  std::vector<Visit> kept;
  uint64_t left_out = 0;
  // Of atomic operations: sectors that warps sent, and the turns that these took, as lanes of a warp that want one word take turns. By what one part of L2 has to do, of blocks that run about at the same time.
  struct Atomics {
    uint64_t sectors = 0, sectors_of_doubles = 0;
    uint64_t lanes = 0;  // of each sector, those that want the word which most of a warp's want
    std::array<std::array<uint64_t, 3>, 4> turns{};  // by line; of integers, of floats, of doubles
  };
  // Of sectors in which lanes of a warp want one word: how many, and how many lanes want the word that most do. Of integers, floats, doubles.
  struct Meetings {
    uint64_t sectors = 0, lanes = 0;
  };
  std::array<Meetings, 3> meetings{};
  static constexpr uint64_t kPart = 512;  // bytes beside each other
  std::unordered_map<uint64_t, Atomics> atomics;  // by turn of blocks << 48 | place / kPart
  // Instructions of blocks that ran compiled, by number.
  std::vector<std::pair<uint32_t, uint32_t>> sizes;
  std::unordered_set<uint64_t> pages;  // all that were touched, address / kPage, if somebody wants them
  void append(Visits&& other);
};

// What an access asks of lines; shared by blocks that are followed and those that are not.
class VisitLog {
 public:
  VisitLog(uint64_t together, const model::Device& device, bool pages) : device_(device), together_(together), keeps_pages_(pages) {}
  void begin_block(uint64_t block) { block_ = static_cast<uint32_t>(block); }
  void ran(uint64_t block, uint64_t instructions) {
    if (visits_.sizes.size() < Visits::kMost)
      visits_.sizes.emplace_back(static_cast<uint32_t>(block), static_cast<uint32_t>(std::min<uint64_t>(instructions, ~0u)));
  }
  void passed(const vm::FunctionCode& function, const vm::Insn& insn, uint32_t mask, const vm::Pattern& pattern);
  // `mask`: of its lanes, those that a GPU lets take part.
  void access(const vm::FunctionCode& function, const vm::Insn& insn, const vm::Access& access, uint32_t mask);
  Visits take() {
    recent_.fill(0);
    return std::exchange(visits_, {});
  }

 private:
  struct Facts {
    timing::Kind kind{};
    uint8_t bytes = 0;
    uint8_t number = 0;  // of Atomics::turns
    uint32_t ptx = 0;
    bool whole_lines = false;  // L1 asks for these
  };
  const Facts& facts_of(const vm::FunctionCode& function, const vm::Insn& insn);
  void visit(uint64_t line, uint8_t sectors, uint32_t bytes, const Facts& facts);
  void lanes(uint32_t mask, const uint64_t* addresses, uint32_t bytes, const Facts& facts);
  void count_atomics(uint32_t mask, const uint64_t* addresses, uint8_t number);
  void keep_page(uint64_t address) {
    const uint64_t page = address / Visits::kPage;
    if (std::exchange(recent_[page % recent_.size()], page) != page) visits_.pages.insert(page);
  }

  const model::Device& device_;
  uint64_t together_;  // blocks that run at the same time, about
  const bool keeps_pages_;
  std::array<uint64_t, 64> recent_{};  // pages that have been kept
  Visits visits_;
  uint32_t block_ = 0;
  const vm::FunctionCode* function_ = nullptr;
  std::vector<Facts> facts_;  // by instruction of function_
};

uint32_t place_in_ptx(const vm::FunctionCode& function, const vm::Insn& insn);

// Machine code of functions, made once.
class MachineCodes {
 public:
  // That a thread of the kernel has.
  uint32_t registers(const vm::Launch& launch, const model::Device& device) {
    return static_cast<uint32_t>(of(*launch.kernel->code->function, device)->registers);
  }
  std::shared_ptr<const assembly::MachineCode> of(const vm::FunctionCode& function, const model::Device& device);

 private:
  std::mutex mutex_;
  std::map<std::pair<uint64_t, int>, std::shared_ptr<const assembly::MachineCode>> known_;  // by serial and capability
};

MachineCodes& machine_codes();

class LaunchTracer;

// Of a block.
class BlockTracer {
 public:
  BlockTracer(LaunchTracer& launch, uint64_t block, uint32_t warps);
  // `mask`: of a branch, the lanes that jump.
  void instruction(uint32_t warp, const vm::FunctionCode& function, const vm::Insn& insn, uint32_t mask, uint32_t active);
  void access(uint32_t warp, const vm::FunctionCode& function, const vm::Insn& insn, const vm::Access& access, const Counts& counts);
  // The instruction that was told of last takes its warp so many instructions more.
  void long_way(uint32_t warp, const vm::FunctionCode& function, const vm::Insn& insn, uint16_t instructions);
  // See warp_clock.cc.
  std::optional<double> clock_read(uint32_t warp, const vm::FunctionCode& function, const vm::Insn& insn, bool wanted);
  timing::BlockTrace take();

 private:
  timing::Work work_of(const timing::WarpTrace& warp) const;
  // Of a warp: how often it has read its clock, and by which instructions.
  struct Readings {
    uint64_t count = 0;
    std::vector<uint32_t> ptx;
  };
  std::vector<Readings> readings_;  // empty: nobody has
  uint64_t simulated_ = 0;  // instructions, to know what clocks say
  LaunchTracer& launch_;
  timing::BlockTrace trace_;
  struct Where {
    const vm::FunctionCode* function = nullptr;
    uint32_t block = 0;
    // Of a loop that may wait for other threads: its places in the PTX, what its turns accessed, and where the last two began. Once
    // two in a row have looked at the same places they are dropped, and nothing is kept until one looks elsewhere, as a search does.
    uint32_t loop_begin = 1, loop_end = 0;
    uint64_t turn = 0, turn_before = 0;
    struct Mark {
      size_t steps = 0, accesses = 0;
      uint64_t instructions = 0, executed = 0;
    } began, began_before;
    bool waiting = false;
    bool loops(uint32_t place) const { return place >= loop_begin && place <= loop_end; }
    bool waits(uint32_t place) const { return waiting && loops(place); }
  };
  void come_to(const vm::FunctionCode& function);
  uint32_t block_of(uint32_t place) const;  // the basic block there; ~0: it is in none
  bool begins(const Where& at, const vm::FunctionCode& function, uint32_t block, uint32_t place) const;  // or goes the warp on in it?
  // A warp goes back to the beginning of such a loop.
  void turn(Where& at, const vm::FunctionCode& function, const vm::Insn& insn, uint32_t place, timing::WarpTrace& trace);
  void fetch_whole_lines(timing::Access& of);
  void add_lines(const vm::Access& access, uint32_t warp, timing::Access& to);
  // A fragment of a matrix (`wmma.load`, `wmma.store`) comes element by element; the machine moves it in quarters of rows.
  struct Fragment {
    const vm::Insn* insn = nullptr;
    timing::Access access;
    vm::Access like;
    std::vector<uint64_t> words;  // of four bytes, by address
  };
  void note_beyond(const vm::Access& access);
  static constexpr size_t kMostBeyond = size_t{1} << 18;
  std::unordered_set<uint64_t> beyond_;
  void gather(uint32_t warp, const vm::Insn& insn, const timing::Access& as, const vm::Access& access);
  void end_fragment(uint32_t warp);
  std::vector<Where> at_;  // of each warp
  std::vector<Fragment> fragments_;
  const vm::FunctionCode* function_ = nullptr;
  uint32_t function_index_ = 0;
  const assembly::MachineCode* code_ = nullptr;
};

class LaunchTracer {
 public:
  static constexpr uint64_t kBlocks = 96;  // that are followed, at most
  static constexpr uint64_t kInstructions = 3000000;  // of all of them together
  LaunchTracer(const vm::Launch& launch, const model::Device& device, MachineCodes& codes, bool follows);
  bool to_follow(uint64_t block) const;
  // Null for a block that is not to be followed.
  std::unique_ptr<BlockTracer> begin(uint64_t block);
  void end(BlockTracer& block);
  void add(Visits&& visits);
  // The machine code of a function that a block has come to.
  uint32_t index_of(const vm::FunctionCode& function, const assembly::MachineCode*& code);
  // Of a warp: what it does beyond is taken for more of the same.
  uint64_t most_instructions() const { return std::max<uint64_t>(kInstructions / followed_ / ((block_threads + 31) / 32), 500); }

  const model::Device& device;
  std::function<bool(uint64_t line)> in_l2;  // whether it has one of the lines that are sampled
  struct Function {
    const vm::FunctionCode* function = nullptr;
    std::shared_ptr<const assembly::MachineCode> code;
  };
  std::vector<Function> functions;
  std::vector<timing::BlockTrace> blocks;
  Visits visits;
  uint64_t together() const;  // blocks that run at the same time, were there room for all their threads
  const uint64_t grid_blocks;
  const uint32_t block_threads;
  const uint32_t resident_blocks;  // that a multiprocessor holds
  const bool follows;
  bool keeps_pages = false;  // Visits::pages

 private:
  uint64_t followed_;
  MachineCodes& codes_;
  std::mutex mutex_;
};

}  // namespace warpbeam::observe

// What blocks did, counted while they run. A launch has one of these for each host thread, which hands it from one block to
// the next. Making one costs as much as a small kernel does, so that launches hand them on too.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "model/device.h"
#include "model/transactions.h"
#include "observe/profiler/fragments.h"
#include "observe/profiler/gpu_places.h"
#include "observe/profiler/samples.h"
#include "observe/profiler/totals.h"
#include "observe/profiler/tracer.h"
#include "vm/access.h"
#include "vm/code.h"
#include "vm/machine.h"
#include "vm/observer.h"

namespace warpbeam::observe {

// Counters of every instruction of every function that ran: by FunctionCode::index, then by the place in its code.
using FunctionCounts = std::map<const vm::FunctionCode*, std::vector<Counts>>;

class BlockProfile final : public vm::BlockObserver {
 public:
  BlockProfile(const model::Device& device, model::BankMode mode);

  void begin(const vm::Launch& launch, uint64_t parameters);
  // The launch is over: its counts are added to `sum`, and nothing of it is left here but what holds for all.
  void hand_over(FunctionCounts& sum);
  // A block begins that somebody wants the size of, and ends: compiled code tells it, of an interpreted one it is what was counted.
  void begin_sized(uint64_t block);
  void end_sized();
  bool suits(const model::Device& device, model::BankMode mode) const { return &device == &device_ && mode == mode_; }

  void instruction(vm::Warp& warp, const vm::Insn& insn, uint32_t, uint32_t active) override;
  bool goes_on_with(uint64_t block) override;
  void passed(const vm::Insn& insn, uint32_t mask, const vm::Pattern& pattern) override;
  void access(vm::Warp& warp, const vm::Insn& insn, const vm::Access& access) override;
  void repeated(const vm::Insn& insn, const vm::Access& access, uint64_t times) override;
  bool repeats(const vm::Insn& insn, uint32_t mask, uint64_t first, uint64_t shape, uint64_t times) override;
  void met_in_banks(const vm::Insn& insn, uint64_t times, uint64_t most, uint64_t words) override;
  void texture_read(vm::Warp& warp, const vm::Insn& insn, uint32_t mask, uint32_t texel_bytes) override;
  std::optional<double> clock_read(vm::Warp& warp, const vm::Insn& insn, bool wanted) override;
  void enter(const vm::FunctionCode& function) override;
  void ran(uint64_t block, uint64_t instructions) override;

  std::unique_ptr<BlockSamples> samples;
  const LaunchTracer* tracer = nullptr;  // of launches whose time is asked for
  std::unique_ptr<BlockTracer> trace;    // of a block that is followed
  std::optional<VisitLog> visits;

 private:
  struct Patterns;
  struct OfFunction {
    uint64_t serial;       // FunctionCode::serial
    bool entered = false;  // by this launch
    std::vector<vm::Executions> executions;
    std::vector<Counts> counts;
    std::vector<std::unique_ptr<Patterns>> patterns;
    std::vector<char> gathered;
    std::vector<uint8_t> merged;
    OfFunction(const vm::FunctionCode& function, int cc);
    ~OfFunction();
  };
  struct Shaped {  // what `repeats` was asked for: little, as it is asked often
    uint32_t mask = 0;
    bool known = false;
    uint64_t place = 0, shape = 0;
    uint64_t times = 0;  // that have not been counted yet
  };

  void copied(vm::Warp& warp, const vm::Insn& insn, const vm::Access& access);
  void made(vm::Warp& warp, const vm::Insn& insn, const vm::Access& access);
  void followed(vm::Warp& warp, const vm::Insn& insn, const vm::Access& access, const Counts& counts);
  uint32_t index_of(const vm::Insn& insn) const { return static_cast<uint32_t>(&insn - counted_function->insns.data()); }
  // A kernel's parameters whose address is taken lie in device memory here; on a GPU they are constants.
  bool to_parameters(isa::Space space, uint64_t address) const {
    return space == isa::Space::Global && address - parameters_ < parameter_bytes_;
  }
  Patterns& patterns_of(size_t index, isa::Space space);
  const Counts& counts_of(const vm::Insn& insn, size_t index, const vm::Access& access, Counts& fresh);
  const Counts& counts_as_told(const vm::Insn& insn, size_t index, const vm::Access& access, Counts& fresh);

  uint64_t counted_so_far() const;

  const model::Device& device_;
  const model::BankMode mode_;
  struct {
    uint64_t block = 0, counted = 0, settled = 0;
    bool told = false;
  } sized_;
  const vm::Launch* launch_ = nullptr;
  uint64_t parameters_ = 0, parameter_bytes_ = 0;
  std::map<const vm::FunctionCode*, OfFunction> functions_;
  OfFunction* entered_ = nullptr;  // of counted_function
  FragmentAccesses fragments_;
  std::optional<vm::Access> copied_;  // what a cp.async reads, until it is told where that goes
  std::unique_ptr<GpuPlaces> places_;
  std::pair<Shaped*, Counts*> asked_{};  // are to be told what `repeated` finds
  bool anywhere_ = true;                 // what was counted last holds for other places too
};

// Those that no launch has.
class BlockProfiles {
 public:
  std::unique_ptr<BlockProfile> take(const model::Device& device, const vm::Launch& launch, uint64_t parameters);
  void give_back(std::unique_ptr<BlockProfile> block);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<BlockProfile>> spare_;
};

}  // namespace warpbeam::observe

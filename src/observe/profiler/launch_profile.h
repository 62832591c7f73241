// What one launch did, counted while it runs.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "model/device.h"
#include "observe/profiler/block_profile.h"
#include "observe/profiler/predictor.h"
#include "observe/profiler/samples.h"
#include "observe/profiler/totals.h"
#include "vm/code.h"
#include "vm/launched_from.h"
#include "vm/machine.h"
#include "vm/observer.h"

namespace warpbeam::observe {

class LaunchProfile final : public vm::Observer {
 public:
  LaunchProfile(const vm::Launch& launch, const model::Device& device, uint64_t number, uint64_t operation, bool sampled,
                uint32_t assembled_registers, BlockProfiles& blocks, Predictor* predictor);
  ~LaunchProfile() override;

  std::unique_ptr<vm::BlockObserver> begin_block(const vm::Block&) override;
  void end_block(const vm::Block&, std::unique_ptr<vm::BlockObserver>) override;
  void end_grid(const vm::LaunchResult& result) override;
  vm::Wanted wanted() const override {
    return {.compiled = true,
            .executions = true,
            .traffic = true,
            .banks = device.bank_rule == model::BankRule::Phases32,
            .places = tracer_ != nullptr,
            .steady = tracer_ != nullptr};
  }

  Totals totals() const;

  const model::Device& device;
  const uint64_t number;               // of the launch in the program
  const uint64_t operation;            // of the stream
  const vm::Launch launch;             // without the observer
  const vm::LaunchedFrom from = vm::launched_from();  // of a child
  const uint32_t assembled_registers;  // by the vendor's assembler; 0: not known
  FunctionCounts counts;               // complete after end_grid
  SampleStore samples;
  std::string trap;  // what went wrong, if something did
  std::optional<Predicted> prediction;
  bool ended = false;

 private:
  const bool sampled_;
  Predictor* const predictor_;  // null: nobody asks for times
  std::unique_ptr<LaunchTracer> tracer_;
  BlockProfiles& blocks_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<BlockProfile>> idle_;  // they keep their counters until the grid has ended
};

}  // namespace warpbeam::observe

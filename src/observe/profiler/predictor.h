// From what was followed of a launch to how long a GPU takes for it. One for each process: L2 remembers what launches and
// copies before left in it.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

#include "observe/profiler/totals.h"
#include "observe/profiler/tracer.h"
#include "observe/tool.h"
#include "timing/chip.h"
#include "timing/l2.h"
#include "timing/work.h"

namespace warpbeam::observe {

struct Predicted : timing::Prediction {
  std::vector<const vm::FunctionCode*> functions;  // of run.by_instruction
  Visits visits;  // of all blocks, if somebody wants them (Predictor::keep_visits)
};

class Predictor {
 public:
  std::unique_ptr<LaunchTracer> begin(const vm::Launch& launch, const model::Device& device);
  Predicted predict(LaunchTracer& tracer, const vm::Launch& launch, const Totals& totals);
  void keep_visits(bool keep, bool pages) { keeps_visits_ = keep, keeps_pages_ = pages; }
  // A copy or a fill is done.
  void moved(const Operation& operation, const model::Device& device);

 private:
  // Launches that look alike from outside: what was followed of one stands for the next ones.
  using Kind =
      std::tuple<uint64_t, std::array<uint32_t, 3>, std::array<uint32_t, 3>, uint32_t>;  // function's serial, grid, block, shared memory
  struct Known {
    std::shared_ptr<const timing::Work> work;             // as it was followed
    std::vector<const vm::FunctionCode*> functions;       // of it
    std::shared_ptr<const timing::Prediction> predicted;  // the last one, and of what
    std::shared_ptr<const timing::Work> predicted_for;
  };
  struct Followed {
    uint64_t launches = 0;
    uint64_t arguments = 0, changes = 0;  // a hash of those of the last one that was followed; how often others came
    uint64_t strangers = 0;               // launches that did other work than any that was followed
    bool stranger = false;                // the last one did
    std::vector<Known> known;             // the newest first
    Known& nearest(uint64_t instructions);
  };
  struct Traffic : timing::MemoryWork {
    std::vector<std::vector<timing::FromMemory>> from_memory;  // of each function that was followed, by PTX instruction; empty: none
  };
  // Goes through L2, which is another one then.
  Traffic traffic_of(const LaunchTracer& tracer, const timing::Work& followed, const std::vector<const vm::FunctionCode*>& functions,
                     uint64_t together);
  timing::SampledL2& l2_of(const model::Device& device);

  std::mutex mutex_;
  std::atomic<bool> keeps_visits_ = false, keeps_pages_ = false;
  std::map<Kind, Followed> followed_;
  std::map<std::string, timing::SampledL2> l2_;
  uint64_t launches_ = 0;  // that l2_ was told of
};

}  // namespace warpbeam::observe

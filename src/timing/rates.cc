#include "timing/rates.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include "model/timing.h"

namespace warpbeam::timing {
namespace {

// The names of units in operations.inc. What either of two can execute goes to the one that is free.
struct Units {
  Unit unit{}, other{};
};
constexpr Units Alu{Unit::Alu, Unit::Alu}, Move{Unit::Alu, Unit::FmaHeavy}, Fma{Unit::FmaLite, Unit::FmaHeavy},
    FmaHeavy{Unit::FmaHeavy, Unit::FmaHeavy}, Half{Unit::FmaLite, Unit::FmaHeavy}, Fp64{Unit::Fp64, Unit::Fp64},
    Special{Unit::Special, Unit::Special}, Uniform{Unit::Uniform, Unit::Uniform}, Branch{Unit::Branch, Unit::Branch},
    Lsu{Unit::Lsu, Unit::Lsu}, Const{Unit::Const, Unit::Const}, Texture{Unit::Texture, Unit::Texture}, Tensor{Unit::Tensor, Unit::Tensor},
    Barrier{Unit::Barrier, Unit::Barrier};
struct OperationRow {
  std::string_view name;
  Units units;
};
constexpr OperationRow kRows[] = {
#define WB_OPERATION(id, name, unit, about) {name, unit},
#include "assembly/operations.inc"
#undef WB_OPERATION
};
static_assert(std::size(kRows) == kOperations);

double value_of(const model::TimingTable& table, const std::string& name) {
  const auto it = table.find(name);
  if (it == table.end()) {
    std::fprintf(stderr, "timing table: %s is missing\n", name.c_str());
    std::abort();
  }
  return it->second.value;
}

Rates read(const model::Device& device) {
  const model::TimingTable& table = model::timing_table(device);
  Rates r;
  for (size_t k = 0; k < kOperations; ++k) {
    const std::string name(kRows[k].name);
    r.operations[k] = {kRows[k].units.unit, kRows[k].units.other, value_of(table, name + ".latency"), value_of(table, name + ".interval")};
  }
#define WB_RATE(name, unit, about) r.name = value_of(table, #name);
#include "timing/rates.inc"
#undef WB_RATE
  if (r.one_pipe > 0)
    for (OperationRate& o : r.operations)
      for (Unit* unit : {&o.unit, &o.other})
        if (*unit <= Unit::Uniform) *unit = Unit::Alu;
  if (device.clock_khz) r.clock_mhz = device.clock_khz / 1e3;  // a generation's table has that of one of its products
  r.multiprocessors = device.sm_count;
  r.schedulers = device.schedulers_per_sm;
  r.issue_width = device.issue_per_scheduler;
  r.max_warps = device.max_warps_per_sm();
  r.l1_bytes = static_cast<uint64_t>(device.l1_bytes);
  r.unified_l1 = device.unified_l1;
  r.l2_bytes = static_cast<uint64_t>(device.l2_bytes);
  r.l2_parts = device.cc() == 80 || device.cc() == 90 ? 2 : 1;
  r.dram_bytes_per_second = device.memory_bytes_per_second();
  return r;
}

}  // namespace

const Rates& rates_of(const model::Device& device) {
  static std::mutex mutex;
  static std::map<std::string, Rates>& known = *new std::map<std::string, Rates>;
  static thread_local const std::pair<const std::string, Rates>* last = nullptr;  // a launch asks several times
  if (last && last->first == device.key) return last->second;
  std::lock_guard lock(mutex);
  const auto it = known.find(device.key);
  last = &*(it != known.end() ? it : known.emplace(device.key, read(device)).first);
  return last->second;
}

}  // namespace warpbeam::timing

#include "observe/profiler/recorder.h"

#include <algorithm>
#include <string_view>

#include "observe/metrics.h"
#include "observe/profiler/metric_values.h"
#include "observe/profiler/traffic.h"
#include "vm/memory.h"

namespace warpbeam::observe {
namespace {

using isa::Space;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (true) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == text.npos) return lines;
    text.remove_prefix(end + 1);
  }
}

// Whole numbers stay whole.
Json number(double value) {
  if (value == static_cast<double>(static_cast<int64_t>(value))) return static_cast<int64_t>(value);
  return value;
}

const char* name_of(Space space) {
  switch (space) {
    case Space::Global:
      return "global";
    case Space::Shared:
      return "shared";
    case Space::Local:
      return "local";
    case Space::Const:
      return "const";
    default:
      return "param";
  }
}

const char* name_of(const vm::Access& access) {
  switch (static_cast<int>(access.kind)) {
    case 0:
      return "load";
    case 1:
      return "store";
    default:
      return access.returns ? "atom" : "red";
  }
}

Json counts_row(size_t function, int place, const Counts& c) {
  Json row = Json::array({function, place, c.executed, c.threads, c.threads_on, c.divergent});
  for (const Traffic* t : {&c.global, &c.local})
    for (uint64_t v : {t->requests, t->transactions, t->sectors, t->ideal, t->lines, t->bytes, t->bytes_moved})
      row.push_back(v);
  for (uint64_t v : {c.shared.wavefronts, c.shared.conflicts, c.shared.ideal, c.shared.bytes}) row.push_back(v);
  while (row.size() > 6 && row.back() == 0) row.erase(row.size() - 1);
  return row;
}

// Sums by source line, with the names of count_fields; zeros are left out.
Json line_counts(const std::map<std::pair<int, uint32_t>, Counts>& lines) {
  const Json fields = count_fields();
  Json out = Json::array();
  for (const auto& [where, counts] : lines) {
    const Json row = counts_row(0, 0, counts);
    Json entry = {{"file", where.first}, {"line", where.second}};
    for (size_t k = 2; k < row.size(); ++k)
      if (row[k] != 0) entry[fields[k].get<std::string>()] = row[k];
    out.push_back(std::move(entry));
  }
  return out;
}

Json occupancy_facts(const Totals& t) {
  Json limits = Json::array();
  const uint64_t fit = t.resident_blocks;
  if (fit == t.limit_warps) limits.push_back("warps");
  if (fit == t.limit_registers && t.limit_registers < t.limit_blocks) limits.push_back("registers");
  if (fit == t.limit_shared && t.limit_shared < t.limit_blocks) limits.push_back("shared memory");
  if (fit == t.limit_blocks) limits.push_back("blocks");
  return {{"resident_blocks", fit}, {"resident_warps", t.resident_warps}, {"limited_by", limits}};
}

}  // namespace

Json count_fields() {
  return {"function",
          "instruction",
          "executed",
          "threads",
          "threads_on",
          "divergent",
          "global_requests",
          "global_transactions",
          "global_sectors",
          "global_ideal_sectors",
          "global_lines",
          "global_bytes",
          "global_bytes_moved",
          "local_requests",
          "local_transactions",
          "local_sectors",
          "local_ideal_sectors",
          "local_lines",
          "local_bytes",
          "local_bytes_moved",
          "shared_wavefronts",
          "shared_conflicts",
          "shared_ideal_wavefronts",
          "shared_bytes"};
}

Json metric_table() {
  static constexpr const char* kClasses[] = {"F", "S", "C", "T"};
  static constexpr const char* kSets[] = {"none", "basic", "full"};
  Json table = Json::array();
  for (const MetricRow& row : kMetrics)
    table.push_back({{"name", row.name},
                     {"nvprof", row.nvprof},
                     {"unit", row.unit},
                     {"class", kClasses[static_cast<int>(row.cls)]},
                     {"set", kSets[static_cast<int>(row.set)]},
                     {"help", row.help}});
  return table;
}

Json device_facts(const model::Device& d) {
  static constexpr const char* kGlobal[] = {"half-warp strict", "half-warp segments", "lines", "segments", "sectors"};
  static constexpr const char* kBanks[] = {"16 banks", "32 banks", "32 banks of 8 bytes", "32 banks in phases"};
  return {{"key", d.key},
          {"name", d.name},
          {"major", d.major},
          {"minor", d.minor},
          {"multiprocessors", d.sm_count},
          {"max_warps", d.max_warps_per_sm()},
          {"max_blocks", d.max_blocks_per_sm},
          {"registers", d.regs_per_sm},
          {"registers_per_block", d.regs_per_block},
          {"register_unit", d.reg_alloc_unit},
          {"register_scope", d.reg_alloc_scope == model::RegisterScope::Block ? "block" : "warp"},
          {"warp_granularity", d.warp_alloc_granularity},
          {"partitions", d.sm_partitions},
          {"max_registers", d.max_regs_per_thread},
          {"max_threads_per_block", d.max_threads_per_block},
          {"shared_per_multiprocessor", d.shared_per_sm},
          {"shared_per_block", d.shared_per_block_optin},
          {"shared_reserved", d.shared_reserved_per_block},
          {"shared_unit", d.shared_alloc_unit},
          {"global_rule", kGlobal[static_cast<int>(d.global_rule)]},
          {"bank_rule", kBanks[static_cast<int>(d.bank_rule)]}};
}

size_t Recorder::file(const std::string& path) {
  auto [it, fresh] = file_index_.try_emplace(path, files_.size());
  if (fresh) files_.push_back(path);
  return it->second;
}

const Recorder::Known& Recorder::function(const vm::FunctionCode& code) {
  const std::string key = code.name + '\n' + std::to_string(std::hash<std::string>()(code.module->text));
  auto [it, fresh] = known_.try_emplace(key);
  Known& known = it->second;
  if (!fresh) return known;
  known.index = functions_.size();
  const std::vector<std::string_view> lines = lines_of(code.module->text);
  Json listing = Json::array();
  for (const vm::Insn& insn : code.insns) {
    known.place.push_back(insn.watched == vm::Watched::Extra ? -1 : static_cast<int>(listing.size()));
    if (insn.watched == vm::Watched::Extra) continue;
    const ptx::Instruction& source = *insn.source;
    std::string_view text = source.at.line >= 1 && source.at.line <= lines.size() ? lines[source.at.line - 1] : "";
    const bool has_line = source.line && source.file < code.module->files.size();
    listing.push_back(
        Json::array({source.at.line, has_line ? static_cast<int>(file(code.module->files[source.file])) : -1,
                     source.line, trimmed(text)}));
  }
  functions_.push_back({{"name", code.display_name}, {"symbol", code.name}, {"instructions", listing}});
  return known;
}

Json Recorder::launch(const LaunchProfile& profile) {
  const vm::Launch& launch = profile.launch;
  const Totals totals = profile.totals();
  Json values = Json::object();
  const std::vector<double> all = metric_values(totals);
  for (size_t k = 0; k < all.size(); ++k)
    values[std::string(kMetrics[k].name)] = number(all[k]);
  Json counts = Json::array();
  std::map<std::pair<int, uint32_t>, Counts> lines;
  std::vector<const vm::FunctionCode*> ran;
  for (const auto& [code, unused] : profile.counts) ran.push_back(code);
  std::sort(ran.begin(), ran.end(), [](auto* a, auto* b) { return a->index < b->index; });
  for (const vm::FunctionCode* code : ran) {
    const Known& known = function(*code);
    const std::vector<Counts>& of = profile.counts.at(code);
    for (size_t k = 0; k < of.size(); ++k)
      if (of[k].executed && known.place[k] >= 0) {
        counts.push_back(counts_row(known.index, known.place[k], of[k]));
        const Json& where = functions_[known.index]["instructions"][static_cast<size_t>(known.place[k])];
        lines[{where[1].get<int>(), where[2].get<uint32_t>()}] += of[k];
      }
  }
  Json accesses = Json::array();
  for (const AccessSample& s : profile.samples.accesses) {
    const Known& known = function(*s.function);
    if (s.access.space == Space::ParamEntry || s.access.space == Space::ParamFunc || s.access.space == Space::Const)
      continue;
    uint64_t base = 0;
    std::string origin;
    const uint64_t first = s.access.address[static_cast<size_t>(__builtin_ctz(s.access.mask))];
    if (s.access.space == Space::Global)
      if (auto allocation = launch.memory->find(first)) base = allocation->base, origin = allocation->origin;
    Counts of_one;
    count_access(profile.device, launch.eight_byte_banks ? model::BankMode::EightBytes : model::BankMode::FourBytes,
                 s.function->insns[s.instruction], s.access, of_one);
    Json offsets = Json::array();
    for (uint32_t l = 0; l < 32; ++l)
      offsets.push_back((s.access.mask >> l & 1) ? Json(static_cast<int64_t>(s.access.address[l] - base))
                                                 : Json(nullptr));
    accesses.push_back(Json::array({known.index, known.place[s.instruction], s.block, s.warp, s.occurrence,
                                    name_of(s.access.space), name_of(s.access), s.access.bytes, origin, offsets,
                                    of_one.global.transactions + of_one.local.transactions, of_one.shared.wavefronts}));
  }
  Json paths = Json::array();
  for (const auto& [where, steps] : profile.samples.steps) {
    Json tape = Json::array();
    for (const Step& s : steps) {
      const Known& known = function(*s.function);
      tape.push_back(Json::array({known.index, known.place[s.first], s.count, s.mask}));
    }
    paths.push_back({{"block", where.first}, {"warp", where.second}, {"steps", tape}});
  }
  Json out = {{"operation", profile.operation},
              {"kernel", launch.kernel->display_name},
              {"symbol", launch.kernel->name},
              {"grid", launch.grid},
              {"block", launch.block},
              {"registers_from", profile.assembled_registers ? "ptxas" : "estimate"},
              {"occupancy", occupancy_facts(totals)},
              {"metrics", values},
              {"lines", line_counts(lines)},
              {"counts", counts}};
  if (!profile.trap.empty()) out["trap"] = profile.trap;
  if (!accesses.empty()) out["accesses"] = accesses;
  if (!paths.empty()) out["paths"] = paths;
  return out;
}

}  // namespace warpbeam::observe

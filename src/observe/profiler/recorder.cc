#include "observe/profiler/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include "model/link.h"
#include "observe/metrics.h"
#include "observe/profiler/metric_values.h"
#include "observe/profiler/predicted_values.h"
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
void write_number(std::string& out, double value) {
  if (value == static_cast<double>(static_cast<int64_t>(value))) fmt::format_to(std::back_inserter(out), "{}", static_cast<int64_t>(value));
  else fmt::format_to(std::back_inserter(out), "{}", value);
}

void write_text(std::string& out, std::string_view text) { out += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

template <class... T>
void write(std::string& out, fmt::format_string<T...> format, T&&... values) {
  fmt::format_to(std::back_inserter(out), format, std::forward<T>(values)...);
}

// Each launch writes hundreds of these while the program waits.
void write_whole(std::string& out, uint64_t value) {
  const fmt::format_int text(value);
  out.append(text.data(), text.size());
}

// The elements of a JSON array or object, written one after the other.
class Separated {
 public:
  Separated(std::string& out, char open, char close) : out_(out), close_(close) { out_ += open; }
  ~Separated() { close(); }
  std::string& next() {
    if (std::exchange(begun_, true)) out_ += ',';
    return out_;
  }
  void close() {
    if (close_) out_ += std::exchange(close_, 0);
  }

 private:
  std::string& out_;
  char close_;
  bool begun_ = false;
};

const char* name_of(Space space) {
  switch (space) {
    case Space::Global: return "global";
    case Space::Shared: return "shared";
    case Space::Local: return "local";
    case Space::Const: return "const";
    default: return "param";
  }
}

const char* name_of(const vm::Access& access) {
  switch (static_cast<int>(access.kind)) {
    case 0: return "load";
    case 1: return "store";
    default: return access.returns ? "atom" : "red";
  }
}

constexpr const char* kCountFields[] = {"function",
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
constexpr size_t kPlaceFields = 2;  // the first two; then come numbers
using CountRow = std::array<uint64_t, std::size(kCountFields) - kPlaceFields>;

CountRow row_of(const Counts& c) {
  const Traffic &g = c.global, &l = c.local;
  return {c.executed, c.threads,     c.threads_on,        c.divergent,        g.requests,     g.transactions, g.sectors, g.ideal,
          g.lines,    g.bytes,       g.bytes_moved,       l.requests,         l.transactions, l.sectors,      l.ideal,   l.lines,
          l.bytes,    l.bytes_moved, c.shared.wavefronts, c.shared.conflicts, c.shared.ideal, c.shared.bytes};
}

// Zeros at the end are left out.
void write_row(std::string& out, size_t function, int place, const Counts& counts) {
  const CountRow row = row_of(counts);
  size_t end = row.size();
  while (end > 4 && row[end - 1] == 0) --end;
  write(out, "[{},{}", function, place);
  for (size_t k = 0; k < end; ++k) {
    out += ',';
    write_whole(out, row[k]);
  }
  out += ']';
}

double finite(double value) { return std::isfinite(value) ? value : 0; }

double waiting(const timing::Stalls& stalls) {
  double sum = 0;
  for (size_t why = 0; why < timing::kStalls; ++why) sum += why == static_cast<size_t>(timing::Stall::Selected) ? 0 : stalls[why];
  return sum;
}

constexpr std::string_view kStallNames[] = {
#define WB_STALL(id, name, nvprof, about) name,
#include "timing/stalls.inc"
#undef WB_STALL
};
constexpr std::string_view kStallAbout[] = {
#define WB_STALL(id, name, nvprof, about) about,
#include "timing/stalls.inc"
#undef WB_STALL
};

// Cycles that warps wait, by reason; zeros are left out.
void write_stalls(std::string& out, const timing::Stalls& stalls) {
  Separated all(out, '{', '}');
  for (size_t why = 0; why < timing::kStalls; ++why) {
    const auto cycles = static_cast<uint64_t>(std::llround(stalls[why]));
    if (!cycles || why == static_cast<size_t>(timing::Stall::Selected)) continue;
    write(all.next(), "\"{}\":{}", kStallNames[why], cycles);
  }
}

struct OfLine {
  Counts counts;
  timing::Stalls stalls{};
};
using Lines = std::map<std::pair<int, uint32_t>, OfLine>;  // by file and line

// Sums by source line, with the names of the fields; zeros are left out.
void write_lines(std::string& out, const Lines& lines) {
  Separated all(out, '[', ']');
  for (const auto& [where, of] : lines) {
    const CountRow row = row_of(of.counts);
    write(all.next(), "{{\"file\":{},\"line\":{}", where.first, where.second);
    for (size_t k = 0; k < row.size(); ++k)
      if (row[k]) {
        out += ",\"";
        out += kCountFields[kPlaceFields + k];
        out += "\":";
        write_whole(out, row[k]);
      }
    if (const double cycles = waiting(of.stalls); cycles >= 0.5) {
      write(out, ",\"stall_cycles\":{},\"stalls\":", std::llround(cycles));
      write_stalls(out, of.stalls);
    }
    out += '}';
  }
}

// Why warps wait, the longest first, each with the lines where they wait longest.
// `scale`: from the run to the launch, whose lines they are.
std::string stall_summary(const timing::Stalls& stalls, double scale, const Lines& lines) {
  constexpr size_t kLines = 3;
  const double all = waiting(stalls);
  std::array<size_t, timing::kStalls> order;
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t why) { return std::pair(-stalls[why], why); });
  std::string out;
  Separated reasons(out, '[', ']');
  for (size_t why : order) {
    if (why == static_cast<size_t>(timing::Stall::Selected) || stalls[why] <= 0) continue;
    write(reasons.next(), "{{\"name\":\"{}\",\"about\":\"{}\",\"percent\":{:.4g},\"lines\":", kStallNames[why], kStallAbout[why],
          100 * stalls[why] / all);
    std::vector<std::pair<double, const Lines::value_type*>> hottest;
    for (const auto& line : lines)
      if (line.second.stalls[why] > 0) hottest.emplace_back(line.second.stalls[why], &line);
    std::ranges::sort(hottest, {}, [](const auto& h) { return std::pair(-h.first, h.second->first); });
    {
      Separated places(out, '[', ']');
      for (size_t k = 0; k < std::min(kLines, hottest.size()); ++k) {
        const auto& [file, number] = hottest[k].second->first;
        write(places.next(), "{{\"file\":{},\"line\":{},\"percent\":{:.4g}}}", file, number,
              100 * hottest[k].first / (stalls[why] * scale));
      }
    }
    out += '}';
  }
  reasons.close();
  return out;
}

// What the model says of a function's instructions, by their places in the code. An instruction of the text that became
// several stands at the first.
std::vector<timing::Stalls> stalls_of(const Predicted& p, const vm::FunctionCode& code) {
  std::vector<timing::Stalls> out;
  for (size_t f = 0; f < p.functions.size() && f < p.run.by_instruction.size(); ++f) {
    if (p.functions[f] != &code) continue;
    const std::vector<timing::Stalls>& of = p.run.by_instruction[f];
    out.resize(code.insns.size());
    std::vector<char> given(of.size());
    for (const bool own : {true, false})
      for (size_t k = 0; k < code.insns.size(); ++k) {
        const vm::Insn& insn = code.insns[k];
        if (insn.watched == vm::Watched::Extra || (&code.function_of(insn) == &code) != own) continue;
        const uint32_t place = place_in_ptx(code, insn);
        if (place >= of.size() || std::exchange(given[place], 1)) continue;
        for (size_t why = 0; why < timing::kStalls; ++why) out[k][why] = of[place][why] * p.scale;
      }
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

Json count_fields() { return kCountFields; }

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
                     {"help", row.help},
                     {"reason", row.reason}});
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
          {"clock_mhz", timing::rates_of(d).clock_mhz},
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
  const Known*& known = known_serial_[code.serial];
  if (!known) known = &listing(code);
  return *known;
}

const Recorder::Known& Recorder::listing(const vm::FunctionCode& code) {
  const std::string key = code.name + '\n' + std::to_string(std::hash<std::string>()(code.module->text));
  auto [it, fresh] = known_.try_emplace(key);
  Known& known = it->second;
  if (!fresh) return known;
  known.index = functions_.size();
  const std::vector<std::string_view> lines = lines_of(code.module->text);
  Json listing = Json::array();
  for (const vm::Insn& insn : code.insns) {
    Known::Place& place = known.place.emplace_back();
    if (insn.watched == vm::Watched::Extra) continue;
    const ptx::Instruction& source = *insn.source;
    std::string_view text = source.at.line >= 1 && source.at.line <= lines.size() ? lines[source.at.line - 1] : "";
    const bool has_line = source.line && source.file < code.module->files.size();
    place = {static_cast<int>(listing.size()), has_line ? static_cast<int>(file(code.module->files[source.file])) : -1, source.line};
    listing.push_back(Json::array({source.at.line, place.file, place.line, trimmed(text)}));
  }
  functions_.push_back({{"name", code.display_name}, {"symbol", code.name}, {"instructions", listing}});
  return known;
}

// Counts by source line, and by instruction.
void Recorder::write_counts(Launch& kept, const LaunchProfile& profile) {
  std::vector<const vm::FunctionCode*> ran;
  for (const auto& [code, unused] : profile.counts) ran.push_back(code);
  std::sort(ran.begin(), ran.end(), [](auto* a, auto* b) { return a->index < b->index; });
  Lines lines;
  std::string counts, stalls;
  {
    Separated rows(counts, '[', ']'), waits(stalls, '[', ']');
    for (const vm::FunctionCode* code : ran) {
      const Known& known = function(*code);
      const std::vector<Counts>& of = profile.counts.at(code);
      std::vector<timing::Stalls> wait;
      if (profile.prediction) wait = stalls_of(*profile.prediction, *code);
      for (size_t k = 0; k < of.size(); ++k) {
        const Known::Place& place = known.place[k];
        if (!of[k].executed || place.listed < 0) continue;
        write_row(rows.next(), known.index, place.listed, of[k]);
        OfLine& line = lines[{place.file, place.line}];
        line.counts += of[k];
        if (wait.empty()) continue;
        for (size_t why = 0; why < timing::kStalls; ++why) line.stalls[why] += wait[k][why];
        if (waiting(wait[k]) < 0.5) continue;
        write(waits.next(), "[{},{},", known.index, place.listed);
        write_stalls(stalls, wait[k]);
        stalls += ']';
      }
    }
  }
  std::string& out = kept.after;
  out += ",\"lines\":";
  write_lines(out, lines);
  out += ",\"counts\":" + counts;
  if (!profile.prediction) return;
  out += ",\"stalls\":" + stalls;
  kept.stalls = stall_summary(profile.prediction->run.stalls, profile.prediction->scale, lines);
  kept.prediction = *profile.prediction;
  kept.prediction->run.by_instruction.clear();
}

void Recorder::write_accesses(std::string& out, const LaunchProfile& profile) {
  Separated rows(out, '[', ']');
  for (const AccessSample& s : profile.samples.accesses) {
    const Known& known = function(*s.function);
    if (s.access.space == Space::ParamEntry || s.access.space == Space::ParamFunc || s.access.space == Space::Const) continue;
    uint64_t base = 0;
    std::string origin;
    const uint64_t first = s.access.address[static_cast<size_t>(__builtin_ctz(s.access.mask))];
    if (s.access.space == Space::Global)
      if (auto allocation = profile.launch.memory->find(first)) base = allocation->base, origin = allocation->origin;
    Counts of_one;
    count_access(profile.device, profile.launch.eight_byte_banks ? model::BankMode::EightBytes : model::BankMode::FourBytes,
                 s.function->insns[s.instruction], s.access, of_one);
    write(rows.next(), "[{},{},{},{},{},\"{}\",\"{}\",{},", known.index, known.place[s.instruction].listed, s.block, s.warp, s.occurrence,
          name_of(s.access.space), name_of(s.access), s.access.bytes);
    write_text(out, origin);
    out += ',';
    {
      Separated offsets(out, '[', ']');
      for (uint32_t l = 0; l < 32; ++l)
        if (s.access.mask >> l & 1) write(offsets.next(), "{}", static_cast<int64_t>(s.access.address[l] - base));
        else offsets.next() += "null";
    }
    write(out, ",{},{}]", of_one.global.transactions + of_one.local.transactions, of_one.shared.wavefronts);
  }
}

void Recorder::write_paths(std::string& out, const LaunchProfile& profile) {
  Separated paths(out, '[', ']');
  for (const auto& [where, steps] : profile.samples.steps) {
    write(paths.next(), "{{\"block\":{},\"warp\":{},\"steps\":", where.first, where.second);
    Separated tape(out, '[', ']');
    for (const Step& s : steps) {
      const Known& known = function(*s.function);
      write(tape.next(), "[{},{},{},{}]", known.index, known.place[s.first].listed, s.count, s.mask);
    }
    tape.close();
    out += '}';
  }
}

void Recorder::keep(const LaunchProfile& profile, const std::string& parent) {
  const vm::Launch& launch = profile.launch;
  Launch kept{{}, profile.totals(), {}, {}, {}, {}};
  const double share =
      static_cast<double>(uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2]) / std::max(1u, launch.resident_blocks);
  const vm::LaunchedFrom& from = profile.from;
  kept.place = {launch.grid_id,   from.parent, from.block, from.number,
                from.behind,      from.joined, from.tail,  profile.prediction ? profile.prediction->ns : 0,
                std::ceil(share), share};
  write(kept.before, "\"operation\":{},\"kernel\":", profile.operation);
  write_text(kept.before, launch.kernel->display_name);
  kept.before += ",\"symbol\":";
  write_text(kept.before, launch.kernel->name);
  write(kept.before, ",\"grid\":[{}],\"block\":[{}],\"registers_from\":\"{}\",\"occupancy\":{}", fmt::join(launch.grid, ","),
        fmt::join(launch.block, ","), profile.assembled_registers ? "ptxas" : "estimate", occupancy_facts(kept.totals).dump());
  write_counts(kept, profile);
  if (!profile.trap.empty()) {
    kept.after += ",\"trap\":";
    write_text(kept.after, profile.trap);
  }
  if (!profile.samples.accesses.empty()) {
    kept.after += ",\"accesses\":";
    write_accesses(kept.after, profile);
  }
  if (!profile.samples.steps.empty()) {
    kept.after += ",\"paths\":";
    write_paths(kept.after, profile);
  }
  if (!parent.empty()) {
    kept.after += ",\"launched_by\":";
    write_text(kept.after, parent);
  }
  Operation& operation = operations_[profile.operation];
  const model::Link& link = model::link_of(profile.device);
  operation.costs = {link.child_launch, link.child_each,  link.child_end,
                     link.kernel_gap,   link.child_front, static_cast<size_t>(std::max(1, profile.device.concurrent_kernels))};
  (parent.empty() ? operation.by_host : operation.by_device).push_back(std::move(kept));
}

std::string Recorder::Launch::text() const {
  std::vector<PredictedValue> predicted;
  if (prediction) predicted = predicted_values(*prediction, totals);
  std::string out = before + ",\"metrics\":";
  {
    Separated metrics(out, '{', '}');
    const std::vector<double> values = metric_values(totals);
    for (size_t k = 0; k < values.size(); ++k) {
      write(metrics.next(), "\"{}\":", kMetrics[k].name);
      write_number(out, values[k]);
    }
    for (const PredictedValue& v : predicted) write(metrics.next(), "\"{}\":{:.7g}", v.name, v.value);
  }
  if (prediction) {
    const timing::Prediction& p = *prediction;
    write(
        out,
        ",\"predicted\":{{\"ns\":{:.7g},\"low\":{:.7g},\"high\":{:.7g},\"cycles\":{:.7g},\"bound\":\"{}\",\"percent\":{:.4g},\"bound_by\":\"{}\",\"waves\":{:.4g},\"stalls\":{}",
        finite(p.ns), finite(p.low), finite(p.high), finite(p.cycles), name_of(p.bound), finite(p.bound_percent), bound_in_words(p, totals),
        finite(p.waves), stalls);
    for (const PredictedValue& v : predicted)
      write(out, ",\"{}\":{{\"value\":{:.7g},\"low\":{:.5g},\"high\":{:.5g}}}", v.name, v.value, v.low, v.high);
    out += '}';
  }
  return out + after;
}

void Recorder::wait_for_children(const Operation& operation, Launch& kernel) {
  std::vector<timing::device::Child> children;
  for (const Launch& launch : operation.by_device) children.push_back(launch.place);
  timing::Prediction& p = *kernel.prediction;
  const double alone = p.ns, all = place_children(alone, kernel.place.waves, operation.costs, children);
  p.wait_for_link(all);
  if (all > alone) p.bound = timing::Bound::Launch, p.bound_percent = 100 * (1 - alone / all);
}

void Recorder::write_launches(std::ostream& out) const {
  size_t id = 0;
  out << '[';
  const auto add = [&](const std::string& text) {
    if (id) out << ',';
    out << "{\"id\":" << id++ << ',' << text << '}';
  };
  for (const auto& [number, operation] : operations_) {
    for (Launch launch : operation.by_host) {
      if (launch.prediction && !operation.by_device.empty()) wait_for_children(operation, launch);
      add(launch.text());
    }
    std::vector<std::string> children;
    for (const Launch& launch : operation.by_device) children.push_back(launch.text());
    std::ranges::sort(children);
    for (const std::string& text : children) add(text);
  }
  out << ']';
}

}  // namespace warpbeam::observe

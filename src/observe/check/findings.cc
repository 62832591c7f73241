#include "observe/check/findings.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "observe/tool.h"

namespace warpbeam::observe::check {

std::string key_of(const HostStack& stack) {
  std::string key;
  for (uint64_t address : stack) key += std::to_string(address) + ' ';
  return key;
}

namespace {

std::string key_of(const Finding& f, const std::string& more) {
  std::string key = std::string(word(f.kind)) + '|' + f.kernel + '|' + more;
  for (const auto& l : f.locations) key += '|' + l;
  for (const auto& l : f.callers) key += '^' + l;
  return key;
}

bool worse(const Finding& a, const Finding& b) { return a.severity != b.severity ? a.severity == Severity::Error : a.apart > b.apart; }

const std::string* fact(const Finding& f, const char* name) {
  const auto it = std::ranges::find(f.facts, name, &std::pair<std::string, std::string>::first);
  return it == f.facts.end() ? nullptr : &it->second;
}

// A variable without its indices, or an allocation.
std::string whole_place(const Finding& f) {
  if (const std::string* variable = fact(f, "variable")) return variable->substr(0, variable->find_first_of("[+."));
  const std::string* allocation = fact(f, "allocation");
  return allocation ? *allocation : "";
}

// Who comes too early finds no value where nobody has stored one yet: it is the race that is the mistake.
bool comes_of_race(const Finding& read, const Finding& race) {
  using enum FindingKind;
  return read.kind == UninitializedRead && (race.kind == RaceRaw || race.kind == RaceWar || race.kind == RaceWaw) &&
         race.severity == Severity::Error && std::ranges::find(race.locations, read.locations[0]) != race.locations.end() &&
         whole_place(read) == whole_place(race);
}

// What a shuffle reads of lanes that never come to it is that mistake, not another one.
bool comes_of_absence(const Finding& read, const Finding& absence) {
  return read.kind == FindingKind::ShuffleInactiveLane && absence.kind == FindingKind::LanesNeverArrive &&
         absence.severity == Severity::Error && read.locations[0] == absence.locations[0];
}

}  // namespace

size_t Findings::add(Finding finding, const std::string& more) {
  ++told_;
  std::lock_guard lock(mutex_);
  auto [it, fresh] = by_key_.try_emplace(key_of(finding, more), all_.size());
  if (fresh) {
    all_.push_back(std::move(finding));
  } else {
    Finding& known = all_[it->second];
    finding.count += known.count;
    if (!worse(finding, known)) {
      known.count = finding.count;
      return it->second;
    }
    known = std::move(finding);
  }
  write_all();  // the program may end in any way
  return it->second;
}

void Findings::bump(size_t number, uint64_t by) {
  ++told_;
  std::lock_guard lock(mutex_);
  all_[number].count += by;
}

uint64_t Findings::errors() const {
  std::lock_guard lock(mutex_);
  uint64_t n = 0;
  for (const auto& f : all_) n += f.severity == Severity::Error;
  return n;
}

void Findings::set_note(const std::string& name, std::string value) {
  std::lock_guard lock(mutex_);
  notes_[name] = std::move(value);
}

void Findings::set_frees(std::set<uint64_t> return_addresses) {
  std::lock_guard lock(mutex_);
  frees_ = std::move(return_addresses);
}

void Findings::write() {
  std::lock_guard lock(mutex_);
  write_all();
}

void Findings::write_all() const {
  if (file_.empty()) return;
  nlohmann::ordered_json document;
  document["notes"] = notes_;
  auto& frees = document["frees"] = nlohmann::ordered_json::array();
  for (uint64_t address : frees_) frees.push_back(module_offset(address - 1));
  auto& list = document["findings"] = nlohmann::ordered_json::array();
  for (const Finding& f : all_) {
    if (std::ranges::any_of(all_, [&](const Finding& cause) { return comes_of_race(f, cause) || comes_of_absence(f, cause); })) continue;
    const bool unset = std::ranges::any_of(all_, [&](const Finding& read) { return comes_of_race(read, f); });
    nlohmann::ordered_json j;
    j["check"] = word(check_of(f.kind));
    j["kind"] = word(f.kind);
    j["severity"] = f.severity == Severity::Error ? "error" : "warning";
    j["title"] = f.title;
    j["kernel"] = f.kernel;
    j["locations"] = f.locations;
    if (!f.callers.empty()) j["callers"] = f.callers;
    auto& lines = j["lines"] = nlohmann::ordered_json::array();
    for (const auto& l : f.lines) {
      // Return addresses stand behind the calls.
      std::vector<std::string> stack;
      for (uint64_t address : l.stack) stack.push_back(module_offset(address - 1));
      lines.push_back({{"text", l.text}, {"stack", stack}});
    }
    if (unset) lines.push_back({{"text", "and what is read there had no value yet"}, {"stack", nlohmann::ordered_json::array()}});
    j["mend"] = f.mend;
    for (const auto& [name, value] : f.facts) j["facts"][name] = value;
    j["count"] = f.count;
    list.push_back(std::move(j));
  }
  // Written beside and renamed: whoever reads it finds a whole document, whenever the program ends.
  const std::string fresh = file_ + ".new";
  if (FILE* out = std::fopen(fresh.c_str(), "w")) {
    const std::string text = document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    std::fwrite(text.data(), 1, text.size(), out);
    std::fclose(out);
    std::rename(fresh.c_str(), file_.c_str());
  }
}

}  // namespace warpbeam::observe::check

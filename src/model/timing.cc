#include "model/timing.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>

#include "model/embedded_tables.h"

namespace warpbeam::model {
namespace {

using Json = nlohmann::json;

const EmbeddedTable* find_table(std::string_view key) {
  for (const EmbeddedTable& table : kTimingTables)
    if (table.key == key) return &table;
  return nullptr;
}

// The tables are part of the program: what is wrong in one is a mistake of ours.
[[noreturn]] void table_error(std::string_view file, const std::string& what) {
  std::fputs(fmt::format("timing table {}: {}\n", file, what).c_str(), stderr);
  std::abort();
}

void read(std::string_view key, TimingTable& into) {
  const EmbeddedTable* table = find_table(key);
  if (!table) table_error(key, "is missing");
  const Json all = Json::parse(table->text);
  if (all.contains("inherits")) read(all.at("inherits").get<std::string>(), into);
  for (const auto& [origin, values] : all.at("values").items())
    for (const auto& [name, value] : values.items()) {
      if (value.is_number()) {
        into[name] = {value.get<double>(), origin};
      } else if (value.is_array() && value.size() == 2) {  // of an operation
        into[name + ".latency"] = {value[0].get<double>(), origin};
        into[name + ".interval"] = {value[1].get<double>(), origin};
      } else {
        table_error(key, name + " is neither a number nor a latency and an interval");
      }
    }
}

std::string key_for(const Device& device) {
  if (find_table(device.key)) return device.key;
  std::string best;
  int best_cc = 0;
  for (const EmbeddedTable& table : kTimingTables) {
    if (!table.key.starts_with("sm_")) continue;
    const int cc = std::atoi(std::string(table.key.substr(3)).c_str());
    if (best.empty() || (cc <= device.cc() ? cc > best_cc || best_cc > device.cc() : best_cc > device.cc() && cc < best_cc))
      best = table.key, best_cc = cc;
  }
  return best;
}

}  // namespace

const TimingTable& timing_table(const Device& device) {
  static std::mutex mutex;
  static std::map<std::string, TimingTable>& known = *new std::map<std::string, TimingTable>;
  std::lock_guard lock(mutex);
  auto [it, fresh] = known.try_emplace(device.key);
  if (fresh) read(key_for(device), it->second);
  return it->second;
}

}  // namespace warpbeam::model

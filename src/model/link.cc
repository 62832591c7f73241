#include "model/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "model/embedded_tables.h"

namespace warpbeam::model {
namespace {

using Json = nlohmann::json;

struct Member {
  std::string_view name, unit, about;
  double Link::* place;
};

constexpr Member kMembers[] = {
#define WB_LINK(name, unit, about) {#name, unit, about, &Link::name},
#include "model/link.inc"
#undef WB_LINK
};

// The table is part of the program: what is wrong in it is a mistake of ours.
[[noreturn]] void table_error(const std::string& row, const std::string& what) {
  std::fputs(fmt::format("link table: {}: {}\n", row, what).c_str(), stderr);
  std::abort();
}

struct Read {
  Link link;
  std::map<std::string_view, std::string> from;
};

void take(const std::string& key, const Json& row, Read& into) {
  for (const auto& [origin, values] : row.items())
    for (const auto& [name, value] : values.items()) {
      const auto member = std::ranges::find(kMembers, name, &Member::name);
      if (member == std::end(kMembers)) table_error(key, name + " is no number of a link");
      into.link.*member->place = value.get<double>();
      into.from[member->name] = origin;
    }
}

// What older generations say holds until a newer one says otherwise; a product has the last word.
Read read(const Device& device) {
  const Json all = Json::parse(kLinkTable);
  std::map<int, std::string> generations;
  for (const auto& [key, row] : all.items())
    if (key.starts_with("sm_")) generations[std::atoi(key.c_str() + 3)] = key;
  Read result;
  for (const auto& [cc, key] : generations)
    if (cc <= device.cc() || cc == generations.begin()->first) take(key, all.at(key), result);
  if (all.contains(device.key)) take(device.key, all.at(device.key), result);
  for (const Member& member : kMembers)
    if (!result.from.contains(member.name)) table_error(device.key, fmt::format("{} is missing", member.name));
  return result;
}

const Read& known(const Device& device) {
  static std::mutex mutex;
  static auto& all = *new std::map<std::string, Read>;  // never destroyed: kernels may run while the process ends
  std::lock_guard lock(mutex);
  auto found = all.find(device.key);
  if (found == all.end()) found = all.emplace(device.key, read(device)).first;
  return found->second;
}

}  // namespace

const Link& link_of(const Device& device) { return known(device).link; }

std::vector<LinkValue> link_values(const Device& device) {
  const Read& read = known(device);
  std::vector<LinkValue> values;
  for (const Member& member : kMembers)
    values.push_back({member.name, member.unit, member.about, read.link.*member.place, read.from.at(member.name)});
  return values;
}

}  // namespace warpbeam::model

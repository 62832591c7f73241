#include "model/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/edit_distance.h"
#include "model/embedded_tables.h"
#include "model/fields.h"

namespace warpbeam::model {
namespace {

using Json = nlohmann::json;

// The tables are part of the program, so anything wrong in them is a mistake of ours; say which row before stopping.
[[noreturn]] void table_error(const std::string& row, const std::string& what) {
  std::fputs(fmt::format("device table: {}: {}\n", row, what).c_str(), stderr);
  std::abort();
}

template <class Enum>
void read_spelling(Enum& target, const Json& value, std::initializer_list<Enum> all, const std::string& row) {
  for (Enum candidate : all) {
    if (spelling(candidate) == value.get_ref<const std::string&>()) {
      target = candidate;
      return;
    }
  }
  table_error(row, fmt::format("unknown spelling {}", value.dump()));
}

void read_value(RegisterScope& target, const Json& value, const std::string& row) {
  read_spelling(target, value, {RegisterScope::Block, RegisterScope::Warp}, row);
}
void read_value(GlobalRule& target, const Json& value, const std::string& row) {
  using enum GlobalRule;
  read_spelling(target, value, {HalfWarpStrict, HalfWarpSegments, Lines, Segments, Sectors}, row);
}
void read_value(BankRule& target, const Json& value, const std::string& row) {
  using enum BankRule;
  read_spelling(target, value, {HalfWarp16, Banks32, Banks32x8, Phases32}, row);
}
void read_value(std::optional<uint32_t>& target, const Json& value, const std::string&) {
  if (!value.is_null()) target = std::stoul(value.get<std::string>(), nullptr, 16);
}
void read_value(std::optional<int>& target, const Json& value, const std::string&) {
  if (!value.is_null()) target = value.get<int>();
}
template <class V>
void read_value(V& target, const Json& value, const std::string&) {
  target = value.get<V>();
}

void read_field(Device& device, const Field& field, const Json& value) {
  std::visit([&](auto member) { read_value(value_of(device, member), value, device.key); }, field.member);
}

const Field* find_field(std::string_view key, bool latency) {
  for (const Field& field : fields())
    if (field.key == key && std::holds_alternative<std::optional<int> Latencies::*>(field.member) == latency) return &field;
  return nullptr;
}

void read_row(Device& device, const Json& row) {
  for (const auto& [key, value] : row.items()) {
    if (key == "inherits" || key == "representative" || key == "compute_capability") continue;
    if (key == "sources") {
      device.sources = value.get<std::vector<std::string>>();
      continue;
    }
    if (key == "latency_cycles") {
      for (const auto& [name, cycles] : value.items()) {
        const Field* field = find_field(name, true);
        if (!field) table_error(device.key, "unknown latency " + name);
        read_field(device, *field, cycles);
      }
      continue;
    }
    const Field* field = find_field(key, false);
    if (!field) table_error(device.key, "unknown key " + key);
    read_field(device, *field, value);
  }
}

// What follows from other columns unless the row says it.
void complete(Device& device) {
  if (device.fp32_fp64_ratio == 0 && device.fp64_per_sm > 0) device.fp32_fp64_ratio = device.fp32_per_sm / device.fp64_per_sm;
  // Where nobody counted a device's groups: whole GPCs of GH100's 18 SMs and one smaller group.
  if (device.cluster_launch && device.cluster_groups.empty()) {
    constexpr int kSmsPerGpc = 18;
    for (int left = device.sm_count; left > 0; left -= kSmsPerGpc) device.cluster_groups.push_back(std::min(left, kSmsPerGpc));
  }
}

struct Tables {
  std::vector<Device> capabilities;
  std::vector<Device> devices;
  std::map<int, std::string> representatives;  // cc (90) -> device key

  Tables();

 private:
  void read_capability(const Json& all, const std::string& name, Device& device);
};

void Tables::read_capability(const Json& all, const std::string& name, Device& device) {
  const Json& row = all.at(name);
  if (row.contains("inherits")) read_capability(all, row.at("inherits"), device);
  read_row(device, row);
}

Tables::Tables() {
  Json all = Json::parse(kCapabilityTable);
  for (const auto& [name, row] : all.items()) {
    if (name == "about") continue;
    Device device;
    size_t dot = name.find('.');
    device.major = std::stoi(name.substr(0, dot));
    device.minor = std::stoi(name.substr(dot + 1));
    device.key = fmt::format("sm_{}", device.cc());
    device.name = fmt::format("compute capability {}", name);
    read_capability(all, name, device);
    device.sm_count = 1;
    if (row.contains("representative")) representatives[device.cc()] = row.at("representative");
    capabilities.push_back(std::move(device));
  }
  auto by_capability = [](const Device& a, const Device& b) { return a.cc() < b.cc(); };
  std::sort(capabilities.begin(), capabilities.end(), by_capability);

  for (const EmbeddedTable& table : kDeviceTables) {
    Json row = Json::parse(table.text);
    std::string name = row.at("compute_capability");
    auto base = std::find_if(capabilities.begin(), capabilities.end(),
                             [&](const Device& d) { return fmt::format("{}.{}", d.major, d.minor) == name; });
    if (base == capabilities.end()) table_error(std::string(table.key), "no compute capability " + name);
    Device device = *base;
    device.key = table.key;
    device.sm_count = 0;
    read_row(device, row);
    devices.push_back(std::move(device));
  }
  std::sort(devices.begin(), devices.end(), [](const Device& a, const Device& b) {
    return std::tuple(a.cc(), a.memory_bytes_per_second()) < std::tuple(b.cc(), b.memory_bytes_per_second());
  });
  for (Device& device : capabilities) complete(device);
  for (Device& device : devices) complete(device);
}

const Tables& tables() {
  // Never destroyed: kernels may run while the process ends.
  static const auto* tables = new Tables;
  return *tables;
}

// "NVIDIA GeForce RTX-4090" and "rtx4090" are the same card to a person.
std::string plain(std::string_view spelling) {
  std::string text;
  for (unsigned char c : spelling)
    if (std::isalnum(c)) text += static_cast<char>(std::tolower(c));
  for (std::string_view brand : {"nvidia", "tesla", "geforce", "quadro"})
    if (text.size() > brand.size() && text.starts_with(brand)) text.erase(0, brand.size());
  return text;
}

// "sm_90a", "compute_75", "cc8.6", "7.0" -> 90, 75, 86, 70; 0 if it is not an architecture.
int parse_architecture(std::string_view spelling) {
  std::string text;
  for (unsigned char c : spelling)
    if (!std::isspace(c)) text += static_cast<char>(std::tolower(c));
  bool prefixed = false;
  for (std::string_view prefix : {"sm_", "sm", "compute_", "lto_", "cc"}) {
    if (text.starts_with(prefix)) {
      text.erase(0, prefix.size());
      prefixed = true;
      break;
    }
  }
  if (!text.empty() && (text.back() == 'a' || text.back() == 'f')) text.pop_back();
  size_t dot = text.find('.');
  if (dot != std::string::npos && dot + 2 == text.size()) text.erase(dot, 1);
  else if (!prefixed) return 0;
  if (text.size() < 2 || text.size() > 3) return 0;
  if (!std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); })) return 0;
  return std::stoi(text);
}

const Device* find_by_key(std::string_view key) {
  for (const Device& device : all_devices())
    if (device.key == key) return &device;
  return nullptr;
}

// The device of that architecture, or else of the nearest minor version of the same major one, an earlier one first.
const Device* find_by_architecture(int cc) {
  const auto& known = tables().representatives;
  auto next = known.upper_bound(cc);
  if (next == known.begin()) return nullptr;
  auto nearest = std::prev(next);
  if (nearest->first / 10 != cc / 10) {
    if (next == known.end() || next->first / 10 != cc / 10) return nullptr;
    nearest = next;
  }
  return find_by_key(nearest->second);
}

std::vector<std::string> spellings(const Device& device) {
  std::vector<std::string> all{plain(device.key), plain(device.name)};
  for (const std::string& alias : device.aliases) all.push_back(plain(alias));
  return all;
}

}  // namespace

std::span<const Device> all_devices() { return tables().devices; }

std::span<const Device> all_compute_capabilities() { return tables().capabilities; }

const Device* find_compute_capability(int major, int minor) {
  for (const Device& device : all_compute_capabilities())
    if (device.major == major && device.minor == minor) return &device;
  return nullptr;
}

const Device* find_device(std::string_view spelling) {
  std::string wanted = plain(spelling);
  if (wanted.empty()) return nullptr;
  for (const Device& device : all_devices()) {
    auto all = spellings(device);
    if (std::find(all.begin(), all.end(), wanted) != all.end()) return &device;
  }
  int cc = parse_architecture(spelling);
  return cc ? find_by_architecture(cc) : nullptr;
}

std::string nearest_device(std::string_view spelling) {
  std::string wanted = plain(spelling);
  if (wanted.empty()) return "";
  std::string nearest;
  constexpr size_t kPerEdit = 2, kPartOfName = 1;
  size_t best = kPerEdit * std::max<size_t>(1, wanted.size() / 2) + 1;
  for (const Device& device : all_devices()) {
    for (const std::string& known : spellings(device)) {
      // A part of a name ("4070") is nearer than any typing error.
      bool part = wanted.size() >= 2 && known.find(wanted) != std::string::npos;
      size_t distance = part ? kPartOfName : kPerEdit * edit_distance(wanted, known);
      if (distance < best) {
        best = distance;
        nearest = device.key;
      }
    }
  }
  return nearest;
}

const Device& default_device() {
  const Device* device = find_by_key("h200");
  WB_ASSERT(device);
  return *device;
}

}  // namespace warpbeam::model

#include "report/timeline_use.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace warpbeam::report {

namespace {

constexpr std::string_view kNames[] = {"GR Active [Throughput %]",           "SMs Active [Throughput %]",
                                       "DRAM Read Bandwidth [Throughput %]", "DRAM Write Bandwidth [Throughput %]",
                                       "PCIe RX Throughput [Throughput %]",  "PCIe TX Throughput [Throughput %]"};
using Shares = std::array<double, std::size(kNames)>;

std::string word(const Json& t, const Json& o, const char* key) {
  return o.contains(key) ? t["words"].at(o[key].get<size_t>()).get<std::string>() : std::string();
}

// Of what an operation uses while it runs; what is not known of it is zero.
Shares shares_of(const Json& t, const Json& o) {
  const Json& device = t["device"];
  const double time = o["end"].get<double>() - o["begin"].get<double>();
  const auto of = [&](double bytes, const char* speed) {
    return time > 0 ? bytes / time / device.value(speed, 1e30) : 0;
  };  // bytes in a nanosecond
  const double bytes = o.value("bytes", 0.0), memory = device["memory_bytes_per_second"].get<double>() * 1e-9;
  const auto of_memory = [&](double moved) { return time > 0 ? moved / time / memory : 0; };
  const std::string kind = o["kind"].get<std::string>();
  Shares s{};
  if (kind == "kernel" || kind == "library") {
    const double blocks = o.contains("grid") ? o["grid"][0].get<double>() * o["grid"][1].get<double>() * o["grid"][2].get<double>() : 1e9;
    s = {1,
         std::min(1.0, blocks / device["multiprocessors"].get<double>()),
         of_memory(o.value("memory_read", 0.0)),
         of_memory(o.value("memory_written", 0.0)),
         of(o.value("link_read", 0.0) + o.value("migrated", 0.0), "link_to_device"),
         of(o.value("link_written", 0.0), "link_to_host")};
  } else if (kind == "copy") {
    const bool from = word(t, o, "from") == "Device", to = word(t, o, "to") == "Device";
    s = {1,
         0,
         from ? of_memory(bytes) : 0,
         to ? of_memory(bytes) : 0,
         to && !from ? of(bytes, "link_to_device") : 0,
         from && !to ? of(bytes, "link_to_host") : 0};
  } else if (kind == "fill") {
    s = {1, 0, 0, of_memory(bytes), 0, 0};
  }
  return s;
}

}  // namespace

std::vector<Use> use_of(const std::vector<Json>& timelines, int device) {
  std::array<std::map<int64_t, double>, std::size(kNames)> changes;
  for (const Json& t : timelines)
    for (const Json& o : t["operations"]) {
      if (o["device"] != device || o["end"] == o["begin"]) continue;
      const Shares shares = shares_of(t, o);
      for (size_t k = 0; k < shares.size(); ++k) {
        if (shares[k] <= 0) continue;
        changes[k][o["begin"].get<int64_t>()] += shares[k];
        changes[k][o["end"].get<int64_t>()] -= shares[k];
      }
    }
  std::vector<Use> all;
  for (size_t k = 0; k < changes.size(); ++k) {
    Use use{kNames[k], {}};
    double now = 0;
    for (const auto& [at, change] : changes[k]) {
      now += change;
      use.steps.emplace_back(at, std::clamp(100 * now, 0.0, 100.0));
    }
    all.push_back(std::move(use));
  }
  return all;
}

std::vector<int> sampled(const Use& use, int64_t begin, int64_t each, size_t count) {
  std::vector<double> sums(count, 0);
  for (size_t k = 0; k + 1 < use.steps.size(); ++k) {
    if (use.steps[k].second <= 0) continue;
    const int64_t from = std::max<int64_t>(0, use.steps[k].first - begin), to = use.steps[k + 1].first - begin;
    for (int64_t part = from / each; part * each < to && part < static_cast<int64_t>(count); ++part)
      sums[static_cast<size_t>(part)] +=
          use.steps[k].second * static_cast<double>(std::min(to, (part + 1) * each) - std::max(from, part * each));
  }
  std::vector<int> values(count);
  std::ranges::transform(sums, values.begin(), [&](double sum) { return static_cast<int>(std::lround(sum / static_cast<double>(each))); });
  return values;
}

}  // namespace warpbeam::report

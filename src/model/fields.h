// The columns of the device tables: JSON key, what it means, where it goes. Reading the JSON, the verbose print and the
// reference page all walk this one list, so a fact added here is read, printed and documented.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/device.h"

namespace warpbeam::model {

using FieldMember =
    std::variant<int Device::*, uint64_t Device::*, bool Device::*, std::string Device::*, std::vector<int> Device::*,
                 std::vector<std::string> Device::*, std::array<int, 3> Device::*, std::optional<int> Device::*,
                 std::optional<uint32_t> Device::*, RegisterScope Device::*, GlobalRule Device::*, BankRule Device::*, int TextureLimits::*,
                 std::array<int, 2> TextureLimits::*, std::array<int, 3> TextureLimits::*, std::optional<int> Latencies::*>;

struct Field {
  std::string_view group;
  std::string_view key;
  std::string_view meaning;
  FieldMember member;
};

std::span<const Field> fields();

// Where a column's value lives in a (const or not) Device.
template <class AnyDevice, class Value>
auto& value_of(AnyDevice& device, Value Device::* member) {
  return device.*member;
}
template <class AnyDevice, class Value>
auto& value_of(AnyDevice& device, Value TextureLimits::* member) {
  return device.limits.*member;
}
template <class AnyDevice, class Value>
auto& value_of(AnyDevice& device, Value Latencies::* member) {
  return device.latency_cycles.*member;
}

std::string_view spelling(RegisterScope scope);
std::string_view spelling(GlobalRule rule);
std::string_view spelling(BankRule rule);

// The value as people read it ("65536", "1024 x 1024 x 64", "yes", "?" for a value nobody confirmed).
std::string format_field(const Field& field, const Device& device);

}  // namespace warpbeam::model

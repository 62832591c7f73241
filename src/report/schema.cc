#include "report/schema.h"

#include <fmt/format.h>

#include <cctype>
#include <string>

namespace warpbeam::report {
namespace {

constexpr std::string_view kRecording = R"({
  format:s version:i basis:s clock?:s
  device:{name:s major:i minor:i multiprocessors:n clock_mhz:n max_warps:u partitions:n}
  files:[s] sources?:[s]
  functions:[{name:s instructions:[(u i i s)]}]
  metrics:[{name:s nvprof:s unit:s class:s set:s reason?:s}]
  count_fields:[s]
  launches:[{
    id:u kernel:s grid:(u u u) block:(u u u) registers_from?:s trap?:s
    occupancy:{resident_blocks:u resident_warps:u limited_by:[s]}
    metrics:<n>
    predicted?:{ns:n low:n high:n bound:s bound_by:s stalls:[{name:s about:s percent:n lines:[{file:i line:u percent:n}]}]}
    lines:[{file:i line:u stalls?:<n>}]
    counts:[(u u)] stalls?:[(u u <n>)] accesses?:[(u)] paths?:[{steps:[(u)]}]
  }]
  timeline?:[{}]
})";

class Reader {
 public:
  explicit Reader(std::string_view shape) : rest_(shape) {}

  // Reads one shape; with a value, tells what is wrong with that. Lists come back to their shape for every element.
  void read(const Json* value, const std::string& place) {
    skip();
    const char kind = rest_.empty() ? '*' : rest_.front();
    if (!rest_.empty()) rest_.remove_prefix(1);
    switch (kind) {
      case 's': return want(value, place, !value || value->is_string(), "text");
      case 'b': return want(value, place, !value || value->is_boolean(), "true or false");
      case 'n': return want(value, place, !value || value->is_number(), "a number");
      case 'i': return want(value, place, !value || value->is_number_integer(), "a whole number");
      case 'u': return want(value, place, !value || value->is_number_unsigned(), "a whole number from 0 on");
      case '[': return read_list(value, place);
      case '(': return read_row(value, place);
      case '{': return read_object(value, place);
      case '<': return read_values(value, place);
      default: return;
    }
  }
  const std::string& wrong() const { return wrong_; }

 private:
  void skip() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front()))) rest_.remove_prefix(1);
  }
  bool ends(char with) {
    skip();
    if (rest_.empty() || rest_.front() != with) return rest_.empty();
    rest_.remove_prefix(1);
    return true;
  }
  void want(const Json* value, const std::string& place, bool ok, std::string_view what) {
    if (!ok && wrong_.empty())
      wrong_ = fmt::format("{} is {}; {} was needed", place.empty() ? "it" : place, value->is_discarded() ? "nothing" : value->type_name(),
                           what);
  }
  template <class Each>
  void each(const Json* value, Each&& element) {
    const std::string_view shape = rest_;
    element(nullptr, "");  // to come behind it
    const std::string_view behind = rest_;
    if (value)
      for (const auto& [name, one] : value->items()) {
        if (!wrong_.empty()) break;
        rest_ = shape;
        element(&one, name);
      }
    rest_ = behind;
  }
  void read_list(const Json* value, const std::string& place) {
    want(value, place, !value || value->is_array(), "a list");
    if (value && !value->is_array()) value = nullptr;
    each(value, [&](const Json* one, const std::string& at) { read(one, one ? fmt::format("{}[{}]", place, at) : ""); });
    ends(']');
  }
  void read_values(const Json* value, const std::string& place) {
    want(value, place, !value || value->is_object(), "an object");
    if (value && !value->is_object()) value = nullptr;
    each(value, [&](const Json* one, const std::string& name) { read(one, one ? fmt::format("{}.{}", place, name) : ""); });
    ends('>');
  }
  void read_row(const Json* value, const std::string& place) {
    want(value, place, !value || value->is_array(), "a list");
    if (value && !value->is_array()) value = nullptr;
    for (size_t k = 0; !ends(')'); ++k) {
      const bool there = value && k < value->size();
      want(value, place, !value || there, fmt::format("a list of {} or more", k + 1));
      read(there ? &(*value)[k] : nullptr, there ? fmt::format("{}[{}]", place, k) : "");
    }
  }
  void read_object(const Json* value, const std::string& place) {
    want(value, place, !value || value->is_object(), "an object");
    if (value && !value->is_object()) value = nullptr;
    while (!ends('}')) {
      const size_t end = rest_.find_first_of("?:");
      const std::string name(rest_.substr(0, end));
      const bool may_lack = rest_[end] == '?';
      rest_.remove_prefix(end + (may_lack ? 2 : 1));
      const auto found = value ? value->find(name) : Json::const_iterator{};
      const bool there = value && found != value->end();
      const std::string at = place.empty() ? name : place + "." + name;
      if (value && !there && !may_lack && wrong_.empty()) wrong_ = fmt::format("{} is missing", at);
      read(there ? &*found : nullptr, there ? at : "");
    }
  }

  std::string_view rest_;
  std::string wrong_;
};

Error outside(const std::string& place) { return {1, fmt::format("{} names what the recording does not have", place)}; }

}  // namespace

Result<void> fits_shape(const Json& document, std::string_view shape) {
  Reader reader(shape);
  reader.read(&document, "");
  if (!reader.wrong().empty()) return Error{1, reader.wrong()};
  return {};
}

Result<void> fits_recording(const Json& recording) {
  WB_TRY(fits_shape(recording, kRecording));
  const size_t files = recording["files"].size(), functions = recording["functions"].size(), fields = recording["count_fields"].size();
  const auto is_file = [&](const Json& number) { return !number.is_number_unsigned() || number.get<uint64_t>() < files; };  // -1: none
  const auto is_function = [&](const Json& number) { return number.get<uint64_t>() < functions; };
  const auto is_instruction = [&](const Json& row) {
    return is_function(row[0]) && row[1].get<uint64_t>() < recording["functions"][row[0].get<size_t>()]["instructions"].size();
  };
  if (recording.contains("sources") && recording["sources"].size() != files) return Error{1, "there is not a source for each file"};
  for (const Json& function : recording["functions"])
    for (const Json& instruction : function["instructions"])
      if (!is_file(instruction[1])) return outside("an instruction");
  for (const Json& launch : recording["launches"]) {
    const std::string name = fmt::format("launch {}", launch["id"].get<uint64_t>());
    for (const Json& line : launch["lines"])
      if (!is_file(line["file"])) return outside("a line of " + name);
    for (const Json& row : launch["counts"]) {
      if (!is_instruction(row) || row.size() > fields) return outside("a count of " + name);
      for (const Json& number : row)
        if (!number.is_number_unsigned()) return Error{1, fmt::format("a count of {} is no number", name)};
    }
    if (launch.contains("stalls"))
      for (const Json& row : launch["stalls"])
        if (!is_instruction(row)) return outside("a stall of " + name);
    if (launch.contains("accesses"))
      for (const Json& row : launch["accesses"])
        if (!is_function(row[0])) return outside("an access of " + name);
    if (launch.contains("paths"))
      for (const Json& path : launch["paths"])
        for (const Json& step : path["steps"])
          if (!is_function(step[0])) return outside("a path of " + name);
    if (!launch.contains("predicted")) continue;
    for (const Json& stall : launch["predicted"]["stalls"])
      for (const Json& line : stall["lines"])
        if (!is_file(line["file"])) return outside("a stall of " + name);
    for (const auto& [metric, interval] : launch["predicted"].items())
      if (interval.is_object())
        if (auto ok = fits_shape(interval, "{low:n high:n}"); !ok)
          return Error{1, fmt::format("{} of {}: {}", metric, name, ok.error().message)};
  }
  return {};
}

}  // namespace warpbeam::report

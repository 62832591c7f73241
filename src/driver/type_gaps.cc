#include "driver/type_gaps.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace warpbeam::driver {
namespace {

using Id = uint32_t;  // of `!12`; 0 stands for none

// A line of metadata is read when it is asked for.
class Metadata {
 public:
  explicit Metadata(const std::string& ir) {
    std::string_view rest = ir;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (!line.starts_with("!")) continue;
      const size_t equals = line.find(" = ");
      if (equals == std::string_view::npos || line[1] < '0' || line[1] > '9') continue;
      lines_[number(line.substr(1))] = line.substr(equals + 3);
    }
  }
  const std::unordered_map<Id, std::string_view>& lines() const { return lines_; }
  std::string_view operator[](Id id) const {
    const auto it = lines_.find(id);
    return it == lines_.end() ? std::string_view{} : it->second;
  }
  // `name: value`, up to the comma; of a text what is between the quotes.
  static std::string_view field(std::string_view node, std::string_view name) {
    for (size_t at = node.find(name); at != std::string_view::npos; at = node.find(name, at + 1)) {
      if (node[at - 1] != ' ' && node[at - 1] != '(') continue;
      std::string_view value = node.substr(at + name.size());
      if (!value.starts_with(": ")) continue;
      value.remove_prefix(2);
      if (value.starts_with("\"")) return value.substr(1, value.find('"', 1) - 1);
      return value.substr(0, value.find_first_of(",)"));
    }
    return {};
  }
  static uint64_t count(std::string_view node, std::string_view name) { return number(field(node, name)); }
  static Id link(std::string_view node, std::string_view name) {
    const std::string_view value = field(node, name);
    return value.starts_with("!") ? static_cast<Id>(number(value.substr(1))) : 0;
  }
  // !{null, !268, !17}
  std::vector<Id> list(Id id) const {
    std::vector<Id> out;
    std::string_view node = (*this)[id];
    for (size_t at = node.find('!', 1); at != std::string_view::npos; at = node.find('!', at + 1)) out.push_back(static_cast<Id>(number(node.substr(at + 1))));
    return out;
  }

 private:
  static uint64_t number(std::string_view text) {
    uint64_t n = 0;
    for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1)) n = 10 * n + static_cast<uint64_t>(text[0] - '0');
    return n;
  }
  std::unordered_map<Id, std::string_view> lines_;
};

constexpr uint64_t kMostBytes = 1 << 16;

class Records {
 public:
  explicit Records(const Metadata& m) : m_(m) {}

  // Structures that a type leads to.
  void add(Id type, std::set<Id>& records) const {
    std::vector<Id> open{type};
    std::set<Id> seen;
    while (!open.empty()) {
      const Id id = open.back();
      open.pop_back();
      if (!id || !seen.insert(id).second) continue;
      const std::string_view node = m_[id], tag = Metadata::field(node, "tag");
      if (is_record(tag)) records.insert(id);
      open.push_back(Metadata::link(node, "baseType"));
      if (is_record(tag) || tag == "DW_TAG_union_type")
        for (const Id member : m_.list(Metadata::link(node, "elements"))) open.push_back(member);
    }
  }
  // `16;4-8`; empty if there are no gaps.
  std::string gaps(Id record) const {
    const uint64_t bytes = Metadata::count(m_[record], "size") / 8;
    if (!bytes || bytes > kMostBytes) return "";
    const std::vector<bool> used = used_by(record, bytes);
    std::string out;
    for (uint64_t at = 0; at < bytes;) {
      uint64_t end = at;
      while (end < bytes && !used[end]) ++end;
      if (end > at) out += fmt::format(";{}-{}", at, end);
      at = end + 1;
    }
    return out.empty() ? out : fmt::format("{}{}", bytes, out);
  }

 private:
  static bool is_record(std::string_view tag) { return tag == "DW_TAG_structure_type" || tag == "DW_TAG_class_type"; }

  // A flag for each of a type's bytes.
  std::vector<bool> used_by(Id type, uint64_t bytes) const {
    std::vector<bool> used(bytes);
    const std::string_view node = m_[type], tag = Metadata::field(node, "tag");
    const bool is_union = tag == "DW_TAG_union_type";
    if (is_record(tag) || is_union) {
      bool first = true;
      for (const Id id : m_.list(Metadata::link(node, "elements"))) {
        const std::string_view member = m_[id], kind = Metadata::field(member, "tag");
        if ((kind != "DW_TAG_member" && kind != "DW_TAG_inheritance") || Metadata::field(member, "flags").find("StaticMember") != std::string_view::npos) continue;
        std::vector<bool> here(bytes);
        add(here, member);
        for (uint64_t k = 0; k < bytes; ++k) used[k] = is_union && !first ? used[k] && here[k] : used[k] || here[k];
        first = false;
      }
      return used;
    }
    if (tag == "DW_TAG_array_type") {
      const Id element = Metadata::link(node, "baseType");
      const uint64_t size = size_of(element);
      if (!size) return std::vector<bool>(bytes, true);
      const std::vector<bool> one = used_by(element, size);
      for (uint64_t k = 0; k < bytes; ++k) used[k] = one[k % size];
      return used;
    }
    const Id base = Metadata::link(node, "baseType");
    const bool same = tag == "DW_TAG_typedef" || tag == "DW_TAG_const_type" || tag == "DW_TAG_volatile_type" || tag == "DW_TAG_restrict_type";
    return base && same ? used_by(base, bytes) : std::vector<bool>(bytes, true);
  }
  uint64_t size_of(Id type) const {
    for (int k = 0; k < 50 && type; ++k) {
      if (const uint64_t bits = Metadata::count(m_[type], "size")) return bits / 8;
      type = Metadata::link(m_[type], "baseType");  // of a typedef
    }
    return 0;
  }
  void add(std::vector<bool>& used, std::string_view member) const {
    const uint64_t offset = Metadata::count(member, "offset"), size = Metadata::count(member, "size"), begin = offset / 8, end = (offset + size + 7) / 8;
    const Id type = Metadata::link(member, "baseType");
    const bool whole = Metadata::field(member, "flags").find("BitField") == std::string_view::npos;
    // A base's size may not be said; what follows it may lie in its end.
    const uint64_t bytes = size && whole ? end - begin : whole ? size_of(type) : 0;
    const std::vector<bool> own = bytes ? used_by(type, bytes) : std::vector<bool>(end - begin, true);
    for (uint64_t k = 0; k < own.size() && begin + k < used.size(); ++k) used[begin + k] = used[begin + k] || own[k];
  }

  const Metadata& m_;
};

}  // namespace

std::string gaps_of(const std::string& ir) {
  const Metadata metadata(ir);
  const Records records(metadata);
  std::set<std::string_view> kernels;
  for (const auto& [id, node] : metadata.lines())
    if (node.starts_with("!{ptr @") && node.find("!\"kernel\"") != std::string_view::npos) kernels.insert(node.substr(7, node.find(',') - 7));
  std::set<std::string> lines;
  for (const auto& [id, node] : metadata.lines()) {
    if (!node.starts_with("distinct !DISubprogram(")) continue;
    std::string_view name = Metadata::field(node, "linkageName");
    if (name.empty()) name = Metadata::field(node, "name");
    // Those of internal linkage get an end that tells files apart.
    const auto kernel = kernels.lower_bound(name);
    if (name.empty() || kernel == kernels.end() || !kernel->starts_with(name) || (*kernel != name && !kernel->substr(name.size()).starts_with("__"))) continue;
    std::set<Id> found;
    for (const Id type : metadata.list(Metadata::link(metadata[Metadata::link(node, "type")], "types"))) records.add(type, found);
    for (const Id record : found)
      if (const std::string gaps = records.gaps(record); !gaps.empty()) lines.insert(fmt::format("~{};{}\n", *kernel, gaps));
  }
  std::string out;
  for (const std::string& line : lines) out += line;
  return out;
}

}  // namespace warpbeam::driver

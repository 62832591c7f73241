#include "isa/row.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "isa/rows/all.h"

namespace warpbeam::isa {
namespace {

template <class... Rs>
void add_rows(std::vector<Row>& rows, RowList<Rs...>) {
  (rows.push_back(describe<Rs>()), ...);
}

std::vector<Row> build_rows() {
  std::vector<Row> rows;
  for_each_chapter([&](auto chapter) { add_rows(rows, chapter); });
  for (size_t i = 0; i < rows.size(); ++i) rows[i].id = static_cast<int>(i);
  return rows;
}

// Reads one `.word`, `.a|.b` or group name into a slot.
void read_alternatives(std::string_view text, Slot& slot) {
  size_t at = 0;
  while (at < text.size()) {
    size_t end = text.find('|', at);
    if (end == std::string_view::npos) end = text.size();
    std::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (word == ".type" || word == ".atype") {
      slot.type_slot = word == ".type" ? 0 : 1;
      continue;
    }
    if (Type t = type_named(word); t != Type::None) {
      slot.literal_type = t;
      continue;
    }
    bool found = false;
    for (const ModWord& m : mod_words())
      if (m.word == word) {
        slot.words.push_back(&m);
        found = true;
        break;
      }
    if (found) continue;
    size_t before = slot.words.size();
    for (const ModWord& m : mod_words())
      if (m.group == word.substr(1)) slot.words.push_back(&m);
    if (slot.words.size() == before) slot.plain.push_back(word);
  }
}

RowForm take_apart(const Row& row) {
  RowForm form{&row, {}};
  std::string_view s = row.syntax.substr(0, row.syntax.find(' '));
  s.remove_prefix(row.opcode.size());
  while (!s.empty()) {
    Slot slot;
    size_t end = 0;
    if (s[0] == '{' || s[0] == '(') {
      end = s.find_first_of("})");
      slot.optional = s[0] == '{';
      read_alternatives(s.substr(1, end - 1), slot);
      s.remove_prefix(end + 1);
    } else {
      end = s.find_first_of(".{(", 1);
      if (end == std::string_view::npos) end = s.size();
      read_alternatives(s.substr(0, end), slot);
      s.remove_prefix(end);
    }
    form.slots.push_back(std::move(slot));
  }
  return form;
}

struct Tables {
  std::vector<Row> rows = build_rows();
  std::vector<RowForm> forms;
  std::unordered_map<std::string_view, std::vector<const RowForm*>> by_opcode;
  Tables() {
    forms.reserve(rows.size());
    for (const Row& row : rows) forms.push_back(take_apart(row));
    for (const RowForm& form : forms) by_opcode[form.row->opcode].push_back(&form);
  }
};

const Tables& tables() {
  // Never destroyed: kernels may run while the process ends.
  static const auto* t = new Tables;
  return *t;
}

bool allows(TypeSet set, Type t) { return std::find(set.begin(), set.end(), t) != set.end(); }

// Tries one row; the number of words it could place, -1 when it fits whole, kIllegal when all words have their places
// but the combination does not exist.
constexpr int kIllegal = -2;
int try_form(const RowForm& form, std::span<const std::string_view> words, int operand_count, Matched& out) {
  out = Matched{form.row, {}, Type::None, Type::None, operand_count};
  uint32_t used = 0;
  size_t next_type = 0;  // types are matched in order of the syntax line
  int placed = 0;
  for (std::string_view word : words) {
    bool ok = false;
    if (Type t = type_named(word); t != Type::None) {
      for (size_t k = next_type; k < form.slots.size() && !ok; ++k) {
        const Slot& slot = form.slots[k];
        if (used >> k & 1) continue;
        if (slot.literal_type == t) {
          ok = true;
        } else if (slot.type_slot == 0 && allows(form.row->types, t)) {
          out.type = t;
          ok = true;
        } else if (slot.type_slot == 1 && allows(form.row->atypes, t)) {
          out.atype = t;
          ok = true;
        } else if ((slot.literal_type != Type::None || slot.type_slot >= 0) && !slot.optional) {
          break;  // a required type comes first
        }
        if (ok) {
          used |= 1u << k;
          next_type = k + 1;
          if (slot.literal_type == t) {
            if (out.type == Type::None) out.type = t;
            else if (out.atype == Type::None) out.atype = t;
          }
        }
      }
    }
    for (size_t k = 0; k < form.slots.size() && !ok; ++k) {
      if (used >> k & 1) continue;
      if (std::find(form.slots[k].plain.begin(), form.slots[k].plain.end(), word) != form.slots[k].plain.end()) {
        used |= 1u << k;
        ok = true;
        break;
      }
      for (const ModWord* m : form.slots[k].words)
        if (m->word == word) {
          // What a lane row always says is part of its meaning already; its mods hold only what varies.
          const bool fixed = form.row->kind == Kind::Lane && form.slots[k].words.size() == 1 && !form.slots[k].optional;
          if (m->set && !fixed) m->set(out.mods);
          used |= 1u << k;
          ok = true;
          break;
        }
    }
    if (!ok) return placed;
    ++placed;
  }
  for (size_t k = 0; k < form.slots.size(); ++k)
    if (!form.slots[k].optional && !(used >> k & 1)) return placed;
  if (form.row->legal && !form.row->legal(out)) return kIllegal;
  return -1;
}

bool operand_count_fits(const Row& row, int count) {
  int least = 0;
  for (int i = 0; i < row.operands.count; ++i) least += !row.operands.list[i].optional;
  return count >= least && count <= row.operands.count;
}

}  // namespace

std::span<const Row> all_rows() { return tables().rows; }
std::span<const RowForm> all_forms() { return tables().forms; }
bool known_opcode(std::string_view opcode) { return tables().by_opcode.contains(opcode); }

Result<Matched> match_row(std::string_view opcode, std::span<const std::string_view> words, int operand_count) {
  auto it = tables().by_opcode.find(opcode);
  if (it == tables().by_opcode.end()) return Error{0, fmt::format("unknown instruction '{}'", opcode)};
  int best = 0;
  const RowForm *fits_but_count = nullptr, *illegal = nullptr;
  for (const RowForm* form : it->second) {
    Matched m;
    int placed = try_form(*form, words, operand_count, m);
    if (placed == kIllegal) {
      illegal = form;
    } else if (placed < 0) {
      if (operand_count < 0 || form->row->operands.count == 0 || operand_count_fits(*form->row, operand_count)) return m;
      fits_but_count = form;
    } else {
      best = std::max(best, placed);
    }
  }
  if (fits_but_count)
    return Error{0, fmt::format("'{}' does not take {} operands; its form is: {}", opcode, operand_count, fits_but_count->row->syntax)};
  if (illegal) return Error{0, fmt::format("these modifiers and types do not go together in {}", illegal->row->syntax)};
  if (best < static_cast<int>(words.size())) return Error{0, fmt::format("'{}' is not a modifier of '{}' here", words[best], opcode)};
  return Error{0, fmt::format("'{}' lacks a required modifier or type; its form is: {}", opcode, it->second.front()->row->syntax)};
}

std::string_view name_of(Class c) {
  static constexpr std::string_view kNames[] = {"int add", "int mul", "logic",   "shift",
                                                "compare", "select",  "move",    "convert",
                                                "half",    "f32 add", "f32 mul", "f32 fma",
                                                "f64 add", "f64 mul", "f64 fma", "special function",
                                                "video",   "load",    "store",   "atomic",
                                                "branch",  "call",    "barrier", "warp",
                                                "fence",   "misc",    "tensor",  "asynchronous copy"};
  return kNames[static_cast<int>(c)];
}

}  // namespace warpbeam::isa

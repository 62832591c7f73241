#include "fuzz/statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "isa/image_form.h"

namespace warpbeam::fuzz {

using isa::Kind;
using isa::Row;
using isa::RowForm;
using isa::Slot;
using isa::Type;

namespace {

// The same numbers on every machine and every run.
class Random {
 public:
  explicit Random(std::string_view seed) {
    for (char c : seed) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  uint32_t below(uint32_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state_ >> 33) % n;
  }

 private:
  uint64_t state_ = 0xcbf29ce484222325u;
};

std::vector<std::string> choices_of(const RowForm& form, const Slot& slot) {
  std::vector<std::string> list;
  if (slot.optional) list.emplace_back();
  if (slot.literal_type != Type::None) list.emplace_back(isa::name_of(slot.literal_type));
  if (slot.type_slot >= 0)
    for (Type t : slot.type_slot == 0 ? form.row->types : form.row->atypes) list.emplace_back(isa::name_of(t));
  for (const isa::ModWord* w : slot.words) list.emplace_back(w->word);
  for (std::string_view w : slot.plain) list.emplace_back(w);
  return list;
}

using Words = std::vector<std::string>;

// All choices, or around `cap` of them: the first, all that differ from it in one slot, then random ones.
std::vector<Words> combinations(const RowForm& form, int cap) {
  std::vector<std::vector<std::string>> slots;
  uint64_t total = 1;
  for (const Slot& s : form.slots) {
    slots.push_back(choices_of(form, s));
    total = std::min<uint64_t>(total * slots.back().size(), 1u << 30);
  }
  std::vector<std::vector<uint32_t>> picks;
  if (total <= static_cast<uint64_t>(cap)) {
    for (uint64_t n = 0; n < total; ++n) {
      std::vector<uint32_t> pick;
      uint64_t rest = n;
      for (const auto& s : slots) {
        pick.push_back(static_cast<uint32_t>(rest % s.size()));
        rest /= s.size();
      }
      picks.push_back(pick);
    }
  } else {
    Random random(form.row->syntax);
    std::vector<uint32_t> base(slots.size(), 0);
    picks.push_back(base);
    for (size_t k = 0; k < slots.size(); ++k)
      for (uint32_t c = 1; c < slots[k].size(); ++c) {
        picks.push_back(base);
        picks.back()[k] = c;
      }
    while (picks.size() < static_cast<size_t>(cap)) {
      std::vector<uint32_t> pick;
      for (const auto& s : slots) pick.push_back(random.below(static_cast<uint32_t>(s.size())));
      picks.push_back(pick);
    }
  }
  std::vector<Words> out;
  std::set<Words> seen;
  for (const auto& pick : picks) {
    Words words;
    for (size_t k = 0; k < slots.size(); ++k)
      if (!slots[k][pick[k]].empty()) words.push_back(slots[k][pick[k]]);
    if (seen.insert(words).second) out.push_back(words);
  }
  return out;
}

std::vector<std::string_view> views(const Words& words) { return {words.begin(), words.end()}; }

bool is_vector(const isa::Mods& m, const Row& row) { return m.vec != 0 && (row.kind == Kind::Memory || row.kind == Kind::Atomic); }

StatementOperand make_operand(const Row& row, const isa::OperandSpec& spec, int position, const isa::Matched& m) {
  const isa::Mods& mods = m.mods;
  StatementOperand o;
  o.type = isa::operand_type(spec, m.type, m.atype);
  const isa::OperandForm form = row.form && m.row == &row ? row.form(m, position) : isa::OperandForm{};
  if (form.type != Type::None) o.type = form.type;
  if (form.count) {  // d from register 0 on, the others behind the most that d can have
    o.held = o.type;
    o.text = "{";
    for (int k = 0; k < form.count; ++k)
      o.text += fmt::format("{}{}", k ? ", " : "", register_name(o.type, (position ? 128 + position * 16 : 0) + k));
    o.text += "}";
    return o;
  }
  o.held = o.type;
  o.address = spec.address;
  if (spec.address) {
    o.reg = position;
    std::string coordinates;
    for (int k = 0; k < form.coordinates; ++k) coordinates += fmt::format("{}%r{}", k ? ", " : ", {", k);
    o.text = fmt::format("[%d{}{}{}]", position, coordinates, form.coordinates ? "}" : "");
  } else if (row.opcode == "mbarrier" && spec.written && mods.space == isa::Space::SharedCluster) {
    o.text = "_";  // a barrier of another block gives no state
  } else if (spec.constant) {
    o.text = row.opcode == "discard" || row.opcode == "applypriority" ? "128"
             : row.opcode == "setmaxnreg"                             ? "64"
             : row.opcode == "pmevent"                                ? "7"
             : row.opcode == "lop3"                                   ? "0x6a"
             : row.opcode == "mma"                                    ? "0"
             : row.opcode == "wgmma"                                  ? (position < 6 ? "1" : "0")
             : row.opcode == "fence"                                  ? "128"
             : row.syntax.starts_with("tensormap.cp")                 ? "128"
             : row.opcode == "tensormap"                              ? "1"
             : row.syntax.starts_with("cp.async.wait")                ? "2"
                                                                      : "16";
  } else if (is_vector(mods, row) && spec.rule == isa::OperandRule::Slot0) {
    o.text = "{";
    for (int k = 0; k < mods.vec; ++k) o.text += fmt::format("{}{}", k ? ", " : "", register_name(o.type, position * 4 + k));
    o.text += "}";
    o.reg = position * 4;
  } else {
    o.reg = position;
    o.text = register_name(o.type, position);
  }
  return o;
}

void set_register(StatementOperand& o, Type held) {
  o.held = held;
  o.text = register_name(held, o.reg);
}

// Wider registers, selectors, `!` and the like: each a copy of the plain statement.
void add_variants(std::vector<Statement>& out, const Statement& plain, const isa::Matched& m, Random& random) {
  const Row& row = *plain.row;
  const auto& specs = row.operands;
  if (specs.count > 0 && specs.list[0].pair && !specs.list[0].both) {
    Statement s = plain;
    s.pair_reg = 5;
    out.push_back(s);
  }
  for (size_t k = 1; k < plain.operands.size(); ++k)
    if (plain.operands[k].type == Type::Pred && random.below(3) == 0) {
      Statement s = plain;
      s.operands[k].text = "!" + s.operands[k].text;
      out.push_back(s);
    }
  if (row.kind == Kind::Convert && m.operand_count == 2 && isa::bits_of(m.type) != 0) {
    const auto packed = [](Type t) {
      return t == Type::F16x2 || t == Type::BF16x2 || t == Type::TF32 || t == Type::E4M3x2 || t == Type::E5M2x2 || t == Type::BF16;
    };
    for (Type wide : {Type::B16, Type::B32, Type::B64})
      for (int k = 0; k < 2; ++k) {
        const Type t = plain.operands[k].type;
        if (packed(m.type) || packed(m.atype) || isa::bits_of(t) >= isa::bits_of(wide) || random.below(3)) continue;
        Statement s = plain;
        set_register(s.operands[k], wide);
        out.push_back(s);
      }
  }
  if (row.kind == Kind::Video) {
    const bool simd = row.opcode.ends_with('2') || row.opcode.ends_with('4');
    static constexpr const char* kParts[] = {"", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};
    static constexpr const char* kMasks2[] = {"", ".h0", ".h1", ".h10"};
    static constexpr const char* kMasks4[] = {"", ".b0", ".b3", ".b20", ".b310", ".b3210"};
    for (int n = 0; n < 2; ++n) {
      Statement s = plain;
      if (simd) {
        const bool four = row.opcode.ends_with('4');
        s.operands[0].text += four ? kMasks4[random.below(6)] : kMasks2[random.below(4)];
        for (int k = 1; k < 3; ++k) {
          s.operands[k].text += four ? ".b" : ".h";
          for (int e = 0; e < (four ? 4 : 2); ++e) s.operands[k].text += static_cast<char>('0' + random.below(four ? 8 : 4));
        }
      } else {
        s.operands[1].text += kParts[random.below(7)];
        s.operands[2].text += kParts[random.below(7)];
        if (row.opcode == "vmad") {
          if (!m.mods.po) {
            const uint32_t which = random.below(4);
            if (which == 3) s.operands[3].text = "-" + s.operands[3].text;
            else if (which > 0) s.operands[which].text = "-" + s.operands[which].text;
          }
        } else if (m.operand_count == 4 && m.mods.op == isa::Op::None) {
          s.operands[0].text += kParts[random.below(7)];
        }
      }
      out.push_back(s);
    }
  }
}

// Texture and surface instructions: what image_form says of these words.
void add_image_statement(std::vector<Statement>& out, const Row& row, const Words& words, bool check) {
  const auto matched = isa::match_row(row.opcode, views(words), -1);
  if (check && (!matched || matched->row != &row)) return;
  isa::Matched m;
  if (matched) m = *matched;
  else m.row = &row;
  if (!matched)
    for (const std::string& w : words)
      for (const isa::ModWord& mod : isa::mod_words())
        if (mod.word == w && (mod.group == "geometry" || mod.group == "vec" || mod.group == "detail")) mod.set(m.mods);
  const isa::ImageForm form = isa::image_form(m);
  int next = 0;
  auto registers = [&](Type type, int count, bool braces) {
    StatementOperand o;
    for (int k = 0; k < count; ++k) o.text += fmt::format("{}{}", k ? ", " : "", register_name(type, next++ % 16));
    if (braces) o.text = "{" + o.text + "}";
    return o;
  };
  Statement s;
  s.row = &row;
  s.words = words;
  if (form.results) s.operands.push_back(registers(form.result, form.results, form.results > 1));
  StatementOperand image;
  image.text = "%d15";
  if (row.opcode != "istypep") {
    if (form.coordinates) {
      std::string list;
      for (int k = 0; k < form.coordinates; ++k)
        list += fmt::format("{}{}", k ? ", " : "", register_name(k == 0 && form.layered ? Type::U32 : form.coordinate, next++ % 16));
      image.text += ", {" + list + "}";
    }
    image.text = "[" + image.text + "]";
  }
  s.operands.push_back(image);
  if (form.values) s.operands.push_back(registers(form.value, form.values, form.values > 1));
  if (form.level) s.operands.push_back(registers(form.coordinate == Type::F32 ? Type::F32 : Type::B32, 1, false));
  for (int k = 0; form.gradient && k < 2; ++k) s.operands.push_back(registers(Type::F32, form.gradient, true));
  out.push_back(std::move(s));
}

// The statements for these words; with `check`, only what the table accepts as this row.
void add_statements(std::vector<Statement>& out, const Row& row, const Words& words, bool check, bool variants, Random& random) {
  if (row.kind == Kind::Image) return add_image_statement(out, row, words, check);
  int least = 0;
  for (int k = 0; k < row.operands.count; ++k) least += !row.operands.list[k].optional;
  for (int count = least; count <= row.operands.count; ++count) {
    auto matched = isa::match_row(row.opcode, views(words), count);
    if (check && (!matched || matched->row != &row)) continue;
    // For words that the table refuses the operands follow the types as they stand.
    isa::Matched m;
    if (matched) {
      m = *matched;
    } else {
      for (const std::string& w : words)
        if (Type t = isa::type_named(w); t != Type::None) {
          if (m.type == Type::None) m.type = t;
          else if (m.atype == Type::None) m.atype = t;
        }
      for (const std::string& w : words)
        for (const isa::ModWord& mod : isa::mod_words())
          if (mod.word == w && mod.group == "vec") mod.set(m.mods);
    }
    m.operand_count = count;
    const auto& specs = matched ? matched->row->operands : row.operands;
    if (specs.count < count) continue;
    Statement s;
    s.row = &row;
    s.words = words;
    if (row.kind == Kind::Video && check && row.operands.list[3].optional && (m.mods.op != isa::Op::None) != (count == 4) &&
        random.below(2))
      continue;
    if (row.kind == Kind::Video && check && row.operands.list[3].optional && m.mods.op != isa::Op::None && count == 3) continue;
    for (int k = 0; k < count; ++k) s.operands.push_back(make_operand(matched ? *matched->row : row, specs.list[k], k, m));
    if (specs.count > 0 && specs.list[0].both) s.pair_reg = 5;
    out.push_back(s);
    if (variants) add_variants(out, s, m, random);
  }
}

// Control flow has operands that the table does not describe.
bool free_form(const Row& row) { return row.opcode == "bra" || row.opcode == "brx" || row.opcode == "call"; }

}  // namespace

std::string Statement::text() const {
  std::string s(row->opcode);
  for (const std::string& w : words) s += w;
  for (size_t k = 0; k < operands.size(); ++k) {
    s += k == 0 ? " " : ", ";
    s += operands[k].text;
    if (k == 0 && pair_reg >= 0) s += fmt::format("|%p{}", pair_reg);
  }
  return s + ";";
}

std::vector<Statement> legal_statements(const RowForm& form, const Bounds& bounds) {
  std::vector<Statement> out;
  if (free_form(*form.row)) return out;
  Random random(form.row->syntax);
  for (const Words& words : combinations(form, bounds.per_row)) add_statements(out, *form.row, words, true, bounds.variants, random);
  return out;
}

std::vector<Statement> near_misses(const RowForm& form, const Bounds& bounds) {
  static constexpr std::string_view kStrays[] = {
      ".rn",      ".rz",       ".rm",     ".rna",  ".rni",     ".rzi",  ".ftz",   ".sat", ".satfinite", ".relu",   ".NaN",
      ".xorsign", ".abs",      ".approx", ".full", ".lo",      ".hi",   ".wide",  ".cc",  ".po",        ".shr7",   ".eq",
      ".lo",      ".ltu",      ".and",    ".sync", ".clamp",   ".wrap", ".noftz", ".v2",  ".global",    ".shared", ".gpu",
      ".relaxed", ".volatile", ".ca",     ".nc",   ".aligned", ".uni",  ".add",   ".min", ".shiftamt",  ".to",     ".oob"};
  std::vector<Statement> out;
  if (free_form(*form.row)) return out;
  Random random(form.row->syntax);
  std::set<Words> seen;
  std::vector<Words> starts;
  for (const Words& words : combinations(form, bounds.per_row)) {
    const auto m = isa::match_row(form.row->opcode, views(words), -1);
    if (m) starts.push_back(words);
  }
  // A few that lie far apart.
  const size_t step = std::max<size_t>(1, starts.size() / static_cast<size_t>(bounds.per_row));
  std::vector<Words> few;
  for (size_t k = 0; k < starts.size(); k += step) few.push_back(starts[k]);
  starts = std::move(few);
  const auto offer = [&](const Words& words) {
    if (seen.insert(words).second) add_statements(out, *form.row, words, false, false, random);
  };
  for (const Words& words : starts) {
    for (size_t k = 0; k < words.size(); ++k) {
      Words shorter = words;
      shorter.erase(shorter.begin() + static_cast<ptrdiff_t>(k));
      offer(shorter);
      if (isa::type_named(words[k]) == Type::None) continue;
      for (int t = 2; t < isa::kTypeCount; ++t) {
        Words other = words;
        other[k] = isa::name_of(static_cast<Type>(t));
        offer(other);
      }
    }
    for (std::string_view stray : kStrays) {
      if (std::find(words.begin(), words.end(), stray) != words.end()) continue;
      Words longer = words;
      // Before the types, where modifiers belong.
      auto at = std::find_if(longer.begin(), longer.end(), [](const std::string& w) { return isa::type_named(w) != Type::None; });
      longer.insert(at, std::string(stray));
      offer(longer);
    }
  }
  return out;
}

std::string register_name(Type type, int number) {
  const char* cls = "r";
  if (type == Type::Pred) cls = "p";
  else if (isa::bits_of(type) == 8) cls = "c";
  else if (isa::bits_of(type) == 16) cls = "h";
  else if (type == Type::F32) cls = "f";
  else if (type == Type::F64) cls = "g";
  else if (isa::bits_of(type) == 64) cls = "d";
  else if (isa::bits_of(type) == 128) cls = "q";
  return fmt::format("%{}{}", cls, number);
}

std::string_view register_declarations() {
  return ".reg .pred %p<16>; .reg .b8 %c<16>; .reg .b16 %h<256>; .reg .b32 %r<256>; .reg .f32 %f<256>; .reg .b64 "
         "%d<256>; "
         ".reg .f64 %g<256>; .reg .b128 %q<16>;\n";
}

std::string module_header(int sm) {
  return fmt::format(".version 8.7\n.target sm_{}\n.address_size 64\n", sm == 90 ? "90a" : std::to_string(sm));
}

}  // namespace warpbeam::fuzz

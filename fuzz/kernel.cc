#include "fuzz/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fuzz/random.h"
#include "fuzz/statements.h"

namespace warpbeam::fuzz {

namespace {

constexpr std::string_view kRegisterDeclarations =
    ".reg .pred %p<8>, %u<4>;\n.reg .b8 %c<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<8>, %t<8>;\n.reg .f32 %f<8>;\n"
    ".reg .b64 %d<8>, %a<8>;\n.reg .f64 %g<8>;\n.reg .b128 %q<2>;\n";

uint64_t aligned(uint64_t n) { return (n + 15) & ~uint64_t{15}; }

std::string negated(const std::string& condition) { return condition[0] == '!' ? condition.substr(1) : "!" + condition; }

bool wants_mask(const std::vector<Node>& nodes) {
  for (const Node& node : nodes) {
    for (const std::string& line : node.lines)
      if (line.find("$M") != std::string::npos) return true;
    for (const auto& part : node.parts)
      if (wants_mask(part)) return true;
  }
  return false;
}

// Writes the nodes of one function.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}

  void nodes(const std::vector<Node>& list, const std::string& mask, const std::string& loop) {
    for (const Node& node : list) write(node, mask, loop);
  }
  // Of the registers that `nodes` made up.
  std::string declarations() const { return fmt::format(".reg .b32 %m<{}>, %n<{}>;\n", names_ + 1, names_ + 1); }

 private:
  int name() { return ++names_; }
  void line(const std::string& text) { out_ += text + "\n"; }
  void lines(const Node& node, const std::string& mask, const std::string& counter = "") {
    for (std::string text : node.lines) {
      for (size_t at; (at = text.find("$M")) != std::string::npos;) text.replace(at, 2, mask);
      for (size_t at; (at = text.find("$N")) != std::string::npos;) text.replace(at, 2, counter);
      line(text);
    }
  }
  // The lanes of `mask` where the condition holds.
  std::string narrowed(const std::string& condition, const std::string& mask) {
    const std::string fresh = fmt::format("%m{}", name());
    line(fmt::format("vote.sync.ballot.b32 {}, {}, {};", fresh, condition, mask));
    return fresh;
  }

  void write(const Node& node, const std::string& mask, const std::string& loop) {
    const int id = name();
    switch (node.kind) {
      case NodeKind::Lines: return lines(node, mask);
      case NodeKind::If: {
        lines(node, mask);
        std::string then_mask, else_mask;
        if (wants_mask(node.parts[0])) then_mask = narrowed(node.condition, mask);
        if (wants_mask(node.parts[1])) else_mask = narrowed(negated(node.condition), mask);
        line(fmt::format("@{} bra ELSE{};", negated(node.condition), id));
        nodes(node.parts[0], then_mask, loop);
        if (!node.parts[1].empty()) line(fmt::format("bra END{};", id));
        line(fmt::format("ELSE{}:", id));
        if (node.parts[1].empty()) return;
        nodes(node.parts[1], else_mask, loop);
        return line(fmt::format("END{}:", id));
      }
      case NodeKind::Loop: {
        const std::string counter = fmt::format("%n{}", id);
        const std::string inner = wants_mask(node.parts[0]) ? fmt::format("%m{}", name()) : "";
        lines(node, mask, counter);
        if (!inner.empty()) line(fmt::format("mov.b32 {}, {};", inner, mask));
        line(fmt::format("LOOP{}:", id));
        nodes(node.parts[0], inner, std::to_string(id));
        line(fmt::format("NEXT{}:", id));
        line(fmt::format("sub.u32 {0}, {0}, 1;", counter));
        line(fmt::format("setp.ne.u32 %u0, {}, 0;", counter));
        if (!inner.empty()) line(fmt::format("vote.sync.ballot.b32 {0}, %u0, {0};", inner));
        line(fmt::format("@%u0 bra LOOP{};", id));
        return line(fmt::format("END{}:", id));
      }
      case NodeKind::Switch: {
        lines(node, mask);
        std::vector<std::string> masks(node.parts.size());
        std::string targets;
        for (size_t k = 0; k < node.parts.size(); ++k) {
          targets += fmt::format("{}CASE{}_{}", k ? ", " : "", id, k);
          if (!wants_mask(node.parts[k])) continue;
          line(fmt::format("setp.eq.u32 %u1, %t0, {};", k));
          masks[k] = narrowed("%u1", mask);
        }
        line(fmt::format("TARGETS{}: .branchtargets {};", id, targets));
        line(fmt::format("brx.idx %t0, TARGETS{};", id));
        for (size_t k = 0; k < node.parts.size(); ++k) {
          line(fmt::format("CASE{}_{}:", id, k));
          nodes(node.parts[k], masks[k], loop);
          line(fmt::format("bra END{};", id));
        }
        return line(fmt::format("END{}:", id));
      }
      case NodeKind::Break:
        // The lanes that stay go on together.
        if (!mask.empty()) line(fmt::format("vote.sync.ballot.b32 {0}, {1}, {0};", mask, negated(node.condition)));
        return line(fmt::format("@{} bra END{};", node.condition, loop));
      case NodeKind::Continue: return line(fmt::format("@{} bra NEXT{};", node.condition, loop));
      case NodeKind::Exit:
        if (!mask.empty()) line(fmt::format("vote.sync.ballot.b32 {0}, {1}, {0};", mask, negated(node.condition)));
        return line(fmt::format("@{} bra EXIT;", node.condition));
    }
  }

  std::string& out_;
  int names_ = 0;
};

bool has_exit(const std::vector<Node>& nodes) {
  for (const Node& node : nodes) {
    if (node.kind == NodeKind::Exit) return true;
    for (const auto& part : node.parts)
      if (has_exit(part)) return true;
  }
  return false;
}

std::string function_text(const Function& f) {
  std::string body;
  Writer writer(body);
  writer.nodes(f.body, "", "");
  const char* type = f.wide ? ".b64" : ".b32";
  std::string text = fmt::format(".func (.param {} result) {}(.param .b32 x, .param .b64 y)\n{{\n", type, f.name);
  text += kRegisterDeclarations;
  text += writer.declarations();
  text += "ld.param.b32 %r0, [x];\nld.param.b64 %d0, [y];\n";
  for (int k = 1; k < kRegisters; ++k) {
    text += fmt::format("mad.lo.s32 %r{}, %r{}, {}, {};\n", k, k - 1, 2 * k + 1, 1000003 * k);
    text += fmt::format("mad.wide.u32 %d{}, %r{}, {}, %d{};\n", k, k, 77 + k, k - 1);
  }
  for (int k = 0; k < kRegisters; ++k)
    text += fmt::format(
        "cvt.u16.u32 %h{0}, %r{0};\ncvt.u8.u32 %c{0}, %r{0};\nmov.b32 %f{0}, %r{0};\nmov.b64 %g{0}, %d{0};\n"
        "setp.lt.s32 %p{0}, %r{0}, 0;\n",
        k);
  for (int k = 0; k < kWideRegisters; ++k) text += fmt::format("mov.b128 %q{0}, {{%d{0}, %d{1}}};\n", k, k + 1);
  text += body;
  const std::string result = f.wide ? "xor.b64 %d0, %d1, %d2;\nst.param.b64 [result], %d0;\nret;\n"
                                    : "mov.b32 %t0, %f3;\nxor.b32 %t0, %t0, %r1;\nst.param.b32 [result], %t0;\nret;\n";
  text += result;
  if (has_exit(f.body))
    text += "EXIT:\n" + std::string(f.wide ? "st.param.b64 [result], %d3;\nret;\n" : "st.param.b32 [result], %r3;\nret;\n");
  return text + "}\n";
}

std::string dump_text(const Kernel& kernel) {
  std::string text;
  for (const DumpedRegister& r : dumped_registers(kernel)) {
    if (!kernel.stored.empty() && std::find(kernel.stored.begin(), kernel.stored.end(), r.name) == kernel.stored.end()) continue;
    const char cls = r.name[1];
    text += fmt::format("mad.wide.u32 %a0, %gt, {}, %out;\n", r.bytes);
    std::string value = r.name;
    if (cls == 'p') {
      text += fmt::format("selp.u32 %t0, 1, 0, {};\n", r.name);
      value = "%t0";
    } else if (cls == 'q') {
      text += fmt::format("mov.b128 {{%a1, %a2}}, {};\n", r.name);
      value = "{%a1, %a2}";
    }
    const char* type = cls == 'q'     ? "v2.b64"
                       : cls == 'f'   ? "f32"
                       : cls == 'g'   ? "f64"
                       : r.bytes == 1 ? "b8"
                       : r.bytes == 2 ? "b16"
                       : r.bytes == 4 ? "b32"
                                      : "b64";
    text += fmt::format("st.global.{} [%a0+{}], {};\n", type, r.offset, value);
  }
  return text;
}

}  // namespace

std::vector<DumpedRegister> dumped_registers(const Kernel& kernel) {
  std::vector<DumpedRegister> list;
  uint64_t offset = 0;
  for (const auto& [cls, bytes] : {std::pair{'p', 1}, {'c', 1}, {'h', 2}, {'r', 4}, {'f', 4}, {'d', 8}, {'g', 8}, {'q', 16}})
    for (int k = 0; k < (cls == 'q' ? kWideRegisters : kRegisters); ++k) {
      list.push_back({fmt::format("%{}{}", cls, k), bytes, offset});
      offset = aligned(offset + uint64_t{kernel.threads()} * static_cast<uint64_t>(bytes));
    }
  return list;
}

uint64_t slot_offset(const Kernel& kernel, int size_log2) {
  const DumpedRegister last = dumped_registers(kernel).back();
  uint64_t offset = aligned(last.offset + uint64_t{kernel.threads()} * static_cast<uint64_t>(last.bytes));
  for (int k = 0; k < size_log2; ++k) offset = aligned(offset + (uint64_t{kernel.threads()} << k));
  return offset;
}
uint64_t cells_offset(const Kernel& kernel) { return slot_offset(kernel, kSlotSizes); }
uint64_t out_bytes(const Kernel& kernel) { return cells_offset(kernel) + kCells * 8; }

uint32_t shared_slot_offset(const Kernel& kernel, int size_log2) {
  uint64_t offset = 0;
  for (int k = 0; k < size_log2; ++k) offset = aligned(offset + (uint64_t{kernel.block_threads()} << k));
  return static_cast<uint32_t>(offset);
}
uint32_t shared_cells_offset(const Kernel& kernel) { return shared_slot_offset(kernel, kSlotSizes); }
uint32_t shared_bytes(const Kernel& kernel) { return shared_cells_offset(kernel) + kSharedCells * 8; }

namespace {

// True where `text` has the name and no longer one.
bool names(const std::string& text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
    if (at + name.size() == text.size() || !std::isdigit(static_cast<unsigned char>(text[at + name.size()]))) return true;
  return false;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// The setup of the registers that `rest` names, all of it where `everything`. A setup may name registers set up before
// it.
std::string setup_text(const Kernel& kernel, const std::string& rest, bool everything) {
  std::string text;
  for (auto it = kernel.setup.rbegin(); it != kernel.setup.rend(); ++it)
    if (everything || names(rest, it->name) || names(text, it->name)) text = joined(it->lines) + text;
  return text;
}

// What the names of a kernel's positions stand for.
constexpr std::string_view kPositions =
    "ld.param.u64 %in, [p_in];\nld.param.u64 %out, [p_out];\n"
    "ld.param.u32 %s0, [p_first];\nld.param.u32 %s1, [p_second];\nld.param.f32 %s2, [p_third];\n"
    "mov.u32 %tx, %tid.x;\nmov.u32 %ty, %tid.y;\nmov.u32 %tz, %tid.z;\n"
    "mov.u32 %t0, %ntid.x;\nmov.u32 %t1, %ntid.y;\nmov.u32 %t2, %ntid.z;\n"
    "mad.lo.u32 %lin, %tz, %t1, %ty;\nmad.lo.u32 %lin, %lin, %t0, %tx;\n"
    "mul.lo.u32 %nt, %t0, %t1;\nmul.lo.u32 %nt, %nt, %t2;\n"
    "mov.u32 %t3, %ctaid.x;\nmov.u32 %t4, %ctaid.y;\nmov.u32 %t5, %nctaid.x;\nmad.lo.u32 %t3, %t4, %t5, %t3;\n"
    "mad.lo.u32 %gt, %t3, %nt, %lin;\n";
// The lanes that this warp has: the last one of a block may be partial.
constexpr std::string_view kLanes = "and.b32 %t0, %lin, -32;\nsub.u32 %t0, %nt, %t0;\nmin.u32 %t0, %t0, 32;\nbmsk.clamp.b32 %m0, 0, %t0;\n";

std::string fill_local() {
  std::string t;
  for (int k = 0; k < 8; ++k) t += fmt::format("st.local.b64 [own+{}], {};\n", 8 * k, 3 * k);
  return t;
}

// Every thread fills its places, and the first one clears the cells.
std::string fill_shared(const Kernel& kernel) {
  struct Fill {
    const char *type, *value;
  };
  constexpr Fill kFills[kSlotSizes] = {{"b8", "0"}, {"b16", "0"}, {"b32", "%gt"}, {"b64", "%a0"}, {"v2.b64", "{%a0, %a0}"}};
  std::string t = fmt::format("mov.u32 %t0, tile;\nmov.b64 %a0, {};\n", 0x0123456789abcdefu);
  for (int k = 0; k < kSlotSizes; ++k)
    t += fmt::format("mad.lo.u32 %t1, %lin, {}, %t0;\nst.shared.{} [%t1+{}], {};\n", 1 << k, kFills[k].type, shared_slot_offset(kernel, k),
                     kFills[k].value);
  t += "setp.ne.u32 %u0, %lin, 0;\n@%u0 bra CLEARED;\n";
  for (uint32_t k = 0; k < kSharedCells; ++k) t += fmt::format("st.shared.b64 [%t0+{}], 0;\n", shared_cells_offset(kernel) + 8 * k);
  return t + "CLEARED:\nbarrier.sync 0;\n";
}

std::string constants(uint64_t seed) {
  std::string t = ".const .align 16 .b8 table[64] = {";
  for (uint64_t k = 0; k < 64; ++k) t += fmt::format("{}{}", k ? "," : "", mix(seed + k) >> 8 & 0xff);
  return t + "};\n";
}

}  // namespace

std::string Kernel::text() const {
  std::string code;
  Writer writer(code);
  writer.nodes(body, "%m0", "");
  code += dump_text(*this) + "ret;\n";
  if (has_exit(body)) code += "EXIT:\n" + dump_text(*this) + "exit;\n";
  const bool everything = stored.empty();
  const auto where = [&](std::string_view name, std::string text) { return everything || names(code, name) ? std::move(text) : ""; };

  std::string t = module_header(90);
  t += where("table", constants(seed));
  for (const Function& f : functions) t += where(f.name, function_text(f));
  t += ".visible .entry k(.param .u64 p_in, .param .u64 p_out, .param .u32 p_first, .param .u32 p_second, .param .f32 "
       "p_third)\n{\n";
  t += kRegisterDeclarations;
  t += writer.declarations();
  t += ".reg .b32 %tx, %ty, %tz, %lin, %gt, %nt, %s0, %s1;\n.reg .b64 %in, %out;\n.reg .f32 %s2;\n";
  t += where("own", ".local .align 16 .b8 own[64];\n");
  t += where("tile", fmt::format(".shared .align 16 .b8 tile[{}];\n", shared_bytes(*this)));
  t += kPositions;
  t += where("%m0", std::string(kLanes));
  t += where("own", fill_local());
  t += where("tile", fill_shared(*this));
  t += setup_text(*this, code, everything);
  return t + code + "}\n";
}

std::vector<std::string> named_registers(const Kernel& kernel) {
  std::string code;
  Writer(code).nodes(kernel.body, "%m0", "");
  std::vector<std::string> list;
  for (const DumpedRegister& r : dumped_registers(kernel))
    if (names(code, r.name)) list.push_back(r.name);
  if (list.empty()) list.push_back("%r0");
  return list;
}

std::vector<std::byte> input_bytes() {
  std::vector<std::byte> bytes(4 * kAreaBytes);
  const auto fill = [&](Area area, isa::Type type, size_t size) {
    std::byte* at = bytes.data() + static_cast<size_t>(area) * kAreaBytes;
    for (uint32_t k = 0; k < kAreaBytes / size; ++k) {
      const uint64_t value = input_value(type, static_cast<int>(k / 1024 % 4), k % 1024);
      std::memcpy(at + k * size, &value, size);
    }
  };
  fill(Area::Bits, isa::Type::B64, 8);
  fill(Area::F32, isa::Type::F32, 4);
  fill(Area::F64, isa::Type::F64, 8);
  fill(Area::F16, isa::Type::F16, 2);
  return bytes;
}

}  // namespace warpbeam::fuzz

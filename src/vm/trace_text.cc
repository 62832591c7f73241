#include "vm/trace_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace warpbeam::vm {

namespace {

using isa::Kind;
using isa::Type;

std::vector<size_t> line_starts(const std::string& text) {
  std::vector<size_t> starts{0, 0};  // lines count from 1
  for (size_t k = 0; k < text.size(); ++k)
    if (text[k] == '\n') starts.push_back(k + 1);
  return starts;
}

// Just behind the semicolon of the statement at `at`.
size_t statement_end(const std::string& text, size_t at) {
  while (at < text.size() && text[at] != ';') {
    if (text.compare(at, 2, "//") == 0) at = std::min(text.find('\n', at), text.size());
    else if (text.compare(at, 2, "/*") == 0) at = std::min(text.find("*/", at), text.size());
    else ++at;
  }
  return std::min(at + 1, text.size());
}

// The registers that an instruction writes.
std::vector<int> results(const ptx::Instruction& i) {
  std::vector<int> regs;
  const isa::Row& row = *i.form.row;
  if (i.operands.empty() || row.kind == Kind::Control || row.operands.count == 0 || !row.operands.list[0].written) return regs;
  const ptx::Operand& first = i.operands[0];
  if (first.kind == ptx::OperandKind::Register && !first.address) regs.push_back(first.reg);
  for (const ptx::Operand& element : first.list)
    if (element.kind == ptx::OperandKind::Register) regs.push_back(element.reg);
  if (first.pair >= 0) regs.push_back(first.pair);
  return regs;
}

// Code that leaves the register's bits in __wb_v.
std::string widen(Type type, const std::string& reg) {
  if (type == Type::Pred) return fmt::format("selp.b64 __wb_v, 1, 0, {};", reg);
  switch (isa::bits_of(type)) {
    case 8: return fmt::format("cvt.u64.u8 __wb_v, {};", reg);
    case 16: return fmt::format("mov.b16 __wb_h, {}; cvt.u64.u16 __wb_v, __wb_h;", reg);
    case 32: return fmt::format("mov.b32 __wb_0, {}; cvt.u64.u32 __wb_v, __wb_0;", reg);
    case 64: return fmt::format("mov.b64 __wb_v, {};", reg);
    default: return fmt::format("mov.b128 {{__wb_v, __wb_a}}, {}; xor.b64 __wb_v, __wb_v, __wb_a;", reg);
  }
}

// Leaves the thread's number, from the buffer's first one on, in __wb_0.
std::string thread_number(const TraceBuffer& b) {
  return fmt::format(
      "mov.u32 __wb_0, %ctaid.z; mov.u32 __wb_1, %ctaid.y; mad.lo.u32 __wb_0, __wb_0, {}, __wb_1; mov.u32 __wb_1, "
      "%ctaid.x; "
      "mad.lo.u32 __wb_0, __wb_0, {}, __wb_1; mov.u32 __wb_1, %tid.z; mad.lo.u32 __wb_0, __wb_0, {}, __wb_1; "
      "mov.u32 __wb_1, %tid.y; mad.lo.u32 __wb_0, __wb_0, {}, __wb_1; mov.u32 __wb_1, %tid.x; "
      "mad.lo.u32 __wb_0, __wb_0, {}, __wb_1; sub.u32 __wb_0, __wb_0, {};",
      b.grid[1], b.grid[0], b.block[2], b.block[1], b.block[0], b.first_thread);
}

std::string recording(const ptx::Function& f, const ptx::Instruction& i, int reg, const TraceBuffer& b, size_t point) {
  const std::string name = f.register_name(reg);
  std::string t = "{ .reg .pred __wb_q, __wb_p; .reg .b16 __wb_h; .reg .b32 __wb_0, __wb_1; .reg .b64 __wb_v, __wb_a, __wb_n; ";
  t += widen(f.registers[static_cast<size_t>(reg)].type, name) + " " + thread_number(b);
  t += fmt::format(" setp.lt.u32 __wb_q, __wb_0, {};", b.threads);
  // A guarded statement that did nothing is not recorded, unless it wrote its own guard.
  if (i.guard >= 0 && i.guard != reg)
    t += fmt::format(" {}and.pred __wb_q, __wb_q, {};",
                     i.guard_negated ? fmt::format("not.pred __wb_p, {}; ", f.register_name(i.guard)) : "",
                     i.guard_negated ? "__wb_p" : f.register_name(i.guard));
  t += fmt::format(" mov.b64 __wb_a, {}; mad.wide.u32 __wb_a, __wb_0, {}, __wb_a; @__wb_q ld.global.u64 __wb_n, [__wb_a];", b.base,
                   b.stride());
  if (b.records == 0) {
    t += fmt::format(
        " xor.b64 __wb_v, __wb_v, __wb_n; mul.lo.u64 __wb_v, __wb_v, 0x9e3779b97f4a7c15; add.u64 __wb_v, __wb_v, {}; "
        "@__wb_q st.global.u64 [__wb_a], __wb_v;",
        point + 1);
  } else {
    t += fmt::format(
        " @__wb_q red.global.add.u64 [__wb_a], 1; sub.u64 __wb_n, __wb_n, {}; setp.lt.u64 __wb_p, __wb_n, {}; "
        "and.pred __wb_q, __wb_q, __wb_p; shl.b64 __wb_n, __wb_n, 4; add.u64 __wb_a, __wb_a, __wb_n; "
        "mov.b64 __wb_n, {}; @__wb_q st.global.v2.b64 [__wb_a+16], {{__wb_v, __wb_n}};",
        b.skip, b.records, point);
  }
  return t + " }";
}

bool reads_elsewhere(const isa::Row& row) {
  return row.kind == Kind::Memory || row.kind == Kind::Atomic || row.kind == Kind::Warp || row.kind == Kind::Barrier;
}

}  // namespace

std::string add_trace(const ptx::Module& module, const TraceBuffer& buffer, std::vector<TracePoint>& points) {
  const std::vector<size_t> starts = line_starts(module.text);
  std::multimap<size_t, std::string> insertions;  // by place
  for (const ptx::Function& f : module.functions)
    for (const ptx::Instruction& i : f.body) {
      if (i.at.line == 0 || i.at.line >= starts.size()) continue;
      const size_t begin = starts[i.at.line] + (i.at.column ? i.at.column - 1 : 0), end = statement_end(module.text, begin);
      std::string text;
      for (int reg : results(i)) {
        text += " " + recording(f, i, reg, buffer, points.size());
        TracePoint point{f.name, f.register_name(reg), i.at.line, module.text.substr(begin, end - begin), "", reads_elsewhere(*i.form.row)};
        if (i.line && i.file < module.files.size()) point.source = fmt::format("{}:{}", module.files[i.file], i.line);
        points.push_back(std::move(point));
      }
      if (!text.empty()) insertions.emplace(end, std::move(text));
    }
  std::string text;
  size_t done = 0;
  for (const auto& [at, inserted] : insertions) {
    text.append(module.text, done, at - done);
    text += inserted;
    done = at;
  }
  return text + module.text.substr(done);
}

}  // namespace warpbeam::vm

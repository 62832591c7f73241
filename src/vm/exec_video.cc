// The video instructions. They are rare, so each execution reads its settings from the parsed instruction.
#include "isa/arith/video.h"

#include "vm/exec_lane.h"
#include "vm/lane_chapters.h"

namespace warpbeam::vm {
namespace {

using isa::VideoCompare;
using isa::VideoOp;
using isa::VideoPart;
using isa::VideoSecond;
using ptx::Operand;
using ptx::OperandKind;
using ptx::Selector;

struct Family {
  std::string_view stem;
  VideoOp op;
};
constexpr Family kFamilies[] = {{"vabsdiff", VideoOp::AbsDiff}, {"vadd", VideoOp::Add},      {"vsub", VideoOp::Sub}, {"vmin", VideoOp::Min},
                                {"vmax", VideoOp::Max},         {"vavrg", VideoOp::Average}, {"vset", VideoOp::Set}};

VideoOp op_of(const ptx::Instruction& i) {
  for (const Family& f : kFamilies)
    if (i.form.row->opcode.starts_with(f.stem)) return f.op;
  return VideoOp::Add;
}

VideoCompare compare_of(isa::Cmp c) {
  switch (c) {
    case isa::Cmp::Ne: return VideoCompare::Ne;
    case isa::Cmp::Lt:
    case isa::Cmp::Lo: return VideoCompare::Lt;
    case isa::Cmp::Le:
    case isa::Cmp::Ls: return VideoCompare::Le;
    case isa::Cmp::Gt:
    case isa::Cmp::Hi: return VideoCompare::Gt;
    case isa::Cmp::Ge:
    case isa::Cmp::Hs: return VideoCompare::Ge;
    default: return VideoCompare::Eq;
  }
}

VideoPart part_of(const Selector& s) {
  if (s.unit == 0) return VideoPart::Word;
  const int first = s.unit == 'b' ? static_cast<int>(VideoPart::B0) : static_cast<int>(VideoPart::H0);
  return static_cast<VideoPart>(first + s.digits);
}

VideoSecond second_of(const ptx::Instruction& i) {
  switch (i.form.mods.op) {
    case isa::Op::Add: return VideoSecond::Add;
    case isa::Op::Min: return VideoSecond::Min;
    case isa::Op::Max: return VideoSecond::Max;
    default: return i.operands[0].selector.unit ? VideoSecond::Merge : VideoSecond::None;
  }
}

isa::VideoTypes scalar_types(const ptx::Instruction& i) {
  isa::VideoTypes t;
  // vset has no type for its result, which is 0 or 1; to .min and .max the type of a counts.
  const bool set = i.form.row->opcode == "vset";
  t.d_signed = isa::is_signed(i.form.type);
  t.a_signed = isa::is_signed(set ? i.form.type : i.form.atype);
  t.b_signed = i.form.mods.b_signed;
  t.d_part = part_of(i.operands[0].selector);
  t.a_part = part_of(i.operands[1].selector);
  t.b_part = part_of(i.operands[2].selector);
  t.sat = i.form.mods.sat;
  t.second = second_of(i);
  return t;
}

template <class F>
void each_lane(Warp& w, const Insn& i, uint32_t mask, F f) {
  const uint32_t *a = w.lanes<uint32_t>(i.op[1]), *b = w.lanes<uint32_t>(i.op[2]);
  const uint32_t* c = i.op[3] >= 0 ? w.lanes<uint32_t>(i.op[3]) : a;
  uint32_t d[kWarpSize];
  for (int l = 0; l < kWarpSize; ++l) d[l] = f(a[l], b[l], c[l]);
  store_lanes(w.lanes<uint32_t>(i.op[0]), d, mask);
}

void video_scalar(Warp& w, const Insn& i, uint32_t mask) {
  const isa::VideoTypes t = scalar_types(*i.source);
  const VideoOp op = op_of(*i.source);
  const VideoCompare compare = compare_of(i.mods().cmp);
  each_lane(w, i, mask, [&](uint32_t a, uint32_t b, uint32_t c) { return isa::video_scalar(op, t, a, b, c, compare); });
}

void video_shift(Warp& w, const Insn& i, uint32_t mask) {
  const isa::VideoTypes t = scalar_types(*i.source);
  const bool left = i.source->form.row->opcode == "vshl", clamp = i.mods().edge == isa::Edge::Clamp;
  each_lane(w, i, mask, [&](uint32_t a, uint32_t b, uint32_t c) { return isa::video_shift(left, clamp, t, a, b, c); });
}

void video_mad(Warp& w, const Insn& i, uint32_t mask) {
  const ptx::Instruction& s = *i.source;
  isa::VideoMad m;
  m.a_signed = isa::is_signed(s.form.atype);
  m.b_signed = s.form.mods.b_signed;
  m.a_part = part_of(s.operands[1].selector);
  m.b_part = part_of(s.operands[2].selector);
  m.negate_product = s.operands[1].minus != s.operands[2].minus;
  m.negate_c = s.operands[3].minus;
  m.plus_one = s.form.mods.po;
  m.sat = s.form.mods.sat;
  m.scale = s.form.mods.scale;
  each_lane(w, i, mask, [&](uint32_t a, uint32_t b, uint32_t c) { return isa::vmad(m, a, b, c); });
}

void video_simd(Warp& w, const Insn& i, uint32_t mask) {
  const ptx::Instruction& s = *i.source;
  isa::VideoSimd v;
  v.elements = s.form.row->opcode.back() - '0';
  const bool set = s.form.row->opcode.starts_with("vset");
  v.d_signed = !set && isa::is_signed(s.form.type);
  v.a_signed = isa::is_signed(set ? s.form.type : s.form.atype);
  v.b_signed = s.form.mods.b_signed;
  v.sat = s.form.mods.sat;
  v.accumulate = s.form.mods.op == isa::Op::Add;
  const Selector &a = s.operands[1].selector, &b = s.operands[2].selector, &d = s.operands[0].selector;
  v.a_select = a.unit ? a.digits : v.elements == 4 ? 0x3210 : 0x10;
  v.b_select = b.unit ? b.digits : v.elements == 4 ? 0x7654 : 0x32;
  v.mask = d.unit ? 0 : 0xf;
  for (int k = 0; k < d.count; ++k) v.mask |= 1u << (d.digits >> (4 * k) & 0xf);
  const VideoOp op = op_of(s);
  const VideoCompare compare = compare_of(s.form.mods.cmp);
  each_lane(w, i, mask, [&](uint32_t x, uint32_t y, uint32_t c) { return isa::video_simd(op, v, x, y, c, compare); });
}

// --- which selectors an operand may have ---------------------------------------------------------------------------

bool digits_below(const Selector& s, int bound) {
  for (int k = 0; k < s.count; ++k)
    if ((s.digits >> (4 * k) & 0xf) >= bound) return false;
  return true;
}
bool scalar_part(const Selector& s) { return s.unit == 0 || (s.count == 1 && digits_below(s, s.unit == 'b' ? 4 : 2)); }
// A mask lists its elements from the highest down.
bool element_mask(const Selector& s, int elements) {
  if (s.unit == 0) return true;
  if (s.unit != (elements == 4 ? 'b' : 'h') || s.count > elements || !digits_below(s, elements)) return false;
  for (int k = 1; k < s.count; ++k)
    if ((s.digits >> (4 * k) & 0xf) <= (s.digits >> (4 * (k - 1)) & 0xf)) return false;
  return true;
}
bool element_selector(const Operand& o, int elements) {
  if (o.kind != OperandKind::Register) return false;
  const Selector& s = o.selector;
  return s.unit == 0 || (s.unit == (elements == 4 ? 'b' : 'h') && s.count == elements && digits_below(s, 2 * elements));
}

bool operands_fit(const ptx::Instruction& i) {
  const std::string_view op = i.form.row->opcode;
  const isa::Mods& m = i.form.mods;
  if (i.operands.size() > 3 && i.operands[3].selector.unit) return false;
  for (size_t k = 0; k < i.operands.size(); ++k)
    if (i.operands[k].minus && op != "vmad") return false;
  if (op.ends_with('2') || op.ends_with('4')) {
    const int elements = op.back() - '0';
    return element_mask(i.operands[0].selector, elements) && element_selector(i.operands[1], elements) &&
           element_selector(i.operands[2], elements);
  }
  for (int k = 0; k < 3; ++k)
    if (!scalar_part(i.operands[k].selector)) return false;
  const bool selected = i.operands[0].selector.unit != 0, has_c = i.operands.size() == 4;
  if (op == "vmad") {
    const bool a = i.operands[1].minus, b = i.operands[2].minus, c = i.operands[3].minus;
    return !selected && !i.operands[0].minus && !(a != b && c) && !(m.po && (a || b || c));
  }
  if (selected && m.op != isa::Op::None) return false;
  return has_c || (!selected && m.op == isa::Op::None);
}

}  // namespace

Handler select_video(const ptx::Instruction& i, const ptx::Function&) {
  if (!operands_fit(i)) return nullptr;
  const std::string_view op = i.form.row->opcode;
  if (op == "vmad") return video_mad;
  if (op == "vshl" || op == "vshr") return video_shift;
  return op.ends_with('2') || op.ends_with('4') ? video_simd : video_scalar;
}

}  // namespace warpbeam::vm

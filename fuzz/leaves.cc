#include "fuzz/leaves.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace warpbeam::fuzz {

using isa::Kind;
using isa::Type;

namespace {

bool has_word(const Statement& s, std::string_view word) { return std::find(s.words.begin(), s.words.end(), word) != s.words.end(); }

// Bytes that a load, store or atomic touches.
int bytes_of_access(const Statement& s) {
  Type type = Type::None;
  int vector = 1;
  for (const std::string& w : s.words) {
    if (Type t = isa::type_named(w); t != Type::None) type = t;
    if (w.size() == 3 && w[1] == 'v' && std::isdigit(static_cast<unsigned char>(w[2]))) vector = w[2] - '0';
  }
  return isa::bits_of(type) / 8 * vector;
}

bool is_shared(const Statement& s) {
  return std::any_of(s.words.begin(), s.words.end(), [](const std::string& w) { return w.starts_with(".shared"); });
}

int log2_of(int bytes) { return std::bit_width(static_cast<unsigned>(bytes)) - 1; }

}  // namespace

std::string Leaves::guarded(const std::string& statement) {
  if (!random_.chance(15)) return statement;
  return fmt::format("@{}{} {}", random_.chance(40) ? "!" : "", random_register(Type::Pred, random_), statement);
}

Leaves::Lines Leaves::compute() {
  const Statement& s = palette_.compute(random_);
  const std::string text = fitted(s, random_);
  return {palette_.guardable(s) ? guarded(text) : text};
}

// The flag lives from one statement to the next.
Leaves::Lines Leaves::carry() {
  Lines lines;
  const int count = random_.between(2, 3);
  for (int k = 0; k < count; ++k)
    for (;;) {
      const Statement& s = palette_.carry(random_);
      const bool reads = s.row->opcode.ends_with('c');  // addc, subc, madc
      const bool writes = has_word(s, ".cc");
      if (reads != (k > 0) || (k == 0 && !writes) || (k + 1 < count && !writes)) continue;
      lines.push_back(fitted(s, random_));
      break;
    }
  return lines;
}

// An index below `limit` in %t0: in step with the thread, the same for all, or any.
std::string Leaves::index(Lines& lines, uint32_t limit) {
  const uint32_t threads = kernel_.block_threads();
  switch (random_.between(0, 7)) {
    case 0:
    case 1:
      if (threads * 4 + 64 < limit) {
        lines.push_back(fmt::format("mad.lo.u32 %t0, {}, {}, {};", random_.one_of({"%tx", "%lin", "%ty"}), random_.between(0, 4),
                                    random_.between(0, 63)));
        return "%t0";
      }
      break;
    case 2: lines.push_back("add.u32 %t0, %lin, %s0;"); break;
    case 3: lines.push_back(fmt::format("xor.b32 %t0, %lin, {};", random_.between(0, 40))); break;
    case 4: lines.push_back(fmt::format("shr.u32 %t0, %tx, {};", random_.between(0, 4))); break;
    case 5: lines.push_back("mov.u32 %t0, %s1;"); break;
    case 6: {  // some bits of its number, the upper ones times something
      const char* number = random_.one_of({"%tx", "%lin", "%ty"});
      const int low = random_.one_of({31, 31, 15, 7, 3, 1});
      lines.push_back(fmt::format("and.b32 %t0, {}, {};", number, random_.one_of({992, 992, ~low & 1023, random_.between(0, 1023)})));
      lines.push_back(fmt::format("mul.lo.s32 %t0, %t0, {};", random_.between(1, 21)));
      lines.push_back(fmt::format("and.b32 %t1, {}, {};", number, low));
      lines.push_back(fmt::format("{} %t0, %t0, %t1;", random_.one_of({"or.b32", "or.b32", "add.u32", "xor.b32"})));
      break;
    }
    default: lines.push_back(fmt::format("mov.b32 %t0, {};", random_register(Type::B32, random_)));
  }
  lines.push_back(fmt::format("and.b32 %t0, %t0, {};", limit - 1));
  return "%t0";
}

Leaves::Lines Leaves::input() {
  for (;;) {
    const Statement& s = palette_.memory(random_);
    if ((s.row->opcode != "ld" && s.row->opcode != "ldu") || is_shared(s) || has_word(s, ".local")) continue;
    const int bytes = bytes_of_access(s);
    const Type type = s.operands[0].type;
    const Area area = type == Type::F32 ? Area::F32 : type == Type::F64 ? Area::F64 : type == Type::B16 ? Area::F16 : Area::Bits;
    Lines lines;
    // ldu: from one address.
    if (s.row->opcode == "ldu") lines.push_back(fmt::format("and.b32 %t0, %s0, {};", 63));
    else index(lines, kAreaBytes / static_cast<uint32_t>(bytes));
    lines.push_back(fmt::format("mad.wide.u32 %a0, %t0, {}, %in;", bytes));
    lines.push_back(guarded(fitted(s, random_, fmt::format("[%a0+{}]", static_cast<uint32_t>(area) * kAreaBytes))));
    return lines;
  }
}

std::string Leaves::place_address(Lines& lines, bool shared, int size_log2) {
  if (shared) {
    lines.push_back("mov.u32 %t0, tile;");
    lines.push_back(fmt::format("mad.lo.u32 %t0, %lin, {}, %t0;", 1 << size_log2));
    return fmt::format("[%t0+{}]", shared_slot_offset(kernel_, size_log2));
  }
  lines.push_back(fmt::format("mad.wide.u32 %a0, %gt, {}, %out;", 1 << size_log2));
  return fmt::format("[%a0+{}]", slot_offset(kernel_, size_log2));
}

Leaves::Lines Leaves::own_place(const Place&) {
  for (;;) {
    const Statement& s = palette_.memory(random_);
    // What nobody writes is read from the input.
    if (s.row->opcode == "ldu" || has_word(s, ".nc") || has_word(s, ".local")) continue;
    Lines lines;
    if (s.row->opcode == "prefetch") {
      const std::string address = place_address(lines, false, 3);
      lines.push_back(guarded(fitted(s, random_, address)));
      return lines;
    }
    const int size = log2_of(bytes_of_access(s));
    const bool generic = !is_shared(s) && !has_word(s, ".global") && !has_word(s, ".mmio");
    std::string address = place_address(lines, is_shared(s) || (generic && random_.chance(50)), size);
    if (generic && address.starts_with("[%t0")) {
      lines.push_back("cvt.u64.u32 %a0, %t0;");
      lines.push_back("cvta.shared.u64 %a0, %a0;");
      address.replace(1, 3, "%a0");
    } else if (generic) {
      lines.push_back("cvta.global.u64 %a0, %a0;");
    }
    lines.push_back(guarded(fitted(s, random_, address)));
    return lines;
  }
}

Leaves::Lines Leaves::own_atomic() {
  const Statement& s = palette_.atomic(random_);
  Lines lines;
  // Half of a pair is less than a word of its own: the place has what the access needs.
  const std::string address = place_address(lines, is_shared(s), log2_of(bytes_of_access(s)));
  std::string text = address;
  if (!is_shared(s) && !has_word(s, ".global")) lines.push_back("cvta.global.u64 %a0, %a0;");
  lines.push_back(guarded(fitted(s, random_, text)));
  return lines;
}

// Operations on one cell by many threads whose order does not matter. Each kind has cells of its own.
Leaves::Lines Leaves::cell(const Place& place) {
  struct Operation {
    const char* words;
    Type type;
  };
  static const std::vector<Operation> kOperations = {
      {"add.u32", Type::U32}, {"add.u64", Type::U64}, {"min.s32", Type::S32}, {"max.u32", Type::U32}, {"min.u64", Type::U64},
      {"max.s64", Type::S64}, {"and.b32", Type::B32}, {"or.b32", Type::B32},  {"xor.b64", Type::B64}, {"add.f32", Type::F32}};
  const uint32_t kind = random_.below(static_cast<uint32_t>(kOperations.size()));
  const Operation& o = kOperations[kind];
  const bool shared = random_.chance(40);
  Lines lines;
  std::string value = random_register(o.type, random_);
  if (o.type == Type::F32) {  // small whole numbers add up exactly
    lines.push_back(fmt::format("and.b32 %t1, {}, 15;", random_register(Type::U32, random_)));
    lines.push_back("cvt.rn.f32.u32 %f7, %t1;");
    value = "%f7";
  }
  std::string address;
  if (shared) {
    lines.push_back("mov.u32 %t0, tile;");
    address = fmt::format("[%t0+{}]", shared_cells_offset(kernel_) + 8 * kind);
  } else {
    lines.push_back(fmt::format("and.b32 %t0, {}, 3;", random_.one_of({"%tx", "%s0", "%r1", "%gt"})));
    lines.push_back(fmt::format("mad.wide.u32 %a0, %t0, 8, %out;"));
    address = fmt::format("[%a0+{}]", cells_offset(kernel_) + 32 * kind);
  }
  const char* space = shared ? "shared" : "global";
  const bool result = random_.chance(30);  // goes nowhere, as it depends on the order
  lines.push_back(guarded(result ? fmt::format("atom.{}.{} {}, {}, {};", space, o.words,
                                               isa::bits_of(o.type) == 64 ? "%a1"
                                               : o.type == Type::F32      ? "%f7"
                                                                          : "%t2",
                                               address, value)
                                 : fmt::format("red.{}.{} {}, {};", space, o.words, address, value)));
  if (result && o.type == Type::F32) lines.push_back("mov.f32 %f7, 0f3F800000;");
  // Between barriers everyone sees the same.
  if (shared && place.uniform && !place.exited) {
    lines.push_back("barrier.sync 0;");
    lines.push_back(
        fmt::format("ld.shared.b32 {}, [%t0+{}];", random_register(Type::B32, random_), shared_cells_offset(kernel_) + 8 * kind));
    lines.push_back("barrier.sync 0;");
  }
  return lines;
}

Leaves::Lines Leaves::local() {
  for (;;) {
    const Statement& s = palette_.memory(random_);
    if (s.row->opcode == "prefetch" || s.row->opcode == "ldu" || !has_word(s, ".local")) continue;
    const int bytes = bytes_of_access(s);
    Lines lines;
    index(lines, 64 / static_cast<uint32_t>(bytes));
    lines.push_back("mov.u64 %a0, own;");
    lines.push_back(fmt::format("mad.wide.u32 %a0, %t0, {}, %a0;", bytes));
    lines.push_back(guarded(fitted(s, random_, "[%a0]")));
    return lines;
  }
}

Leaves::Lines Leaves::constant() {
  Lines lines;
  index(lines, 16);
  lines.push_back("mov.u64 %a0, table;");
  lines.push_back("mad.wide.u32 %a0, %t0, 4, %a0;");
  lines.push_back(guarded(fmt::format("ld.const.b32 {}, [%a0];", random_register(Type::B32, random_))));
  return lines;
}

Leaves::Lines Leaves::special() {
  const auto r = [&](Type t) { return random_register(t, random_); };
  const auto pair = [&](Type t) {
    const int n = random_.between(0, kRegisters - 1);
    return fmt::format("{{{}, {}}}", register_name(t, n), register_name(t, (n + 1 + random_.between(0, 5)) % kRegisters));
  };
  switch (random_.between(0, 7)) {
    case 0:
      return {guarded(fmt::format("mov.u32 {}, {};", r(Type::U32),
                                  random_.one_of({"%tid.x", "%tid.y", "%ntid.x", "%ctaid.x", "%nctaid.x", "%laneid", "%lanemask_eq",
                                                  "%lanemask_le", "%lanemask_gt", "%tid.z", "%ntid.y"})))};
    case 1: return {guarded(fmt::format("mov.b64 {}, {};", r(Type::B64), pair(Type::B32)))};
    case 2: return {guarded(fmt::format("mov.b64 {}, {};", pair(Type::B32), r(Type::B64)))};
    case 3: return {guarded(fmt::format("mov.b32 {}, {};", r(Type::B32), pair(Type::B16)))};
    case 4: return {guarded(fmt::format("mov.b32 {}, {};", pair(Type::B16), r(Type::B32)))};
    case 5: return {guarded(fmt::format("mov.b32 {}, {};", r(Type::F32), r(Type::B32)))};
    case 6: return {guarded(fmt::format("mov.b64 {}, {};", r(Type::B64), r(Type::F64)))};
    default: return {guarded(fmt::format("mov.b32 {}, {};", r(Type::B32), r(Type::F32)))};
  }
}

Leaves::Lines Leaves::call(const Place& place) {
  const uint32_t callee = random_.below(static_cast<uint32_t>(place.callable));
  const Function& f = kernel_.functions[callee];
  const char* type = f.wide ? ".b64" : ".b32";
  Lines lines = {"{",
                 ".param .b32 x0;",
                 ".param .b64 x1;",
                 fmt::format(".param {} x2;", type),
                 fmt::format("st.param.b32 [x0], {};", random_register(Type::B32, random_)),
                 fmt::format("st.param.b64 [x1], {};", random_register(Type::B64, random_)),
                 fmt::format("call{} (x2), {}, (x0, x1);", place.uniform && !place.function ? ".uni" : "", f.name),
                 fmt::format("ld.param{} {}, [x2];", type, random_register(f.wide ? Type::B64 : Type::B32, random_)),
                 "}"};
  return lines;
}

Leaves::Lines Leaves::among_lanes(const Place& place) {
  Statement s = palette_.warp(random_);
  Lines lines;
  if (s.row->opcode == "activemask" || s.row->opcode == "elect") {
    if (s.row->opcode == "elect") s.operands.back().text = "$M", s.operands.back().reg = -1;
    return {fitted(s, random_)};
  }
  s.operands.back().text = "$M";
  s.operands.back().reg = -1;
  const bool all_there = place.uniform && !place.exited && kernel_.block_threads() % 32 == 0;
  if (s.row->opcode == "shfl" && !all_there) {
    // Only lanes that are there have something to give: the highest one of them.
    std::replace_if(
        s.words.begin(), s.words.end(), [](const std::string& w) { return w == ".up" || w == ".down" || w == ".bfly"; }, ".idx");
    lines.push_back("bfind.u32 %t1, $M;");
    s.operands[2].text = "%t1";
    s.operands[3].text = "31";
    s.operands[2].reg = s.operands[3].reg = -1;
  }
  lines.push_back(fitted(s, random_));
  return lines;
}

Leaves::Lines Leaves::barrier(const Place& place) {
  if (!place.uniform || place.exited) return {random_.chance(50) ? "bar.warp.sync $M;" : "membar.gl;"};
  switch (random_.between(0, 4)) {
    case 0: return {"barrier.sync 0;"};
    case 1:
      return {fmt::format("barrier.red.popc.u32 {}, 0, {};", random_register(Type::U32, random_), random_register(Type::Pred, random_))};
    case 2:
      return {fmt::format("barrier.red.and.pred {}, 0, {};", random_register(Type::Pred, random_), random_register(Type::Pred, random_))};
    case 3:
      return {fmt::format("barrier.red.or.pred {}, 0, !{};", random_register(Type::Pred, random_), random_register(Type::Pred, random_))};
    default: return {"barrier.sync 0;"};
  }
}

Leaves::Lines Leaves::meeting(const Place& place) {
  Random& r = others_;
  const bool whole_warps = kernel_.block_threads() % 32 == 0;
  if (place.uniform && !place.exited && r.chance(70)) {
    const std::string u = random_register(Type::U32, r), p = random_register(Type::Pred, r), q = random_register(Type::Pred, r);
    const std::string bar = std::string(r.one_of<const char*>({"bar", "bar.cta", "barrier", "barrier.cta"})),
                      op = std::string(r.one_of<const char*>({"and", "or"}));
    const std::string mark = bar.starts_with("barrier") && r.chance(50) ? ".aligned" : "";
    const uint32_t all = kernel_.block_threads();
    const std::string count = whole_warps && r.chance(60) ? fmt::format("{}, ", all) : "";
    switch (r.between(0, 4)) {
      case 0:
        return {fmt::format("{}.sync{} {}{};", bar, mark, r.between(1, 15), whole_warps && r.chance(50) ? fmt::format(", {}", all) : "")};
      case 1: return {fmt::format("{}.red.popc{}.u32 {}, 1, {}{};", bar, mark, u, count, q)};
      case 2: return {fmt::format("{}.red.{}{}.pred {}, 1, {}{};", bar, op, mark, p, count, q)};
      case 3:  // each warp counts twice
        if (!whole_warps || 2 * all > 1024) break;
        return {fmt::format("{}.arrive{} 2, {};", bar, mark, 2 * all), fmt::format("{}.sync{} 2, {};", bar, mark, 2 * all)};
      default: break;
    }
  }
  switch (r.between(0, 7)) {
    case 0:
      return {fmt::format("fence.{}.{};", std::string(r.one_of<const char*>({"sc", "acq_rel"})),
                          std::string(r.one_of<const char*>({"cta", "gpu", "sys", "cluster"})))};
    case 1: return {std::string(r.one_of<const char*>({"fence.proxy.alias;", "fence.proxy.async;"}))};
    case 2: return {fmt::format("fence.proxy.async.{};", std::string(r.one_of<const char*>({"global", "shared::cta", "shared::cluster"})))};
    case 3: return {"fence.mbarrier_init.release.cluster;"};
    case 4:  // where lanes run apart, a nap of some decides who meets whom again, and `activemask` tells
      if (!place.uniform || place.exited) break;
      return {fmt::format("nanosleep.u32 {};", r.between(0, 40))};
    case 5: return {fmt::format("pmevent {};", r.between(0, 15))};
    case 6: return {std::string(r.one_of<const char*>({"griddepcontrol.wait;", "griddepcontrol.launch_dependents;"}))};
    default: break;
  }
  return {"membar.cta;"};
}

// Every thread leaves something and takes what another has left.
Leaves::Lines Leaves::exchange() {
  const Type type = random_.one_of({Type::B16, Type::B32, Type::F32, Type::B64, Type::F64});
  const int size = log2_of(isa::bits_of(type) / 8);
  Lines lines;
  const std::string address = place_address(lines, true, size);
  const std::string suffix = std::string(isa::name_of(type)) + " ";
  lines.push_back("st.shared" + suffix + address + ", " + random_register(type, random_) + ";");
  lines.push_back("barrier.sync 0;");
  switch (random_.between(0, 2)) {
    case 0: lines.push_back(fmt::format("mad.lo.u32 %t1, %lin, {}, {};", random_.between(1, 5), random_.between(0, 31))); break;
    case 1: lines.push_back(fmt::format("xor.b32 %t1, %lin, {};", random_.between(1, 31))); break;
    default: lines.push_back(fmt::format("mov.b32 %t1, {};", random_register(Type::B32, random_)));
  }
  lines.push_back("rem.u32 %t1, %t1, %nt;");
  lines.push_back("mov.u32 %t0, tile;");
  lines.push_back(fmt::format("mad.lo.u32 %t0, %t1, {}, %t0;", 1 << size));
  lines.push_back("ld.shared" + suffix + random_register(type, random_) + ", " + address + ";");
  lines.push_back("barrier.sync 0;");
  return lines;
}

Leaves::Lines Leaves::async_copy() {
  Lines lines;
  const int size = random_.between(2, 4);
  index(lines, kAreaBytes >> size);
  lines.push_back(fmt::format("mad.wide.u32 %a0, %t0, {}, %in;", 1 << size));
  const std::string address = place_address(lines, true, size);
  lines.push_back(guarded(fmt::format("cp.async.ca.shared.global {}, [%a0], {};", address, 1 << size)));
  lines.push_back("cp.async.commit_group;");
  lines.push_back("cp.async.wait_group 0;");
  lines.push_back(fmt::format("ld.shared.b32 {}, {};", random_register(Type::B32, random_), address));
  return lines;
}

Node Leaves::make(const Place& place) {
  Node node;
  const int dice = random_.between(0, 99);
  if (place.function) {
    node.lines = dice < 80 || !place.callable ? compute() : dice < 90 ? call(place) : special();
    return node;
  }
  if (dice < 48) node.lines = compute();
  else if (dice < 50) node.lines = carry();
  else if (dice < 58) node.lines = input();
  else if (dice < 66) node.lines = own_place(place);
  else if (dice < 70) node.lines = own_atomic();
  else if (dice < 74) node.lines = cell(place);
  else if (dice < 77) node.lines = local();
  else if (dice < 79) node.lines = constant();
  else if (dice < 82) node.lines = special();
  else if (dice < 83) node.lines = async_copy();
  else if (dice < 87 && place.callable) node.lines = call(place);
  else if (dice < 93 && place.masked) node.lines = among_lanes(place);
  else if (dice < 95 && place.masked) node.lines = barrier(place), std::ranges::move(meeting(place), std::back_inserter(node.lines));
  else if (dice < 100 && place.uniform && !place.exited) node.lines = exchange();
  else node.lines = compute();
  return node;
}

}  // namespace warpbeam::fuzz

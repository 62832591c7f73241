// Control flow, warps, matrices, asynchronous copies, images.
#include <algorithm>

#include "assembly/selector.h"

namespace warpbeam::assembly {

using isa::Type;
using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

void Selector::branch(const Instruction& i) {
  if (i.form.row->opcode == "brx") {
    const Source index = source(i.operands[0]);
    const Part t = temporary(), target = temporary();
    emit(Operation::Shift, "SHF", {t}, {index});
    emit(Operation::LoadConst, "LDC", {target}, {of(t)});
    Draft& d = emit(Operation::Branch, "BRX", {}, {of(target)});
    d.pinned = d.last = d.wall = true;
    return;
  }
  const auto target = f_.labels.find(i.operands[0].name);
  const uint32_t to = target == f_.labels.end() ? 0 : target->second;
  // The next block may stand right behind, and so may one that is only reached from here.
  if (i.guard < 0) {
    const uint32_t b = to < block_of_.size() ? block_of_[to] : static_cast<uint32_t>(blocks_.size() - 1);
    if (b == block_ + 1 || flow_->predecessors()[b].size() == 1) return;
  }
  Draft& d = emit(Operation::Branch, "BRA", {}, {});
  d.pinned = d.last = d.wall = true;
  d.keeps = false;
  d.together = i.guard >= 0 && uniform_[static_cast<size_t>(i.guard)];
}

void Selector::leave(const Instruction& i) {
  const bool trap = i.form.row->opcode == "trap";
  const bool returns = i.form.row->opcode == "ret" && !f_.entry;
  Draft& d = emit(returns ? Operation::Call : Operation::Exit, trap ? "BPT.TRAP" : returns ? "RET.REL" : "EXIT", {}, {});
  d.pinned = d.last = d.wall = true;
  d.keeps = false;
}

void Selector::barrier(const Instruction& i) {
  if (i.form.row->syntax.starts_with("bar.warp")) {
    Draft& d = emit(Operation::Converge, i.operands[0].kind == OperandKind::Immediate ? "NOP" : "WARPSYNC", {}, {source(i.operands[0])});
    d.pinned = true;
    d.order = Order::Barrier;
    return;
  }
  const bool reduces = i.form.row->operands.list[0].written;
  std::vector<Source> reads;
  for (size_t k = reduces ? 1 : 0; k < i.operands.size() && reads.size() < 4; ++k) reads.push_back(source(i.operands[k]));
  Part to = reduces ? destination(i.operands[0]) : Part{};
  Draft& d = emit(Operation::Barrier,
                  reduces              ? "BAR.RED"
                  : i.form.mods.arrive ? "BAR.ARV"
                                       : "BAR.SYNC",
                  {}, std::span<const Source>(reads));
  d.pinned = true;
  d.order = Order::Barrier;
  if (reduces) emit(Operation::Vote, "B2R.RESULT", {to}, {});
}

void Selector::fence(const Instruction& i) {
  if (says(i, "proxy") || says(i, "mbarrier_init")) {
    Draft& d = emit(Operation::None, "FENCE.VIEW", {}, {});
    d.pinned = true;
    d.order = Order::Barrier;
    return;
  }
  const bool far = i.form.mods.scope != isa::Scope::Cta;
  std::vector<std::string_view> steps{"MEMBAR"};
  if (far) steps.insert(steps.end(), {"ERRBAR", "CCTL.IVALL"});
  for (std::string_view m : steps) {
    // The first one waits, where other multiprocessors are to see what was stored.
    Draft& d = emit(far && m == "MEMBAR" ? Operation::Fence : Operation::None, m, {}, {});
    d.pinned = true;
    d.order = Order::Barrier;
  }
}

void Selector::warp(const Instruction& i) {
  const std::string_view op = i.form.row->opcode;
  const Operand& first = i.operands[0];
  const Part to = destination(first), pair = first.pair >= 0 ? destination(first.pair) : Part{};
  using enum Operation;
  std::vector<Source> reads;
  for (size_t k = 1; k < i.operands.size(); ++k) reads.push_back(source(i.operands[k], isa::bits_of(i.form.type) == 64 && k == 1 ? 2 : 1));
  // A mask that is no number is made sure of first.
  const bool synchronised = says(i, ".sync") && !reads.empty();
  if (synchronised && cc_ >= 70 && op != "match" && reads.back().kind == Source::Register && i.operands.size() > 1) {
    Draft& d = emit(Converge, "WARPSYNC", {}, {reads.back()});
    d.pinned = d.wall = true;
  }
  if (op == "shfl") {
    Source a = reads[0];
    if (a.kind != Source::Register) a = of(general(a));
    Draft& d = emit(Shuffle, "SHFL", {to, pair},
                    {a, reads.size() > 1 && reads[1].kind == Source::Number ? Source{} : reads[1],
                     reads.size() > 2 && reads[2].kind == Source::Number ? Source{} : reads[2]});
    d.pinned = true;
  } else if (op == "vote" || op == "activemask") {
    emit(Vote, "VOTE", {to}, {reads.empty() ? Source{} : reads[0]}).pinned = true;
  } else if (op == "match") {
    emit(Match, "MATCH", {to, pair}, {reads[0]}).pinned = true;
  } else if (op == "redux") {
    const Part total{code_.new_value(Bank::Uniform, 1), 0, 1};
    emit(Redux, "REDUX", {total}, {reads[0]}).pinned = true;
    Source u;
    u.kind = Source::Uniform;
    u.part = total;
    emit(Move, "MOV", {to}, {u});
  } else {  // elect
    emit(Vote, "ELECT", {to, pair}, {}).pinned = true;
  }
}

// How many machine instructions a matrix product takes: the largest shapes each generation has.
void Selector::matrix(const Instruction& i) {
  const std::string_view syntax = i.form.row->syntax;
  using enum Operation;
  if (syntax.starts_with("wmma.load") || syntax.starts_with("wmma.store")) {
    const bool load = syntax.starts_with("wmma.load");
    const Operand &fragment = i.operands[load ? 0 : 1], &where = i.operands[load ? 1 : 0];
    const Place place = address(where, i.form.mods.space);
    const bool shared = i.form.mods.space == isa::Space::Shared;
    const Type t = i.form.type;
    const Type held = t == Type::F16 ? Type::F16x2 : t == Type::BF16 ? Type::BF16x2 : isa::bits_of(t) < 32 ? Type::B32 : t;
    const int registers = static_cast<int>(fragment.list.size()) * words_of_type(held);
    // Where each lane reads follows from its number and the stride.
    const Source lane = of(fixed_part(constant(Fixed::Special, "%laneid", 0, 1).key, Bank::General));
    const Source stride = i.operands.size() > 2 ? source(i.operands[2]) : number(16);
    Place own = place;
    own.base = {};
    own.uniform = {};
    const Part at = temporary(shared ? 1 : 2), row = temporary(), column = temporary();
    emit(Shift, "SHF", {row}, {lane});
    emit(Logic, "LOP3", {column}, {lane});
    const Part index = temporary();
    emit(IntMul, "IMAD", {index}, {of(row), stride, of(column)});
    if (shared) emit(IntAdd, "LEA", {at}, {of(index), place.uniform.kind != Source::Nothing ? place.uniform : place.base});
    else emit(IntMulWide, "IMAD.WIDE", {at}, {of(index), number(4), place.base});
    own.base = of(at);
    if (load) {
      const bool a_or_b = syntax.starts_with("wmma.load.a") || syntax.starts_with("wmma.load.b");
      const bool tiles = shared && a_or_b && isa::bits_of(t) == 16 && cc_ >= 75;
      const Part to = scatter_place(fragment, held);
      if (tiles) {
        Part quad = to;
        Draft& d = access(i, LoadTiles, "LDSM", Order::Load, own, quad, {}, 16);
        d.pinned = false;
      } else {
        // A lane holds a fragment's elements twice where the machine's shape is smaller.
        const int loads = a_or_b && isa::bits_of(t) == 16 && cc_ >= 75 ? std::max(1, registers / 2) : registers;
        for (int k = 0; k < loads; ++k) {
          own.offset = place.offset + 16 * k;
          Part piece = to;
          if (loads == registers) piece = word(to, k);
          else piece = Part{to.value, static_cast<uint8_t>(2 * k), 2};
          access(i, shared ? LoadShared : LoadGlobal, shared ? "LDS" : "LDG", Order::Load, own, piece, {}, 4);
        }
      }
      scatter(fragment, held, to);
    } else {
      const Part data = gather(fragment, held);
      const bool pairs = isa::bits_of(t) == 32 && registers % 2 == 0;
      const int stores = pairs ? registers / 2 : registers;
      for (int k = 0; k < stores; ++k) {
        own.offset = place.offset + 16 * k;
        const Part piece = pairs ? Part{data.value, static_cast<uint8_t>(data.first + 2 * k), 2} : word(data, k);
        access(i, shared ? StoreShared : StoreGlobal, shared ? "STS" : "STG", Order::Store, own, {}, {piece}, pairs ? 8 : 4);
      }
    }
    return;
  }
  const isa::MatrixTypes types = i.form.row->matrices ? i.form.row->matrices(i.form) : isa::MatrixTypes{};
  const isa::Shape shape = i.form.mods.shape;
  const int element = std::max(1, isa::bits_of(types.a));
  const int64_t work = int64_t(shape.m) * shape.n * shape.k;
  int64_t each = 16 * 8 * 16;
  Operation operation = MatrixHalf;
  std::string_view name = "HMMA.16816";
  const bool sparse = says(i, ".sp");
  if (types.a == Type::F64) {
    operation = MatrixDouble;
    each = cc_ >= 90 && shape.m == 16 ? work : 8 * 8 * 4;
    name = "DMMA";
  } else if (!isa::is_float(types.a) || element == 1) {
    operation = MatrixInt;
    name = element == 1 ? "BMMA" : "IMMA";
    each = cc_ >= 80 ? int64_t(16) * 8 * (256 / element) : int64_t(8) * 8 * (128 / element);
  } else if (element == 8) {
    name = "QMMA";
    each = 16 * 8 * 32;
  } else if (element >= 19) {  // tf32
    name = "HMMA.1688.TF32";
    each = 16 * 8 * 8;
  } else if (cc_ >= 80) {
    each = 16 * 8 * 16;
  } else if (cc_ >= 75) {
    name = "HMMA.1688";
    each = 16 * 8 * 8;
  } else {
    name = "HMMA.884";
    each = 8 * 8 * 4;
  }
  if (sparse) each *= 2;
  const int count = static_cast<int>(std::clamp<int64_t>(work / std::max<int64_t>(each, 1), 1, 64));
  const auto held = [](Type t) {
    if (t == Type::F16) return Type::F16x2;
    if (t == Type::BF16) return Type::BF16x2;
    return isa::bits_of(t) < 32 || t == Type::TF32 ? Type::B32 : t;
  };
  const auto part_type = [&](const Operand& o, Type fallback) {
    const Operand& e = o.kind == OperandKind::Vector && !o.list.empty() ? o.list[0] : o;
    if (e.reg >= 0) {
      const Type t = f_.registers[static_cast<size_t>(e.reg)].type;
      return isa::bits_of(t) < 32 ? held(t) : t;
    }
    return held(fallback);
  };
  const Part a = gather_once(i.operands[1], part_type(i.operands[1], types.a)),
             b = gather_once(i.operands[2], part_type(i.operands[2], types.b));
  const Part c = gather(i.operands[3], part_type(i.operands[3], types.c));
  const Type result = part_type(i.operands[0], types.d);
  const Part to = scatter_place(i.operands[0], result);
  const auto slice = [&](Part p, int k, int of_how_many) {
    if (!p || of_how_many <= 1 || p.count < 2) return p;
    const int size = std::max(1, p.count / of_how_many);
    return Part{p.value, static_cast<uint8_t>(p.first + (k * size) % std::max<int>(1, p.count)),
                static_cast<uint8_t>(std::min<int>(size, p.count))};
  };
  for (int k = 0; k < count; ++k) {
    const bool columns = count <= std::max<int>(1, to.count);
    const Part d = columns ? slice(to, k, count) : to, from = columns ? slice(c, k, count) : k ? to : c;
    emit(operation, name, {d}, {of(a), of(columns ? slice(b, k, count) : b), of(from)});
  }
  scatter(i.operands[0], result, to);
}

int Selector::words_of_type(Type t) const { return std::max(1, isa::bits_of(t) / 32); }

void Selector::group_matrix(const Instruction& i) {
  const std::string_view syntax = i.form.row->syntax;
  using enum Operation;
  if (syntax.starts_with("wgmma.fence")) return void(emit(Converge, "WARPGROUP.ARRIVE", {}, {}).pinned = true);
  if (syntax.starts_with("wgmma.commit")) return;  // a bit of the last product
  if (syntax.starts_with("wgmma.wait")) {
    Draft& d = emit(WaitAsync, "WARPGROUP.DEPBAR", {}, {});
    d.pinned = d.wall = true;
    return;
  }
  // The accumulators stay where they are; descriptors go through uniform registers.
  const Operand& sums = i.operands[0];
  const Type result = sums.kind == OperandKind::Vector && !sums.list.empty() && sums.list[0].reg >= 0
                          ? f_.registers[static_cast<size_t>(sums.list[0].reg)].type
                          : Type::B32;
  std::vector<Source> reads;
  for (size_t k : {size_t(1), size_t(2)}) {
    const Operand& o = i.operands[k];
    if (o.kind == OperandKind::Vector) {
      reads.push_back(of(gather(o, Type::B32)));
      continue;
    }
    Source s = source(o, 2);
    if (s.kind == Source::Register) {
      const Part u{code_.new_value(Bank::Uniform, 2), 0, 2};
      for (int h = 0; h < 2; ++h) emit(Uniform, "R2UR", {word(u, h)}, {h ? high(s) : low(s)});
      s.kind = Source::Uniform;
      s.part = u;
      s.apart = false;
    }
    reads.push_back(s);
  }
  bool first = true;
  std::vector<Part> words;
  if (sums.kind == OperandKind::Vector)
    for (const Operand& e : sums.list)
      if (e.reg >= 0) words.push_back(destination(e.reg));
  Draft* d = &emit(MatrixGroup, "HGMMA", {words.empty() ? Part{} : words.front(), words.empty() ? Part{} : words.back()},
                   {reads[0].kind == Source::Register ? reads[0] : Source{}});
  d->pinned = true;
  for (const Source& s : reads)
    if (s.kind != Source::Register) d->read(uniform(s));
  if (!words.empty()) d->read(words.front());
  (void)first;
  (void)result;
}

void Selector::tiles(const Instruction& i) {
  const std::string_view op = i.form.row->opcode;
  using enum Operation;
  if (op == "movmatrix") return void(emit(Move, "MOVM", {destination(i.operands[0])}, {source(i.operands[1])}).operation = Shuffle);
  if (op == "ldmatrix") {
    const Place place = address(i.operands[1], isa::Space::Shared);
    const Part to = scatter_place(i.operands[0], Type::B32);
    access(i, LoadTiles, "LDSM", Order::Load, place, to, {}, 4 * std::max<int>(1, i.form.mods.matrices));
    return scatter(i.operands[0], Type::B32, to);
  }
  const Part data = gather(i.operands[1], Type::B32);
  access(i, StoreTiles, "STSM", Order::Store, address(i.operands[0], isa::Space::Shared), {}, {data},
         4 * std::max<int>(1, i.form.mods.matrices));
}

void Selector::asynchronous(const Instruction& i) {
  const std::string_view syntax = i.form.row->syntax;
  using enum Operation;
  if (syntax.starts_with("cp.async.mbarrier")) {
    access(i, Mbarrier, "ARRIVES", Order::Store, address(i.operands[0], isa::Space::Shared), {}, {}, 8);
    return;
  }
  if (syntax.starts_with("cp.async.c") && says(i, "[a]")) {  // .ca, .cg
    Place from = address(i.operands[1], isa::Space::Global), to = address(i.operands[0], isa::Space::Shared);
    const Part where = to.base.kind == Source::Nothing ? Part{} : general(to.base);
    if (i.operands.size() > 3 && i.operands[3].kind == OperandKind::Register) {
      const Part p = temporary(1, Bank::Predicate);
      emit(Compare, "ISETP", {p}, {source(i.operands[3])});
    }
    Draft& d =
        access(i, CopyAsync, "LDGSTS", Order::Store, from, {}, {where}, i.operands.size() > 2 ? static_cast<int>(i.operands[2].imm) : 4);
    d.order = Order::Load;  // waits are what orders it
    d.pinned = true;
    return;
  }
  if (says(i, "commit_group")) return void(emit(WaitAsync, says(i, "bulk") ? "UTMACMDFLUSH" : "LDGDEPBAR", {}, {}).pinned = true);
  if (says(i, "wait_group") || says(i, "wait_all")) {
    Draft& d = emit(WaitAsync, "DEPBAR", {}, {});
    d.pinned = d.wall = true;
    return;
  }
  if (syntax.starts_with("cp.") || syntax.starts_with("red.async") || syntax.starts_with("st.async")) {
    if (syntax.starts_with("red.async") || syntax.starts_with("st.async")) {
      const Part data = gather(i.operands[1], i.form.type);
      access(i, StoreShared, "STAS", Order::Store, address(i.operands[0], isa::Space::Shared), {}, {data}, 4);
      return;
    }
    // The unit for copies reads uniform registers.
    std::vector<Part> moved;
    for (const Operand& o : i.operands) {
      const auto take = [&](const Operand& e) {
        Operand plain = e;
        plain.address = false;
        if (plain.kind != OperandKind::Register) return;
        const Source s = source(plain);
        if (s.kind != Source::Register) return;
        for (int k = 0; k < (s.words == 2 ? 2 : 1); ++k) {
          const Part u{code_.new_value(Bank::Uniform, 1), 0, 1};
          emit(Uniform, "R2UR", {u}, {k ? high(s) : low(s)});
          moved.push_back(u);
        }
      };
      take(o);
      for (const Operand& e : o.list) take(e);
    }
    Draft& d = emit(CopyBulk, says(i, "tensor") ? "UTMALDG" : "UBLKCP", {}, {});
    d.pinned = true;
    d.access = true;
    d.order = Order::Store;
    d.space = isa::Space::Shared;
    for (Part p : moved) d.read(p);
    return;
  }
  if (syntax.starts_with("mbarrier.")) {
    const bool result = i.form.row->operands.list[0].written;
    if (says(i, "pending_count")) return void(emit(Shift, "SHF", {destination(i.operands[0])}, {source(i.operands[1], 2)}));
    const Place place = address(i.operands[result ? 1 : 0], isa::Space::Shared);
    const size_t next = result ? 2 : 1;
    const Part data = i.operands.size() > next ? gather(i.operands[next], Type::B32) : Part{};
    Part to = result && i.operands[0].reg >= 0 ? destination(i.operands[0]) : Part{};
    Draft& d = access(i, Mbarrier, says(i, "wait") ? "SYNCS.PHASECHK" : "SYNCS", Order::Store, place, to, {data}, 8);
    if (says(i, "wait")) d.order = Order::Barrier;
    return;
  }
  if (syntax.starts_with("barrier.cluster")) {
    Draft& d = emit(Barrier, says(i, "arrive") ? "UCGABAR_ARV" : "UCGABAR_WAIT", {}, {});
    d.pinned = true;
    d.order = Order::Barrier;
    d.access = true;
    return;
  }
  other(i);
}

void Selector::image(const Instruction& i) {
  const std::string_view op = i.form.row->opcode;
  using enum Operation;
  const bool surface = op.starts_with("su");
  // Coordinates stand in neighbouring registers.
  std::vector<Part> parts;
  const size_t first = i.form.row->operands.list[0].written ? 1 : 0;
  for (size_t k = first; k < i.operands.size() && parts.size() < 3; ++k) {
    const Operand& o = i.operands[k];
    std::vector<Source> words;
    const auto take = [&](const Operand& e) {
      Operand plain = e;
      plain.address = false;
      if (plain.kind == OperandKind::Register) words.push_back(source(plain));
      if (plain.kind == OperandKind::Immediate && !plain.address) words.push_back(number(plain.imm));
    };
    take(o);
    for (const Operand& e : o.list) {
      take(e);
      for (const Operand& inner : e.list) take(inner);
    }
    if (words.empty()) continue;
    // Which texture it is all threads know.
    if (parts.empty() && cc_ >= 90 && words.size() > 1 && words[0].kind == Source::Constant) {
      parts.push_back(uniform(words[0]));
      words.erase(words.begin());
    }
    int total = 0;
    for (const Source& s : words) total += s.words == 2 ? 2 : 1;
    if (words.size() == 1 && words[0].kind == Source::Register) {
      parts.push_back(together(words[0]).part);
      continue;
    }
    const Part to = temporary(std::min(total, 8));
    int at = 0;
    for (const Source& s : words)
      for (int h = 0; h < (s.words == 2 ? 2 : 1) && at < to.count; ++h) copy_to(word(to, at++), h ? high(s) : low(s));
    parts.push_back(to);
  }
  if (first == 0 || i.operands[0].kind == OperandKind::None) {
    Draft& d = emit(Surface, "SUST", {}, {});
    d.pinned = d.access = true;
    d.order = Order::Store;
    for (Part p : parts) d.read(p);
    return;
  }
  // Of four results only those are written that somebody reads.
  if (Operand wanted = i.operands[0]; wanted.kind == OperandKind::Vector && isa::bits_of(i.form.type) == 32) {
    std::erase_if(wanted.list, [&](const Operand& o) { return o.reg < 0 || !uses(o.reg); });
    if (const size_t n = wanted.list.size(); n && n < i.operands[0].list.size()) {
      const Part to = temporary(n == 3 ? 4 : static_cast<int>(n));
      Draft& d = emit(surface ? Surface : Texture, surface ? "SULD" : op == "tld4" ? "TLD4" : "TEX", {to}, {});
      d.access = true;
      d.order = surface ? Order::Load : Order::None;
      d.space = isa::Space::Global;
      for (Part p : parts) d.read(p);
      return scatter(wanted, i.form.type == Type::F16x2 ? Type::B32 : i.form.type, to);
    }
  }
  const Part to = scatter_place(i.operands[0], i.operands[0].kind == OperandKind::Vector || i.operands[0].reg < 0
                                                   ? (i.form.type == Type::F16x2 ? Type::B32 : i.form.type)
                                                   : i.form.type);
  Draft& d = emit(surface ? Surface : Texture, surface ? "SULD" : op == "tld4" ? "TLD4" : op == "txq" ? "TXQ" : "TEX", {to}, {});
  d.access = true;
  d.order = surface ? Order::Load : Order::None;
  d.space = isa::Space::Global;
  for (Part p : parts) d.read(p);
  scatter(i.operands[0], i.form.type == Type::F16x2 ? Type::B32 : i.form.type, to);
}

void Selector::other(const Instruction& i) {
  Part to;
  const bool writes = !i.operands.empty() && i.form.row->operands.list[0].written;
  if (writes && i.operands[0].kind == OperandKind::Vector) {
    for (const Operand& e : i.operands[0].list)
      if (e.reg >= 0) emit(Operation::Move, "MOV", {destination(e.reg)}, {});
  } else if (writes) {
    to = destination(i.operands[0]);
  }
  Draft& d = emit(i.form.row->opcode == "nanosleep" ? Operation::Sleep : Operation::None,
                  i.form.row->opcode == "nanosleep" ? "NANOSLEEP" : "NOP", {to}, {});
  d.pinned = true;
  for (size_t k = writes ? 1 : 0; k < i.operands.size(); ++k)
    if (i.operands[k].reg >= 0)
      d.read(register_source(i.operands[k].reg).kind == Source::Register ? register_source(i.operands[k].reg).part : Part{});
}

}  // namespace warpbeam::assembly

// mbarrier: a barrier object in shared memory that counts arriving threads and bytes that asynchronous copies bring.
//
// Every copy is made at once where it is issued, so a barrier's transaction count may go below zero before the thread
// that announces the bytes has come; a phase ends when nobody is awaited any more and the count is zero.
#include <fmt/format.h>

#include "vm/exec_lane.h"
#include "vm/mbarrier.h"
#include "vm/spans.h"
#include "vm/tensor.h"

namespace warpbeam::vm {
namespace {

struct BarrierWord {
  uint32_t pending = 0, expected = 0;
  int64_t transactions = 0;
  bool valid = false, phase = false;

  // What mbarrier.inval leaves. Programs let one thread invalidate a barrier as soon as this thread has got past it;
  // the others, which on a GPU have long seen that the phase is over, must still see it.
  bool was_valid() const { return !valid && expected && pending == expected && transactions == 0; }

  static BarrierWord unpack(uint64_t v) {
    return {static_cast<uint32_t>(v & kMostCount), static_cast<uint32_t>(v >> kExpectedAt & kMostCount),
            static_cast<int64_t>(v >> kTransactionsAt & kTransactionsMask) - kZeroTransactions, (v >> kValidAt & 1) != 0,
            (v >> kPhaseAt & 1) != 0};
  }
  uint64_t pack() const {
    return pending | uint64_t{expected} << kExpectedAt | static_cast<uint64_t>(transactions + kZeroTransactions) << kTransactionsAt |
           uint64_t{valid} << kValidAt | uint64_t{phase} << kPhaseAt;
  }
};

// A barrier object under the hand of one lane.
class Object {
 public:
  Object(Warp& w, const Insn& i, int lane, uint64_t address, bool own, AccessKind kind) : w_(w), i_(i), lane_(lane), address_(address) {
    place_ = shared_span(w, i, lane, address, 8, 8, kind);
    if (own && place_.block != w.block)
      w.trap(TrapKind::SharedOutOfRange, i, lane,
             fmt::format("this {} works only on a barrier of the thread's own block", i.source->form.row->opcode), address);
    if (w.block->observer) {
      Addresses a;
      for (uint64_t& x : a.at) x = reported_offset(w, place_);
      report_access(w, i, 1u << lane, isa::Space::Shared, a, 8, kind, false);
    }
  }
  uint64_t raw() const {
    uint64_t v;
    std::memcpy(&v, place_.data(), 8);
    return v;
  }
  BarrierWord read() const {
    const BarrierWord b = BarrierWord::unpack(raw());
    if (!b.valid)
      w_.trap(TrapKind::IllegalInstruction, i_, lane_, "the address holds no initialised mbarrier", address_,
              "mbarrier.init must have made it, and every thread must see that first");
    return b;
  }
  void write(BarrierWord b) {
    if (b.pending == 0 && b.transactions == 0) {
      b.phase = !b.phase;
      b.pending = b.expected;
    }
    put(b.pack());
  }
  void put(uint64_t v) {
    std::memcpy(place_.data(), &v, 8);
    ++place_.block->progress;
    ++w_.block->progress;
  }
  void arrive(BarrierWord& b, uint32_t count) const {
    if (count == 0 || count > kMostCount)
      w_.trap(TrapKind::IllegalInstruction, i_, lane_,
              fmt::format("an arrival of {} threads: the count must be 1 to {}", count, kMostCount), address_);
    if (count > b.pending)
      w_.trap(TrapKind::IllegalInstruction, i_, lane_,
              fmt::format("{} more arrival{} than the mbarrier's phase awaits", count - b.pending, count - b.pending == 1 ? "" : "s"),
              address_, fmt::format("it was initialised for {}, of which {} are awaited", b.expected, b.pending));
    b.pending -= count;
  }
  void add_transactions(BarrierWord& b, int64_t bytes) const {
    b.transactions += bytes;
    if (b.transactions > int64_t{kMostCount} || b.transactions < -int64_t{kMostCount})
      w_.trap(TrapKind::IllegalInstruction, i_, lane_,
              fmt::format("the mbarrier would await {} bytes; its count reaches {}", b.transactions, kMostCount), address_);
  }

 private:
  Warp& w_;
  const Insn& i_;
  int lane_;
  uint64_t address_;
  SharedPlace place_;
};

template <class Body>
void each_lane(uint32_t mask, Body&& body) {
  for (uint32_t left = mask; left; left &= left - 1) body(__builtin_ctz(left));
}

void init(Warp& w, const Insn& i, uint32_t mask) {
  each_lane(mask, [&](int l) {
    Object o(w, i, l, address_of(w, i.wide[0], l), true, AccessKind::Write);
    const auto count = static_cast<uint32_t>(value_of(w, i.wide[1], l));
    if (count == 0 || count > kMostCount)
      w.trap(TrapKind::IllegalInstruction, i, l, fmt::format("an mbarrier for {} threads: the count must be 1 to {}", count, kMostCount));
    o.put(BarrierWord{count, count, 0, true, false}.pack());
  });
}

void inval(Warp& w, const Insn& i, uint32_t mask) {
  each_lane(mask, [&](int l) {
    Object o(w, i, l, address_of(w, i.wide[0], l), true, AccessKind::Write);
    BarrierWord b = o.read();
    b.valid = false;
    o.put(b.pack());
  });
}

void transactions(Warp& w, const Insn& i, uint32_t mask) {
  const bool expects = i.mods().expect_tx;
  each_lane(mask, [&](int l) {
    Object o(w, i, l, address_of(w, i.wide[0], l), false, AccessKind::Atomic);
    BarrierWord b = o.read();
    const auto bytes = static_cast<int64_t>(static_cast<uint32_t>(value_of(w, i.wide[1], l)));
    o.add_transactions(b, expects ? bytes : -bytes);
    o.write(b);
  });
}

enum class Arrival { Plain, Drop };

template <Arrival kind>
void arrive(Warp& w, const Insn& i, uint32_t mask) {
  const bool expects = i.mods().expect_tx, never_completes = i.mods().no_complete;
  const WideOperand& state = i.wide[0];
  each_lane(mask, [&](int l) {
    Object o(w, i, l, address_of(w, i.wide[1], l), never_completes, AccessKind::Atomic);
    BarrierWord b = o.read();
    const uint64_t before = o.raw();
    const auto operand = i.count > 2 ? static_cast<uint32_t>(value_of(w, i.wide[2], l)) : 1;
    if (expects) o.add_transactions(b, operand);
    const uint32_t count = expects ? 1 : operand;
    o.arrive(b, count);
    if (kind == Arrival::Drop) b.expected -= std::min(count, b.expected);
    if (never_completes && b.pending == 0 && b.transactions == 0)
      w.trap(TrapKind::IllegalInstruction, i, l, "an arrival with .noComplete completes the phase");
    o.write(b);
    w.lanes<uint64_t>(state.slot)[l] = before;
  });
}

// cp.async.mbarrier.arrive: the copies are done already, so the arrival happens now. Without .noinc it brings an
// arrival of its own that the barrier did not count, and nothing is left of it.
void copies_arrive(Warp& w, const Insn& i, uint32_t mask) {
  each_lane(mask, [&](int l) {
    Object o(w, i, l, address_of(w, i.wide[0], l), true, AccessKind::Atomic);
    BarrierWord b = o.read();
    if (!i.mods().noinc) return;
    o.arrive(b, 1);
    o.write(b);
  });
}

template <bool may_sleep>
void wait(Warp& w, const Insn& i, uint32_t mask) {
  uint32_t done = 0;
  each_lane(mask, [&](int l) {
    Object o(w, i, l, address_of(w, i.wide[1], l), true, AccessKind::Atomic);
    const uint64_t given = value_of(w, i.wide[2], l);
    const bool awaited = i.mods().parity ? (given & 1) != 0 : BarrierWord::unpack(given).phase;
    const BarrierWord last = BarrierWord::unpack(o.raw());
    const BarrierWord b = last.was_valid() && last.phase != awaited ? last : o.read();
    done |= static_cast<uint32_t>(b.phase != awaited) << l;
  });
  uint32_t& d = w.pred(i.wide[0].slot);
  d = (d & ~mask) | done;
  if (done != mask) w.wait_inside(may_sleep ? 256 : 64);
}

void pending_count(Warp& w, const Insn& i, uint32_t mask) {
  each_lane(mask, [&](int l) { w.lanes<uint32_t>(i.wide[0].slot)[l] = BarrierWord::unpack(value_of(w, i.wide[1], l)).pending; });
}

}  // namespace

void complete_transactions(Warp& w, const Insn& i, int lane, uint64_t address, uint64_t bytes) {
  Object o(w, i, lane, address, false, AccessKind::Atomic);
  BarrierWord b = o.read();
  o.add_transactions(b, -static_cast<int64_t>(bytes));
  o.write(b);
}

Handler select_mbarrier(const ptx::Instruction& i) {
  const std::string_view s = i.form.row->syntax;
  const auto is = [&](std::string_view start) { return s.starts_with(start); };
  if (is("mbarrier.init")) return init;
  if (is("mbarrier.inval")) return inval;
  if (is("mbarrier.expect_tx") || is("mbarrier.complete_tx")) return transactions;
  if (is("mbarrier.arrive_drop")) return arrive<Arrival::Drop>;
  if (is("mbarrier.arrive")) return arrive<Arrival::Plain>;
  if (is("mbarrier.test_wait")) return wait<false>;
  if (is("mbarrier.try_wait")) return wait<true>;
  if (is("mbarrier.pending_count")) return pending_count;
  if (is("cp.async.mbarrier.arrive")) return copies_arrive;
  return nullptr;
}

}  // namespace warpbeam::vm

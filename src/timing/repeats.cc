#include "timing/repeats.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace warpbeam::timing {
namespace {

constexpr double kLittle = 0.005;  // of what was kept

bool same(const Step& a, const Step& b) { return a.function == b.function && a.block == b.block; }

}  // namespace

double Repeats::length_of(const Step& s) const {
  const ReadyBlock& block = block_of(s);
  if (block.folded_into >= 0) return 0;  // comes along with another one
  return block.turns > 1 ? static_cast<double>(block.unrolled.code.size()) / block.turns : static_cast<double>(block.once.code.size());
}

std::vector<Repeats::Cut> Repeats::cuts_of(const WarpTrace& warp) const {
  std::vector<Cut> cuts;
  uint64_t barriers = 0;
  for (size_t k = 0; k < warp.steps.size(); ++k) {
    const uint64_t here = block_of(warp.steps[k]).barriers;
    if (!here) continue;
    barriers += here;
    size_t next = k + 1;  // blocks that are part of this one come along with it
    while (next < warp.steps.size() && block_of(warp.steps[next]).folded_into >= 0) ++next;
    cuts.push_back({next, k, barriers});
  }
  return cuts;
}

// Where a warp has come to so many barriers; nowhere: it has not come to exactly that many.
const Repeats::Cut* Repeats::cut_at(size_t warp, uint64_t barriers) const {
  const auto cut = std::ranges::lower_bound(cuts_[warp], barriers, {}, &Cut::barriers);
  return cut == cuts_[warp].end() || cut->barriers != barriers ? nullptr : &*cut;
}

bool Repeats::align(const BlockTrace& block) {
  cuts_.clear();
  for (const WarpTrace& t : block.warps) cuts_.push_back(cuts_of(t));
  if (cuts_.empty() || std::ranges::any_of(cuts_, &std::vector<Cut>::empty)) return false;
  // The last barrier behind which all have gone on.
  last_ = ~uint64_t{0};
  for (size_t w = 0; w < cuts_.size(); ++w) {
    const std::vector<Cut>& cuts = cuts_[w];
    const size_t count = cuts.size() - (cuts.back().step == block.warps[w].steps.size());
    if (!count) return false;
    last_ = std::min(last_, cuts[count - 1].barriers);
  }
  const Cut* const end = cut_at(0, last_);
  if (!end) return false;
  place_ = block.warps[0].steps[end->at];
  // That in its middle at the same place.
  first_ = 0;
  for (const Cut& cut : cuts_[0])
    if (cut.barriers < last_ && same(block.warps[0].steps[cut.at], place_) && (!first_ || 2 * cut.barriers <= last_)) first_ = cut.barriers;
  if (!first_) return false;
  for (size_t w = 0; w < cuts_.size(); ++w) {
    const Cut *const from = cut_at(w, first_), *const to = cut_at(w, last_);
    const std::vector<Step>& steps = block.warps[w].steps;
    if (!from || !to || !same(steps[from->at], place_) || !same(steps[to->at], place_)) return false;
    spans_[w].from = from->step, spans_[w].end = to->step;
  }
  return true;
}

void Repeats::look_at(const BlockTrace& block) {
  if (std::exchange(seen_, &block) == &block) return;
  spans_.assign(block.warps.size(), {});
  aligned_ = barriers_ && static_cast<double>(block.executed) > static_cast<double>(block.instructions) * (1 + kLittle) && align(block);
  sum_ = {};
  for (size_t w = 0; w < spans_.size(); ++w) {
    Span& s = spans_[w];
    const std::vector<Step>& steps = block.warps[w].steps;
    if (!aligned_) s.from = steps.size() / 2, s.end = steps.size();
    for (size_t k = 0; k < steps.size(); ++k) {
      const double of_step = length_of(steps[k]);
      s.all += of_step;
      if (k < s.end) s.kept += of_step;
      if (k >= s.from && k < s.end) s.late += of_step;
    }
    sum_.all += s.all, sum_.kept += s.kept, sum_.late += s.late;
  }
}

Repeats::Plan Repeats::of(const Part& part, size_t warp) {
  const BlockTrace& block = *part.trace;
  const WarpTrace& trace = block.warps[warp];
  const std::vector<Step>& steps = trace.steps;
  Plan plan;
  plan.end = steps.size();
  const auto executed = static_cast<double>(barriers_ ? block.executed : trace.executed) * part.times;
  const auto kept = static_cast<double>(barriers_ ? block.instructions : trace.instructions);
  if (kept <= 0) return plan;
  constexpr double kMostRounds = 4096;  // as many as leave a line's number apart from others'
  const double more = block.late_lines ? static_cast<double>(block.lines_beyond) / static_cast<double>(block.late_lines) : 0;
  plan.rounds = part.times > 1 && block.late_lines ? static_cast<uint64_t>(kMostRounds)
                                                   : 1 + static_cast<uint64_t>(std::llround(std::min(more, kMostRounds - 1)));
  if (executed < kept) {
    plan.end = std::max<size_t>(1, static_cast<size_t>(std::llround(static_cast<double>(plan.end) * executed / kept)));
    return plan;
  }
  if (executed / kept - 1 < kLittle) return plan;
  look_at(block);
  const Span& own = spans_[warp];
  const Span& l = barriers_ ? sum_ : own;
  if (l.late <= 0) return plan;
  const double halves = (executed / kept * l.all - l.kept) / l.late;
  if (halves <= kLittle) return plan;
  plan.end = own.end;
  plan.from = own.from;
  plan.again = static_cast<uint64_t>(std::ceil(halves - kLittle));
  const double part_of = halves - static_cast<double>(plan.again - 1);
  if (aligned_) {
    // From a barrier on at that place, too.
    const double wanted = static_cast<double>(last_) - part_of * static_cast<double>(last_ - first_);
    uint64_t best = first_;
    for (const Cut& cut : cuts_[0])
      if (cut.barriers >= first_ && cut.barriers <= last_ && same(block.warps[0].steps[cut.at], place_) &&
          std::fabs(static_cast<double>(cut.barriers) - wanted) < std::fabs(static_cast<double>(best) - wanted))
        best = cut.barriers;
    if (const Cut* const at = cut_at(warp, best)) {
      plan.last_from = at->step;
      return plan;
    }
  }
  const double left = part_of * own.late;
  plan.last_from = plan.end;
  for (double passed = 0; plan.last_from; --plan.last_from) {
    const double next = length_of(steps[plan.last_from - 1]);
    if (plan.last_from < plan.end && passed + next / 2 > left) break;
    passed += next;
  }
  return plan;
}

}  // namespace warpbeam::timing

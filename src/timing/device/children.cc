#include "timing/device/children.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <unordered_map>
#include <utility>

namespace warpbeam::timing::device {

namespace {

constexpr double kNothing = 1e-9;  // of the multiprocessors

// What one block launched, in the order of numbers.
struct Group {
  std::vector<size_t> members;
  size_t over = 0;
  size_t next = 0;  // the first member that waits for a join
  double launched = 0;  // the last one that has been
};

class Placing {
 public:
  Placing(double nanoseconds, double waves, const ChildCosts& costs, std::vector<Child>& children)
      : costs_(costs), children_(children), kernel_(children.size()), nanoseconds_(nanoseconds), waves_(waves) {}

  double run() {
    connect();
    begin(kernel_, 0);
    while (!ready_.empty() || !running_.empty()) {
      if (!ready_.empty() && ready_.top().first <= now_ && has_room(children_[ready_.top().second])) {
        const size_t next = ready_.top().second;
        ready_.pop();
        free_ -= used(next);
        front_free_ = now_ + costs_.front;
        begin(next, now_);
        continue;
      }
      now_ = std::max(now_, next_moment());
      while (!running_.empty() && running_.top().first <= now_) {
        const size_t ended = running_.top().second;
        running_.pop();
        if (ended != kernel_) free_ += used(ended);
        children_end_of(ended);
      }
    }
    for (Child& child : children_)  // of what waits for something that never is
      if (child.end < child.begin || child.end == 0) child.end = std::max(child.begin, now_);
    std::ranges::stable_sort(children_, {}, &Child::begin);
    return std::max(end_, now_) + costs_.end;
  }

 private:
  using Ready = std::pair<double, size_t>;  // when, which

  double used(size_t which) const { return std::min(1.0, children_[which].share); }
  // The last blocks of one may begin beside the first of another.
  bool has_room(const Child& child) const {
    const size_t beside = running_.size() - (kernel_runs_ ? 1 : 0);
    return front_free_ <= now_ && beside < costs_.at_once && (free_ + kNothing >= std::min(1.0, child.share) || beside == 0);
  }
  double next_moment() const {
    double soonest = running_.empty() ? 1e300 : running_.top().first;
    if (ready_.empty()) return soonest;
    const double ready = ready_.top().first;
    if (ready > now_) soonest = std::min(soonest, ready);
    else if (front_free_ > now_) soonest = std::min(soonest, front_free_);
    return soonest;
  }

  void connect() {
    std::unordered_map<uint64_t, size_t> known;
    for (size_t k = 0; k < children_.size(); ++k) known[children_[k].self] = k;
    parent_.resize(children_.size() + 1, kernel_);
    open_.resize(children_.size() + 1, 1);  // its own blocks
    of_.resize(children_.size() + 1);
    tail_.resize(children_.size() + 1);
    behind_.resize(children_.size());
    before_.resize(children_.size(), kernel_);
    group_.resize(children_.size());
    place_.resize(children_.size());
    may_begin_.resize(children_.size());
    std::map<std::pair<size_t, uint64_t>, size_t> groups;
    for (size_t k = 0; k < children_.size(); ++k) {
      if (const auto found = known.find(children_[k].parent); children_[k].parent && found != known.end() && found->second != k)
        parent_[k] = found->second;
      ++open_[parent_[k]];
      if (children_[k].tail) {
        tail_[parent_[k]].push_back(k);
        continue;
      }
      const auto [group, fresh] = groups.try_emplace({parent_[k], children_[k].block}, groups_.size());
      if (fresh) groups_.emplace_back(), of_[parent_[k]].push_back(group->second);
      group_[k] = group->second;
      groups_[group->second].members.push_back(k);
    }
    const auto in_order = [&](size_t a, size_t b) {
      return std::pair(children_[a].block, children_[a].number) < std::pair(children_[b].block, children_[b].number);
    };
    for (auto& tail : tail_) std::ranges::sort(tail, in_order);
    for (Group& group : groups_) {
      std::ranges::sort(group.members, in_order);
      std::unordered_map<int64_t, size_t> by_number;
      for (const size_t& k : group.members) {
        place_[k] = static_cast<size_t>(&k - group.members.data());
        if (const auto before = by_number.find(children_[k].behind); before != by_number.end()) {
          before_[k] = before->second;
          behind_[before->second].push_back(k);
        }
        by_number[children_[k].number] = k;
      }
    }
  }

  void begin(size_t which, double at) {
    const double nanoseconds = which == kernel_ ? nanoseconds_ : children_[which].nanoseconds,
                 waves = which == kernel_ ? waves_ : children_[which].waves;
    if (which == kernel_) kernel_runs_ = true;
    else children_[which].begin = at;
    running_.emplace(at + nanoseconds, which);
    const double last_blocks = at + nanoseconds * std::max(0.0, waves - 1) / std::max(1.0, waves);
    for (size_t group : of_[which]) let_go_on(groups_[group], last_blocks);
  }

  // Those that have waited for enough, and for nothing else.
  void let_go_on(Group& group, double at) {
    for (; group.next < group.members.size(); ++group.next) {
      const size_t k = group.members[group.next];
      const auto before = [&](size_t other) { return children_[other].number < children_[k].joined; };
      if (group.over < static_cast<size_t>(std::ranges::partition_point(group.members, before) - group.members.begin())) return;
      may_begin_[k] = (group.launched = std::max(group.launched, at) + costs_.each) + costs_.launch;
      if (before_[k] == kernel_ || open_[before_[k]] == 0) make_ready(k, may_begin_[k]);
    }
  }
  void make_ready(size_t k, double at) { ready_.emplace(at, k); }

  // Its own blocks, or one that it launched.
  void children_end_of(size_t which) {
    if (which == kernel_) kernel_runs_ = false;
    for (size_t now = which;;) {
      --open_[now];
      if (open_[now] == tail_[now].size() && !tail_[now].empty()) {
        make_ready(tail_[now].front(), now_ + costs_.launch);
        tail_[now].pop_front();
        return;
      }
      if (open_[now]) return;
      if (now == kernel_) {
        end_ = now_;
        return;
      }
      Child& child = children_[now];
      child.end = now_;
      if (!child.tail) {
        Group& group = groups_[group_[now]];
        ++group.over;
        for (size_t k : behind_[now])
          if (place_[k] < group.next) make_ready(k, std::max(may_begin_[k], now_ + costs_.gap));
        let_go_on(group, now_);
      }
      now = parent_[now];
    }
  }

  const ChildCosts costs_;
  std::vector<Child>& children_;
  const size_t kernel_;
  const double nanoseconds_, waves_;
  double now_ = 0, end_ = 0, free_ = 1, front_free_ = 0;
  bool kernel_runs_ = false;
  std::vector<size_t> parent_;
  std::vector<size_t> group_, place_;       // of a child: its group, and where it is in that
  std::vector<double> may_begin_;           // of a child that has been launched: as far as its launch is concerned
  std::vector<size_t> before_;              // of a child, in its stream; kernel_: nothing
  std::vector<size_t> open_;                // of a grid: its own blocks, and what it launched that is not over
  std::vector<std::vector<size_t>> of_;     // groups of a grid
  std::vector<std::deque<size_t>> tail_;    // of a grid: what is left
  std::vector<std::vector<size_t>> behind_; // of a child, in its stream
  std::vector<Group> groups_;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  std::priority_queue<std::pair<double, size_t>, std::vector<std::pair<double, size_t>>, std::greater<>> running_;
};

}  // namespace

namespace {

// An order that does not hang on which host thread was first: parents before what they launched, by blocks and numbers.
void put_in_order(std::vector<Child>& children) {
  std::unordered_map<uint64_t, std::vector<size_t>> of;
  std::unordered_map<uint64_t, bool> known;
  for (const Child& child : children) known[child.self] = true;
  for (size_t k = 0; k < children.size(); ++k) {
    const uint64_t parent = children[k].parent;
    of[known.contains(parent) && parent != children[k].self ? parent : 0].push_back(k);
  }
  std::vector<Child> all;
  all.reserve(children.size());
  const auto add = [&](uint64_t parent) {
    const auto found = of.find(parent);
    if (found == of.end()) return;
    std::ranges::sort(found->second, {}, [&](size_t k) { return std::pair(children[k].block, children[k].number); });
    for (size_t k : found->second) all.push_back(children[k]);
  };
  add(0);
  for (size_t k = 0; k < all.size(); ++k) add(all[k].self);
  if (all.size() == children.size()) children = std::move(all);
}

}  // namespace

double place_children(double nanoseconds, double waves, const ChildCosts& costs, std::vector<Child>& children) {
  if (children.empty()) return nanoseconds;
  put_in_order(children);
  return Placing(nanoseconds, waves, costs, children).run();
}

}  // namespace warpbeam::timing::device

#include "observe/check/knowledge.h"

#include <algorithm>

namespace warpbeam::observe::check {
namespace {

constexpr int kPatience = 20000;  // releases to look at for one question

uint64_t key(uint32_t op, uint32_t block) { return uint64_t(op) << 32 | block; }

bool covers(const Release& r, const Event& e, uint32_t lane) {
  const Snapshot& s = *r.snapshot;
  if (s.op != e.op || s.block != e.block || (s.reads_only && e.act != Act::Read)) return false;
  if (e.id < s.block_base) return true;
  if (s.warp != e.warp) return false;
  if (e.id < s.warp_base) return true;
  if ((r.mask >> lane & 1) && e.id < s.when) return true;
  if (s.lanes)
    for (uint32_t left = r.mask; left; left &= left - 1)
      if (e.id < (*s.lanes)[__builtin_ctz(left)][lane]) return true;
  return false;
}

}  // namespace

void add(CameList& list, Came came) {
  auto it = std::lower_bound(list.begin(), list.end(), came, [](const Came& a, const Came& b) { return a.meeting < b.meeting; });
  if (it != list.end() && it->meeting == came.meeting) it->when = std::max(it->when, came.when);
  else list.insert(it, came);
}

void add(CameList& list, const CameList& more) {
  for (const Came& c : more) add(list, c);
}

void Meeting::leave(Release r) {
  if (const auto [it, fresh] = left.try_emplace(r.snapshot.get(), r.mask); !fresh) {
    if ((it->second | r.mask) == it->second) return;
    it->second |= r.mask;
  }
  of_block[key(r.snapshot->op, r.snapshot->block)].push_back(static_cast<uint32_t>(releases.size()));
  releases.push_back(std::move(r));
}

// Looks at what was left where the thread itself came, then at what those knew who left it, and so on: mostly it is near. What
// has been looked at of a meeting, up to some moment, is not looked at again.
bool knows(const CameList& came, const Event& e, uint32_t lane) {
  int patience = kPatience;
  struct Looked {
    EventId asked = 0, done = 0;
  };
  std::unordered_map<const Meeting*, Looked> looked;
  CameList here = came, next;
  while (!here.empty()) {
    for (const Came& c : here) {
      const auto of_block = c.meeting->of_block.find(key(e.op, e.block));
      if (of_block == c.meeting->of_block.end()) continue;
      const EventId done = looked[c.meeting].done;
      for (size_t k = of_block->second.size(); k-- > 0;) {
        const Release& r = c.meeting->releases[of_block->second[k]];
        if (r.at > c.when) continue;
        if (r.at <= done) break;
        if (covers(r, e, lane) || --patience < 0) return true;
      }
    }
    next.clear();
    for (const Came& c : here) {
      EventId& up_to = looked[c.meeting].done;
      const EventId done = up_to;
      if (done >= c.when) continue;
      up_to = c.when;
      const auto& all = c.meeting->releases;
      for (auto r = std::ranges::upper_bound(all, c.when, {}, &Release::at); r != all.begin() && (--r)->at > done;) {
        for (const Came& n : r->snapshot->came) {
          EventId& asked = looked[n.meeting].asked;
          if (asked >= n.when) continue;
          asked = n.when;
          next.push_back(n);
        }
        patience -= 1 + static_cast<int>(r->snapshot->came.size() / 8);
        if (patience < 0) return true;  // too long a chain to follow: no alarm
      }
    }
    std::swap(here, next);
  }
  return false;
}

}  // namespace warpbeam::observe::check

#include "observe/check/knowledge.h"

#include <algorithm>
#include <unordered_set>

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
  of_block[key(r.snapshot->op, r.snapshot->block)].push_back(static_cast<uint32_t>(releases.size()));
  releases.push_back(std::move(r));
}

// Looks at what was left where the thread itself came, then at what those knew who left it, and so on: mostly it is near.
bool knows(const CameList& came, const Event& e, uint32_t lane) {
  int patience = kPatience;
  std::unordered_map<const Meeting*, EventId> seen;
  CameList here = came, next;
  while (!here.empty()) {
    for (const Came& c : here) {
      const auto of_block = c.meeting->of_block.find(key(e.op, e.block));
      if (of_block == c.meeting->of_block.end()) continue;
      for (size_t k = of_block->second.size(); k-- > 0;) {
        const Release& r = c.meeting->releases[of_block->second[k]];
        if (r.at > c.when) continue;
        if (covers(r, e, lane)) return true;
        if (--patience < 0) return true;
      }
    }
    next.clear();
    for (const Came& c : here)
      for (size_t k = c.meeting->releases.size(); k-- > 0;) {
        const Release& r = c.meeting->releases[k];
        if (r.at > c.when || r.snapshot->came.empty()) continue;
        for (const Came& n : r.snapshot->came) {
          EventId& best = seen[n.meeting];
          if (best >= n.when) continue;
          best = n.when;
          next.push_back(n);
        }
        if (--patience < 0) return true;  // too long a chain to follow: no alarm
      }
    std::swap(here, next);
  }
  return false;
}

}  // namespace warpbeam::observe::check

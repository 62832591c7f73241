#include "libraries/nccl/messages.h"

#include <algorithm>
#include <cstring>

namespace warpbeam::nccl {

namespace {

size_t piece_bytes(size_t pieces) { return kSlotBytes / pieces / 64 * 64; }

// A slot holds `pieces` parts of messages; each is of `bytes`.
template <class Fill, class Take>
void rounds(Room& room, size_t bytes, size_t pieces, Fill&& fill, Take&& take) {
  const size_t most = piece_bytes(pieces);
  for (size_t at = 0; at < bytes; at += most) {
    const size_t n = std::min(most, bytes - at);
    fill(at, n);
    room.meet();
    take(at, n);
    room.meet();
  }
}

size_t ranks_of(const Room& room) { return static_cast<size_t>(room.ranks()); }

std::vector<const std::byte*> parts_at(Room& room, size_t offset) {
  std::vector<const std::byte*> parts;
  for (int r = 0; r < room.ranks(); ++r) parts.push_back(room.slot(r) + offset);
  return parts;
}

void put(std::byte* slot, const Buffers& b, size_t at, size_t n, const Reduction& reduction) {
  std::memcpy(slot, b.from + at, n);
  if (reduction.factor) multiply(b.type, *reduction.factor, slot, n / bytes_of(b.type));
}

// Every rank reduces a part of each piece, for all.
void reduce_in_parts(Room& room, const Buffers& b, const Reduction& reduction, bool wanted) {
  const size_t width = bytes_of(b.type);
  rounds(
      room, b.bytes(), 1, [&](size_t at, size_t n) { put(room.slot(room.rank()), b, at, n, reduction); },
      [&](size_t at, size_t n) {
        const size_t elements = n / width, rank = static_cast<size_t>(room.rank());
        const size_t begin = elements * rank / ranks_of(room), end = elements * (rank + 1) / ranks_of(room);
        reduce(b.type, reduction.op, parts_at(room, begin * width), room.result() + begin * width, end - begin);
        room.meet();
        if (wanted) std::memcpy(b.to + at, room.result(), n);
      });
}

struct Going {
  Transfer transfer;
  size_t done = 0;
};

bool advance(Room& room, Going& going) {
  const Transfer& t = going.transfer;
  Mailbox& box = t.sends ? room.mailbox(room.rank(), t.peer) : room.mailbox(t.peer, room.rank());
  const uint64_t sent = box.sent.load(std::memory_order_acquire), taken = box.taken.load(std::memory_order_acquire);
  if ((sent == taken) != t.sends) return false;
  const size_t n = std::min(kLetterBytes, t.bytes - going.done);
  if (t.sends) {
    std::memcpy(box.letter, t.data + going.done, n);
    box.sent.store(sent + 1, std::memory_order_release);
  } else {
    std::memcpy(t.data + going.done, box.letter, n);
    box.taken.store(taken + 1, std::memory_order_release);
  }
  going.done += n;
  return true;
}

// Messages between the same two come in their order.
bool advance_first_of_each(Room& room, std::vector<Going>& all) {
  bool moved = false;
  for (auto going = all.begin(); going != all.end(); ++going) {
    const auto same = [&](const Going& g) { return g.transfer.sends == going->transfer.sends && g.transfer.peer == going->transfer.peer; };
    if (std::find_if(all.begin(), going, same) == going) moved = advance(room, *going) || moved;
  }
  return moved;
}

}  // namespace

void all_reduce(Room& room, const Buffers& b, const Reduction& reduction) { reduce_in_parts(room, b, reduction, true); }

void reduce_to(Room& room, const Buffers& b, const Reduction& reduction, int root) {
  reduce_in_parts(room, b, reduction, room.rank() == root);
}

void reduce_scatter(Room& room, const Buffers& b, const Reduction& reduction) {
  const size_t ranks = ranks_of(room), width = bytes_of(b.type);
  const size_t part = piece_bytes(ranks);
  rounds(
      room, b.bytes(), ranks,
      [&](size_t at, size_t n) {
        for (size_t r = 0; r < ranks; ++r) put(room.slot(room.rank()) + r * part, b, r * b.bytes() + at, n, reduction);
      },
      [&](size_t at, size_t n) {
        reduce(b.type, reduction.op, parts_at(room, static_cast<size_t>(room.rank()) * part), b.to + at, n / width);
      });
}

void broadcast(Room& room, const Buffers& b, int root) {
  rounds(
      room, b.bytes(), 1,
      [&](size_t at, size_t n) {
        if (room.rank() == root) std::memcpy(room.slot(root), b.from + at, n);
      },
      [&](size_t at, size_t n) { std::memcpy(b.to + at, room.slot(root), n); });
}

void gather(Room& room, const Buffers& b, int root) {
  rounds(
      room, b.bytes(), 1, [&](size_t at, size_t n) { std::memcpy(room.slot(room.rank()), b.from + at, n); },
      [&](size_t at, size_t n) {
        if (root >= 0 && room.rank() != root) return;
        for (size_t r = 0; r < ranks_of(room); ++r) std::memcpy(b.to + r * b.bytes() + at, room.slot(static_cast<int>(r)), n);
      });
}

void all_gather(Room& room, const Buffers& b) { gather(room, b, -1); }

void scatter(Room& room, const Buffers& b, int root) {
  const size_t ranks = ranks_of(room), part = piece_bytes(ranks);
  rounds(
      room, b.bytes(), ranks,
      [&](size_t at, size_t n) {
        if (room.rank() != root) return;
        for (size_t r = 0; r < ranks; ++r) std::memcpy(room.slot(root) + r * part, b.from + r * b.bytes() + at, n);
      },
      [&](size_t at, size_t n) { std::memcpy(b.to + at, room.slot(root) + static_cast<size_t>(room.rank()) * part, n); });
}

void all_to_all(Room& room, const Buffers& b) {
  const size_t ranks = ranks_of(room), part = piece_bytes(ranks);
  rounds(
      room, b.bytes(), ranks,
      [&](size_t at, size_t n) {
        for (size_t r = 0; r < ranks; ++r) std::memcpy(room.slot(room.rank()) + r * part, b.from + r * b.bytes() + at, n);
      },
      [&](size_t at, size_t n) {
        for (size_t r = 0; r < ranks; ++r)
          std::memcpy(b.to + r * b.bytes() + at, room.slot(static_cast<int>(r)) + static_cast<size_t>(room.rank()) * part, n);
      });
}

void exchange(Room& room, const std::vector<Transfer>& transfers) {
  std::vector<Going> going;
  for (const Transfer& t : transfers)
    if (t.bytes > 0) going.push_back({t});
  while (!going.empty()) {
    room.wait_until([&] { return advance_first_of_each(room, going); });
    std::erase_if(going, [](const Going& g) { return g.done == g.transfer.bytes; });
  }
}

}  // namespace warpbeam::nccl

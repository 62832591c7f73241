// Accesses of code that is watched: what is counted of their places, and what the observer is asked and told.
#include <llvm/IR/Intrinsics.h>

#include <bit>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;

// Whether no two lanes are on one line. False may also be said of some that are on lines of their own, which are far apart.
V Emitter::lie_apart(V lanes) {
  const V lines = b_.CreateTrunc(b_.CreateLShr(lanes, splat(b_.getInt64(std::countr_zero(WatchTables::kLine)))), type_of(2, true));
  V same = nullptr;
  for (int by = 1; by <= kLanes / 2; ++by) {
    std::vector<int> turned;
    for (int l = 0; l < kLanes; ++l) turned.push_back((l + by) % kLanes);
    const V meets = b_.CreateICmpEQ(lines, b_.CreateShuffleVector(lines, turned));
    same = same ? b_.CreateOr(same, meets) : meets;
  }
  return b_.CreateICmpEQ(mask_bits(same), b_.getInt32(0));
}

// The place of an instruction: of addresses of a known shape, or, `lanes`, of others.
uint32_t Emitter::watch_site(const vm::Insn& i, const Value& address, uint64_t bytes, bool lanes) {
  WatchTables::Site site;
  site.insn = &i;
  if (!lanes) {
    site.pattern.runs = address.runs;
    site.pattern.stride = address.stride;
    site.pattern.gap = address.runs > 1 && address.even ? address.gap : 0;
  }
  site.pattern.settled = loads_settled(i);
  const int64_t gap = site.pattern.runs < 2 || address.even ? site.pattern.gap : INT64_MIN;  // known at run time only
  const auto [it, fresh] = watch_->site_of.try_emplace({&i - flow_.code->insns.data(), site.pattern.runs, site.pattern.stride, gap},
                                                       static_cast<uint32_t>(watch_->sites.size()));
  if (!fresh) return it->second;
  const int length = kLanes / static_cast<int>(lanes ? 1 : address.runs);
  for (int l = 0; l < kLanes; ++l)
    site.distance[static_cast<size_t>(l)] = static_cast<uint64_t>(site.pattern.stride * (l % length) + site.pattern.gap * (l / length));
  if (watch_->wanted.traffic) {
    site.step = static_cast<uint32_t>(bytes);
    site.at = watch_->counters;
    watch_->counters += static_cast<uint32_t>(vm::BlockObserver::kPlaces / bytes);
    if (!lanes && address.runs == 2 && !address.even) site.gap_at = watch_->counters++;
    if (lanes) site.lanes_at = watch_->counters, watch_->counters += kLanes + 1;
    if (lanes && processor_.wide && may_lie_apart(i)) site.apart_at = watch_->counters++;
    if (!lanes && address.uniform() && bytes <= 4 && !flow_.code->takes_param_address)
      site.word_at = watch_->counters, watch_->counters += kLanes;
    if (lanes && bytes == 4 && i.source->form.row->cls == isa::Class::Store)
      site.rows_at = watch_->counters, watch_->counters += static_cast<uint32_t>(vm::BlockObserver::kPlaces / bytes * kLanes);
  }
  watch_->sites.push_back(site);
  return it->second;
}

// From one stretch of an address to the next, as far as that is one distance.
V Emitter::gap_of(const Value& address) {
  if (address.runs == 1) return b_.getInt64(0);
  if (address.runs && address.even) return b_.getInt64(static_cast<uint64_t>(address.gap));
  return address.runs == 2 ? b_.CreateSub(address.run[1], address.run[0]) : nullptr;
}

// Has the observer seen all there is to see of an access?
V Emitter::ask_about(const vm::Insn& i, const Value& address, V mask, uint64_t bytes) {
  if (const V gap = gap_of(address))
    return call("wb_watched_shaped", b_.getInt1Ty(),
                {w_.context, b_.getInt32(watch_site(i, address, bytes)), at_.warp, mask, at_.active, address.run[0], gap});
  const V place = scratch(type_of(8, true));
  b_.CreateStore(lanes_of(address, 8), place);
  return call("wb_watched_lanes", b_.getInt1Ty(), {w_.context, outside(&i), at_.warp, mask, at_.active, place});
}

// The observer is asked about an access, and told of it where that is not enough; the code goes on at `on`.
void Emitter::tell_access(const vm::Insn& i, const Value& address, V mask, uint64_t bytes, BasicBlock* on) {
  const V seen = ask_about(i, address, mask, bytes);
  auto* look = new_block("look");
  b_.CreateCondBr(seen, on, look, llvm::MDBuilder(c_).createBranchWeights(1000, 1));
  b_.SetInsertPoint(look);
  call_detour(i, mask, nullptr, Detour::What::Access);
  go_on(on);
}

// An access of whose lanes nothing is known before: they may be as far apart as the last time. `on_one_line`, if there is one:
// whether each lane's loads that are made together are.
void Emitter::count_lanes(uint32_t number, V lanes, V mask, uint64_t bytes, V on_one_line) {
  const WatchTables::Site& site = watch_->sites[number];
  const V first = b_.CreateExtractElement(lanes, uint64_t{0});
  const V last = b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), context_field(offsetof(Context, watched.counters), b_.getPtrTy(), true),
                                               site.lanes_at);
  auto* distances = llvm::cast<llvm::LoadInst>(machine_load(type_of(8, true), last));
  distances->setAlignment(llvm::Align(8));
  const V same = b_.CreateICmpEQ(mask_bits(b_.CreateICmpEQ(b_.CreateSub(lanes, splat(first)), distances)), b_.getInt32(~0u));
  auto [known, other, counted] = new_blocks("same_distances", "other_distances", "counted");
  go_on_if(b_.CreateAnd(same, b_.CreateICmpEQ(mask, b_.getInt32(~0u))), known, other);
  count(site.at, b_.getInt64(1), place_of(first, bytes));
  b_.CreateBr(counted);
  b_.SetInsertPoint(other);
  auto [whole, part, anywhere] = new_blocks("whole_warp", "part_of_warp", "anywhere");
  go_on_if(b_.CreateICmpEQ(mask, b_.getInt32(~0u)), whole, part);
  if (site.apart_at) {
    auto* apart = new_block("apart");
    const V alone = lie_apart(lanes);
    go_on_if(on_one_line ? b_.CreateAnd(alone, on_one_line) : alone, apart, anywhere);
    count(site.apart_at, b_.getInt64(1));
    b_.CreateBr(counted);
  } else {
    b_.CreateBr(anywhere);
  }
  const V place = scratch(type_of(8, true));
  b_.SetInsertPoint(part);
  b_.CreateStore(lanes, place);
  if (site.rows_at && ranks_lanes() && !as_.team) {
    auto* row = new_block("row_of_lanes");
    const V head =
        b_.CreateLoad(b_.getInt64Ty(), b_.CreateInBoundsGEP(b_.getInt64Ty(), place, b_.CreateAnd(ends_of(mask).first, kLanes - 1)));
    go_on_if(lane_memory_.is_ranked(lanes, head, static_cast<uint32_t>(bytes), mask), row, anywhere);
    const V many = b_.CreateZExt(b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, mask), b_.getInt64Ty());
    count(site.rows_at, b_.getInt64(1), b_.CreateAdd(b_.CreateShl(place_of(head, bytes), std::countr_zero(unsigned{kLanes})), many));
    b_.CreateBr(counted);
  } else {
    b_.CreateBr(anywhere);
  }
  b_.SetInsertPoint(anywhere);
  b_.CreateStore(lanes, place);
  call("wb_other_lanes", b_.getVoidTy(), {w_.context, b_.getInt32(number), mask, place});
  go_on(counted);
}

// Whole warps' loads of a piece of memory for each lane, the first of which are at `lanes`.
void Emitter::count_piece(const Piece& piece, V lanes, uint64_t bytes) {
  const auto number = static_cast<uint32_t>(watch_->sites.size());
  WatchTables::Site site;
  site.insn = piece.accesses.front();
  for (size_t k = 1; k < piece.accesses.size(); ++k)
    site.together.emplace_back(piece.accesses[k], static_cast<uint64_t>(piece.accesses[k]->imm - site.insn->imm));
  site.step = static_cast<uint32_t>(bytes);
  site.at = watch_->counters;
  site.lanes_at = site.at + static_cast<uint32_t>(vm::BlockObserver::kPlaces / bytes);
  watch_->counters = site.lanes_at + kLanes + 1;
  V on_one_line = nullptr;
  if (processor_.wide && std::ranges::all_of(piece.accesses, [&](const vm::Insn* load) { return may_lie_apart(*load); })) {
    site.apart_at = watch_->counters++;
    const V begins = b_.CreateAdd(lanes, splat(b_.getInt64(static_cast<uint64_t>(piece.from - site.insn->imm))));
    on_one_line = b_.CreateICmpEQ(mask_bits(b_.CreateICmpEQ(b_.CreateAnd(begins, splat(b_.getInt64(kPiece - 1))), splat(b_.getInt64(0)))),
                                  b_.getInt32(~0u));
  }
  watch_->sites.push_back(std::move(site));
  count_lanes(number, lanes, b_.getInt32(~0u), bytes, on_one_line);
}

// Are the banks counted that its lanes meet in?
bool Emitter::counts_banks(const vm::Insn& i) const {
  return watch_ && watch_->wanted.banks && i.adds_one && i.mods().space == isa::Space::Shared;
}

// Of a whole warp.
void Emitter::count_banks(const vm::Insn& i, V lanes) {
  const auto [it, fresh] = watch_->banks.try_emplace(number_of(i), watch_->counters);
  if (fresh) watch_->counters += WatchTables::kOfBanks;
  const V places = scratch(type_of(4, true));
  b_.CreateStore(b_.CreateTrunc(lanes, type_of(4, true)), places);
  call("wb_count_banks", b_.getVoidTy(), {counters_from(it->second, WatchTables::kOfBanks), places});
}

// Which of the places modulo kPlaces an address is.
V Emitter::place_of(V address, uint64_t bytes) {
  return b_.CreateAnd(b_.CreateLShr(address, b_.getInt64(static_cast<uint64_t>(std::countr_zero(bytes)))),
                      b_.getInt64(vm::BlockObserver::kPlaces / bytes - 1));
}

// Where an access to global memory goes, for an observer that follows lines through the caches.
void Emitter::tell_places(const vm::Insn& i, const Value& address, V mask) {
  const isa::Space space = i.mods().space;
  if (!watch_ || !watch_->wanted.places || (space != isa::Space::Global && space != isa::Space::Generic)) return;
  if (address.runs == 1) {
    call("wb_passed_shaped", b_.getVoidTy(),
         {w_.context, outside(&i), mask, address.run[0], b_.getInt64(static_cast<uint64_t>(address.stride))});
    return;
  }
  const V place = scratch(type_of(8, true));
  b_.CreateStore(lanes_of(address, 8), place);
  call("wb_passed_lanes", b_.getVoidTy(), {w_.context, outside(&i), mask, place});
}

// An access whose lanes are all in bounds is about to be made.
void Emitter::watch_access(const vm::Insn& i, const Value& address, V mask, uint64_t bytes) {
  if (!watch_ || (!watch_->wanted.events && !watch_->wanted.traffic)) return;
  if (unrolled_.now && watch_->wanted.events) {
    if (!unrolled_.now->over) tell_unrolled(i, address, mask, bytes);
    return;
  }
  if (unrolled_.now && !unrolled_.now->over) {  // it may yet turn out otherwise
    unrolled_.now->now.counts.touches.push_back(
        {&i, address, static_cast<uint32_t>(llvm::cast<llvm::ConstantInt>(mask)->getZExtValue()), bytes});
    return;
  }
  if (watch_->wanted.events && watch_batched(i, address, mask, bytes)) return;
  tell_places(i, address, mask);
  auto* on = new_block("seen");
  if (watch_->wanted.events) {
    if (loads_settled(i)) {
      skip_settled(i, false, address, mask, on);
    } else if (const auto words = words_of(i, address, bytes); !words.empty()) {
      look_at_words(i, words, mask, on);
    }
    return tell_access(i, address, mask, bytes, on);
  }
  // Of two stretches the distance may be known at run time only; then a place tells all for as long as it stays.
  const bool fixed = address.runs == 1 || (address.runs && address.even), shaped = fixed || address.runs == 2;
  V place = nullptr;
  if (!shaped) {
    if (vm::loads_or_stores(i) && std::has_single_bit(bytes) && bytes <= vm::BlockObserver::kPlaces && !flow_.code->takes_param_address) {
      count_lanes(watch_site(i, address, bytes, true), lanes_of(address, 8), mask, bytes);
    } else {
      if (counts_banks(i)) {
        auto [all, part] = new_blocks("whole_warp", "part_of_warp");
        go_on_if(b_.CreateICmpEQ(mask, b_.getInt32(~0u)), all, part);
        count_banks(i, lanes_of(address, 8));
        b_.CreateBr(on);
        b_.SetInsertPoint(part);
      }
      place = scratch(type_of(8, true));
      b_.CreateStore(lanes_of(address, 8), place);
      call("wb_count_lanes", b_.getVoidTy(), {w_.context, outside(&i), mask, place});
    }
    go_on(on);
    return;
  }
  const uint32_t number = watch_site(i, address, bytes);
  const uint32_t at = watch_->sites[number].at;
  const auto whole = [&] {
    if (!fixed) {
      const V gap = b_.CreateSub(address.run[1], address.run[0]);
      auto [other, same] = new_blocks("other_gap", "same_gap");
      V at_gap = b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), context_field(offsetof(Context, watched.counters), b_.getPtrTy(), true),
                                               watch_->sites[number].gap_at);
      b_.CreateCondBr(b_.CreateICmpEQ(machine_load(b_.getInt64Ty(), at_gap), gap), same, other,
                      llvm::MDBuilder(c_).createBranchWeights(1000, 1));
      b_.SetInsertPoint(other);
      call("wb_other_gap", b_.getVoidTy(), {w_.context, b_.getInt32(number), gap});
      go_on(same);
    }
    count(at, b_.getInt64(1), place_of(address.run[0], bytes));
  };
  if (is_all(mask)) {
    whole();
    go_on(on);
    return;
  }
  auto [all, part] = new_blocks("whole_warp", "part_of_warp");
  go_on_if(b_.CreateICmpEQ(mask, b_.getInt32(~0u)), all, part);
  whole();
  b_.CreateBr(on);
  b_.SetInsertPoint(part);
  if (const uint32_t word = watch_->sites[number].word_at) {
    count(word, b_.getInt64(1), b_.CreateZExt(b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, mask), b_.getInt64Ty()));
  } else if (fixed) {
    call("wb_count_shaped", b_.getVoidTy(), {w_.context, b_.getInt32(number), mask, address.run[0]});
  } else {
    place = scratch(type_of(8, true));
    b_.CreateStore(lanes_of(address, 8), place);
    call("wb_count_lanes", b_.getVoidTy(), {w_.context, outside(&i), mask, place});
  }
  go_on(on);
}

}  // namespace warpbeam::jit

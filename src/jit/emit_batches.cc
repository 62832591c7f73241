// Loads from shared memory that an unrolled loop makes from one register: the observer of events is asked about all of them
// once, before the first one is made. Nothing that the others read can change until they are made.
#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;

namespace {

constexpr size_t kFewest = 4;  // loads of a batch

bool is_weak_load(const vm::Insn& i) {
  const isa::Sem sem = i.mods().sem;
  return vm::loads_or_stores(i) && i.source->form.row->cls == isa::Class::Load && (sem == isa::Sem::None || sem == isa::Sem::Weak);
}

}  // namespace

// Among instructions that a whole warp executes one after the other, once all their accesses have been found good.
void Emitter::find_batches(uint32_t begin, uint32_t end) {
  watching_.batch_of.clear();
  if (!watch_ || !watch_->wanted.events) return;
  std::map<std::pair<int32_t, uint64_t>, Batch> open;  // by the slot of the address and the bytes of a lane
  const auto close = [&](Batch& loads) {
    const auto batch = std::make_shared<const Batch>(std::exchange(loads, {}));
    if (batch->size() < kFewest) return;
    for (const vm::Insn* load : *batch) watching_.batch_of[load] = batch;
  };
  for (uint32_t k = begin; k < end; ++k) {
    const vm::Insn& i = flow_.code->insns[k];
    if (i.watched == vm::Watched::Memory && is_weak_load(i)) {
      const uint64_t element = isa::bytes_of(i.type()), bytes = element * i.count;
      if (as_.checked.contains(&i) && i.op[1] >= 0 && i.mods().space == isa::Space::Shared && element >= 4 && bytes <= 16) {
        Batch& loads = open[{i.op[1], bytes}];
        if (loads.empty() || (i.imm - loads[0]->imm) % static_cast<int64_t>(bytes) == 0) loads.push_back(&i);
        if (loads.size() == vm::LoadBatch::kMost) close(loads);
      }
    } else if (i.watched != vm::Watched::Plain && i.watched != vm::Watched::Extra) {
      for (auto& [slot, loads] : open) close(loads);
      open.clear();
    }
    for (const Slot& s : flow_.slots[k])
      for (auto& [slot, loads] : open)
        if (s.written && slot.first == s.at) close(loads);
  }
  for (auto& [slot, loads] : open) close(loads);
}

// A whole warp has made an access.
void Emitter::touched_last(const vm::Insn& i) {
  const auto part = [&](V base, uint64_t offset) { return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, offset); };
  const V block = context_field(offsetof(Context, watched.words), b_.getPtrTy(), true);
  const V first = machine_load(b_.getPtrTy(), part(block, offsetof(vm::WatchedBlock, warps)), true);
  const V state = b_.CreateInBoundsGEP(b_.getInt8Ty(), first,
                                       b_.CreateMul(b_.CreateZExt(at_.warp, b_.getInt64Ty()), b_.getInt64(sizeof(vm::WatchedWarp))));
  machine_store(outside(&i), part(state, offsetof(vm::WatchedWarp, last_access)));
  machine_store(b_.getInt32(~0u), part(state, offsetof(vm::WatchedWarp, last_mask)));
}

// Whether the observer knows of the access as one of a batch.
bool Emitter::watch_batched(const vm::Insn& i, const Value& address, V mask, uint64_t bytes) {
  const auto it = watching_.batch_of.find(&i);
  if (it == watching_.batch_of.end()) return false;
  const std::shared_ptr<const Batch> batch = it->second;
  if (batch->front() != &i) {
    if (batch->back() == &i) touched_last(i);  // other accesses may have come between
    return true;
  }
  const V gap = gap_of(address);
  if (!gap || !is_all(mask)) {
    for (const vm::Insn* load : *batch) watching_.batch_of.erase(load);
    return false;
  }
  if (watching_.places.of.empty()) watching_.places = vm::access_places(*flow_.code);
  vm::LoadBatch& told = watch_->batches.emplace_back();
  told.bytes = static_cast<uint32_t>(bytes);
  told.pattern.runs = address.runs;
  told.pattern.stride = address.stride;
  told.pattern.settled = loads_settled(i);
  for (const vm::Insn* load : *batch) {
    const int64_t offset = load->imm - i.imm;
    told.row = told.row && offset == static_cast<int64_t>(bytes * told.loads.size());
    told.least = std::min(told.least, offset);
    told.most = std::max(told.most, offset);
    told.loads.push_back({load, offset, watching_.places.of[number_of(*load)]});
  }
  auto* on = new_block("batch_seen");
  if (told.pattern.settled) skip_settled(i, true, address, mask, on);
  const V seen = call("wb_watched_batch", b_.getInt1Ty(), {w_.context, outside(&told), at_.warp, address.run[0], gap});
  auto* one_by_one = new_block("one_by_one");
  b_.CreateCondBr(seen, on, one_by_one, llvm::MDBuilder(c_).createBranchWeights(1000, 1));
  b_.SetInsertPoint(one_by_one);
  for (size_t k = 0; k < batch->size(); ++k) {
    Value place = address;
    for (size_t r = 0; r < place.runs; ++r)
      place.run[r] = b_.CreateAdd(place.run[r], b_.getInt64(static_cast<uint64_t>(told.loads[k].offset)));
    tell_access(*(*batch)[k], place, mask, bytes, new_block("told"));
  }
  go_on(on);
  return true;
}

}  // namespace warpbeam::jit

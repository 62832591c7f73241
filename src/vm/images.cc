#include "vm/images.h"

#include <utility>

namespace warpbeam::vm {

ImageTable::~ImageTable() {
  for (auto& chunk : chunks_) delete chunk.load();
}

uint64_t ImageTable::add(View view) {
  std::lock_guard lock(mutex_);
  uint64_t index;
  if (!free_.empty()) {
    index = free_.back();
    free_.pop_back();
  } else {
    index = next_;
    if (index >> kIndexBits) return 0;
    ++next_;
  }
  auto& chunk = chunks_[index / kChunk];
  if (!chunk.load()) chunk.store(new Chunk, std::memory_order_release);
  Slot& slot = *slot_of(index);
  slot.view.store(view.get(), std::memory_order_release);
  slot.owner = std::move(view);
  const uint64_t handle = index | (slot.generation++ & 0xfffff) << kIndexBits | context_ << 40;
  slot.handle.store(handle, std::memory_order_release);
  return handle;
}

void ImageTable::bind(uint64_t handle, View view) {
  std::lock_guard lock(mutex_);
  Slot* slot = slot_of(handle);
  if (!slot || slot->handle.load() != handle) return;
  slot->view.store(view.get(), std::memory_order_release);
  if (slot->owner) retired_.push_back(std::move(slot->owner));
  slot->owner = std::move(view);
}

void ImageTable::remove(uint64_t handle) {
  std::lock_guard lock(mutex_);
  Slot* slot = handle ? slot_of(handle) : nullptr;
  if (!slot || slot->handle.load() != handle) return;
  slot->handle.store(0, std::memory_order_release);
  slot->view.store(nullptr, std::memory_order_release);
  if (slot->owner) retired_.push_back(std::move(slot->owner));
  slot->owner = nullptr;
  free_.push_back(handle & ((uint64_t(1) << kIndexBits) - 1));
}

bool ImageTable::knows(uint64_t handle) const {
  const Slot* slot = handle ? slot_of(handle) : nullptr;
  return slot && slot->handle.load(std::memory_order_acquire) == handle;
}

std::vector<ImageTable::View> ImageTable::take_retired() {
  std::lock_guard lock(mutex_);
  return std::exchange(retired_, {});
}

}  // namespace warpbeam::vm

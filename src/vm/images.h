// The textures and surfaces of one device by the handles that kernels hold.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "vm/texture.h"

namespace warpbeam::vm {

enum class ImageUse : uint8_t { Texture, Surface };

// What a handle stands for. Nothing in it changes while it is in the table.
struct ImageView {
  ImageUse use{};
  Texture texture;         // of a surface only the image counts
  uint64_t begin = 0, bytes = 0;                 // the memory it reads
  mutable std::atomic<uint64_t> checked_epoch{0};  // DeviceMemory::epoch() when that memory was last known to be there
};

// Handles are small numbers, and the number of a destroyed object comes again with another generation, so that a stale
// handle is found out. Views that are taken out live on in `retired` until nothing that could use them runs.
class ImageTable {
 public:
  using View = std::shared_ptr<const ImageView>;

  ~ImageTable();
  // Handles of different contexts differ.
  void number_from(uint64_t context) { context_ = context; }
  // A texture or surface object, or (with no view yet) a reference that the host binds later.
  uint64_t add(View view);
  // Null unbinds.
  void bind(uint64_t handle, View view);
  void remove(uint64_t handle);
  // For kernels; what is given back stays until it is retired and dropped.
  const ImageView* find(uint64_t handle) const {
    const Slot* slot = handle ? slot_of(handle) : nullptr;
    if (!slot || slot->handle.load(std::memory_order_acquire) != handle) return nullptr;
    return slot->view.load(std::memory_order_acquire);
  }
  bool knows(uint64_t handle) const;
  std::vector<View> take_retired();

 private:
  static constexpr uint64_t kIndexBits = 20, kChunk = 1024, kChunks = (uint64_t(1) << kIndexBits) / kChunk;
  struct Slot {
    std::atomic<uint64_t> handle{0};  // 0: free
    std::atomic<const ImageView*> view{nullptr};
    View owner;
    uint64_t generation = 0;
  };
  struct Chunk {
    std::array<Slot, kChunk> slots;
  };
  Slot* slot_of(uint64_t handle) const {
    const uint64_t index = handle & ((uint64_t(1) << kIndexBits) - 1);
    Chunk* chunk = chunks_[index / kChunk].load(std::memory_order_acquire);
    return chunk ? &chunk->slots[index % kChunk] : nullptr;
  }

  std::array<std::atomic<Chunk*>, kChunks> chunks_{};
  mutable std::mutex mutex_;
  std::vector<uint64_t> free_;
  uint64_t next_ = 1;  // 0 is no handle
  uint64_t context_ = 0;
  std::vector<View> retired_;
};

}  // namespace warpbeam::vm

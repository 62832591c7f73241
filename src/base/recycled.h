// Memory for what every launch makes and drops again, often on another thread: a piece that was given back serves the next one
// that asks for its size, so that launches allocate nothing once a few have been made.
#pragma once
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <new>

namespace warpbeam {

class Recycler {
 public:
  static void* take(size_t bytes) {
    if (bytes <= kMostBytes) {
      Shelf& shelf = shelf_for(bytes);
      if (const Held held(shelf); held.is && shelf.first) {
        Piece* piece = shelf.first;
        shelf.first = piece->next;
        --shelf.count;
        return piece;
      }
      bytes = size_of(bytes);
    }
    return ::operator new(bytes);
  }
  static void give(void* memory, size_t bytes) {
    if (bytes <= kMostBytes) {
      Shelf& shelf = shelf_for(bytes);
      if (const Held held(shelf); held.is && shelf.count < kMostPieces) {
        shelf.first = new (memory) Piece{shelf.first};
        ++shelf.count;
        return;
      }
    }
    ::operator delete(memory);
  }

 private:
#if defined(__SANITIZE_ADDRESS__) || (defined(__has_feature) && __has_feature(address_sanitizer))
  static constexpr size_t kMostBytes = 0;  // the sanitizer is to see who uses what was freed
#else
  static constexpr size_t kMostBytes = 4096;
#endif
  static constexpr size_t kLeastBytes = 16, kMostPieces = 2048;  // more than a queue has launches under way

  struct Piece {
    Piece* next;
  };
  struct alignas(64) Shelf {
    std::atomic<bool> taken{false};
    Piece* first = nullptr;
    size_t count = 0;
  };
  // Whoever finds the shelf taken for long does without.
  struct Held {
    explicit Held(Shelf& s) : shelf(s), is(try_to_hold(s)) {}
    ~Held() {
      if (is) shelf.taken.store(false, std::memory_order_release);
    }
    static bool try_to_hold(Shelf& s) {
      for (int k = 0; k < 256; ++k) {
        if (!s.taken.load(std::memory_order_relaxed) && !s.taken.exchange(true, std::memory_order_acquire)) return true;
        __builtin_ia32_pause();
      }
      return false;
    }
    Shelf& shelf;
    const bool is;
  };

  static size_t size_of(size_t bytes) { return std::bit_ceil(bytes < kLeastBytes ? kLeastBytes : bytes); }
  static Shelf& shelf_for(size_t bytes) {
    static std::array<Shelf, 9> shelves;  // of 16 to 4096 bytes
    return shelves[static_cast<size_t>(std::countr_zero(size_of(bytes)) - std::countr_zero(kLeastBytes))];
  }
};

// For containers and std::allocate_shared.
template <class T>
struct Recycled {
  using value_type = T;
  static_assert(alignof(T) <= alignof(std::max_align_t));
  Recycled() = default;
  template <class U>
  Recycled(const Recycled<U>&) {}
  T* allocate(size_t n) { return static_cast<T*>(Recycler::take(n * sizeof(T))); }
  void deallocate(T* p, size_t n) { Recycler::give(p, n * sizeof(T)); }
  template <class U>
  bool operator==(const Recycled<U>&) const {
    return true;
  }
};

}  // namespace warpbeam

// One plan's transform: its sizes, how its data lie, and the host's plans for it.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/library_calls.h"
#include "cufft.h"

namespace warpbeam::cufft {

// Where the elements of one side are: element (x, y, z) of batch b at b * distance + ((x * extent[1] + y) * extent[2] + z)
// * stride, counted in elements of that side.
struct Layout {
  std::vector<int64_t> extent;
  int64_t stride = 1, distance = 0;
};

// How the numbers of a transform in single precision lie in memory.
enum class Width { Full, Half, BFloat };

class Transform {
 public:
  // Null for sizes that cannot be.
  static std::shared_ptr<Transform> make(cufftType type, const std::vector<int64_t>& n, const Layout* in, const Layout* out, int64_t batch,
                                         Width width = Width::Full);
  virtual ~Transform() = default;
  virtual bool narrow() const { return false; }  // its numbers have 16 bits
  virtual void run(cuda::LibraryMemory& memory, const void* in, void* out, int direction) = 0;

  cufftType type() const { return type_; }
  size_t effort() const;

  // For callbacks, which count elements as they lie: whether nothing lies between them, how many there are, and their size.
  bool dense() const;
  size_t elements(bool output, bool in_place) const;
  size_t element_bytes(bool output) const;
  bool real(bool output) const { return output ? real_out() : real_in(); }
  bool twice() const { return type_ == CUFFT_Z2Z || type_ == CUFFT_D2Z || type_ == CUFFT_Z2D; }

 protected:
  Transform(cufftType type, const std::vector<int64_t>& n, const Layout* in, const Layout* out, int64_t batch);
  Layout layout(bool output, bool in_place) const;
  bool real_in() const { return type_ == CUFFT_R2C || type_ == CUFFT_D2Z; }
  bool real_out() const { return type_ == CUFFT_C2R || type_ == CUFFT_Z2D; }
  // Sizes of the data themselves: of the complex side of a real transform only the first half of the last dimension.
  std::vector<int64_t> sizes(bool output) const;

  cufftType type_;
  std::vector<int64_t> n_;
  bool given_;  // the layouts are the program's
  Layout in_, out_;
  int64_t batch_;
};

}  // namespace warpbeam::cufft

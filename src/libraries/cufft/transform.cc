// A transform is done by FFTW on contiguous data: each batch is gathered, transformed and scattered, so that layouts,
// transforms in place and overlapping inputs need no plans of their own, and inputs stay as they are.
#include "libraries/cufft/transform.h"

#include <fftw3.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "libraries/numeric/values.h"

namespace warpbeam::cufft {

namespace {

// FFTW makes plans on one thread at a time; they may run on any.
std::mutex& planner() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

template <class Real>
struct Fftw;
#define WB_FFTW(R, p)                                                                                          \
  template <>                                                                                                  \
  struct Fftw<R> {                                                                                             \
    using Complex = p##complex;                                                                                \
    using Plan = p##plan;                                                                                      \
    static void* allocate(size_t bytes) { return p##malloc(bytes); }                                           \
    static void release(void* memory) { p##free(memory); }                                                     \
    static Plan complex_plan(int rank, const int* n, void* in, void* out, int sign) {                          \
      return p##plan_dft(rank, n, static_cast<Complex*>(in), static_cast<Complex*>(out), sign, FFTW_ESTIMATE); \
    }                                                                                                          \
    static Plan forward_plan(int rank, const int* n, void* in, void* out) {                                    \
      return p##plan_dft_r2c(rank, n, static_cast<R*>(in), static_cast<Complex*>(out), FFTW_ESTIMATE);         \
    }                                                                                                          \
    static Plan inverse_plan(int rank, const int* n, void* in, void* out) {                                    \
      return p##plan_dft_c2r(rank, n, static_cast<Complex*>(in), static_cast<R*>(out), FFTW_ESTIMATE);         \
    }                                                                                                          \
    static void execute(Plan plan) { p##execute(plan); }                                                       \
    static void destroy(Plan plan) { p##destroy_plan(plan); }                                                  \
  };
WB_FFTW(float, fftwf_)
WB_FFTW(double, fftw_)
#undef WB_FFTW

int64_t product(const std::vector<int64_t>& sizes) {
  int64_t all = 1;
  for (int64_t n : sizes) all *= n;
  return all;
}

// Calls `body(offset, place)` for each row (a run along the last dimension): where it starts in a layout, and in
// contiguous data.
template <class Body>
void for_each_row(const std::vector<int64_t>& sizes, const Layout& layout, Body&& body) {
  const size_t rank = sizes.size();
  const int64_t a = rank > 2 ? sizes[rank - 3] : 1, b = rank > 1 ? sizes[rank - 2] : 1, row = sizes[rank - 1];
  const int64_t extent_b = rank > 1 ? layout.extent[rank - 2] : 1, extent_c = layout.extent[rank - 1];
  for (int64_t i = 0; i < a; ++i)
    for (int64_t j = 0; j < b; ++j) body((i * extent_b + j) * extent_c * layout.stride, (i * b + j) * row);
}

// `Stored` is what the program has in memory, `Real` what FFTW computes with.
template <class Real, class Stored = Real>
class HostTransform final : public Transform {
  using F = Fftw<Real>;

 public:
  HostTransform(cufftType type, const std::vector<int64_t>& n, const Layout* in, const Layout* out, int64_t batch)
      : Transform(type, n, in, out, batch) {
    in_bytes_ = static_cast<size_t>(product(sizes(false))) * numbers(false) * sizeof(Real);
    out_bytes_ = static_cast<size_t>(product(sizes(true))) * numbers(true) * sizeof(Real);
    from_ = F::allocate(std::max<size_t>(in_bytes_, 16));
    to_ = F::allocate(std::max<size_t>(out_bytes_, 16));
    if (!from_ || !to_) throw std::bad_alloc();
  }
  ~HostTransform() override {
    std::lock_guard lock(planner());
    for (auto plan : plans_)
      if (plan) F::destroy(plan);
    F::release(from_);
    F::release(to_);
  }

  void run(cuda::LibraryMemory& memory, const void* in, void* out, int direction) override {
    std::lock_guard lock(mutex_);
    const auto plan = plan_for(direction);
    const bool in_place = in == out;
    const Layout from = layout(false, in_place), to = layout(true, in_place);
    for (int64_t b = 0; b < batch_; ++b) {
      move(memory, sizes(false), from, b, numbers(false), const_cast<void*>(in), from_, false);
      F::execute(plan);
      move(memory, sizes(true), to, b, numbers(true), out, to_, true);
    }
  }

  bool narrow() const override { return sizeof(Stored) == 2; }

 private:
  size_t numbers(bool output) const { return real(output) ? 1 : 2; }  // of an element

  typename F::Plan plan_for(int direction) {
    auto& plan = plans_[direction == CUFFT_INVERSE];
    if (plan) return plan;
    std::lock_guard lock(planner());
    const std::vector<int> n(n_.begin(), n_.end());
    const int rank = static_cast<int>(n.size());
    plan = real_in()    ? F::forward_plan(rank, n.data(), from_, to_)
           : real_out() ? F::inverse_plan(rank, n.data(), from_, to_)
                        : F::complex_plan(rank, n.data(), from_, to_, direction == CUFFT_INVERSE ? FFTW_BACKWARD : FFTW_FORWARD);
    if (!plan) throw std::runtime_error("FFTW has no plan");
    return plan;
  }

  // Between a layout in device memory and contiguous memory of the host's.
  void move(cuda::LibraryMemory& memory, const std::vector<int64_t>& sizes, const Layout& layout, int64_t batch, size_t numbers,
            void* device, void* host, bool store) {
    const size_t bytes = numbers * sizeof(Stored);
    char* base = static_cast<char*>(device) + batch * layout.distance * static_cast<int64_t>(bytes);
    const int64_t row = sizes.back(), step = layout.stride;
    for_each_row(sizes, layout, [&](int64_t offset, int64_t place) {
      char* at = base + offset * static_cast<int64_t>(bytes);
      Real* mine = static_cast<Real*>(host) + place * static_cast<int64_t>(numbers);
      const size_t count = static_cast<size_t>(row), pitch = static_cast<size_t>(step) * bytes;
      if (step == 1) {
        if (store) memory.writes(at, count * bytes);
        else memory.reads(at, count * bytes);
        copy(at, mine, count * numbers, store);
        return;
      }
      if (store) memory.writes(at, bytes, count, pitch);
      else memory.reads(at, bytes, count, pitch);
      for (size_t i = 0; i < count; ++i) copy(at + i * pitch, mine + i * numbers, numbers, store);
    });
  }
  static void copy(char* device, Real* host, size_t count, bool store) {
    if constexpr (std::is_same_v<Real, Stored>) {
      if (store) std::memcpy(device, host, count * sizeof(Real));
      else std::memcpy(host, device, count * sizeof(Real));
    } else {
      for (size_t i = 0; i < count; ++i) {
        Stored one;
        if (store) one = static_cast<Stored>(host[i]), std::memcpy(device + i * sizeof one, &one, sizeof one);
        else std::memcpy(&one, device + i * sizeof one, sizeof one), host[i] = static_cast<Real>(one);
      }
    }
  }

  std::mutex mutex_;
  size_t in_bytes_ = 0, out_bytes_ = 0;
  void *from_ = nullptr, *to_ = nullptr;
  typename F::Plan plans_[2] = {};
};

}  // namespace

Transform::Transform(cufftType type, const std::vector<int64_t>& n, const Layout* in, const Layout* out, int64_t batch)
    : type_(type), n_(n), given_(in && out), in_(given_ ? *in : Layout{}), out_(given_ ? *out : Layout{}), batch_(batch) {}

std::vector<int64_t> Transform::sizes(bool output) const {
  std::vector<int64_t> out = n_;
  if (output ? real_in() : real_out()) out.back() = out.back() / 2 + 1;
  return out;
}

// Without a layout of the program's the data are contiguous; real data that share their place with complex ones have rows
// as long as those.
Layout Transform::layout(bool output, bool in_place) const {
  if (given_) return output ? out_ : in_;
  Layout made;
  made.extent = sizes(output);
  const bool real = output ? real_out() : real_in();
  if (real && in_place) made.extent.back() = (n_.back() / 2 + 1) * 2;
  made.distance = product(made.extent);
  return made;
}

bool Transform::dense() const {
  const auto plain = [&](const Layout& layout, const std::vector<int64_t>& sizes) {
    return layout.stride == 1 && std::equal(sizes.begin() + 1, sizes.end(), layout.extent.begin() + 1) &&
           (batch_ == 1 || layout.distance == product(sizes));
  };
  return !given_ || (plain(in_, sizes(false)) && plain(out_, sizes(true)));
}

size_t Transform::elements(bool output, bool in_place) const {
  return static_cast<size_t>(batch_ * product(given_ ? sizes(output) : layout(output, in_place).extent));
}

size_t Transform::element_bytes(bool output) const { return (twice() ? sizeof(double) : sizeof(float)) * (real(output) ? 1 : 2); }

size_t Transform::effort() const {
  const auto all = static_cast<size_t>(product(n_));
  size_t steps = 1;
  while (all >> steps) ++steps;
  return all * steps * 4 * static_cast<size_t>(batch_);
}

std::shared_ptr<Transform> Transform::make(cufftType type, const std::vector<int64_t>& n, const Layout* in, const Layout* out,
                                           int64_t batch, Width width) {
  if (n.empty() || n.size() > 3 || batch < 1) return nullptr;
  double all = static_cast<double>(batch);
  for (int64_t size : n) {
    if (size < 1 || size > 0x7fffffff) return nullptr;
    all *= static_cast<double>(size);
  }
  if (all > 1e15) return nullptr;
  if (type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D) return std::make_shared<HostTransform<double>>(type, n, in, out, batch);
  if (width == Width::Half) return std::make_shared<HostTransform<float, numeric::Half>>(type, n, in, out, batch);
  if (width == Width::BFloat) return std::make_shared<HostTransform<float, numeric::BFloat>>(type, n, in, out, batch);
  return std::make_shared<HostTransform<float>>(type, n, in, out, batch);
}

}  // namespace warpbeam::cufft

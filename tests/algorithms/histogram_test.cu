// build: -I../../algorithms
#include <warpbeam/algorithms/device/histogram.cuh>

#include "check.h"

namespace wb = warpbeam;
using check::Array;

void bytes(long long count, int offset, bool constant) {
  auto host = constant ? std::vector<unsigned char>(count, 200) : check::random_values<unsigned char>(count, 0, 255);
  Array<unsigned char> in(host, offset);
  Array<unsigned> out(256);
  std::vector<unsigned> want(256);
  for (unsigned char x : host) ++want[x];
  CHECK_CUDA(wb::histogram_even(wb::on(), in.data(), count, out.data(), 256, 0, 256));
  CHECK_EQUAL(out.host(), want);
}

void even(long long count, int bins) {
  auto host = check::random_values<int>(count, -100, 1100);
  Array<int> in(host, 1);
  Array<unsigned long long> out(bins);
  std::vector<unsigned long long> want(bins);
  for (int x : host)
    if (x >= 0 && x < 1000) ++want[static_cast<long long>(x) * bins / 1000];
  CHECK_CUDA(wb::histogram_even(wb::on(), in.data(), count, out.data(), bins, 0, 1000));
  CHECK_EQUAL(out.host(), want);
}

void ranges(long long count, int bins) {
  std::vector<float> levels(bins + 1);
  for (int i = 0; i <= bins; ++i) levels[i] = static_cast<float>(i) * static_cast<float>(i);
  std::vector<float> host(count);
  for (float& x : host) x = static_cast<float>(check::random_source()() % (bins * bins + 100)) - 50.0f;
  Array<float> in(host), bounds(levels);
  Array<unsigned> out(bins);
  std::vector<unsigned> want(bins);
  for (float x : host) {
    auto above = std::upper_bound(levels.begin(), levels.end(), x);
    if (above != levels.begin() && above != levels.end()) ++want[above - levels.begin() - 1];
  }
  CHECK_CUDA(wb::histogram_range(wb::on(), in.data(), count, out.data(), bins, bounds.data()));
  CHECK_EQUAL(out.host(), want);
}

void channels(long long pixels) {
  auto host = check::random_values<unsigned char>(pixels * 4, 0, 255);
  Array<unsigned char> in(host);
  Array<unsigned> out(3 * 64);
  std::vector<unsigned> want(3 * 64);
  for (long long i = 0; i < pixels; ++i)
    for (int c = 0; c < 3; ++c) ++want[c * 64 + host[i * 4 + c] / 4];
  CHECK_CUDA(wb::histogram_even_channels(wb::on(), in.data(), pixels, 4, 3, out.data(), 64, 0, 256));
  CHECK_EQUAL(out.host(), want);
}

int main() {
  for (long long count : check::kSizes) {
    for (int offset : {0, 1, 7}) bytes(count, offset, offset == 7);
    for (int bins : {1, 3, 1000}) even(count, bins);
    even(count, 5000);
    ranges(count, 20);
    channels(count);
  }
  even(check::kLarge, 200000);
  bytes(check::kLarge, 3, false);
  return check::result("histogram");
}

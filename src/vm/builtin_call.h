// Arguments and results of a function that device code calls and the machine or the runtime carries out.
#pragma once
#include <algorithm>
#include <cstring>

#include "vm/warp.h"

namespace warpbeam::vm {

template <class T>
T argument(Warp& w, const CallSite& site, size_t k, int lane) {
  T v{};
  if (k < site.args.size())
    std::memcpy(&v, w.local(lane) + w.frame->local_base + site.args[k].offset, std::min<size_t>(sizeof v, site.args[k].size));
  return v;
}
template <class T>
void give_back(Warp& w, const CallSite& site, int lane, T v) {
  if (!site.returns.empty())
    std::memcpy(w.local(lane) + w.frame->local_base + site.returns[0].offset, &v, std::min<size_t>(sizeof v, site.returns[0].size));
}
template <class F>
void for_lanes(uint32_t mask, F f) {
  for (; mask; mask &= mask - 1) f(__builtin_ctz(mask));
}

}  // namespace warpbeam::vm

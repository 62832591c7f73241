// What calls cost that put nothing on a stream, by their names.
#pragma once
#include <string_view>

#include "model/link.h"

namespace warpbeam::observe {

struct CallCost {
  double model::Link::* cost = nullptr;  // null: that of a call that has none of its own
  enum class Kind : unsigned char {
    Other,
    Quick,
    Node,
    Capture,
    Instantiate,
    Update,
    Destroy,
    Discard,
    Stream,
    StreamEnd,
    Trim
  } kind = Kind::Other;  // Quick: leaves the host's caches as they are; Node: adds one to a graph; Destroy: an instantiated graph; Discard: another one
  double model::Link::* first = nullptr;  // the first of these besides
};

CallCost cost_of_call(std::string_view function);

}  // namespace warpbeam::observe

#include "vm/trap.h"

#include <fmt/format.h>

namespace warpbeam::vm {

std::string Trap::paragraph() const {
  std::string text = fmt::format("========= {}\n=========     in {}", message, kernel);
  if (!location.empty()) text += fmt::format(" at {}", location);
  text += fmt::format("\n=========     by thread ({},{},{}) in block ({},{},{})\n", thread[0], thread[1], thread[2], block[0], block[1],
                      block[2]);
  if (address) text += fmt::format("=========     address {:#x}\n", address);
  size_t at = 0;
  while (at < detail.size()) {
    size_t end = detail.find('\n', at);
    if (end == std::string::npos) end = detail.size();
    text += fmt::format("=========     {}\n", detail.substr(at, end - at));
    at = end + 1;
  }
  return text;
}

}  // namespace warpbeam::vm

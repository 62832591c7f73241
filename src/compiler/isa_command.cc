// `warpbeam isa`: the instruction table on the command line.
#include <fmt/format.h>

#include "compiler/commands.h"
#include "isa/reference.h"
#include "isa/row.h"

namespace warpbeam::compiler {

int isa_command(const Arguments& arguments) {
  if (arguments.size() == 1 && (arguments[0] == "-h" || arguments[0] == "--help")) {
    fmt::print(
        "Usage: warpbeam isa [NAME...]\n\nThe PTX instructions that the machine runs; with a name (add, ld.global, "
        "atom), their forms.\n");
    return 0;
  }
  if (arguments.empty()) {
    fmt::print("{}", isa::isa_reference({}));
    return 0;
  }
  int status = 0;
  for (const auto& name : arguments) {
    const std::string text = isa::isa_reference(name);
    if (isa::known_opcode(std::string_view(name).substr(0, name.find('.')))) {
      fmt::print("{}", text);
    } else {
      fmt::print(stderr, "warpbeam isa: {}", text);
      status = 1;
    }
  }
  return status;
}

}  // namespace warpbeam::compiler

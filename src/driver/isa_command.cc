// `warpbeam isa`: the instruction table on the command line.
#include <fmt/format.h>

#include <map>

#include "driver/commands.h"
#include "driver/options.h"
#include "isa/row.h"

namespace warpbeam::driver {

namespace {

void print_row(const isa::Row& row) {
  fmt::print("{}\n", row.syntax);
  auto names = [](isa::TypeSet types) {
    std::string text;
    for (auto type : types) text += fmt::format(" {}", isa::name_of(type));
    return text;
  };
  if (!row.types.empty()) fmt::print("    .type  ={}\n", names(row.types));
  if (!row.atypes.empty()) fmt::print("    .atype ={}\n", names(row.atypes));
  fmt::print("    PTX {}.{}, sm_{}, class {}\n", row.since.ptx / 10, row.since.ptx % 10, row.since.sm,
             isa::name_of(row.cls));
  if (!row.about.empty()) fmt::print("    {}\n", row.about);
}

}  // namespace

int isa_command(const Arguments& arguments) {
  std::map<std::string_view, int> rows_of;  // per opcode
  for (const auto& row : isa::all_rows()) ++rows_of[row.opcode];
  if (arguments.size() == 1 && (arguments[0] == "-h" || arguments[0] == "--help")) {
    fmt::print(
        "Usage: warpbeam isa [NAME...]\n\nThe PTX instructions that the machine runs; with a name (add, ld.global, "
        "atom), their forms.\n");
    return 0;
  }
  if (arguments.empty()) {
    for (auto [opcode, count] : rows_of) fmt::print("{:<12} {} form{}\n", opcode, count, count == 1 ? "" : "s");
    fmt::print("{} instructions in {} forms\n", rows_of.size(), isa::all_rows().size());
    return 0;
  }
  int status = 0;
  for (const auto& name : arguments) {
    std::string_view opcode = std::string_view(name).substr(0, name.find('.'));
    if (!rows_of.contains(opcode)) {
      std::vector<std::string_view> names;
      for (auto [known, count] : rows_of) names.push_back(known);
      auto near = nearest_name(opcode, names);
      fmt::print(stderr, "warpbeam isa: there is no instruction '{}'{}\n", opcode,
                 near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
      status = 1;
      continue;
    }
    for (const auto& row : isa::all_rows())
      if (row.opcode == opcode) print_row(row);
  }
  return status;
}

}  // namespace warpbeam::driver

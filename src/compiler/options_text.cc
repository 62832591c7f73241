// The option table as text: --help and the reference page.
#include <fmt/format.h>

#include <algorithm>

#include "base/edit_distance.h"
#include "compiler/options.h"

namespace warpbeam::compiler {

namespace {

struct GroupText {
  Group group;
  std::string_view title;
};
constexpr GroupText kGroups[] = {
    {Group::Phase, "What to make"}, {Group::Files, "Files"},       {Group::Device, "Device code"},
    {Group::Host, "Host code"},     {Group::Messages, "Messages"}, {Group::Driver, "The driver itself"},
};

std::string spelling(const OptionRow& row) {
  std::string text = fmt::format("--{}", row.long_name);
  if (!row.value.empty()) text += fmt::format(" {}", row.value);
  if (row.short_name != row.long_name) text += fmt::format(", -{}", row.short_name);
  return text;
}

// Cuts `text` into lines of at most `width` characters.
std::string wrap(std::string_view text, size_t width, std::string_view indent) {
  std::string lines;
  size_t column = 0;
  while (!text.empty()) {
    auto blank = text.find(' ');
    auto word = text.substr(0, blank);
    text = blank == text.npos ? std::string_view{} : text.substr(blank + 1);
    if (column && column + 1 + word.size() > width) {
      lines += '\n';
      lines += indent;
      column = 0;
    } else if (column) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines;
}

std::string explained(const OptionRow& row) {
  std::string text(row.help);
  if (row.state == State::Refused) text += fmt::format(". Not supported: {}", row.how);
  else if (row.state == State::Nothing) text += fmt::format(". No effect: {}", row.how);
  else if (!row.how.empty()) text += fmt::format(". {}", row.how);
  return text;
}

constexpr std::string_view state_word(State state) {
  return state == State::Works ? "works" : state == State::Nothing ? "accepted, no effect" : "refused";
}

std::string cell(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string nearest_name(std::string_view given, const std::vector<std::string_view>& names) {
  std::string_view best;
  // Two edits: as many as swap two letters, and too few for any short name to fit.
  size_t least = given.size() < 3 ? 2 : 3;
  for (auto name : names)
    if (size_t distance = edit_distance(given, name); distance < least && name.size() > 1) {
      least = distance;
      best = name;
    }
  return std::string(best);
}

std::string options_help() {
  std::string text =
      "Usage: warpbeam nvcc [options] file...\n\n"
      "Compiles CUDA C++ for the machine that ./warpbeam run uses. The options are nvcc's; each name may be written\n"
      "with one dash or two, and a value follows after a blank or '='.\n";
  for (const auto& [group, title] : kGroups) {
    text += fmt::format("\n{}\n", title);
    for (const auto& row : option_table())
      if (row.group == group) text += fmt::format("  {}\n      {}\n", spelling(row), wrap(explained(row), 106, "      "));
  }
  text += "\nOptions of the PTX assembler (-Xptxas)\n";
  for (const auto& row : ptxas_table())
    text += fmt::format("  --{}{}\n      {}: {}\n", row.long_name,
                        row.short_name == row.long_name ? "" : fmt::format(", -{}", row.short_name), state_word(row.state), row.how);
  return text;
}

std::string options_markdown() {
  std::string text =
      "# Options of `warpbeam nvcc`\n\n"
      "Generated from `src/compiler/options.inc` by `./warpbeam nvcc --help=markdown`. Each name may be written with "
      "one\n"
      "dash or two. `./warpbeam run` takes the same options.\n";
  for (const auto& [group, title] : kGroups) {
    text += fmt::format("\n## {}\n\n| option | state | meaning |\n|---|---|---|\n", title);
    for (const auto& row : option_table()) {
      if (row.group != group) continue;
      std::string meaning(row.help);
      if (!row.how.empty()) meaning += fmt::format(" ({})", row.how);
      text += fmt::format("| `{}` | {} | {} |\n", cell(spelling(row)), state_word(row.state), cell(meaning));
    }
  }
  text += "\n## Options of the PTX assembler (`-Xptxas`)\n\n| option | state | how |\n|---|---|---|\n";
  for (const auto& row : ptxas_table())
    text += fmt::format("| `--{}{}` | {} | {} |\n", row.long_name,
                        row.short_name == row.long_name ? "" : fmt::format(", -{}", row.short_name), state_word(row.state), cell(row.how));
  return text;
}

}  // namespace warpbeam::compiler

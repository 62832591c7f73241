// `nvcc -cuda`: a C++ file that the host's own compiler makes an object of. nvcc writes C++ there; here it is what clang made of the
// source, fat binary and all, as assembly that g++ passes on.
#include <algorithm>

#include "compiler/build_steps.h"
#include "compiler/object_file.h"
#include "compiler/split.h"

namespace warpbeam::compiler {

namespace {

// A line that says which source this was: the one whose name the host's compiler gives comes first.
bool names_source(std::string_view line) { return line.starts_with("\t.file\t\""); }

std::string as_host_text(std::string_view assembly, const std::string& source) {
  std::string text = "/* The host's part of " + source + ", with the device's in it. */\n__asm__(\n";
  while (!assembly.empty()) {
    const size_t end = assembly.find('\n');
    const std::string_view line = assembly.substr(0, end);
    assembly.remove_prefix(end == assembly.npos ? assembly.size() : end + 1);
    if (names_source(line)) continue;
    text += '"';
    for (const char c : line) {
      if (c == '"' || c == '\\') text += '\\';
      if (c == '\t') text += "\\t";
      else text += c;
    }
    text += "\\n\"\n";
  }
  // What the compiler writes itself goes on where it was.
  return text + "\"\\t.text\\n\");\n";
}

// Assembly that other assemblers read as well, instead of an object.
void make_assembly(Command& host) {
  const auto compile = std::ranges::find(host.words, "-c");
  *compile = "-S";
  append(host.words, {"-fno-integrated-as", "-g0"});
}

}  // namespace

Result<void> Build::make_host_texts() {
  if (options_.rdc) return Error{1, "-cuda with relocatable device code: there is no C++ form of it; use -dc"};
  for (const auto& input : options_.inputs) {
    if (input.language != Language::Cuda) continue;
    Unit unit = plan_unit(input, false);
    const DependencyOutput dependencies = first_dependencies(unit);
    WB_TRY(rewrite_launches(unit, true, dependencies.file.empty() ? nullptr : &dependencies));
    std::vector<Command> commands;
    add_commands(unit, commands);
    Command host = std::move(commands.front());
    commands.erase(commands.begin());
    WB_TRY(run_all(commands, processors()));
    if (!only_shown()) {
      auto device = container(unit, "");
      if (!device) return device.error();
      WB_TRY(write_file(temporary("placeholder.fatbin"), *device));
    }
    make_assembly(host);
    WB_TRY(run_and_close({host}));
    if (only_shown()) continue;
    auto assembly = read_file(unit.object);
    if (!assembly) return assembly.error();
    WB_TRY(write(output_name(input.path, ".cu.cpp.ii"), as_host_text(*assembly, input.path)));
  }
  return {};
}

}  // namespace warpbeam::compiler

#include "compiler/build_steps.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "compiler/check_facts.h"
#include "compiler/cluster_bounds.h"
#include "compiler/depfile.h"
#include "compiler/device_launches.h"
#include "compiler/launch_marks.h"
#include "compiler/object_file.h"
#include "compiler/ptx_text.h"
#include "compiler/respell.h"
#include "compiler/split.h"
#include "compiler/stray_unrolls.h"
#include "fatbin/write.h"

namespace warpbeam::compiler {

namespace fs = std::filesystem;

namespace {

// As clang reads it, the launches of its headers too.
Result<std::string> read_preprocessed(const std::string& file) {
  auto text = read_file(file);
  if (!text) return text.error();
  std::string apart = with_traits_apart(*text);
  if (auto joined = join_launch_marks(apart)) return std::move(*joined);
  return apart;
}

}  // namespace

Unit Build::plan_unit(const Input& source, bool keep_object) {
  Unit unit;
  unit.source = source;
  std::string stem = unique(fs::path(source.path).stem().string());
  unit.object = keep_object ? output_name(source.path, ".o") : temporary(stem + ".o");
  if (std::error_code ignored; keep_object && fs::exists(unit.object, ignored) && !fs::is_regular_file(unit.object, ignored))
    unit.device = std::exchange(unit.object, temporary(stem + ".o"));
  if (source.language == Language::Cuda)
    for (const auto& target : options_.targets) unit.ptx_files.push_back(temporary(fmt::format("{}.{}.ptx", stem, target.arch.sm())));
  if (record_)
    for (size_t pass = 0; pass <= unit.ptx_files.size(); ++pass)
      unit.dependency_files.push_back(temporary(fmt::format("{}.{}.d", stem, pass)));
  if (options_.facts && source.language == Language::Cuda) {
    unit.host_facts = temporary(stem + ".host.facts");
    unit.device_facts = temporary(stem + ".device.facts");
  }
  return unit;
}

DependencyOutput Build::recorded_dependencies(const Unit& unit, size_t pass) const {
  return {record_ ? unit.dependency_files[pass] : "", "recorded", true, false};
}

// The first dependency file is that of the host pass, or of the first device pass where there is no other. A user's -MD is
// answered by it as well.
DependencyOutput Build::first_dependencies(const Unit& unit) const {
  const Dependencies& asked = options_.dependencies;
  if (!asked.while_compiling || record_) return recorded_dependencies(unit, 0);
  const std::string_view suffix = options_.phase == Phase::Ptx        ? ".ptx"
                                  : options_.phase == Phase::Fatbin   ? std::string_view(options_.cubin_suffix)
                                  : options_.phase == Phase::HostText ? ".cu.cpp.ii"
                                                                      : ".o";
  const std::string made = options_.phase == Phase::Object ? unit.object : output_name(unit.source.path, std::string(suffix));
  return {!asked.file.empty() ? asked.file : fs::path(made).replace_extension(".d").string(), !asked.target.empty() ? asked.target : made,
          asked.system, asked.phony};
}

// Where device code launches kernels, clang is given rewritten texts. A source in which that is certain or possible is
// preprocessed here; the texts are kept only if there is such a launch.
Result<void> Build::rewrite_launches(Unit& unit, bool with_host, const DependencyOutput* dependencies) {
  if (unit.source.language != Language::Cuda || only_shown()) return {};
  auto source = read_file(unit.source.path);
  if (!source) return {};
  if (auto joined = join_launch_marks(*source)) source = std::move(*joined);
  if (find_device_launches(*source) == DeviceLaunches::None) return {};
  std::vector<Command> commands;
  std::string host_text = temporary(unique(fs::path(unit.object).stem().string()) + ".host.cui");
  if (with_host) commands.push_back(preprocess_host(options_, unit.source.path, host_text, dependencies));
  std::vector<std::string> device_texts;
  for (size_t at = 0; at < options_.targets.size(); ++at) {
    DependencyOutput device = record_ ? recorded_dependencies(unit, at + 1) : DependencyOutput{};
    device_texts.push_back(temporary(unique(fs::path(unit.ptx_files[at]).filename().string()) + ".cui"));
    const DependencyOutput* of_device = record_ ? &device : at == 0 && !with_host ? dependencies : nullptr;
    commands.push_back(preprocess_device(options_, unit.source.path, options_.targets[at], device_texts.back(), of_device));
  }
  read_respelled(unit, commands, 0);
  WB_TRY(run_all(commands, processors()));
  bool launches = false;
  for (const std::string& file : device_texts) {
    auto text = read_preprocessed(file);
    if (!text) return text.error();
    launches |= find_device_launches(*text) == DeviceLaunches::Found;
    WB_TRY(write_file(file, rewrite_for_device(*text)));
  }
  if (!launches) return {};
  unit.device_texts = std::move(device_texts);
  if (!with_host) return {};
  auto text = read_preprocessed(host_text);
  if (!text) return text.error();
  unit.host_text = std::move(host_text);
  return write_file(unit.host_text, rewrite_for_host(*text));
}

Command Build::device_command(const Unit& unit, size_t at, const DependencyOutput* dependencies) const {
  const CodeTarget& target = options_.targets[at];
  return unit.device_texts.empty() ? device_pass(options_, unit.source.path, target, unit.ptx_files[at], dependencies)
                                   : rewritten_device_pass(options_, unit.source.path, target, unit.device_texts[at], unit.ptx_files[at]);
}

void Build::add_commands(const Unit& unit, std::vector<Command>& commands) {
  DependencyOutput host = first_dependencies(unit);
  const DependencyOutput* dependencies = host.file.empty() ? nullptr : &host;
  const size_t first = commands.size();
  if (unit.source.language != Language::Cuda) {
    commands.push_back(plain_pass(options_, unit.source, unit.object, dependencies));
    return read_respelled(unit, commands, first);
  }
  const std::string placeholder = temporary("placeholder.fatbin");
  commands.push_back(unit.host_text.empty() ? host_pass(options_, unit.source.path, placeholder, unit.object, dependencies)
                                            : rewritten_host_pass(options_, unit.source.path, placeholder, unit.host_text, unit.object));
  if (!unit.host_facts.empty()) ask_for_facts(commands.back(), unit.host_facts);
  for (size_t at = 0; at < unit.ptx_files.size(); ++at) {
    DependencyOutput device = recorded_dependencies(unit, at + 1);
    commands.push_back(device_command(unit, at, record_ ? &device : nullptr));
    if (at == 0 && !unit.device_facts.empty()) ask_for_facts(commands.back(), unit.device_facts);
  }
  read_respelled(unit, commands, first);
}

// Lets the passes from `first` on read a copy of the source in the spelling that clang reads, in which clusters beside
// launch bounds are one attribute, the marks of launches stand together and only loops are unrolled, where it needs one.
void Build::read_respelled(const Unit& unit, std::vector<Command>& commands, size_t first) {
  if (first == commands.size() || !unit.device_texts.empty()) return;  // rewritten texts were read so already
  auto text = read_file(unit.source.path);
  if (!text) return;  // clang says what is wrong with it
  auto respelled = respell(*text);
  if (unit.source.language == Language::Cuda)
    for (auto mend : {join_cluster_bounds, join_launch_marks, drop_stray_unrolls})
      if (auto joined = mend(respelled ? *respelled : *text)) respelled = std::move(joined);
  if (!respelled) return;
  const std::string copy = temporary(fs::path(unit.object).stem().string() + ".respelled");
  if (!only_shown() && !write_file(copy, *respelled)) return;
  std::vector<std::string> instead = {"-Xclang", "-remap-file", "-Xclang", unit.source.path + ";" + copy};
  if (unit.source.path.find(';') != unit.source.path.npos) {
    // A semicolon ends the name there.
    const nlohmann::json file = {{"type", "file"}, {"name", fs::absolute(unit.source.path).string()}, {"external-contents", copy}};
    const nlohmann::json overlay = {{"version", 0}, {"use-external-names", false}, {"roots", {file}}};
    if (!only_shown() && !write_file(copy + ".yaml", overlay.dump())) return;
    instead = {"-ivfsoverlay", copy + ".yaml"};
  }
  for (size_t k = first; k < commands.size(); ++k) append(commands[k].words, instead);
}

Result<void> Build::write(const std::string& path, std::string_view contents) {
  if (path != "-") return write_file(path, contents);
  if (std::fwrite(contents.data(), 1, contents.size(), stdout) != contents.size() || std::fflush(stdout))
    return Error{1, "cannot write to the standard output"};
  return {};
}

Result<void> Build::print_resources(const std::string& ptx, const std::string& file, const CodeTarget& target) {
  std::string assembler = find_program("ptxas");
  if (!assembler.empty()) {
    // The vendor's assembler knows registers; it may be too new for an old architecture, and then PTX has to do.
    WB_TRY(write_file(file, ptx));
    Command command{{assembler, "-v", "-c", "-arch=" + target.clang_arch(), file, "-o", "/dev/null"}, ""};
    auto outcome = run_commands({&command, 1}, 1)[0];
    if (interrupted()) return Error{128 + interrupted(), ""};
    if (outcome.status == 0) {
      say(outcome.messages);
      return {};
    }
  }
  say(resource_lines(ptx, target));
  return {};
}

// Reads what the device pass wrote and makes it what the options ask for.
Result<std::string> Build::finished_ptx(const std::string& file, const CodeTarget& target) {
  auto text = read_file(file);
  if (!text) return text.error();
  std::string ptx = std::move(*text);
  adjust_ptx(ptx, options_);
  if (options_.resource_usage) WB_TRY(print_resources(ptx, file, target));
  // As with nvcc, PTX that is only asked for as a text may be anything.
  if (std::string wrong = options_.phase == Phase::Ptx || options_.rdc ? "" : too_much_shared(ptx, target); !wrong.empty()) {
    say(wrong);
    return Error{255, ""};
  }
  return ptx;
}

// The fat binary of what the device passes of a unit wrote; the host's object tells what -rdc=true calls its static kernels.
Result<std::string> Build::container(const Unit& unit, std::string_view object) {
  std::vector<fatbin::Text> entries;
  std::string stem = fs::path(unit.source.path).stem();
  auto kept = [&](const std::string& name) {
    return (fs::path(options_.keep_directory.empty() ? "." : options_.keep_directory) / name).string();
  };
  for (size_t at = 0; at < unit.ptx_files.size(); ++at) {
    auto ptx = finished_ptx(unit.ptx_files[at], options_.targets[at]);
    if (!ptx) return ptx.error();
    if (options_.rdc && !unit.device_texts.empty())
      separate_static_kernels(*ptx, static_kernel_suffix(object).value_or("__intern__" + unit_id(options_, unit.source.path)));
    if (options_.keep) {
      // The names that nvcc gives: one architecture is not in its text's.
      const auto& arch = options_.targets[at].arch;
      const bool single = options_.targets.size() == 1;
      WB_TRY(write_file(kept(single ? stem + ".ptx" : stem + "." + arch.compute() + ".ptx"), *ptx));
      WB_TRY(write_file(kept(stem + "." + (single ? arch.sm() : arch.compute()) + ".cubin"), fatbin::write({{arch.cc, *ptx}})));
    }
    entries.push_back({options_.targets[at].arch.cc, std::move(*ptx)});
  }
  std::string container = fatbin::write(entries);
  if (options_.keep) WB_TRY(write_file(kept(stem + ".fatbin"), container));
  return container;
}

// Puts the PTX of a unit into its host object.
Result<void> Build::embed(const Unit& unit) {
  std::string words;
  // Build systems read the default architecture off this line.
  for (size_t at = 0; at < unit.ptx_files.size(); ++at)
    words += fmt::format(" -arch {} {}", options_.targets[at].arch.compute(), quote(unit.ptx_files[at]));
  show(fmt::format("embed-fatbin --into={}{}", quote(unit.object), words));
  if (only_shown()) return {};
  auto object = read_file(unit.object);
  if (!object) return object.error();
  auto made = container(unit, *object);
  if (!made) return made.error();
  auto replaced = replace_section(*object, options_.rdc ? kRelocatableSection : kWholeProgramSection, *made);
  if (!replaced) return replaced.error();
  if (!*replaced) return {};  // a source without device code registers nothing
  if (options_.rdc) rename_unit(*object, unit_id(options_, unit.source.path));
  return write_file(unit.object, *object);
}

Result<void> Build::make_objects(bool keep_objects) {
  std::vector<Command> commands;
  for (const auto& input : options_.inputs) {
    if (keep_objects && input.language == Language::Ptx)
      return Error{1, fmt::format("'{}': PTX becomes no object; -cubin and -fatbin make files for cuModuleLoad of it", input.path)};
    if (!is_source(input.language)) continue;
    units_.push_back(plan_unit(input, keep_objects));
    DependencyOutput host = first_dependencies(units_.back());
    WB_TRY(rewrite_launches(units_.back(), true, host.file.empty() ? nullptr : &host));
    add_commands(units_.back(), commands);
  }
  if (commands.empty()) return {};
  // The host pass embeds this; the device pass runs beside it and its PTX takes this one's place.
  if (!only_shown()) WB_TRY(write_file(temporary("placeholder.fatbin"), std::string(16, '\0')));
  Result<void> compiled = run_and_close(commands);
  for (const auto& unit : units_) {
    if (compiled && unit.source.language == Language::Cuda) compiled = embed(unit);
    if (record_ && compiled)
      for (const auto& file : unit.dependency_files) append(record_->files, read_depfile(file));
  }
  if (record_ && compiled) record_->facts = facts_of_units();
  for (const auto& unit : units_) {
    if (!compiled || unit.device.empty() || only_shown()) continue;
    auto object = read_file(unit.object);
    if (!object) return object.error();
    compiled = write_file(unit.device, *object);
  }
  // An object without its device code must not be mistaken for a finished one.
  if (!compiled && keep_objects)
    for (const auto& unit : units_) unlink(unit.object.c_str());
  return compiled;
}

std::string Build::facts_of_units() const {
  std::vector<std::string> texts;
  for (const auto& unit : units_)
    for (const auto& file : {unit.device_facts, unit.host_facts})
      if (auto text = file.empty() ? std::nullopt : std::optional(read_file(file)); text && *text) texts.push_back(std::move(**text));
  return joined_facts(texts);
}

}  // namespace warpbeam::compiler

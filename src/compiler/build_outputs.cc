#include "compiler/build_steps.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "compiler/depfile.h"
#include "compiler/device_link.h"
#include "compiler/object_file.h"
#include "compiler/split.h"
#include "fatbin/write.h"

namespace warpbeam::compiler {

namespace fs = std::filesystem;

namespace {

// Of no use to who only compiles, and taken without a word, as by nvcc.
bool is_linked_only(Language language) {
  return language == Language::Object || language == Language::Archive || language == Language::SharedLibrary;
}

}  // namespace

// The words of the link line for all inputs in order; `device_files` gets those that may hold device code.
Result<std::vector<std::string>> Build::link_files(std::vector<std::string>& device_files) {
  std::vector<std::string> words;
  size_t next_unit = 0;
  for (const auto& input : options_.inputs) {
    if (is_source(input.language)) {
      words.push_back(units_[next_unit++].object);
      device_files.push_back(words.back());
    } else if (input.path.starts_with("-l")) {
      std::string name = input.path.substr(2);
      auto library = library_words(options_, name);
      if (!library) return library.error();
      append(words, *library);
      for (const auto& directory : options_.library_paths) {
        std::error_code ignored;
        if (name.starts_with(':')) {  // the file's whole name
          const std::string file = directory + "/" + name.substr(1);
          if (!fs::exists(file, ignored)) continue;
          if (!file.ends_with(".so")) device_files.push_back(file);
          break;
        }
        std::string base = directory + "/lib" + name;
        if (fs::exists(base + ".so", ignored)) break;
        if (!fs::exists(base + ".a", ignored)) continue;
        device_files.push_back(base + ".a");
        break;
      }
    } else if (input.language == Language::Ptx) {
      return Error{1, fmt::format("'{}': PTX cannot be linked into a program; load it with cuModuleLoad", input.path)};
    } else {
      words.push_back(input.path);
      if (input.language != Language::SharedLibrary) device_files.push_back(input.path);
    }
  }
  return words;
}

// Writes the assembly that registers relocatable device code; leaves the name empty when there is none.
Result<void> Build::registration_object(const std::vector<std::string>& device_files, std::string& assembly) {
  if (only_shown()) {
    // What the objects hold is not known before they are made.
    if (options_.rdc && options_.device_register) assembly = temporary("registration.s");
    return {};
  }
  if (!options_.device_register) return {};
  auto link = plan_device_link(device_files);
  if (!link) return link.error();
  if (link->empty()) return {};
  assembly = temporary("registration.s");
  return write_file(assembly, registration_assembly(*link));
}

Result<void> Build::make_executable() {
  WB_TRY(make_objects(false));
  std::vector<std::string> device_files;
  LinkInputs inputs;
  auto files = link_files(device_files);
  if (!files) return files.error();
  inputs.files = std::move(*files);
  WB_TRY(registration_object(device_files, inputs.registration));
  if (record_) inputs.dependency_file = temporary("link.d");
  std::string output = options_.output.empty() ? (fs::path(options_.output_directory) / "a.out").string() : options_.output;
  WB_TRY(run_all({link_pass(options_, inputs, output)}, 1));
  if (record_)
    for (auto& file : read_depfile(inputs.dependency_file))
      // The runtime is looked up when the program starts; a newer one does not make the program stale.
      if (!file.starts_with(directory_) && !file.starts_with(toolchain().library_directory)) record_->files.push_back(file);
  if (!options_.run || only_shown()) return {};
  status_ = run_program(fs::absolute(output), output.find('/') == output.npos ? "./" + output : output, options_.run_arguments);
  return {};
}

Result<void> Build::make_library() {
  WB_TRY(make_objects(false));
  std::vector<std::string> objects;
  for (const auto& unit : units_) objects.push_back(unit.object);
  for (const auto& input : options_.inputs)
    if (input.language == Language::Object) objects.push_back(input.path);
    else if (!is_source(input.language))
      return Error{1, fmt::format("'{}' cannot go into a static library: only sources and objects can", input.path)};
  std::string output = options_.output.empty() ? (fs::path(options_.output_directory) / "a.a").string() : options_.output;
  return run_all({archive_pass(options_, objects, output)}, 1);
}

Result<void> Build::make_device_link() {
  WB_TRY(make_objects(false));
  std::vector<std::string> device_files;
  auto files = link_files(device_files);
  if (!files) return files.error();
  std::string assembly = temporary("registration.s");
  if (!only_shown()) {
    auto link = plan_device_link(device_files);
    if (!link) return link.error();
    WB_TRY(write_file(assembly, registration_assembly(*link)));
  }
  std::string output = options_.output;
  if (output.empty()) output = (fs::path(options_.output_directory) / "a_dlink.o").string();
  return run_all({assemble_pass(assembly, output)}, 1);
}

// The device passes of a source whose host code nobody wants.
Result<void> Build::add_device_commands(Unit& unit, std::vector<Command>& commands) {
  const DependencyOutput asked = first_dependencies(unit);
  const DependencyOutput* dependencies = asked.file.empty() ? nullptr : &asked;
  if (unit.source.language == Language::Cuda) WB_TRY(rewrite_launches(unit, false, dependencies));
  const size_t first = commands.size();
  for (size_t at = 0; at < unit.ptx_files.size(); ++at) commands.push_back(device_command(unit, at, at == 0 ? dependencies : nullptr));
  read_respelled(unit, commands, first);
  return {};
}

Result<void> Build::run_and_close(const std::vector<Command>& commands) {
  Result<void> compiled = run_all(commands, processors());
  if (!only_shown()) say(diagnostics_.closing());
  return compiled;
}

Result<void> Build::make_ptx() {
  if (options_.targets.size() > 1) return Error{1, "-ptx makes one file: name one architecture"};
  std::vector<Command> commands;
  std::vector<Unit> units;
  for (const auto& input : options_.inputs) {
    if (input.language == Language::Cxx || input.language == Language::C) continue;  // it holds no device code
    if (is_linked_only(input.language)) continue;
    if (input.language != Language::Cuda) return Error{1, fmt::format("'{}': only CUDA sources become PTX", input.path)};
    units.push_back(plan_unit(input, false));
    WB_TRY(add_device_commands(units.back(), commands));
  }
  WB_TRY(run_and_close(commands));
  if (only_shown()) return {};
  for (const auto& unit : units) {
    auto ptx = finished_ptx(unit.ptx_files[0], options_.targets[0]);
    if (!ptx) return ptx.error();
    WB_TRY(write(output_name(unit.source.path, ".ptx"), *ptx));
  }
  return {};
}

Result<void> Build::make_fatbins() {
  std::vector<Command> commands;
  std::vector<Unit> units;
  for (const auto& input : options_.inputs) {
    if (is_linked_only(input.language)) continue;
    if (input.language != Language::Cuda && input.language != Language::Ptx)
      return Error{1, fmt::format("'{}': only CUDA sources and PTX become fat binaries", input.path)};
    units.push_back(plan_unit(input, false));
    WB_TRY(add_device_commands(units.back(), commands));
  }
  WB_TRY(run_and_close(commands));
  if (only_shown()) return {};
  for (const auto& unit : units) {
    std::vector<fatbin::Text> entries;
    if (unit.source.language == Language::Ptx) {
      auto text = read_file(unit.source.path);
      if (!text) return text.error();
      entries.push_back({options_.targets.front().arch.cc, std::move(*text)});
    }
    for (size_t at = 0; at < unit.ptx_files.size(); ++at) {
      auto ptx = finished_ptx(unit.ptx_files[at], options_.targets[at]);
      if (!ptx) return ptx.error();
      entries.push_back({options_.targets[at].arch.cc, std::move(*ptx)});
    }
    WB_TRY(write(output_name(unit.source.path, options_.cubin_suffix), fatbin::write(entries)));
  }
  return {};
}

Result<void> Build::preprocess() {
  for (const auto& input : options_.inputs)
    if (is_source(input.language)) WB_TRY(run_all({preprocess_pass(options_, input)}, 1));
  return {};
}

Result<void> Build::list_dependencies() {
  for (const auto& input : options_.inputs) {
    if (!is_source(input.language)) continue;
    std::string target = options_.dependencies.target;
    if (target.empty()) target = (fs::path(options_.output_directory) / (fs::path(input.path).stem().string() + ".o")).string();
    WB_TRY(run_all({dependency_pass(options_, input, target)}, 1));
  }
  return {};
}

Result<void> Build::check_device_syntax() {
  std::vector<Command> commands;
  for (const auto& input : options_.inputs)
    if (input.language == Language::Cuda)
      for (const auto& target : options_.targets) commands.push_back(syntax_pass(options_, input.path, target));
  auto checked = run_all(commands, processors());
  say(diagnostics_.closing());
  return checked;
}

}  // namespace warpbeam::compiler

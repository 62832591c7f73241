#include "compiler/build.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "compiler/check_facts.h"
#include "compiler/depfile.h"
#include "compiler/cluster_bounds.h"
#include "compiler/concessions.h"
#include "compiler/device_launches.h"
#include "compiler/device_link.h"
#include "compiler/diagnostics.h"
#include "fatbin/write.h"
#include "compiler/launch_marks.h"
#include "compiler/link_cache.h"
#include "compiler/object_file.h"
#include "compiler/passes.h"
#include "compiler/process.h"
#include "compiler/ptx_text.h"
#include "compiler/split.h"
#include "compiler/stray_unrolls.h"
#include "compiler/respell.h"

namespace warpbeam::compiler {

namespace {

namespace fs = std::filesystem;

// A source on its way to an object.
struct Unit {
  Input source;
  std::string object;
  std::string device;  // `-o /dev/null`: what the object is written to, since it cannot be made there
  std::vector<std::string> ptx_files;  // one per target
  std::vector<std::string> dependency_files;
  std::string host_facts, device_facts;  // files of what the checker wants to know
  // Preprocessed and rewritten, where device code launches kernels; else empty.
  std::string host_text;
  std::vector<std::string> device_texts;  // one per target
};

// A link as nvcc shows it, for scripts that take it apart: files in quotes, and what is made at the end.
std::string shown(const Command& command) {
  const bool links = std::ranges::find(command.words, "-Wl,--start-group") != command.words.end();
  std::string line, made;
  for (size_t at = 0; at < command.words.size(); ++at) {
    const std::string& word = command.words[at];
    if (links && word == "-o" && at + 1 < command.words.size()) {
      made = " -o \"" + command.words[++at] + "\"";
      continue;
    }
    if (at) line += ' ';
    if (links && at && !word.starts_with("-")) line += '"' + word + '"';
    else if (links && word.starts_with("-L") && word.size() > 2) line += "\"" + word + "\"";
    else line += quote(word);
  }
  return line + made;
}

bool is_source(Language language) {
  return language == Language::Cuda || language == Language::Cxx || language == Language::C;
}

// Of no use to who only compiles, and taken without a word, as by nvcc.
bool is_linked_only(Language language) {
  return language == Language::Object || language == Language::Archive || language == Language::SharedLibrary;
}

// For a file that is not there: the one of a name much like it in the same directory.
std::string file_meant(const fs::path& given) {
  std::vector<std::string> files;
  std::error_code error;
  const fs::path directory = given.parent_path();
  for (fs::directory_iterator it(directory.empty() ? "." : directory, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == given.extension()) files.push_back(it->path().stem());
  const std::string near = nearest_name(given.stem().string(), {files.begin(), files.end()});
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", (directory / (near + given.extension().string())).string());
}

class Build {
 public:
  Build(const Options& options, BuildRecord* record) : options_(options), record_(record) {}
  int run();

 private:
  Result<void> prepare();
  Result<void> run_phase();
  Result<void> make_objects(bool keep_objects);
  Result<void> make_executable();
  Result<void> make_library();
  Result<void> make_device_link();
  Result<void> make_ptx();
  Result<void> make_fatbins();
  Result<void> preprocess();
  Result<void> list_dependencies();
  Result<void> check_device_syntax();

  Unit plan_unit(const Input& source, bool keep_object);
  Result<void> rewrite_launches(Unit& unit, bool with_host, const DependencyOutput* dependencies);
  DependencyOutput recorded_dependencies(const Unit& unit, size_t pass) const;
  DependencyOutput first_dependencies(const Unit& unit) const;
  Command device_command(const Unit& unit, size_t target, const DependencyOutput* dependencies) const;
  void add_commands(const Unit& unit, std::vector<Command>& commands);
  void read_respelled(const Unit& unit, std::vector<Command>& commands, size_t first);
  Result<void> embed(const Unit& unit);
  std::string facts_of_units() const;
  Result<std::string> finished_ptx(const std::string& file, const CodeTarget& target);
  Result<void> run_all(const std::vector<Command>& commands, int at_once);
  Result<std::vector<std::string>> link_files(std::vector<std::string>& device_files);
  Result<void> registration_object(const std::vector<std::string>& device_files, std::string& assembly);
  Result<void> write(const std::string& path, std::string_view contents);
  Result<void> print_resources(const std::string& ptx, const std::string& file, const CodeTarget& target);

  void say(std::string_view text);
  void show(const std::string& line);  // a line of --dryrun and --verbose
  std::string temporary(const std::string& name) const { return directory_ + "/" + name; }
  std::string unique(const std::string& stem);
  std::string output_name(const std::string& source, const std::string& suffix) const;
  bool only_shown() const { return options_.dry_run; }
  int processors() const;

  const Options& options_;
  BuildRecord* record_;
  Diagnostics diagnostics_;
  std::unique_ptr<TemporaryDirectory> temporary_directory_;
  std::string directory_;
  std::vector<Unit> units_;
  std::vector<std::string> used_names_;
  int status_ = 0;
};

int Build::processors() const {
  if (options_.threads > 0) return options_.threads;
  // The host pass and the device pass of one file overlap even on one processor: both wait for the disk.
  return std::max(2, static_cast<int>(std::thread::hardware_concurrency()));
}

void Build::say(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  if (record_) record_->messages += text;
}

void Build::show(const std::string& line) {
  if (options_.dry_run || options_.verbose) fmt::print(stderr, "#$ {}\n", line);
}

// Two sources of one name in different directories need different temporary files.
std::string Build::unique(const std::string& stem) {
  std::string name = stem;
  for (int number = 2; std::ranges::find(used_names_, name) != used_names_.end(); ++number)
    name = fmt::format("{}-{}", stem, number);
  used_names_.push_back(name);
  return name;
}

std::string Build::output_name(const std::string& source, const std::string& suffix) const {
  if (!options_.output.empty()) return options_.output;
  std::string name = fs::path(source).stem().string() + suffix;
  return options_.output_directory.empty() ? name : (fs::path(options_.output_directory) / name).string();
}

Result<void> Build::prepare() {
  if (options_.inputs.empty()) return Error{1, "No input files specified; use option --help for more information"};
  size_t sources = 0;
  for (const auto& input : options_.inputs) {
    std::error_code ignored;
    if (!input.path.starts_with("-l") && !options_.dry_run) {
      if (!fs::exists(input.path, ignored)) return Error{1, fmt::format("no such file: '{}'{}", input.path, file_meant(input.path))};
      if (fs::is_directory(input.path, ignored)) return Error{1, fmt::format("'{}' is a directory", input.path)};
      if (input.path.find('\n') != input.path.npos) return Error{1, fmt::format("'{}': there is a line break in the name, which PTX cannot hold", input.path)};
    }
    sources += is_source(input.language) || input.language == Language::Ptx;
  }
  bool one_output = options_.phase == Phase::Object || options_.phase == Phase::Ptx ||
                    options_.phase == Phase::Fatbin || options_.phase == Phase::Preprocess;
  if (one_output && sources == 0) return Error{1, "no source to compile: objects and libraries are only linked"};
  if (one_output && sources > 1 && !options_.output.empty())
    return Error{1, "A single input file is required for a non-link phase when an outputfile is specified"};
  if (options_.dry_run) {
    directory_ = "/tmp/warpbeam.XXXXXX";
    return {};
  }
  auto made = TemporaryDirectory::make();
  if (!made) return made.error();
  temporary_directory_ = std::make_unique<TemporaryDirectory>(std::move(*made));
  directory_ = temporary_directory_->path();
  return {};
}

Result<void> Build::run_all(const std::vector<Command>& commands, int at_once) {
  for (const auto& command : commands) show(shown(command));
  if (only_shown()) return {};
  bool failed = false;
  const bool links = commands.size() == 1 && !commands[0].varying.empty();
  auto outcomes = links ? std::vector{run_link(commands[0])} : run_passes(commands, at_once);
  if (interrupted()) return Error{128 + interrupted(), ""};
  for (size_t at = 0; at < outcomes.size(); ++at) {
    say(diagnostics_.fresh(outcomes[at].messages));
    if (outcomes[at].status == 0) continue;
    failed = true;
    if (outcomes[at].status > 128)
      say(fmt::format("warpbeam: {} was ended by signal {}\n", commands[at].words[0], outcomes[at].status - 128));
  }
  // The message has been said by the program that failed.
  if (failed) return Error{1, ""};
  return {};
}

Unit Build::plan_unit(const Input& source, bool keep_object) {
  Unit unit;
  unit.source = source;
  std::string stem = unique(fs::path(source.path).stem().string());
  unit.object = keep_object ? output_name(source.path, ".o") : temporary(stem + ".o");
  if (std::error_code ignored; keep_object && fs::exists(unit.object, ignored) && !fs::is_regular_file(unit.object, ignored))
    unit.device = std::exchange(unit.object, temporary(stem + ".o"));
  if (source.language == Language::Cuda)
    for (const auto& target : options_.targets)
      unit.ptx_files.push_back(temporary(fmt::format("{}.{}.ptx", stem, target.arch.sm())));
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
  const std::string_view suffix = options_.phase == Phase::Ptx ? ".ptx" : options_.phase == Phase::Fatbin ? std::string_view(options_.cubin_suffix) : ".o";
  const std::string made = options_.phase == Phase::Object ? unit.object : output_name(unit.source.path, std::string(suffix));
  return {!asked.file.empty() ? asked.file : fs::path(made).replace_extension(".d").string(), !asked.target.empty() ? asked.target : made, asked.system, asked.phony};
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
    auto text = read_file(file);
    if (!text) return text.error();
    launches |= find_device_launches(*text) == DeviceLaunches::Found;
    WB_TRY(write_file(file, rewrite_for_device(*text)));
  }
  if (!launches) return {};
  unit.device_texts = std::move(device_texts);
  if (!with_host) return {};
  auto text = read_file(host_text);
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
  commands.push_back(unit.host_text.empty()
                         ? host_pass(options_, unit.source.path, placeholder, unit.object, dependencies)
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
  std::vector<fatbin::Text> entries;
  std::string stem = fs::path(unit.source.path).stem();
  auto kept = [&](const std::string& name) {
    return (fs::path(options_.keep_directory.empty() ? "." : options_.keep_directory) / name).string();
  };
  for (size_t at = 0; at < unit.ptx_files.size(); ++at) {
    auto ptx = finished_ptx(unit.ptx_files[at], options_.targets[at]);
    if (!ptx) return ptx.error();
    if (options_.rdc && !unit.device_texts.empty())
      separate_static_kernels(*ptx, static_kernel_suffix(*object).value_or("__intern__" + unit_id(options_, unit.source.path)));
    if (options_.keep) {
      bool single = options_.targets.size() == 1;
      WB_TRY(write_file(kept(single ? stem + ".ptx" : stem + "." + options_.targets[at].arch.sm() + ".ptx"), *ptx));
    }
    entries.push_back({options_.targets[at].arch.cc, std::move(*ptx)});
  }
  std::string container = fatbin::write(entries);
  if (options_.keep) WB_TRY(write_file(kept(stem + ".fatbin"), container));
  auto replaced = replace_section(*object, options_.rdc ? kRelocatableSection : kWholeProgramSection, container);
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
  Result<void> compiled = run_all(commands, processors());
  if (!only_shown()) say(diagnostics_.closing());
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
  std::string output =
      options_.output.empty() ? (fs::path(options_.output_directory) / "a.out").string() : options_.output;
  WB_TRY(run_all({link_pass(options_, inputs, output)}, 1));
  if (record_)
    for (auto& file : read_depfile(inputs.dependency_file))
      // The runtime is looked up when the program starts; a newer one does not make the program stale.
      if (!file.starts_with(directory_) && !file.starts_with(toolchain().library_directory))
        record_->files.push_back(file);
  if (!options_.run || only_shown()) return {};
  status_ = run_program(fs::absolute(output), output.find('/') == output.npos ? "./" + output : output,
                        options_.run_arguments);
  return {};
}

Result<void> Build::make_library() {
  WB_TRY(make_objects(false));
  std::vector<std::string> objects;
  for (const auto& unit : units_) objects.push_back(unit.object);
  for (const auto& input : options_.inputs)
    if (input.language == Language::Object)
      objects.push_back(input.path);
    else if (!is_source(input.language))
      return Error{1, fmt::format("'{}' cannot go into a static library: only sources and objects can", input.path)};
  std::string output =
      options_.output.empty() ? (fs::path(options_.output_directory) / "a.a").string() : options_.output;
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

Result<void> Build::make_ptx() {
  if (options_.targets.size() > 1) return Error{1, "-ptx makes one file: name one architecture"};
  std::vector<Command> commands;
  std::vector<Unit> units;
  for (const auto& input : options_.inputs) {
    if (input.language == Language::Cxx || input.language == Language::C) continue;  // it holds no device code
    if (is_linked_only(input.language)) continue;
    if (input.language != Language::Cuda)
      return Error{1, fmt::format("'{}': only CUDA sources become PTX", input.path)};
    units.push_back(plan_unit(input, false));
    const DependencyOutput asked = first_dependencies(units.back());
    const DependencyOutput* dependencies = asked.file.empty() ? nullptr : &asked;
    WB_TRY(rewrite_launches(units.back(), false, dependencies));
    const size_t first = commands.size();
    commands.push_back(device_command(units.back(), 0, dependencies));
    read_respelled(units.back(), commands, first);
  }
  auto compiled = run_all(commands, processors());
  if (!only_shown()) say(diagnostics_.closing());
  WB_TRY(compiled);
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
    const DependencyOutput asked = first_dependencies(units.back());
    const DependencyOutput* dependencies = asked.file.empty() ? nullptr : &asked;
    if (input.language == Language::Cuda) WB_TRY(rewrite_launches(units.back(), false, dependencies));
    const size_t first = commands.size();
    for (size_t at = 0; at < units.back().ptx_files.size(); ++at)
      commands.push_back(device_command(units.back(), at, at == 0 ? dependencies : nullptr));
    read_respelled(units.back(), commands, first);
  }
  auto compiled = run_all(commands, processors());
  if (!only_shown()) say(diagnostics_.closing());
  WB_TRY(compiled);
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

Result<void> Build::run_phase() {
  switch (options_.phase) {
    case Phase::Executable:
      return make_executable();
    case Phase::Object:
      return make_objects(true);
    case Phase::DeviceLink:
      return make_device_link();
    case Phase::Library:
      return make_library();
    case Phase::Ptx:
      return make_ptx();
    case Phase::Fatbin:
      return make_fatbins();
    case Phase::Preprocess:
      return preprocess();
    case Phase::Dependencies:
      return list_dependencies();
    case Phase::DeviceSyntax:
      return check_device_syntax();
  }
  return {};
}

int Build::run() {
  if (!options_.program.empty()) {
    show(quote(options_.program));
    return only_shown() ? 0 : run_executable(options_.program, options_.run_arguments);
  }
  for (const auto& warning : options_.warnings)
    if (!options_.quiet) say(fmt::format("nvcc warning : {}\n", warning));
  Result<void> done = prepare();
  if (done) done = run_phase();
  if (done) return status_;
  if (!done.error().message.empty()) say(fmt::format("nvcc fatal   : {}\n", done.error().message));
  return done.error().code ? done.error().code : 1;
}

}  // namespace

void show_places() {
  // Build systems read these lines to learn where the toolkit is; the library line must recur in the link command.
  const Toolchain& tools = toolchain();
  fmt::print(
      stderr,
      "#$ _SPACE_= \n#$ _CUDART_=cudart\n#$ _HERE_={0}/bin\n#$ TOP={0}\n#$ NVVMIR_LIBRARY_DIR={0}/nvvm/libdevice\n"
      "#$ PATH={3}\n#$ INCLUDES=\"-I{1}\"  \n#$ LIBRARIES=  {2}\n#$ CUDAFE_FLAGS=\n#$ PTXAS_FLAGS=\n",
      tools.root, tools.include_directory, quote("-L" + tools.library_directory),
      std::getenv("PATH") ? std::getenv("PATH") : "");
}

int build(const Options& options, BuildRecord* record) { return Build(options, record).run(); }

}  // namespace warpbeam::compiler

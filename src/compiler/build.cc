#include "compiler/build_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "compiler/cccl.h"
#include "compiler/concessions.h"
#include "compiler/device_link.h"
#include "compiler/first_headers.h"
#include "compiler/link_cache.h"
#include "compiler/split.h"
#include "compiler/toolchain.h"

namespace warpbeam::compiler {

namespace fs = std::filesystem;

namespace {

// A link as nvcc shows it, for scripts that take it apart: files in quotes, and what is made at the end.
std::string shown(const Command& command) {
  const bool links = std::ranges::find(command.words, "-Wl,--start-group") != command.words.end();
  const std::string linker = host_linker();
  std::string line, made;
  for (size_t at = 0; at < command.words.size(); ++at) {
    const std::string& word = links && at == 0 ? linker : command.words[at];
    if (links && word == "-o" && at + 1 < command.words.size()) {
      made = " -o " + in_quotes(command.words[++at]);
      continue;
    }
    if (at) line += ' ';
    const bool file = at && !word.starts_with("-");
    line += links && (file || (word.starts_with("-L") && word.size() > 2)) ? in_quotes(word) : quote(word);
  }
  return line + made;
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

}  // namespace

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
  for (int number = 2; std::ranges::find(used_names_, name) != used_names_.end(); ++number) name = fmt::format("{}-{}", stem, number);
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
      if (input.path.find('\n') != input.path.npos)
        return Error{1, fmt::format("'{}': there is a line break in the name, which PTX cannot hold", input.path)};
    }
    sources += is_source(input.language) || input.language == Language::Ptx;
  }
  bool one_output = options_.phase == Phase::Object || options_.phase == Phase::Ptx || options_.phase == Phase::Fatbin ||
                    options_.phase == Phase::Preprocess || options_.phase == Phase::HostText;
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

// Which of two versions of CUB, Thrust and libcu++ a source wants, nobody says. Those with a header of Thrust's or CUB's get what was
// fetched, old ones what is there without. Our own headers below cuda/ are read in a fraction of the time: others get those, and what
// was fetched where it has more. All passes get one version, since names of kernels tell it.
std::vector<Outcome> Build::run_with_libraries(std::vector<Command> commands, int at_once) {
  if (!options_.cccl_open || options_.cccl.empty()) return run_passes(commands, at_once);
  std::vector<Command> older = commands;
  for (Command& command : older) leave_out_cccl(command.words, options_.cccl, &command.shared);
  const bool newest_first = asks_for_libraries(options_);
  if (!newest_first) std::swap(commands, older);
  auto outcomes = run_passes(commands, at_once);
  auto fails = [](const Outcome& outcome) { return outcome.status != 0; };
  auto may_differ = [&](const Outcome& outcome) { return outcome.status == 1 && speaks_of_libraries(outcome.messages, options_.cccl); };
  if (interrupted() || std::ranges::none_of(outcomes, may_differ)) return outcomes;
  auto others = run_passes(older, at_once);
  if (interrupted() || std::ranges::any_of(others, fails)) return outcomes;
  if (newest_first && !options_.quiet)
    say("nvcc note    : CUB and Thrust of today no longer have what is used here; compiled with those of Debian (--cccl none does so at once)\n");
  return others;
}

Result<void> Build::run_all(const std::vector<Command>& commands, int at_once) {
  for (const auto& command : commands) show(shown(command));
  if (only_shown()) return {};
  bool failed = false;
  const bool links = commands.size() == 1 && !commands[0].varying.empty();
  auto outcomes = links ? std::vector{run_link(commands[0])} : run_with_libraries(commands, at_once);
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

Result<void> Build::run_phase() {
  switch (options_.phase) {
    case Phase::Executable: return make_executable();
    case Phase::Object: return make_objects(true);
    case Phase::HostText: return make_host_texts();
    case Phase::DeviceLink: return make_device_link();
    case Phase::Library: return make_library();
    case Phase::Ptx: return make_ptx();
    case Phase::Fatbin: return make_fatbins();
    case Phase::Preprocess: return preprocess();
    case Phase::Dependencies: return list_dependencies();
    case Phase::DeviceSyntax: return check_device_syntax();
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

void show_places() {
  // Build systems read these lines to learn where the toolkit is; the library line must recur in the link command.
  const Toolchain& tools = toolchain();
  fmt::print(stderr,
             "#$ _SPACE_= \n#$ _CUDART_=cudart\n#$ _HERE_={0}/bin\n#$ TOP={0}\n#$ NVVMIR_LIBRARY_DIR={0}/nvvm/libdevice\n"
             "#$ PATH={3}\n#$ INCLUDES=\"-I{1}\"  \n#$ LIBRARIES=  {2}\n#$ CUDAFE_FLAGS=\n#$ PTXAS_FLAGS=\n",
             tools.root, tools.include_directory, quote("-L" + tools.library_directory), std::getenv("PATH") ? std::getenv("PATH") : "");
}

int build(const Options& options, BuildRecord* record) {
  const auto with_fetched = with_fetched_cccl(options);
  return Build(with_fetched ? *with_fetched : options, record).run();
}

}  // namespace warpbeam::compiler

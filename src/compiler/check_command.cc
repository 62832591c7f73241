// `warpbeam check`: compile with host lines, run under the checker, look up the lines, print what was found.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "compiler/build.h"
#include "compiler/cached_program.h"
#include "compiler/check_facts.h"
#include "compiler/commands.h"
#include "compiler/host_lines.h"
#include "compiler/split.h"
#include "compiler/temporary_directory.h"
#include "compiler/toolchain.h"
#include "findings/kinds.h"
#include "report/check_report.h"
#include "report/sarif.h"

namespace warpbeam::compiler {

namespace {

namespace fs = std::filesystem;
using findings::Kind;

constexpr std::string_view kHelp = R"(Usage: warpbeam check [options] [nvcc options] file... [-- arguments]
       warpbeam check [options] executable [arguments]
       warpbeam check [options] -- command [arguments]

Runs a program - CUDA sources, which are compiled first, or an executable - and reports its mistakes: memory errors, races,
uninitialised reads, wrong synchronisation and unchecked errors. docs/checker.md explains every kind.

  --checks LIST          memory,race,init,sync,host; default all
  --leak-check WHEN      no, full, or auto (default): leaks are errors in programs that free more than they leak
  --json FILE            write the findings as JSON too (-: to the standard output, instead of text)
  --sarif FILE           write them as SARIF too, which code hosts and editors show beside the source
  --log-file FILE        write the text there (-: to the standard output) instead of to the standard error
  --suppressions FILE    leave out findings that a rule of the file fits: lines like `kind=race_raw kernel=scan file=*.cuh`
  --error-exitcode N     the exit status when there are errors (default 1); without errors, or with 0, the program's own
  --max-instructions N   of one warp, after which a kernel counts as endless (default 200000000)
  --shadow-memory GIB    address space for what the checker remembers (default 8)
  --device NAME          the GPU to be
  -v, --verbose          print the commands
  --no-install           if packages are missing, list them and stop
  -h, --help             this text
)";

const std::vector<std::string_view> kOwnOptions = {"checks",        "leak-check",   "json",           "sarif",
                                                   "log-file",      "suppressions", "error-exitcode", "max-instructions",
                                                   "shadow-memory", "device",       "verbose",        "no-install"};

struct CheckRequest {
  Arguments compiler, program;
  std::vector<std::string> checks;
  std::string json, sarif, log, suppressions, device, leaks = "auto";
  int exit_code = 1;
  double most_instructions = 200e6, shadow_gib = 8;
  bool verbose = false, help = false;
};

Result<CheckRequest> read_request(const Arguments& arguments) {
  CheckRequest request;
  const std::vector<std::string> kChecks = {"memory", "race", "init", "sync", "host"};
  request.checks = kChecks;
  for (size_t at = 0; at < arguments.size(); ++at) {
    std::string word = arguments[at], value;
    const size_t equals = word.find('=');
    const bool joined = word.starts_with("--") && equals != std::string::npos;
    const std::string name = joined ? word.substr(0, equals) : word;
    static const std::set<std::string> kValued = {"--checks",        "--leak-check",   "--json",           "--sarif",
                                                  "--log-file",      "--suppressions", "--error-exitcode", "--max-instructions",
                                                  "--shadow-memory", "--device"};
    if (word == "--") {
      request.program.assign(arguments.begin() + static_cast<long>(at) + 1, arguments.end());
      break;
    }
    if (kValued.contains(name)) {
      if (joined) value = word.substr(equals + 1);
      else if (at + 1 < arguments.size()) value = arguments[++at];
      else return Error{1, fmt::format("argument expected after '{}'", name)};
      auto number = [&](double least) -> Result<double> {
        char* end = nullptr;
        const double v = std::strtod(value.c_str(), &end);
        if (value.empty() || *end || v < least) return Error{1, fmt::format("{} '{}': a number was expected", name, value)};
        return v;
      };
      if (name == "--checks") {
        request.checks.clear();
        for (size_t from = 0; from <= value.size();) {
          const size_t comma = std::min(value.find(',', from), value.size());
          const std::string one = value.substr(from, comma - from);
          from = comma + 1;
          if (one == "all") request.checks = kChecks;
          else if (std::ranges::find(kChecks, one) != kChecks.end()) request.checks.push_back(one);
          else return Error{1, fmt::format("--checks '{}': memory, race, init, sync, host or all", one)};
        }
      } else if (name == "--leak-check") {
        if (value != "no" && value != "full" && value != "auto") return Error{1, fmt::format("--leak-check '{}': no, full or auto", value)};
        request.leaks = value;
      } else if (name == "--json") request.json = value;
      else if (name == "--sarif") request.sarif = value;
      else if (name == "--log-file") request.log = value;
      else if (name == "--suppressions") request.suppressions = value;
      else if (name == "--device") request.device = value;
      else {
        auto n = number(name == "--error-exitcode" ? 0 : 1);
        if (!n) return n.error();
        if (name == "--error-exitcode") request.exit_code = static_cast<int>(*n) & 255;
        else if (name == "--max-instructions") request.most_instructions = *n;
        else request.shadow_gib = *n;
      }
      continue;
    }
    if (word == "-v" || word == "--verbose") request.verbose = true;
    else if (word == "-h" || word == "--help") request.help = true;
    else if (word != "--no-install") {
      if (std::string wrong = option_meant(word, kOwnOptions); !wrong.empty()) return Error{1, wrong};
      request.compiler.push_back(word);
      if (request.compiler.size() == 1 && is_program(word)) {
        request.program = program_arguments(arguments, at);
        break;
      }
      if (takes_next_word(arguments, at)) request.compiler.push_back(arguments[++at]);
    }
  }
  return request;
}

// What only the compiler sees: variables of kernels that are read before they have a value. In the kernel they are
// registers, and nothing is left to watch.
void add_uninitialised(report::CheckReport& report, const CheckFacts& facts) {
  for (const auto& u : facts.uninitialised) {
    report::CheckFinding f;
    f.check = word(check_of(Kind::UninitializedVariable));
    f.kind = word(Kind::UninitializedVariable);
    f.title = u.sometimes ? fmt::format("Variable '{}' may be read before it has a value", u.variable)
                          : fmt::format("Uninitialized read of variable '{}'", u.variable);
    f.is_error = !u.sometimes;
    f.locations = {u.place};
    f.lines.push_back({"in " + u.place, {}, {}});
    f.facts["variable"] = u.variable;
    f.mend = "give the variable a value where it is declared";
    report.findings.push_back(std::move(f));
  }
}

// Was the result of the failed call taken? The compiler knows which calls drop it; of other programs the checker only
// knows whether they asked for the error afterwards.
void judge_calls(report::CheckReport& report, const CheckFacts& facts, int status) {
  for (auto& f : report.findings) {
    if (f.check != word(findings::Check::Host) || !f.facts.contains("function")) continue;
    const bool launch = f.facts["function"].starts_with("cudaLaunch");
    bool looked_at = f.kind == word(Kind::ApiError);
    if (!looked_at && !launch) {
      bool dropped = false;
      for (const auto& line : f.lines)
        for (const auto& frame : line.frames) dropped = dropped || facts.unused.contains(fmt::format("{}:{}", frame.file, frame.line));
      looked_at = !dropped;
    }
    if (looked_at) {
      std::erase_if(f.lines, [](const auto& line) { return line.text.starts_with("and no later call"); });
      f.kind = word(Kind::ApiError);
      if (!f.facts.contains("arguments")) f.mend = "";
    }
    // A program that saw the error and ended well wanted to see it, unless its arguments made no sense.
    f.is_error = !looked_at || status != 0 || f.facts.contains("arguments");
  }
}

// A program whose only memory to be given back is that of Thrust's vectors leaves its own to the end of the process.
void judge_leaks(report::CheckReport& report, const std::string& leaks) {
  if (leaks != "auto" || !report.freed_by_library) return;
  for (auto& f : report.findings)
    if (f.kind == word(Kind::Leak) && f.facts["space"] == "global") f.is_error = false;
}

// The compiler makes several accesses of one line, in host code as in a loop that it unrolls: they are one finding.
void fold_same_lines(report::CheckReport& report, const CheckFacts& facts) {
  std::map<std::string, size_t> known;
  std::vector<report::CheckFinding> kept;
  for (auto& f : report.findings) {
    // The compiler has told of it by its name.
    const auto same = [&](const auto& u) { return !u.sometimes && !f.locations.empty() && f.locations[0] == u.place; };
    if (f.kind == word(Kind::UninitializedRead) && f.title.find("__local__") != std::string::npos &&
        std::ranges::any_of(facts.uninitialised, same))
      continue;
    std::string key;
    for (const auto& line : f.lines)
      for (const auto& frame : line.frames) key += fmt::format("|{} {} {}:{}", line.text, frame.function, frame.file, frame.line);
    if (f.kind != word(Kind::HostRace) || key.empty()) {
      kept.push_back(std::move(f));
      continue;
    }
    const auto [it, fresh] = known.try_emplace(f.title + key, kept.size());
    if (fresh) kept.push_back(std::move(f));
    else kept[it->second].count += f.count;
  }
  report.findings = std::move(kept);
}

int run_checked(const CheckRequest& request, const CompiledProgram& program, const CheckFacts& facts) {
  auto fail = [](const std::string& message) {
    fmt::print(stderr, "warpbeam check: {}\n", message);
    return 1;
  };
  auto made = TemporaryDirectory::make();
  if (!made) return fail(made.error().message);
  std::optional<TemporaryDirectory> recordings(std::move(*made));
  nlohmann::json options;
  options["checks"] = request.checks;
  options["leaks"] = request.leaks;
  options["max_instructions"] = static_cast<uint64_t>(request.most_instructions);
  options["shadow_bytes"] = static_cast<uint64_t>(request.shadow_gib * (uint64_t(1) << 30));
  if (!facts.file.empty()) options["shapes"] = facts.file;
  setenv("WARPBEAM_TOOL", "check", 1);
  setenv("WARPBEAM_TOOL_OPTIONS", options.dump().c_str(), 1);
  setenv("WARPBEAM_RECORDING", recordings->path().c_str(), 1);
  setenv("WARPBEAM_HANG_SECONDS", "2", 0);
  const int status = run_program(program.path, program.name, request.program);

  report::CheckReport report;
  if (std::ranges::find(request.checks, "init") != request.checks.end()) add_uninitialised(report, facts);
  std::error_code ignored;
  std::vector<std::string> files;
  for (fs::directory_iterator it(recordings->path(), ignored), end; !ignored && it != end; it.increment(ignored))
    if (it->path().extension() == ".json") files.push_back(it->path().string());
  std::ranges::sort(files);
  for (const auto& file : files)
    if (auto read = report.read(file); !read) return fail(read.error().message);
  recordings.reset();  // before a pipe that nobody reads may end this
  look_up_host_lines(report);
  fold_same_lines(report, facts);
  judge_calls(report, facts, status);
  judge_leaks(report, request.leaks);
  if (status >= 128) report.notes["end"] = fmt::format("the program was ended by signal {}", status - 128);
  if (status == 126 || status == 127) return status;
  if (!request.suppressions.empty()) {
    auto removed = report::suppress(report, request.suppressions);
    if (!removed) return fail(removed.error().message);
    if (*removed)
      report.notes["suppressed"] =
          fmt::format("{} finding{} suppressed by {}", *removed, *removed == 1 ? " was" : "s were", request.suppressions);
  }
  report.fold();
  if (!request.log.empty()) {
    if (auto done = write_to(request.log, [&](std::ostream& out) { out << report.text(); }); !done) return fail(done.error().message);
  } else if (request.json != "-") {
    fmt::print(stderr, "{}", report.text());
  }
  if (!request.json.empty())
    if (auto done = write_to(request.json, [&](std::ostream& out) { out << report.json(); }); !done) return fail(done.error().message);
  if (!request.sarif.empty())
    if (auto done = write_to(request.sarif, [&](std::ostream& out) { out << report::sarif(report, fs::current_path(ignored), kVersion); });
        !done)
      return fail(done.error().message);
  return report.errors() && request.exit_code ? request.exit_code : status;
}

}  // namespace

int check_command(const Arguments& arguments) {
  auto fail = [](const std::string& message) {
    fmt::print(stderr, "warpbeam check: {}\n", message);
    return 1;
  };
  auto request = read_request(arguments);
  if (!request) return fail(request.error().message);
  if (request->help) {
    fmt::print("{}", kHelp);
    return 0;
  }
  auto cc = chosen_cc(request->device);
  if (!cc) return fail(cc.error().message);
  if (!request->device.empty()) setenv("WARPBEAM_DEVICE", request->device.c_str(), 1);
  if (request->compiler.empty() && !request->program.empty()) {  // check -- command
    const std::string name = request->program[0];
    request->compiler = {is_program(name) ? name : find_program(name)};
    request->program.erase(request->program.begin());
    if (request->compiler[0].empty()) return fail(fmt::format("there is no command '{}'", name));
  }
  if (request->compiler.size() == 1 && is_program(request->compiler[0])) {
    catch_interrupts();
    offer_libraries();
    return run_checked(*request, {fs::absolute(request->compiler[0]).string(), request->compiler[0], nullptr, {}}, {});
  }
  Arguments words = with_environment_flags(request->compiler);
  auto options = parse_options(words, *cc);
  if (!options) return fail(options.error().message);
  if (options->inputs.empty()) return fail("no source is named; `warpbeam check --help` tells more");
  if (options->phase != Phase::Executable || options->shared || !options->output.empty())
    return fail("it makes a program and runs it; use `warpbeam nvcc` to make something else");
  catch_interrupts();
  // Lines of host code, in the form that addr2line knows best, and every caller on the stack; frame pointers are not
  // needed, the unwinder reads tables.
  if (!options->debug) options->host.push_back("-gline-tables-only");
  append(options->host, {"-gdwarf-4", "-fno-optimize-sibling-calls"});
  // `if (found) x = best;` may become a load and a choice, which reads where the program does not: races and missing values
  // that nobody wrote. LLVM leaves loads where they are in functions that are marked for a sanitizer.
  append(options->device, {"-mllvm", "-force-attribute=sanitize_thread"});
  // Accesses stay where they stand in the source, and are not made one of two: each has a line (src/lowering/checker/kept_places.cc).
  for (const char* option :
       {"-simplifycfg-sink-common=false", "-simplifycfg-merge-cond-stores=false", "-disable-machine-sink", "-disable-machine-licm"})
    append(options->device, {"-mllvm", option});
  // Variables without a value; the option is one of a library beside this program.
  if (!lowering_library().empty()) append(options->device, {"-mllvm", "-warpbeam-unset-variables"});
  append(request->program, options->run_arguments);
  options->run = false;
  words.push_back("warpbeam check");
  options->facts = true;
  CompiledProgram program;
  if (int status = compile_program(*options, cache_key(words, *cc), request->verbose, &program)) return status;
  program.name = "./" + program.name;
  return run_checked(*request, program, read_check_facts(facts_file_of(program.path)));
}

}  // namespace warpbeam::compiler

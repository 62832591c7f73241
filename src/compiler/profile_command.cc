// `warpbeam profile`: runs a program with the profiler inside and prints what it recorded.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>

#include "base/expression.h"
#include "compiler/commands.h"
#include "compiler/options.h"
#include "compiler/process.h"
#include "compiler/temporary_directory.h"
#include "model/device.h"
#include "observe/metrics.h"
#include "report/details.h"
#include "report/html.h"
#include "report/source.h"
#include "report/timeline.h"

namespace warpbeam::compiler {
namespace {

namespace fs = std::filesystem;
using report::Json;

constexpr std::string_view kHelp = R"(Usage: warpbeam profile [options] [nvcc options] PROGRAM.cu... [-- arguments]
       warpbeam profile [options] EXECUTABLE [arguments]

Runs the program on the machine and prints what each of its kernels did, on whatever GPU --device names: how long it
would take there and why (predicted), and exact counts (class F) and what follows from the launch (class S), of PTX
instructions. --metrics of exact figures alone and --set basic or exact predict nothing, and are faster. Where times are
predicted the program lives on them too, as with `run --clock device` (--clock host: on the host's).

  --device NAME          the GPU to be (default h200; `warpbeam devices` lists them)
  --metrics LIST         names of nvprof or Nsight Compute with commas between them, or regex:EXPRESSION
  --set basic|exact|full without --metrics: the most telling exact figures (default), all exact ones, everything
  --query-metrics        list the metrics and stop
  -k, --kernel-name K    only kernels of that name, or regex:EXPRESSION
  --launch-skip N        leave out the first N launches of those
  --launch-count N       profile N launches at most
  --profile-from-start on|off   off: only between cudaProfilerStart and cudaProfilerStop (default on)
  --page PAGE            details (default), source: counts beside source lines, or ptx: beside PTX lines
  --csv [FILE]           write the page as comma-separated values; -, or another option behind it, is standard output
  --json FILE            write the recording; `warpbeam report` reads it
  --html FILE            write a page to look at: source, accesses, banks, divergence, occupancy, streams
  -h, --help             this text
)";

struct Request {
  std::string metrics, set, kernel, page = "details", csv, json, html, device;
  uint64_t skip = 0, count = std::numeric_limits<uint64_t>::max();
  bool from_start = true, query = false, help = false;
  bool exact_set = false;  // that of exact figures was asked for by name
  Arguments program;  // what runs, with the compiler's options
};

Result<uint64_t> number_of(const std::string& option, const std::string& text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return Error{1, fmt::format("{} needs a number, not '{}'", option, text)};
  return value;
}

Result<Request> read_request(const Arguments& arguments) {
  Request request;
  std::string from_start;
  const std::pair<std::string_view, std::string*> texts[] = {{"--metrics", &request.metrics}, {"--set", &request.set},
                                                             {"-k", &request.kernel},         {"--kernel-name", &request.kernel},
                                                             {"--page", &request.page},       {"--csv", &request.csv},
                                                             {"--json", &request.json},       {"--html", &request.html},
                                                             {"--device", &request.device},   {"--profile-from-start", &from_start}};
  for (size_t at = 0; at < arguments.size(); ++at) {
    const std::string& word = arguments[at];
    if (word == "--") {
      request.program.insert(request.program.end(), arguments.begin() + static_cast<long>(at), arguments.end());
      break;
    }
    const size_t equals = word.find('=');
    const std::string name = word.starts_with("--") ? word.substr(0, equals) : word;
    bool taken = false;
    auto value = [&]() -> Result<std::string> {
      if (name != word) return word.substr(equals + 1);
      if (at + 1 >= arguments.size()) return Error{1, fmt::format("argument expected after '{}'", word)};
      return arguments[++at];
    };
    for (const auto& [option, text] : texts) {
      if (name != option) continue;
      // As Nsight Compute's --csv, which has no argument.
      const bool alone = word == "--csv" && (at + 1 >= arguments.size() || arguments[at + 1].starts_with("--"));
      auto given = alone ? Result<std::string>("-") : value();
      if (!given) return given.error();
      *text = *given;
      taken = true;
      break;
    }
    if (name == "--launch-skip" || name == "--launch-count") {
      auto given = value();
      if (!given) return given.error();
      auto number = number_of(name, *given);
      if (!number) return number.error();
      (name == "--launch-skip" ? request.skip : request.count) = *number;
      taken = true;
    }
    if (taken) continue;
    if (word == "--query-metrics") request.query = true;
    else if (word == "-h" || word == "--help") request.help = true;
    else {
      std::vector<std::string_view> own = {"launch-skip", "launch-count", "query-metrics", "no-install", "engine", "lockstep", "emit-ptx"};
      for (const auto& [option, text] : texts)
        if (option.starts_with("--")) own.push_back(option.substr(2));
      if (std::string wrong = option_meant(word, own); !wrong.empty()) return Error{1, wrong};
      request.program.push_back(word);
      if (!word.starts_with("-") && is_program(word)) {
        request.program.insert(request.program.end(), arguments.begin() + static_cast<long>(at) + 1, arguments.end());
        break;
      }
      if (takes_next_word(arguments, at)) request.program.push_back(arguments[++at]);
    }
  }
  request.exact_set = request.set == "basic" || request.set == "exact";
  if (request.set.empty()) request.set = "basic";
  if (request.set != "basic" && request.set != "exact" && request.set != "full")
    return Error{1, fmt::format("--set '{}': basic, exact or full", request.set)};
  if (request.page != "details" && request.page != "raw" && request.page != "source" && request.page != "ptx")
    return Error{1, fmt::format("--page '{}': details, source or ptx", request.page)};
  if (!from_start.empty()) {
    if (from_start != "on" && from_start != "off" && from_start != "yes" && from_start != "no")
      return Error{1, fmt::format("--profile-from-start '{}': on or off", from_start)};
    request.from_start = from_start == "on" || from_start == "yes";
  }
  return request;
}

// The expression that a kernel's name has to match.
Result<std::string> kernel_expression(const std::string& kernel) {
  if (kernel.empty()) return kernel;
  std::string expression;
  if (kernel.starts_with("regex:")) {
    expression = kernel.substr(6);
  } else {
    for (char c : kernel) {
      if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') expression += '\\';
      expression += c;
    }
    expression = "^" + expression + "$";
  }
  if (!Expression::of(expression)) return Error{1, fmt::format("-k: '{}' is not a regular expression", expression)};
  return expression;
}

void list_metrics() {
  fmt::print(
      "Nsight Compute's name, nvprof's name, unit, class, meaning. F: exact from what the program executed;\n"
      "S: static or decided at the launch; C and T: predicted, by models of the caches and of time. Other rollups of a\n"
      "name are known too: .avg of a .sum and what it is for each second or cycle; .min, .max and what is not modelled\n"
      "print n/a.\n\n");
  static constexpr const char* kClasses[] = {"F", "S", "C", "T"};
  for (const observe::MetricRow& row : observe::kMetrics)
    fmt::print("{} {}{}{}{}{}{}\n    {}{}{}\n", kClasses[static_cast<int>(row.cls)], row.name, row.nvprof.empty() ? "" : "  ", row.nvprof,
               row.unit.empty() ? "" : "  [", row.unit, row.unit.empty() ? "" : "]", row.help,
               row.reason.empty() ? "" : " n/a: ", row.reason);
}

// The table as recordings hold it, to check names before the program runs.
Json metric_table() {
  static constexpr const char* kClasses[] = {"F", "S", "C", "T"};
  Json table = Json::array();
  for (const observe::MetricRow& row : observe::kMetrics)
    table.push_back({{"name", row.name},
                     {"nvprof", row.nvprof},
                     {"unit", row.unit},
                     {"class", kClasses[static_cast<int>(row.cls)]},
                     {"set", row.set == observe::MetricSet::None    ? "none"
                             : row.set == observe::MetricSet::Basic ? "basic"
                                                                    : "full"}});
  return table;
}

// Whether somebody wants to see what is predicted: plain `profile`, pages, and metrics of classes C and T.
bool needs_times(const Request& request, const std::vector<report::Column>& columns) {
  if (!request.html.empty() || std::ranges::any_of(columns, &report::Column::needs_times)) return true;
  if (!request.metrics.empty() || request.exact_set) return false;
  const bool details = request.page == "details" || request.page == "raw";
  return request.csv.empty() || !details || !request.json.empty();
}

}  // namespace

Result<bool> write_to(const std::string& path, const std::function<void(std::ostream&)>& print) {
  if (path == "-") {
    print(std::cout);
    std::cout.flush();
    return true;
  }
  // Beside it first, so that whoever is killed meanwhile leaves what was there before. What is no plain file, and what lies in a folder that
  // takes no other, is written in its place.
  std::error_code ignored;
  const fs::path place = fs::weakly_canonical(path, ignored), aside = fmt::format("{}.{}", place.string(), getpid());
  const fs::file_status there = fs::status(place, ignored);
  std::ofstream file;
  const bool is_new = fs::symlink_status(place, ignored).type() == fs::file_type::not_found;
  if (is_new || (fs::is_regular_file(there) && access(place.c_str(), W_OK) == 0)) file.open(aside);
  const bool beside = file.is_open();
  if (!beside) file.open(path);
  print(file);
  file.close();
  bool written = bool(file);
  if (beside && written) {
    if (!is_new) fs::permissions(aside, there.permissions(), ignored);
    fs::rename(aside, place, ignored);
    written = !ignored;
  }
  if (written) return true;
  if (beside) fs::remove(aside, ignored);
  return Error{1, fmt::format("{} could not be written", path)};
}

namespace {

Result<bool> print_pages(const Request& request, const Json& recording, const std::vector<Json>& timelines) {
  std::vector<std::string> unknown;  // was said before the program ran
  auto columns = report::select_metrics(recording["metrics"], request.metrics, request.set, unknown);
  if (!columns) return columns.error();
  const auto listing = request.page == "ptx" ? report::Listing::Ptx : report::Listing::Source;
  const bool details = request.page == "details" || request.page == "raw";
  if (!request.json.empty())
    if (auto done = write_to(request.json,
                             [&](std::ostream& out) { out << recording.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n'; });
        !done)
      return done;
  if (!request.html.empty())
    if (auto done = write_to(request.html, [&](std::ostream& out) { report::write_html(out, recording, nullptr, timelines); }); !done)
      return done;
  if (!request.csv.empty())
    return write_to(request.csv, [&](std::ostream& out) {
      if (details) report::print_csv(out, recording, *columns);
      else report::print_source_csv(out, recording, listing);
    });
  if (!request.json.empty() || !request.html.empty()) return true;
  if (details) report::print_details(std::cout, recording, *columns);
  else report::print_source(std::cout, recording, listing);
  std::cout.flush();
  return true;
}

}  // namespace

int profile_command(const Arguments& arguments) {
  auto fail = [](const std::string& message) {
    fmt::print(stderr, "warpbeam profile: {}\n", message);
    return 1;
  };
  auto request = read_request(arguments);
  if (!request) return fail(request.error().message);
  if (request->help) {
    fmt::print("{}", kHelp);
    return 0;
  }
  if (request->query) {
    list_metrics();
    return 0;
  }
  if (request->program.empty()) return fail("no program is named; `warpbeam profile --help` tells more");
  std::vector<std::string> unknown;
  auto columns = report::select_metrics(metric_table(), request->metrics, request->set, unknown);
  if (!columns) return fail(columns.error().message);
  for (const std::string& sentence : unknown) fmt::print(stderr, "warpbeam profile: warning: {}\n", sentence);
  auto kernel = kernel_expression(request->kernel);
  if (!kernel) return fail(kernel.error().message);
  if (auto cc = chosen_cc(request->device); !cc) return fail(cc.error().message);

  auto made = TemporaryDirectory::make();
  if (!made) return fail(made.error().message);
  std::optional<TemporaryDirectory> folder(std::move(*made));
  const Json options = {{"kernel", *kernel},
                        {"skip", request->skip},
                        {"count", request->count},
                        {"from_start", request->from_start},
                        {"page", !request->html.empty()},
                        {"times", needs_times(*request, *columns)}};
  setenv("WARPBEAM_TOOL", "profile", 1);
  // Where times are predicted the program lives on them, unless it is to keep the host's (--clock host).
  if (options["times"]) setenv("WARPBEAM_CLOCK", "device", 0);
  setenv("WARPBEAM_TOOL_OPTIONS", options.dump().c_str(), 1);
  setenv("WARPBEAM_RECORDING", folder->path().c_str(), 1);
  if (!request->device.empty()) setenv("WARPBEAM_DEVICE", request->device.c_str(), 1);
  int status;
  if (is_program(request->program[0])) {
    status = run_executable(request->program[0], program_arguments(request->program, 0));
  } else {
    status = run_command(request->program);
  }
  for (const char* name : {"WARPBEAM_TOOL", "WARPBEAM_TOOL_OPTIONS", "WARPBEAM_RECORDING"}) unsetenv(name);
  if (!has_run_program()) return status;  // it could not be compiled, as has been said
  auto recording = report::read_recordings(folder->path());
  auto timelines = report::read_timelines(folder->path(), ".timeline");  // there are some if they are wanted
  folder.reset();  // before a pipe that nobody reads may end this
  if (!recording) {
    fail(recording.error().message);
    return status;
  }
  report::embed_sources(*recording);
  if (auto done = print_pages(*request, *recording, timelines ? *timelines : std::vector<Json>{}); !done) return fail(done.error().message);
  return status;
}

}  // namespace warpbeam::compiler

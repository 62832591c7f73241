// ncu, nvprof, nsys, compute-sanitizer and cuda-memcheck by their names: what scripts give them becomes a command of Warpbeam's, or is refused.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "compiler/commands.h"
#include "compiler/options.h"

namespace warpbeam::compiler {
namespace {

using Words = std::vector<std::string_view>;

std::string same(const std::string& value) { return value; }
std::string set_of_ncu(const std::string& value) {
  return value == "full" || value == "detailed" || value == "roofline" ? "full" : "basic";
}
std::string checks_of_tool(const std::string& value) {
  // memcheck tells of calls that fail, too.
  static constexpr std::array<std::array<std::string_view, 2>, 4> kTools = {
      {{"memcheck", "memory,host"}, {"racecheck", "race"}, {"initcheck", "init"}, {"synccheck", "sync"}}};
  const auto row = std::ranges::find(kTools, value, [](const auto& r) { return r[0]; });
  return row == kTools.end() ? value : std::string((*row)[1]);
}
std::string recording(const std::string& value) { return value.ends_with(".json") ? value : value + ".json"; }
std::string timeline_tables(const std::string& value) { return value.ends_with(".sqlite") ? value : value + ".sqlite"; }

struct OptionRow {
  Words names;
  bool has_value;
  std::string_view ours;  // empty: changes nothing here
  std::string (*translate)(const std::string&) = same;
};

struct ToolRow {
  std::string_view name, title;
  int (*run)(const Arguments&);
  std::string_view command;  // that it becomes
  Arguments always;
  std::vector<OptionRow> options;
};

const std::vector<ToolRow>& tools() {
  static const std::vector<OptionRow> kSanitizer = {
      {{"--tool"}, true, "--checks", checks_of_tool},
      {{"--leak-check"}, true, "--leak-check"},
      {{"--error-exitcode"}, true, "--error-exitcode"},
      {{"--log-file"}, true, "--log-file"},
      {{"--save", "--print-limit", "--target-processes", "--launch-timeout", "--show-backtrace", "--print-level", "--racecheck-report",
        "--demangle"},
       true,
       ""},
      {{"--destroy-on-device-error", "--report-api-errors", "--track-unused-memory", "--check-device-heap", "--check-cache-control",
        "--num-callers-host"},
       true,
       ""},
  };
  static const std::vector<ToolRow> kTools = {
      {"ncu",
       "Nsight Compute",
       profile_command,
       "profile",
       {},
       {{{"--metrics"}, true, "--metrics"},
        {{"--set"}, true, "--set", set_of_ncu},
        {{"-k", "--kernel-name"}, true, "-k"},
        {{"-s", "--launch-skip"}, true, "--launch-skip"},
        {{"-c", "--launch-count"}, true, "--launch-count"},
        {{"--profile-from-start"}, true, "--profile-from-start"},
        {{"--page"}, true, "--page"},
        {{"--csv"}, false, "--csv=-"},
        {{"--query-metrics"}, false, "--query-metrics"},
        {{"-o", "--export"}, true, "--json", recording},
        {{"--section", "--target-processes", "--clock-control", "--cache-control", "--replay-mode", "--kernel-name-base", "--print-units",
          "--print-details", "--import-source", "--app-replay-mode", "--app-replay-match", "--graph-profiling", "--nvtx-include",
          "--nvtx-exclude"},
         true,
         ""},
        {{"-f", "--force-overwrite", "--nvtx", "--print-fp", "--quiet"}, false, ""}}},
      {"nvprof",
       "nvprof",
       stats_command,
       "stats",
       {"--print-summary"},
       {{{"--print-gpu-trace"}, false, "--print-gpu-trace"},
        {{"--print-api-trace"}, false, "--print-api-trace"},
        {{"--print-gpu-summary", "--print-summary"}, false, "--print-summary"},
        {{"--csv"}, false, "--format=csv"},
        {{"--log-file"}, true, "-o"},
        {{"--profile-from-start", "--unified-memory-profiling", "--profile-child-processes", "--timeout", "-u", "--normalized-time-unit",
          "--concurrent-kernels"},
         true,
         ""},
        {{"--trace"}, true, ""},
        {{"-f", "--force-overwrite"}, false, ""}}},
      {"nsys",
       "Nsight Systems",
       timeline_command,
       "timeline",
       {"-o", "report1.sqlite"},
       {{{"-o", "--output"}, true, "-o", timeline_tables},
        {{"-t", "--trace", "-s", "--sample", "--cpuctxsw", "-f", "--force-overwrite", "-w", "--show-output", "--cuda-memory-usage",
          "--export", "--capture-range", "--cuda-graph-trace", "--gpu-metrics-device", "--gpu-metrics-devices", "--python-backtrace",
          "--cudabacktrace", "-b", "--backtrace"},
         true,
         ""}}},
      {"compute-sanitizer",
       "Compute Sanitizer",
       check_command,
       "check",
       {"--checks", "memory,host", "--leak-check", "no", "--error-exitcode", "0", "--log-file", "-"},
       kSanitizer},
      {"cuda-memcheck",
       "CUDA-MEMCHECK",
       check_command,
       "check",
       {"--checks", "memory,host", "--leak-check", "no", "--error-exitcode", "0", "--log-file", "-"},
       kSanitizer},
  };
  return kTools;
}

int help(const ToolRow& tool) {
  fmt::print("Usage: {} {}[options] program [arguments]\n\nWarpbeam's `{}`, with these options of {}:\n\n", tool.name,
             tool.name == "nsys" ? "profile " : "", tool.command, tool.title);
  for (const OptionRow& row : tool.options)
    fmt::print("  {}{}{}\n", fmt::join(row.names, ", "), row.has_value ? " VALUE" : "",
               row.ours.empty() ? "   (changes nothing here)" : "");
  fmt::print("\n`warpbeam {} --help` tells more.\n", tool.command);
  return 0;
}

int run_tool(const ToolRow& tool, Arguments words) {
  auto fail = [&](const std::string& message) {
    fmt::print(stderr, "{}: {}\n", tool.name, message);
    return 1;
  };
  auto run = tool.run;
  std::string_view command = tool.command;
  Arguments given = tool.always;
  const auto is = [&](std::string_view word) { return words.size() == 1 && words[0] == word; };
  if (is("--version") || is("-V") || is("-v")) {
    fmt::print("{} of ", tool.name);
    print_version();
    return 0;
  }
  if (words.empty() || is("--help") || is("-h")) return help(tool);
  if (tool.name == "nsys") {
    if (words[0] != "profile" && words[0] != "nvprof")
      return fail(fmt::format("'{}': only `nsys profile` is there; `warpbeam stats program` prints the tables of `nsys stats`", words[0]));
    words.erase(words.begin());
    // The tables instead of a file that they could be made of.
    if (const auto at = std::ranges::find(words, "--stats=true"); at != words.end()) {
      words.erase(at);
      run = stats_command, command = "stats", given.clear();
    }
    std::erase(words, "--stats=false");
  }
  size_t at = 0;
  for (; at < words.size() && words[at].starts_with("-"); ++at) {
    if (words[at] == "--") {
      ++at;
      break;
    }
    const size_t equals = words[at].find('=');
    const std::string name = words[at].substr(0, equals);
    // Counters of nvprof's are profile's.
    if (tool.name == "nvprof" && (name == "--metrics" || name == "-m" || name == "--kernels")) {
      if (run != profile_command) run = profile_command, command = "profile", given.clear();
      given.push_back(name == "--kernels" ? "-k" : "--metrics");
    } else {
      const auto row =
          std::ranges::find_if(tool.options, [&](const OptionRow& o) { return std::ranges::find(o.names, name) != o.names.end(); });
      if (row == tool.options.end())
        return fail(fmt::format("the option {} is not there; `warpbeam {} --help` tells what is", name, command));
      std::string value;
      if (row->has_value) {
        if (equals != std::string::npos) value = words[at].substr(equals + 1);
        else if (at + 1 < words.size()) value = words[++at];
        else return fail(fmt::format("argument expected after '{}'", name));
      }
      if (row->ours.empty() || (run == stats_command && row->ours == "-o" && tool.name == "nsys")) continue;
      given.emplace_back(row->ours);
      if (row->has_value) given.push_back(row->translate(value));
      continue;
    }
    if (equals != std::string::npos) given.push_back(words[at].substr(equals + 1));
    else if (at + 1 < words.size()) given.push_back(words[++at]);
    else return fail(fmt::format("argument expected after '{}'", name));
  }
  const bool asks = std::ranges::find(given, "--query-metrics") != given.end();
  if (at == words.size() && !asks) return fail("no program is named");
  if (!asks) given.push_back("--");
  given.insert(given.end(), words.begin() + static_cast<long>(at), words.end());
  return run(given);
}

}  // namespace

std::optional<int> tool_command(const std::string& name, const Arguments& arguments) {
  for (const ToolRow& tool : tools())
    if (tool.name == name) return run_tool(tool, arguments);
  return std::nullopt;
}

}  // namespace warpbeam::compiler

// `warpbeam timeline` and `warpbeam stats`: run a program on a device's time and show what happened when.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <ostream>

#include "base/machine_word.h"
#include "compiler/commands.h"
#include "compiler/options.h"
#include "compiler/process.h"
#include "compiler/temporary_directory.h"
#include "model/device.h"
#include "report/timeline.h"

namespace warpbeam::compiler {
namespace {

constexpr std::string_view kTimelineHelp = R"(Usage: warpbeam timeline [options] [nvcc options] PROGRAM.cu... [-- arguments]
       warpbeam timeline [options] EXECUTABLE [arguments]

Runs the program on the time that a GPU would take (docs/clock.md) and writes what its calls, kernels and copies did when.

  --device NAME     the GPU to be (default h200; `warpbeam devices` lists them)
  --host-scale X    how much of its own time host code takes there; 1 by default, or 0 for none
  -o FILE           where to: FILE.html is a page to look at; FILE.json is for Perfetto, chrome://tracing, TensorBoard and
                    HTA; FILE.sqlite has the tables of Nsight Systems' export; default: timeline.html. Of several processes
                    FILE.json and FILE.sqlite have all, and FILE.rank0.json or FILE.process1234.json one of them each; with
                    %r (its rank) or %p (its number) in FILE there are only the latter
  -h, --help        this text
)";

constexpr std::string_view kStatsHelp = R"(Usage: warpbeam stats [options] [nvcc options] PROGRAM.cu... [-- arguments]
       warpbeam stats [options] EXECUTABLE [arguments]

Runs the program on the time that a GPU would take (docs/clock.md) and prints tables of it, with the names and columns of
Nsight Systems' reports.

  -r, --report LIST    with commas between them; by default nvtx_sum, cuda_api_sum, cuda_gpu_kern_sum, cuda_gpu_mem_time_sum,
                       cuda_gpu_mem_size_sum. The others: cuda_gpu_trace, cuda_api_trace, cuda_gpu_sum, cuda_api_gpu_sum,
                       cuda_kern_exec_sum, cuda_kern_exec_trace, nvtx_pushpop_sum, nvtx_pushpop_trace, nvtx_gpu_proj_sum,
                       nvtx_gpu_proj_trace
  -f, --format FORMAT  table (default) or csv
  --print-summary, --print-gpu-trace, --print-api-trace
                       what nvprof prints, instead; in csv as with its --csv
  -o FILE              where to; default: the standard output, behind the program's
  --device NAME        the GPU to be (default h200; `warpbeam devices` lists them)
  --host-scale X       how much of its own time host code takes there; 1 by default, or 0 for none
  -h, --help           this text
)";

struct Request {
  std::string output, device, scale, reports, format;
  std::optional<report::NvprofForm> nvprof;
  bool help = false;
  Arguments program;  // what runs, with the compiler's options
};

struct NvprofOption {
  std::string_view name;
  report::NvprofForm form;
};
constexpr NvprofOption kNvprofForms[] = {{"--print-summary", report::NvprofForm::Summary},
                                         {"--print-gpu-trace", report::NvprofForm::GpuTrace},
                                         {"--print-api-trace", report::NvprofForm::ApiTrace}};

struct Option {
  std::vector<std::string_view> names;
  std::string Request::* value;
};

Result<Request> read_request(const Arguments& arguments, const std::vector<Option>& options) {
  Request request;
  for (size_t at = 0; at < arguments.size(); ++at) {
    const std::string& word = arguments[at];
    if (word == "--") {
      request.program.insert(request.program.end(), arguments.begin() + static_cast<long>(at), arguments.end());
      break;
    }
    const size_t equals = word.find('=');
    const std::string name = word.starts_with("--") ? word.substr(0, equals) : word;
    const auto option = std::ranges::find_if(options, [&](const Option& o) { return std::ranges::find(o.names, name) != o.names.end(); });
    if (option != options.end()) {
      if (name != word) request.*option->value = word.substr(equals + 1);
      else if (at + 1 < arguments.size()) request.*option->value = arguments[++at];
      else return Error{1, fmt::format("argument expected after '{}'", word)};
      continue;
    }
    if (word == "-h" || word == "--help") {
      request.help = true;
      continue;
    }
    if (const auto form = std::ranges::find(kNvprofForms, word, &NvprofOption::name); form != std::end(kNvprofForms)) {
      request.nvprof = form->form;
      continue;
    }
    std::vector<std::string_view> own;
    for (const Option& o : options)
      for (std::string_view n : o.names)
        if (n.starts_with("--")) own.push_back(n.substr(2));
    if (std::string wrong = option_meant(word, own); !wrong.empty()) return Error{1, wrong};
    request.program.push_back(word);
    if (!word.starts_with("-") && is_program(word)) {
      request.program.insert(request.program.end(), arguments.begin() + static_cast<long>(at) + 1, arguments.end());
      break;
    }
    if (takes_next_word(arguments, at)) request.program.push_back(arguments[++at]);
  }
  if (!request.scale.empty()) {
    char* end = nullptr;
    const double scale = std::strtod(request.scale.c_str(), &end);
    if (*end || !(scale >= 0 && scale <= 1e6))
      return Error{1, fmt::format("--host-scale '{}': a number from 0 to 1000000 was needed", request.scale)};
  }
  return request;
}

// Runs the program and hands its timelines to `show`. The exit status is the program's.
int run_recorded(const Request& request, std::string_view command,
                 const std::function<Result<bool>(const std::vector<report::Json>&)>& show) {
  auto fail = [&](const std::string& message) {
    fmt::print(stderr, "warpbeam {}: {}\n", command, message);
    return 1;
  };
  if (request.program.empty()) return fail(fmt::format("no program is named; `warpbeam {} --help` tells more", command));
  if (auto cc = chosen_cc(request.device); !cc) return fail(cc.error().message);
  auto made = TemporaryDirectory::make();
  if (!made) return fail(made.error().message);
  std::optional<TemporaryDirectory> folder(std::move(*made));
  setenv("WARPBEAM_CLOCK", "device", 1);
  setenv("WARPBEAM_MACHINE", machine_word().c_str(), 1);
  setenv("WARPBEAM_RECORDING", folder->path().c_str(), 1);
  if (!request.scale.empty()) setenv("WARPBEAM_HOST_SCALE", request.scale.c_str(), 1);
  if (!request.device.empty()) setenv("WARPBEAM_DEVICE", request.device.c_str(), 1);
  const int status = is_program(request.program[0]) ? run_executable(request.program[0], program_arguments(request.program, 0))
                                                    : run_command(request.program);
  if (!has_run_program()) return status;  // it could not be compiled, as has been said
  auto timelines = report::read_timelines(folder->path());
  if (!timelines) {
    fail(timelines.error().message);
    return status ? status : 1;
  }
  for (const report::Json& timeline : *timelines)
    if (const std::string end = timeline.value("cut_short", ""); !end.empty())
      fmt::print(stderr, "warpbeam {}: {} ended by {}; what is shown is up to there\n", command,
                 timelines->size() > 1 ? fmt::format("process {}", timeline["process"].get<int64_t>()) : "the program", end);
  for (const report::Json& timeline : *timelines)
    if (const auto count = timeline["left_out"].get<uint64_t>())
      fmt::print(stderr, "warpbeam {}: {} calls and operations are not in the timeline\n", command, count);
  folder.reset();
  if (auto done = show(*timelines); !done) return fail(done.error().message);
  return status;
}

// A process of its own name: by its rank, where it has one.
std::string own_name(const report::Json& timeline) {
  return timeline.contains("rank") ? fmt::format("rank{}", timeline["rank"].get<int>())
                                   : fmt::format("process{}", timeline["process"].get<int64_t>());
}

std::string with_own_name(const std::string& file, const std::string& name) {
  const std::filesystem::path path = file;
  return (path.parent_path() / fmt::format("{}.{}{}", path.stem().string(), name, path.extension().string())).string();
}

// FILE with %r and %p in it.
std::string filled_in(const std::string& file, const report::Json& timeline) {
  std::string all;
  for (size_t at = 0; at < file.size(); ++at) {
    const char next = file[at] == '%' && at + 1 < file.size() ? file[at + 1] : 0;
    if (next == 'p') all += fmt::to_string(timeline["process"].get<int64_t>());
    else if (next == 'r') all += fmt::to_string(timeline.value("rank", timeline.value("number", 0) - 1));
    else if (next == '%') all += '%';
    else all += file[at];
    at += next == 'p' || next == 'r' || next == '%';
  }
  return all;
}

Result<bool> write_timelines(const std::string& file, const std::vector<report::Json>& timelines) {
  const bool page = file.ends_with(".html") || file.ends_with(".htm");
  const bool tables = file.ends_with(".sqlite") || file.ends_with(".db");
  const auto write = [&](const std::string& name, const std::vector<report::Json>& those) -> Result<bool> {
    const auto done = tables ? report::write_sqlite(name, those) : write_to(name, [&](std::ostream& out) {
      page ? report::write_timeline_page(out, those) : report::write_kineto(out, those);
    });
    if (done && name != "-") fmt::print(stderr, "{}\n", name);
    return done;
  };
  if (file.find("%p") != file.npos || file.find("%r") != file.npos) {
    for (const report::Json& timeline : timelines)
      if (auto done = write(filled_in(file, timeline), {timeline}); !done) return done;
    return true;
  }
  // mpirun has started one of these for each rank, with the same words.
  const auto rank = rank_of_many();
  if (auto done = write(rank && file != "-" ? with_own_name(file, fmt::format("rank{}", rank->rank)) : file, timelines); !done) return done;
  if (timelines.size() < 2 || page || file == "-" || rank) return true;
  for (const report::Json& timeline : timelines)
    if (auto done = write(with_own_name(file, own_name(timeline)), {timeline}); !done) return done;
  return true;
}

}  // namespace

int timeline_command(const Arguments& arguments) {
  auto request = read_request(
      arguments, {{{"-o", "--output"}, &Request::output}, {{"--device"}, &Request::device}, {{"--host-scale"}, &Request::scale}});
  if (!request) {
    fmt::print(stderr, "warpbeam timeline: {}\n", request.error().message);
    return 1;
  }
  if (request->nvprof) {
    fmt::print(stderr, "warpbeam timeline: what nvprof prints comes from `warpbeam stats`\n");
    return 1;
  }
  if (request->help) {
    fmt::print("{}", kTimelineHelp);
    return 0;
  }
  const std::string output = request->output.empty() ? "timeline.html" : request->output;
  return run_recorded(*request, "timeline", [&](const std::vector<report::Json>& timelines) { return write_timelines(output, timelines); });
}

int stats_command(const Arguments& arguments) {
  auto fail = [](const std::string& message) {
    fmt::print(stderr, "warpbeam stats: {}\n", message);
    return 1;
  };
  auto request = read_request(arguments, {{{"-r", "--report"}, &Request::reports},
                                          {{"-f", "--format"}, &Request::format},
                                          {{"-o", "--output"}, &Request::output},
                                          {{"--device"}, &Request::device},
                                          {{"--host-scale"}, &Request::scale}});
  if (!request) return fail(request.error().message);
  if (request->help) {
    fmt::print("{}", kStatsHelp);
    return 0;
  }
  if (!request->format.empty() && request->format != "table" && request->format != "csv")
    return fail(fmt::format("--format '{}': table or csv", request->format));
  const auto format = request->format == "csv" ? report::StatsFormat::Csv : report::StatsFormat::Table;
  if (request->nvprof)
    return run_recorded(*request, "stats", [&](const std::vector<report::Json>& timelines) {
      return write_to(request->output.empty() ? "-" : request->output,
                      [&](std::ostream& out) { report::print_nvprof(out, timelines, *request->nvprof, format); });
    });
  std::vector<std::string> reports;
  const std::string wanted =
      request->reports.empty() ? "nvtx_sum,cuda_api_sum,cuda_gpu_kern_sum,cuda_gpu_mem_time_sum,cuda_gpu_mem_size_sum" : request->reports;
  for (size_t from = 0; from <= wanted.size();) {
    const size_t comma = std::min(wanted.find(',', from), wanted.size());
    reports.push_back(wanted.substr(from, comma - from));
    from = comma + 1;
  }
  const auto& known = report::stats_reports();
  for (const std::string& name : reports) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::vector<std::string_view> names(known.begin(), known.end());
    const auto near = nearest_name(name, names);
    return fail(fmt::format("there is no report '{}'{}", name,
                            near.empty() ? " (`warpbeam stats --help` lists them)" : fmt::format("; did you mean '{}'?", near)));
  }
  return run_recorded(*request, "stats", [&](const std::vector<report::Json>& timelines) {
    return write_to(request->output.empty() ? "-" : request->output, [&](std::ostream& out) {
      for (const std::string& name : reports) {
        if (format == report::StatsFormat::Csv && &name != &reports.front()) out << '\n';
        report::print_stats(out, timelines, name, format);
      }
    });
  });
}

}  // namespace warpbeam::compiler

// What each option does to the options as a whole: one function per group of the table.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "compiler/cccl.h"
#include "compiler/collected_options.h"
#include "compiler/host_compiler.h"
#include "compiler/split.h"

namespace warpbeam::compiler {

namespace {

Error bad_value(const OptionRow& row, const std::string& value, std::string_view allowed = "") {
  return Error{1,
               fmt::format("Value '{}' is not defined for option '{}' ({})", value, row.long_name, allowed.empty() ? row.value : allowed)};
}

// A row that says it works has to be in the function of its group.
Error forgotten(const OptionRow& row) { return Error{1, fmt::format("option '{}' is not implemented", row.long_name)}; }

// Of several phases to stop after, the first that a compilation reaches counts.
void set_phase(Collected& all, Phase phase, std::string_view suffix = "") {
  static constexpr std::pair<Phase, std::string_view> kOrder[] = {
      {Phase::Dependencies, ""},  {Phase::Preprocess, ""}, {Phase::Ptx, ""},         {Phase::Fatbin, ".cubin"},
      {Phase::Fatbin, ".fatbin"}, {Phase::HostText, ""},   {Phase::Object, ""},      {Phase::DeviceLink, ""},
      {Phase::Library, ""},       {Phase::Executable, ""}, {Phase::DeviceSyntax, ""}};
  const auto place = std::ranges::find(kOrder, std::pair{phase, suffix}) - kOrder;
  if (all.phase >= 0 && place >= all.phase) return;
  all.phase = static_cast<int>(place);
  all.options.phase = phase;
  all.options.cubin_suffix = suffix;
}

Result<void> apply_werror(Options& options, const std::string& value) {
  for (const auto& kind : split_commas(value)) {
    if (kind == "all-warnings") options.both.push_back("-Werror");
    else if (kind == "reorder") options.both.insert(options.both.end(), {"-Wreorder", "-Werror=reorder"});
    else if (kind == "deprecated-declarations") options.both.push_back("-Werror=deprecated-declarations");
    else if (kind == "ext-lambda-captures-this") options.both.push_back("-Werror=deprecated-this-capture");
    else if (kind == "cross-execution-space-call" || kind == "default-stream-launch" || kind == "missing-launch-bounds")
      continue;  // always an error, or a warning that clang never gives
    else
      return Error{1, fmt::format("-Werror {}: known are all-warnings, reorder, deprecated-declarations, cross-execution-space-call, "
                                  "ext-lambda-captures-this, default-stream-launch and missing-launch-bounds",
                                  kind)};
  }
  return {};
}

Result<void> apply_standard(Options& options, const std::string& value) {
  static const std::vector<std::string_view> known = {"c++03", "c++11", "c++14", "c++17", "c++20"};
  if (std::ranges::find(known, value) == known.end())
    return Error{1, fmt::format("Value '{}' is not defined for option 'std' (c++11, c++14, c++17, c++20)", value)};
  options.standard = value;
  if (value == "c++03") {
    options.standard = "c++11";
    options.warnings.push_back("-std=c++03 is raised to c++11, which the CUDA headers need");
  }
  return {};
}

Result<void> apply_phase(Collected& all, const OptionRow& row, const std::string& value) {
  Options& o = all.options;
  switch (row.id) {
    case OptionId::Compile: set_phase(all, Phase::Object); break;
    case OptionId::DeviceC:
      set_phase(all, Phase::Object);
      o.rdc = true;
      break;
    case OptionId::DeviceW:
      set_phase(all, Phase::Object);
      o.rdc = false;
      break;
    case OptionId::Cuda: set_phase(all, Phase::HostText); break;
    case OptionId::DeviceLink: set_phase(all, Phase::DeviceLink); break;
    case OptionId::Link: set_phase(all, Phase::Executable); break;
    case OptionId::Library: set_phase(all, Phase::Library); break;
    case OptionId::Ptx: set_phase(all, Phase::Ptx); break;
    case OptionId::Fatbin: set_phase(all, Phase::Fatbin, ".fatbin"); break;
    case OptionId::Cubin: set_phase(all, Phase::Fatbin, ".cubin"); break;
    case OptionId::Preprocess: set_phase(all, Phase::Preprocess); break;
    case OptionId::Dependencies: set_phase(all, Phase::Dependencies); break;
    case OptionId::UserDependencies:
      set_phase(all, Phase::Dependencies);
      o.dependencies.system = false;
      break;
    case OptionId::DeviceSyntaxOnly: set_phase(all, Phase::DeviceSyntax); break;
    case OptionId::DependenciesToo: o.dependencies.while_compiling = true; break;
    case OptionId::UserDependenciesToo:
      o.dependencies.while_compiling = true;
      o.dependencies.system = false;
      break;
    case OptionId::DependencyFile: o.dependencies.file = value; break;
    case OptionId::DependencyTarget: o.dependencies.target = value; break;
    case OptionId::DependencyPhony: o.dependencies.phony = true; break;
    case OptionId::Shared: o.shared = true; break;
    case OptionId::Run: o.run = true; break;
    case OptionId::RunArguments: append(o.run_arguments, split_words(value)); break;
    default: return forgotten(row);
  }
  return {};
}

Result<void> apply_file(Collected& all, const OptionRow& row, const std::string& value) {
  Options& o = all.options;
  switch (row.id) {
    case OptionId::Output: o.output = value; break;
    case OptionId::OutputDirectory: o.output_directory = value; break;
    case OptionId::Language:
      if (value != "c" && value != "c++" && value != "cu") return bad_value(row, value);
      all.language = value;
      break;
    case OptionId::PreInclude:
      for (auto& item : split_commas(value)) append(o.preprocessor, {"-include", item});
      break;
    case OptionId::IncludePath:
      for (auto& item : split_commas(value)) o.preprocessor.push_back("-I" + item);
      break;
    case OptionId::Cccl: {
      auto directory = cccl_directory(value);
      if (!directory) return directory.error();
      o.cccl = *directory;
      break;
    }
    case OptionId::SystemInclude:
      for (auto& item : split_commas(value)) append(o.preprocessor, {"-isystem", item});
      break;
    case OptionId::Define:
      for (auto& item : split_commas(value)) o.preprocessor.push_back("-D" + item);
      break;
    case OptionId::Undefine:
      for (auto& item : split_commas(value)) o.preprocessor.push_back("-U" + item);
      break;
    case OptionId::LibraryPath:
      for (auto& item : split_commas(value)) {
        o.linker.push_back("-L" + item);
        o.library_paths.push_back(item);
      }
      break;
    case OptionId::LinkLibrary:
      for (auto& item : split_commas(value)) all.paths.push_back("-l" + item);
      break;
    case OptionId::CudaRuntime:
      if (value != "none" && value != "shared" && value != "static") return bad_value(row, value);
      o.link_runtime = value != "none";
      break;
    case OptionId::Keep:
    case OptionId::SaveTemps: o.keep = true; break;
    case OptionId::KeepDirectory: o.keep_directory = value; break;
    case OptionId::TargetDirectory:
      if (value != "x86_64-linux") return bad_value(row, value, "x86_64-linux");
      break;
    default: return forgotten(row);
  }
  return {};
}

Result<void> apply_device(Collected& all, const OptionRow& row, const std::string& value) {
  Options& o = all.options;
  bool truth = value == "true";
  switch (row.id) {
    case OptionId::Arch: all.arch = value; break;
    case OptionId::Code: append(all.code, split_commas(value)); break;
    case OptionId::GenerateCode: all.gencode.push_back(value); break;
    case OptionId::Rdc: o.rdc = truth; break;
    case OptionId::MaxRegisters: {
      auto number = read_number(value, "-maxrregcount");
      if (!number) return number.error();
      o.max_registers = *number;
      break;
    }
    case OptionId::FastMath: o.precision = {true, false, false, true, true}; break;
    case OptionId::Ftz: o.precision.ftz = truth; break;
    case OptionId::PrecDiv: o.precision.prec_div = truth; break;
    case OptionId::PrecSqrt: o.precision.prec_sqrt = truth; break;
    case OptionId::Fmad: o.precision.fmad = truth; break;
    case OptionId::DefaultStream:
      if (value != "legacy" && value != "null" && value != "per-thread") return bad_value(row, value);
      o.per_thread_stream = value == "per-thread";
      break;
    case OptionId::DeviceDebug: o.device_debug = true; break;
    case OptionId::DeviceOptimise:
      if (value != "on") return bad_value(row, value, "on");
      o.device_optimise = true;
      break;
    case OptionId::RelaxedConstexpr: o.relaxed_constexpr = true; break;
    case OptionId::ExtendedLambda:
    case OptionId::ExptExtendedLambda: o.extended_lambda = true; break;
    case OptionId::NoDeviceLink: o.device_register = false; break;
    case OptionId::ResourceUsage: o.resource_usage = true; break;
    case OptionId::PtxasOptions: append(all.ptxas, split_words(value)); break;
    case OptionId::OptInfo:
      if (value != "inline") return bad_value(row, value, "inline");
      o.inline_remarks = true;
      break;
    default: return forgotten(row);
  }
  return {};
}

Result<void> apply_host(Collected& all, const OptionRow& row, const std::string& value) {
  Options& o = all.options;
  switch (row.id) {
    case OptionId::Optimise: {
      auto level = read_number(value, "-O");
      if (!level) return level.error();
      o.optimise = std::to_string(std::min(*level, 3));
      break;
    }
    case OptionId::Standard: return apply_standard(o, value);
    case OptionId::HostDebug: o.debug = true; break;
    case OptionId::Profile: o.profile = true; break;
    case OptionId::Machine:
      if (value != "64") return bad_value(row, value, "64; there is no 32-bit CUDA");
      break;
    case OptionId::NoExceptions: o.exceptions = false; break;
    case OptionId::TemplateDepth: o.both.push_back("-ftemplate-depth=" + value); break;
    case OptionId::TemplateBacktrace: o.both.push_back("-ftemplate-backtrace-limit=" + value); break;
    case OptionId::HostCompiler:
      if (!is_replaceable_compiler(value)) {
        auto flags = flags_of_wrapper(value);
        if (!flags) return flags.error();
        append(o.preprocessor, flags->preprocessor);
        append(o.host, flags->host);
        append(o.linker, flags->linker);
      }
      break;
    case OptionId::Archiver: o.archiver = value; break;
    case OptionId::CompilerOptions: append(o.host, split_words(value)); break;
    case OptionId::LinkerOptions:
      for (auto& item : split_words(value)) append(o.linker, {"-Xlinker", item});
      break;
    case OptionId::ArchiveOptions: append(o.archiver_options, split_words(value)); break;
    case OptionId::ForwardUnknown: all.forward_compiler = all.forward_linker = true; break;
    case OptionId::ForwardUnknownCompiler: all.forward_compiler = true; break;
    case OptionId::ForwardUnknownLinker: all.forward_linker = true; break;
    default: return forgotten(row);
  }
  return {};
}

Result<void> apply_message(Collected& all, const OptionRow& row, const std::string& value) {
  Options& o = all.options;
  switch (row.id) {
    case OptionId::NoWarnings: o.quiet = true; break;
    case OptionId::WarningsAreErrors: return apply_werror(o, value);
    case OptionId::WarnReorder: o.both.push_back("-Wreorder"); break;
    case OptionId::NoDeprecated: o.both.push_back("-Wno-deprecated-declarations"); break;
    case OptionId::WarnLambdaThis: o.both.push_back("-Wdeprecated-this-capture"); break;
    default: return forgotten(row);
  }
  return {};
}

Result<void> apply_driver(Collected& all, const OptionRow& row, const std::string& value) {
  Options& o = all.options;
  switch (row.id) {
    case OptionId::DryRun: o.dry_run = true; break;
    case OptionId::Verbose: o.verbose = true; break;
    case OptionId::Threads: {
      auto number = read_number(value, "--threads");
      if (!number) return number.error();
      o.threads = *number;
      break;
    }
    case OptionId::ListGpuCode: o.list_code = true; break;
    case OptionId::ListGpuArch: o.list_arch = true; break;
    case OptionId::Help: o.show_help = true; break;
    case OptionId::Version: o.show_version = true; break;
    default: return forgotten(row);
  }
  return {};
}

}  // namespace

Result<void> apply(Collected& all, const OptionRow& row, const std::string& value) {
  if (row.state == State::Nothing) return {};
  switch (row.group) {
    case Group::Phase: return apply_phase(all, row, value);
    case Group::Files: return apply_file(all, row, value);
    case Group::Device: return apply_device(all, row, value);
    case Group::Host: return apply_host(all, row, value);
    case Group::Messages: return apply_message(all, row, value);
    case Group::Driver: return apply_driver(all, row, value);
  }
  return {};
}

}  // namespace warpbeam::compiler

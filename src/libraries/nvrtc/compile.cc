#include "libraries/nvrtc/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "compiler/device_launches.h"
#include "compiler/options.h"
#include "compiler/passes.h"
#include "compiler/process.h"
#include "compiler/ptx_text.h"
#include "compiler/temporary_directory.h"
#include "libraries/nvvm/compile.h"

namespace warpbeam::nvrtc {

namespace fs = std::filesystem;
using compiler::Options;

namespace {

constexpr int kDefaultCc = 75;  // what toolkit 13 compiles for when nothing is said
constexpr const char* kNamePrefix = "wb_name_expression_";

// Options that nvcc spells otherwise, and those that choose how NVRTC works inside: nothing depends on the latter here.
struct Spelling {
  std::string_view nvrtc, nvcc;
};
constexpr Spelling kSpellings[] = {
    {"--device-c", "-dc"},
    {"--relocatable-device-code", "-rdc"},
    {"--disable-warnings", "-w"},
    {"--device-w", "-dw"},
};
constexpr std::string_view kWithoutEffect[] = {
    "--minimal",
    "-minimal",
    "--no-source-include",
    "-no-source-include",
    "--builtin-move-forward",
    "-builtin-move-forward",
    "--builtin-initializer-list",
    "-builtin-initializer-list",
    "--brief-diagnostics",
    "-brief-diag",
    "--time",
    "-time",
    "--split-compile",
    "-split-compile",
    "--fdevice-time-trace",
    "-fdevice-time-trace",
    "--pch",
    "-pch",
    "--create-pch",
    "-create-pch",
    "--use-pch",
    "-use-pch",
    "--pch-dir",
    "-pch-dir",
    "--pch-verbose",
    "-pch-verbose",
    "--pch-messages",
    "-pch-messages",
    "--instantiate-templates-in-pch",
    "-instantiate-templates-in-pch",
    "--no-cache",
    "-no-cache",
    "--frandom-seed",
    "-frandom-seed",
    "--modify-stack-limit",
    "-modify-stack-limit",
    "--device-int128",
    "-device-int128",
    "--device-float128",
    "-device-float128",
    "--gen-opt-lto",
    "-gen-opt-lto",
    "--optix-ir",
    "-optix-ir",
    "--jump-table-density",
    "-jtd",
    "--device-stack-protector",
    "-device-stack-protector",
    "--extensible-whole-program",
    "-ewp",
    "--display-error-number",
    "-err-no",
    "--no-display-error-number",
    "-no-err-no",
    "--diag-error",
    "-diag-error",
    "--diag-suppress",
    "-diag-suppress",
    "--diag-warn",
    "-diag-warn",
    "--extra-device-vectorization",
    "-extra-device-vectorization",
    "--restrict",
    "-restrict",
    "--ptxas-options",
    "-Xptxas",
    "--fdevice-syntax-only",
    "-fdevice-syntax-only",
    "--arch-list",
    "-arch-list",
    "--std-namespace",
};
constexpr std::string_view kForALink[] = {"--dlink-time-opt", "-dlto"};
constexpr std::string_view kDeviceByDefault[] = {"--device-as-default-execution-space", "-default-device"};

bool among(std::string_view option, auto& list) { return std::ranges::find(list, option.substr(0, option.find('='))) != std::end(list); }

struct Words {
  std::vector<std::string> nvcc;
  bool device_by_default = false, for_a_link = false;
};

// Options as nvcc takes them. One string may hold an option and its value.
Words words_of(const std::vector<std::string>& options) {
  Words words;
  for (std::string option : options) {
    option.erase(0, option.find_first_not_of(' '));
    while (option.ends_with(' ')) option.pop_back();
    if (option.empty() || among(option, kWithoutEffect)) continue;
    if (among(option, kDeviceByDefault)) {
      words.device_by_default = true;
      continue;
    }
    if (among(option, kForALink)) {
      words.for_a_link = !option.ends_with("=false");
      continue;
    }
    for (const Spelling& spelling : kSpellings)
      if (option.substr(0, option.find('=')) == spelling.nvrtc) option.replace(0, spelling.nvrtc.size(), spelling.nvcc);
    size_t space = option.find(' ');
    words.nvcc.push_back(option.substr(0, space));
    if (space != option.npos) words.nvcc.push_back(option.substr(option.find_first_not_of(' ', space)));
  }
  return words;
}

void write_file(const fs::path& path, const std::string& text) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  std::ofstream(path, std::ios::binary) << text;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The place of a header below the include directory, whatever its name says.
fs::path header_place(const std::string& name) {
  fs::path place = fs::path(name).lexically_normal().relative_path();
  return place.empty() || *place.begin() == ".." ? place.filename() : place;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + "\"";
}

// The text, and behind it a pointer per name expression: its initial value in the PTX is the name asked for, and
// templates are instantiated by it.
std::string text_of(const Source& source, bool device_by_default) {
  std::string text;
  // Our headers read the macro: what they include is not the program's.
  if (device_by_default) text += "#define WARPBEAM_DEVICE_BY_DEFAULT 1\n#pragma clang force_cuda_host_device begin\n";
  text += fmt::format("#line 1 {}\n{}\n", quoted(source.name), source.text);
  for (size_t i = 0; i < source.name_expressions.size(); ++i)
    text += fmt::format("#line 1 \"name expression\"\n__device__ __attribute__((used)) auto const {}{} = {};\n", kNamePrefix, i,
                        source.name_expressions[i]);
  if (device_by_default) text += "#pragma clang force_cuda_host_device end\n";
  return text;
}

size_t after_digits(std::string_view text, size_t at) { return std::min(text.find_first_not_of("0123456789", at), text.size()); }

// Lines may be long, as those of tables of numbers are: no regular expressions, which would go as deep as these are
// long.
struct Message {
  std::string_view file, line, kind, text;
};
std::optional<Message> message_in(std::string_view line) {
  for (size_t colon = line.find(':'); colon != line.npos; colon = line.find(':', colon + 1)) {
    const size_t row = after_digits(line, colon + 1);
    if (row == colon + 1 || row >= line.size() || line[row] != ':') continue;
    const size_t column = after_digits(line, row + 1);
    if (column == row + 1 || !line.substr(column).starts_with(": ")) continue;
    const std::string_view rest = line.substr(column + 2);
    for (std::string_view kind : {"error", "warning", "note", "fatal error"})
      if (rest.starts_with(kind) && rest.substr(kind.size()).starts_with(": "))
        return Message{line.substr(0, colon), line.substr(colon + 1, row - colon - 1), kind, rest.substr(kind.size() + 2)};
  }
  return std::nullopt;
}

// Programs read the name of a header that is missing out of NVRTC's log, give it that header and try again.
std::optional<std::string_view> missing_header(std::string_view text) {
  constexpr std::string_view kMissing = "' file not found";
  const size_t end = text.find(kMissing);
  return text.starts_with("'") && end != text.npos ? std::optional(text.substr(1, end - 1)) : std::nullopt;
}

constexpr std::string_view kLaunchToClang = "reference to __global__ function";

// `file:3:5: error: …` as NVRTC prints it: `file(3): error: …`; then the count of errors. Headers that the program gave as texts, below
// `given`, have the names that it gave them.
std::string log_of(const std::string& messages, const std::string& name, const std::string& given) {
  std::string log, line;
  int errors = 0;
  std::istringstream lines(messages);
  while (std::getline(lines, line)) {
    for (size_t at = line.find(given); at != line.npos; at = line.find(given, at)) line.erase(at, given.size());
    if (const std::optional<Message> m = message_in(line)) {
      errors += m->kind.ends_with("error");
      if (const auto missing = missing_header(m->text))
        line = fmt::format("{}({}): catastrophic error: cannot open source file \"{}\"", m->file, m->line, *missing);
      else if (m->text.starts_with(kLaunchToClang))
        line = fmt::format(
            "{}({}): error: kernel launch from __device__ or __global__ functions requires separate compilation mode (-rdc=true or -dc)",
            m->file, m->line);
      else line = fmt::format("{}({}): {}: {}", m->file, m->line, m->kind, m->text);
    }
    if (line.find(" generated.") != line.npos || line.find(" generated when compiling") != line.npos) continue;
    log += line + "\n";
  }
  if (errors) log += fmt::format("{} error{} detected in the compilation of {}.\n", errors, errors == 1 ? "" : "s", quoted(name));
  return log;
}

// What `…PREFIX7 = name;` or `…PREFIX7 = generic(name);` points at, from behind the prefix on.
struct Pointer {
  size_t index;
  std::string_view name;
};
std::optional<Pointer> pointer_in(std::string_view text) {
  constexpr std::string_view kIs = " = ", kGeneric = "generic(";
  const size_t digits = after_digits(text, 0);
  size_t index = 0;
  if (std::from_chars(text.data(), text.data() + digits, index).ec != std::errc() || !text.substr(digits).starts_with(kIs))
    return std::nullopt;
  text.remove_prefix(digits + kIs.size());
  if (text.starts_with(kGeneric)) text.remove_prefix(kGeneric.size());
  const size_t end = std::min(text.find_first_of(");"), text.size());
  const bool named =
      std::all_of(text.begin(), text.begin() + end, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '$' || c == '%'; });
  if (end == 0 || !named || std::isdigit(static_cast<unsigned char>(text[0])) || !text.ends_with(";")) return std::nullopt;
  return Pointer{index, text.substr(0, end)};
}

// Takes the pointers of text_of out of the PTX and gives what they pointed at.
void take_lowered_names(const Source& source, Compiled& compiled) {
  const std::string_view prefix = kNamePrefix, ptx = compiled.ptx;
  std::string rest;
  size_t kept = 0;
  for (size_t at = ptx.find(prefix); at != ptx.npos; at = ptx.find(prefix, at + prefix.size())) {
    const size_t end = std::min(ptx.find('\n', at), ptx.size());
    const std::optional<Pointer> pointer = pointer_in(ptx.substr(at + prefix.size(), end - at - prefix.size()));
    if (!pointer || end == ptx.size()) continue;
    if (pointer->index < source.name_expressions.size()) compiled.lowered_names[source.name_expressions[pointer->index]] = pointer->name;
    const size_t line = ptx.rfind('\n', at) + 1;
    rest += ptx.substr(kept, line - kept);
    kept = end + 1;
  }
  rest += ptx.substr(kept);
  compiled.ptx = std::move(rest);
}

// Ours is the host's library under another name.
bool brings_a_libcudacxx(const Options& options) {
  const std::vector<std::string>& words = options.preprocessor;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool apart = words[i] == "-I" || words[i] == "-isystem";
    if (!apart && !words[i].starts_with("-I")) continue;
    const fs::path place = apart ? i + 1 < words.size() ? words[i + 1] : "" : words[i].substr(2);
    std::error_code none;
    if (fs::exists(place / "cuda" / "std" / "__cccl" / "compiler.h", none)) return true;
  }
  return false;
}

// NVRTC takes an empty argument at the end of a template's (`extents<int, >`, as texts are put together from lists), which is none. Gives
// whether there was one; for texts that clang does not take as they are.
bool drop_empty_arguments(std::string& text) {
  bool any = false;
  for (size_t comma = text.find(','); comma != text.npos; comma = text.find(',', comma + 1)) {
    const size_t next = text.find_first_not_of(" \t\r\n", comma + 1);
    if (next == text.npos || text[next] != '>') continue;
    text[comma] = ' ';
    any = true;
  }
  return any;
}

// The pass in which launches of device code are calls (compiler/device_launches.h), where the text has such launches. They want code that
// is linked, as with NVRTC.
std::optional<compiler::Command> launching_pass(const Options& options, const fs::path& input, const std::string& output) {
  if (!options.rdc || compiler::find_device_launches(read_file(input)) == compiler::DeviceLaunches::None) return std::nullopt;
  const std::string text_file = fs::path(input).replace_extension(".cui").string();
  const compiler::Command preprocess = compiler::preprocess_device(options, input.string(), options.targets.front(), text_file, nullptr);
  compiler::run_commands({&preprocess, 1}, 1);
  const std::string text = read_file(text_file);  // empty where it could not be made: the plain pass says why
  if (compiler::find_device_launches(text) != compiler::DeviceLaunches::Found) return std::nullopt;
  write_file(text_file, compiler::rewrite_for_device(text));
  return compiler::rewritten_device_pass(options, input.string(), options.targets.front(), text_file, output);
}

// The same as bitcode, which an nvJitLink with -lto takes.
compiler::Command as_bitcode(compiler::Command command, const std::string& ptx, const std::string& bitcode) {
  for (std::string& word : command.words) {
    if (word == "-S") word = "-c";
    if (word == ptx) word = bitcode;
  }
  command.words.insert(command.words.end(), {"-emit-llvm"});
  return command;
}

Compiled failure(nvrtcResult result, std::string log) {
  Compiled compiled;
  compiled.result = result;
  compiled.log = std::move(log);
  return compiled;
}

}  // namespace

Compiled compile(const Source& source, const std::vector<std::string>& given) {
  auto place = compiler::TemporaryDirectory::make();
  if (!place) return failure(NVRTC_ERROR_PROGRAM_CREATION_FAILURE, place.error().message);
  const fs::path directory = place->path();
  Words words = words_of(given);
  const fs::path input = directory / "source.cu", output = directory / "source.ptx";
  words.nvcc.insert(words.nvcc.end(), {"-ptx", input.string(), "-o", output.string()});
  auto options = compiler::parse_options(words.nvcc, kDefaultCc);
  if (!options) return failure(NVRTC_ERROR_INVALID_OPTION, fmt::format("nvrtc: error: {}\n", options.error().message));
  options->prelude = "prelude_rtc.h";
  if (brings_a_libcudacxx(*options))
    options->preprocessor.insert(options->preprocessor.end(), {"-DWARPBEAM_WITH_ITS_OWN_LIBRARY", "-nostdlibinc"});
  std::string quote_directory = fs::path(source.name).parent_path().string();
  options->preprocessor.insert(options->preprocessor.begin(), {"-iquote", quote_directory.empty() ? "." : quote_directory});
  // Of the warnings that NVRTC has on: variables of functions.
  options->device.insert(options->device.end(), {"-Wunused-variable", "-Wno-unused-const-variable"});
  // What NVRTC has built in comes before what the program includes by -include.
  options->preprocessor.insert(options->preprocessor.begin(), {"-include", compiler::header_ahead(options->prelude)});
  // Ahead of copies of the vendor's headers in the program's own directories.
  options->preprocessor.insert(options->preprocessor.begin(), "-I" + compiler::toolchain().include_directory + "/warpbeam/instead");
  options->preprocessor.insert(options->preprocessor.begin(), "-I" + (directory / "include").string());

  for (const Header& header : source.headers) write_file(directory / "include" / header_place(header.name), header.text);
  std::string text = text_of(source, words.device_by_default);
  const fs::path bitcode = directory / "source.bc";
  // The program may ignore SIGCHLD or wait for every child; clang writes a PTX text only when all is well.
  std::error_code none;
  const auto failed = [&](const compiler::Outcome& o) {
    return o.status == compiler::kUnknownStatus ? !fs::exists(output, none) : o.status != 0;
  };
  const auto run = [&] {
    write_file(input, text);
    const auto launching = launching_pass(*options, input, output.string());
    const compiler::Command command =
        launching ? *launching : compiler::device_pass(*options, input.string(), options->targets.front(), output.string(), nullptr);
    std::vector<compiler::Command> commands = {command};
    if (words.for_a_link) commands.push_back(as_bitcode(command, output.string(), bitcode.string()));
    return compiler::run_commands(commands, 2).front();
  };
  compiler::Outcome outcome = run();
  if (failed(outcome) && drop_empty_arguments(text))
    if (const compiler::Outcome again = run(); !failed(again)) outcome = again;

  Compiled compiled;
  for (const std::string& warning : options->warnings) compiled.log += fmt::format("nvrtc: warning: {}\n", warning);
  compiled.log += log_of(outcome.messages, source.name, (directory / "include").string() + "/");
  if (failed(outcome)) {
    compiled.result = NVRTC_ERROR_COMPILATION;
    if (compiled.log.find("name expression(") != std::string::npos && compiled.log.find(source.name + "(") == std::string::npos)
      compiled.result = NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
    return compiled;
  }
  compiled.ptx = read_file(output);
  if (words.for_a_link) compiled.linkable = nvvm::kLinkable + read_file(bitcode);
  take_lowered_names(source, compiled);
  compiler::adjust_ptx(compiled.ptx, *options);
  compiled.real_architecture = std::ranges::any_of(given, [](const std::string& option) {
    return (option.starts_with("--gpu-architecture") || option.starts_with("-arch")) && option.find("sm_") != option.npos;
  });
  return compiled;
}

}  // namespace warpbeam::nvrtc

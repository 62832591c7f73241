// `warpbeam ptxas`: stands in for the assembler where compilers call it. It checks the PTX, and packs it for the loader.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <sstream>

#include "assembly/machine_code.h"
#include "compiler/commands.h"
#include "compiler/kernel_needs.h"
#include "compiler/process.h"
#include "compiler/stand_in.h"
#include "fatbin/write.h"
#include "ptx/module.h"

namespace warpbeam::compiler {
namespace {

constexpr std::string_view kHelp = R"(Usage: ptxas [options] FILE.ptx...

Checks PTX and writes it into a container that cuModuleLoad takes: the machine runs PTX.

  -o, --output-file FILE   (default: elf.o)
  -arch, --gpu-name sm_NN  (default: what the text is written for)
  -v, --verbose            registers, shared memory and stack of every function: an estimate, as `warpbeam assembly` makes it
  -maxrregcount N          registers a thread may have, for the estimate
  --input-as-string TEXT   PTX in place of a file
  -V, --version

Other options of the assembler's are taken and change nothing.
)";

// Options with a value in the next word; all others have it behind '=' or have none.
constexpr std::array kWithValue = {"-o",
                                   "--output-file",
                                   "-arch",
                                   "--gpu-name",
                                   "-maxrregcount",
                                   "--maxrregcount",
                                   "-O",
                                   "--opt-level",
                                   "-ias",
                                   "--input-as-string",
                                   "-m",
                                   "--machine",
                                   "-optf",
                                   "--options-file",
                                   "-e",
                                   "--entry",
                                   "-ec",
                                   "--override-directive-values",
                                   "--split-compile",
                                   "-split-compile",
                                   "--regAllocOptLevel",
                                   "--def-load-cache",
                                   "-dlcm",
                                   "--def-store-cache",
                                   "-dscm",
                                   "--tool-name",
                                   "--device-stack-protector",
                                   "--position-independent-code",
                                   "-Ofc"};

struct Request {
  std::vector<std::string> files, texts;
  std::string output = "elf.o";
  int cc = 0, most = 0;
  bool verbose = false, help = false, version = false;
};

// 90 of sm_90a, compute_90, lto_90.
std::optional<int> number_of(const std::string& arch) {
  const size_t line = arch.find('_');
  const std::string digits = line == arch.npos ? "" : arch.substr(line + 1);
  const int cc = std::atoi(digits.c_str());
  return cc ? std::optional(cc) : std::nullopt;
}

Result<Request> read_request(const Arguments& arguments) {
  Request r;
  for (size_t at = 0; at < arguments.size(); ++at) {
    std::string word = arguments[at], value;
    if (!word.starts_with("-") || word == "-") {
      r.files.push_back(word);
      continue;
    }
    if (const size_t equals = word.find('='); equals != word.npos) {
      value = word.substr(equals + 1);
      word.resize(equals);
    } else if (std::ranges::find(kWithValue, word) != kWithValue.end()) {
      if (at + 1 == arguments.size()) return Error{1, fmt::format("argument expected after '{}'", word)};
      value = arguments[++at];
    }
    if (word == "-o" || word == "--output-file") r.output = value;
    else if (word == "-ias" || word == "--input-as-string") r.texts.push_back(value);
    else if (word == "-maxrregcount" || word == "--maxrregcount") r.most = std::atoi(value.c_str());
    else if (word == "-v" || word == "--verbose") r.verbose = true;
    else if (word == "-h" || word == "--help") r.help = true;
    else if (word == "-V" || word == "--version") r.version = true;
    else if (word == "-arch" || word == "--gpu-name") {
      const auto cc = number_of(value);
      if (!cc) return Error{1, fmt::format("Value '{}' is not defined for option 'gpu-name'", value)};
      r.cc = *cc;
    }
  }
  return r;
}

void describe(const ptx::Module& module, int cc, int most) {
  uint64_t global = 0;
  for (const ptx::Variable& v : module.variables)
    if (v.space == isa::Space::Global) global += v.size;
  fmt::print(stderr, "ptxas info    : {} bytes gmem\n", global);
  for (const ptx::Function& f : module.functions) {
    if (!f.has_body) continue;
    assembly::Target target = assembly::target_of(f, cc, 255, 65536);
    if (most > 0) target.max_registers = std::min(target.max_registers, static_cast<uint32_t>(std::max(most, 16)));
    const assembly::MachineCode code = assembly::assemble(module, f, target);
    uint64_t stack = 0, barriers = 0;
    for (const ptx::Variable& v : f.locals)
      if (v.space == isa::Space::Local) stack += v.size;
    for (const ptx::Instruction& i : f.body)
      if (i.form.row->opcode == "bar" || i.form.row->opcode == "barrier") barriers = 1;
    if (f.entry) fmt::print(stderr, "ptxas info    : Compiling entry function '{}' for 'sm_{}'\n", f.name, cc);
    fmt::print(stderr,
               "ptxas info    : Function properties for {}\n    {} bytes stack frame, {} bytes spill stores, {} bytes spill loads\n",
               f.name, stack + code.spill_bytes, code.spill_bytes, code.spill_bytes);
    if (!f.entry) continue;
    const uint64_t shared = static_shared_of(module, f);
    fmt::print(stderr, "ptxas info    : Used {} registers, used {} barriers{}\n", code.registers, barriers,
               shared ? fmt::format(", {} bytes smem", shared) : "");
  }
}

int fatal(std::string_view text) {
  fmt::print(stderr, "ptxas fatal   : {}\n", text);
  return 255;
}

}  // namespace

int ptxas_command(const Arguments& arguments) {
  auto request = read_request(arguments);
  if (!request) return fatal(request.error().message);
  if (request->help) {
    fmt::print("{}", kHelp);
    return 0;
  }
  if (request->version) return fmt::print("{}", stand_in_version("ptxas: NVIDIA (R) Ptx optimizing assembler")), 0;
  for (const std::string& file : request->files) {
    std::ifstream in(file, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    if (!in) return fatal(fmt::format("Could not open input file '{}'", file));
    request->texts.push_back(text.str());
  }
  if (request->texts.empty()) return fatal("An input file needs to be specified");
  std::vector<fatbin::Text> entries;
  size_t wrong = 0;
  for (size_t i = 0; i < request->texts.size(); ++i) {
    std::string& text = request->texts[i];
    text.resize(std::min(text.size(), text.find('\0')));
    const ptx::ParseResult parsed = ptx::parse(text);
    const size_t first_file = request->texts.size() - request->files.size();
    const std::string name = i < first_file ? "<string>" : request->files[i - first_file];
    for (const ptx::Diagnostic& d : parsed.diagnostics) fmt::print(stderr, "ptxas {}, line {}; error   : {}\n", name, d.at.line, d.message);
    wrong += parsed.diagnostics.size();
    if (!parsed.diagnostics.empty()) continue;
    const int cc = request->cc ? request->cc : parsed.module->target_sm;
    if (parsed.module->target_sm > cc)
      return fatal(fmt::format("'{}' is written for sm_{}, and code for sm_{} is asked for", name, parsed.module->target_sm, cc));
    if (request->verbose) describe(*parsed.module, cc, request->most);
    entries.push_back({cc, text});
  }
  if (wrong) return fatal("Ptx assembly aborted due to errors");
  std::ofstream out(request->output, std::ios::binary);
  out << fatbin::write(entries);
  out.close();
  return out ? 0 : fatal(fmt::format("Could not write '{}'", request->output));
}

}  // namespace warpbeam::compiler

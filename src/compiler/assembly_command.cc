// `warpbeam assembly`: what an assembler would make of a program's kernels, beside their PTX and their source. An estimate.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "assembly/text.h"
#include "base/demangle.h"
#include "compiler/arch.h"
#include "compiler/build.h"
#include "compiler/commands.h"
#include "compiler/options.h"
#include "compiler/process.h"
#include "compiler/temporary_directory.h"
#include "ptx/module.h"

namespace warpbeam::compiler {
namespace {

constexpr std::string_view kHelp = R"(Usage: warpbeam assembly [options] FILE.cu|FILE.ptx

What the machine instructions of the kernels would be, about: an estimate made from PTX alone, which the models of time and
occupancy rest on. In the order in which they would stand, block by block, with their registers, beside the PTX that each
comes from and the source line.

  -arch=sm_NN           for which GPUs (default: those of WARPBEAM_DEVICE, or of the PTX text)
  -k, --kernel NAME     only kernels whose name contains it
  -maxrregcount N       registers a thread may have
  --csv                 a line for every instruction, for programs that read it

"wait" is how many cycles an instruction waits at least for those before it, and for whom where that is not fixed.
)";

int fail(const std::string& message) {
  fmt::print(stderr, "warpbeam assembly: {}\n", message);
  return 1;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::ranges::replace(line, '\t', ' ');
    if (size_t comment = line.find("//"); comment != line.npos) line.resize(comment);
    const size_t first = line.find_first_not_of(' '), last = line.find_last_not_of(' ');
    lines.push_back(first == line.npos ? "" : line.substr(first, last - first + 1));
  }
  return lines;
}

class Listing {
 public:
  explicit Listing(const ptx::Module& module) : module_(module), text_(lines_of(module.text)) {}

  void print(const ptx::Function& f, const assembly::MachineCode& code) {
    std::vector<char> shown(f.body.size() + 1);
    std::pair<uint32_t, uint32_t> place{0, 0};
    for (size_t b = 0; b < code.blocks.size(); ++b) {
      const assembly::MachineBlock& block = code.blocks[b];
      if (block.text.empty()) continue;
      fmt::print("\nblock {}\n  wait  {:<42} {:<44} source\n", b, "machine", "PTX");
      print(f, block.text, shown, place);
      if (block.turns > 1) {
        fmt::print("\nblock {}, {} turns at once\n", b, block.turns);
        print(f, block.unrolled, shown, place);
      }
    }
  }

 private:
  void print(const ptx::Function& f, const assembly::MachineText& text, std::vector<char>& shown, std::pair<uint32_t, uint32_t>& place) {
    const std::vector<assembly::Wait> waits = assembly::waits_of(text);
    for (size_t k = 0; k < text.size(); ++k) {
      const assembly::MachineInstruction& i = text[k];
      std::string ptx, source;
      if (i.ptx < f.body.size()) {
        const ptx::Instruction& from = f.body[i.ptx];
        if (!shown[i.ptx] && from.at.line && from.at.line <= text_.size()) ptx = text_[from.at.line - 1];
        shown[i.ptx] = 1;
        if (from.line && std::pair{from.file, from.line} != place) {
          place = {from.file, from.line};
          source = fmt::format("{}  {}", from.line, source_line(from.file, from.line));
        }
      }
      const std::string wait = waits[k].on.empty() ? fmt::format("{}", waits[k].cycles) : std::string(waits[k].on);
      fmt::print("{}\n", trimmed(fmt::format("{:>6}  {:<42} {:<44} {}", wait, assembly::text_of(i), ptx, source)));
    }
  }
  static std::string trimmed(std::string line) {
    while (line.ends_with(' ')) line.pop_back();
    return line;
  }
  const std::string& source_line(uint32_t file, uint32_t line) {
    static const std::string kNone;
    auto [it, fresh] = sources_.try_emplace(file);
    if (fresh && file < module_.files.size()) {
      std::ifstream in(module_.files[file]);
      std::stringstream text;
      text << in.rdbuf();
      it->second = lines_of(text.str());
    }
    return line <= it->second.size() ? it->second[line - 1] : kNone;
  }

  const ptx::Module& module_;
  const std::vector<std::string> text_;
  std::map<uint32_t, std::vector<std::string>> sources_;
};

// Blocks without instructions of their own have a line too.
void print_rows(const ptx::Function& f, const assembly::MachineCode& code) {
  for (size_t b = 0; b < code.blocks.size(); ++b) {
    const assembly::MachineBlock& block = code.blocks[b];
    const auto row = [&](std::string_view part, const std::string& rest) {
      const uint32_t line = block.begin < block.end ? f.body[block.begin].at.line : 0;
      fmt::print("{},{},{},{},{},{},{},{},{},{},{}\n", f.name, code.registers, b, block.begin, block.end, line, block.folded_into,
                 block.turns, part, rest, code.spill_bytes);
    };
    if (block.text.empty()) row("none", ",,");
    for (const assembly::MachineInstruction& i : block.text) row("once", fmt::format("{},{},{}", i.ptx, name_of(i.operation), i.mnemonic));
    for (const assembly::MachineInstruction& i : block.unrolled)
      row("turns", fmt::format("{},{},{}", i.ptx, name_of(i.operation), i.mnemonic));
  }
}

struct Request {
  std::string file, kernel, arch;
  int most = 0;
  bool rows = false;
};

}  // namespace

int assembly_command(const Arguments& arguments) {
  Request r;
  for (size_t at = 0; at < arguments.size(); ++at) {
    std::string word = arguments[at], value;
    if (word == "-h" || word == "--help") {
      fmt::print("{}", kHelp);
      return 0;
    }
    if (!word.starts_with("-")) {
      if (!r.file.empty()) return fail(fmt::format("one file at a time: '{}' and '{}'", r.file, word));
      r.file = word;
      continue;
    }
    if (word == "--csv") {
      r.rows = true;
      continue;
    }
    if (size_t equals = word.find('='); equals != word.npos) {
      value = word.substr(equals + 1);
      word.resize(equals);
    } else if (at + 1 < arguments.size()) {
      value = arguments[++at];
    }
    if (word == "-arch" || word == "--arch" || word == "--gpu-architecture") r.arch = value;
    else if (word == "-k" || word == "--kernel") r.kernel = value;
    else if (word == "-maxrregcount" || word == "--maxrregcount") r.most = std::atoi(value.c_str());
    else return fail(fmt::format("unknown option '{}'", word));
  }
  if (r.file.empty()) return fail("a file is needed");
  int cc = 0;
  if (!r.arch.empty()) {
    auto arch = parse_arch(r.arch);
    if (!arch) return fail(arch.error().message);
    cc = arch->cc;
  }
  auto folder = TemporaryDirectory::make();
  if (!folder) return fail(folder.error().message);
  std::string text_file = r.file;
  if (!r.file.ends_with(".ptx")) {
    if (!cc) {
      auto chosen = chosen_cc("");
      if (!chosen) return fail(chosen.error().message);
      cc = *chosen;
    }
    text_file = folder->file("program.ptx");
    auto options =
        parse_options({"-ptx", r.arch.empty() ? fmt::format("-arch=sm_{}", cc) : "-arch=" + r.arch, "-o", text_file, r.file}, cc);
    if (!options) return fail(options.error().message);
    options->for_times = true;
    if (build(*options)) return fail(fmt::format("'{}' could not be compiled", r.file));
  }
  std::ifstream in(text_file);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) return fail(fmt::format("cannot read '{}'", r.file));
  const ptx::ParseResult parsed = ptx::parse(text.str());
  if (!parsed.diagnostics.empty()) return fail(fmt::format("{}: {}", r.file, ptx::describe(parsed.diagnostics[0])));
  if (!cc) cc = parsed.module->target_sm;
  Listing listing(*parsed.module);
  if (r.rows) fmt::print("function,registers,block,begin,end,line,folded_into,turns,part,ptx,operation,mnemonic,spilled\n");
  int shown = 0;
  for (const ptx::Function& f : parsed.module->functions) {
    const std::string name = demangled(f.name);
    if (!f.has_body || (name.find(r.kernel) == name.npos && f.name.find(r.kernel) == name.npos)) continue;
    assembly::Target target = assembly::target_of(f, cc, 255, 65536);
    if (r.most > 0) target.max_registers = std::min(target.max_registers, static_cast<uint32_t>(std::max(r.most, 16)));
    const assembly::MachineCode code = assembly::assemble(*parsed.module, f, target);
    if (r.rows) {
      ++shown;
      print_rows(f, code);
      continue;
    }
    fmt::print("{}{} for sm_{}, an estimate: {} registers, {}, {} instructions\n", shown++ ? "\n" : "", name, cc, code.registers,
               code.spill_bytes ? fmt::format("{} bytes spilled", code.spill_bytes) : "no spills", code.instructions());
    listing.print(f, code);
  }
  if (!shown) return fail(fmt::format("'{}' has no kernel{}", r.file, r.kernel.empty() ? "" : " whose name contains '" + r.kernel + "'"));
  return 0;
}

}  // namespace warpbeam::compiler

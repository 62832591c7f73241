// `warpbeam cuobjdump` and `warpbeam fatbinary`: what stands in a program's fat binaries, and one made of parts, with the toolkit's options and forms.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "compiler/commands.h"
#include "compiler/object_file.h"
#include "compiler/stand_in.h"
#include "fatbin/contents.h"
#include "fatbin/format.h"
#include "fatbin/linked.h"
#include "fatbin/write.h"

namespace warpbeam::compiler {
namespace {

constexpr std::string_view kDumpHelp = R"(Usage: cuobjdump [options] FILE...

What stands in the fat binaries of programs, libraries, archives, objects and cubins.

  -ptx,  --dump-ptx            the PTX
  -lptx, --list-ptx            its files
  -xptx, --extract-ptx NAME    writes those whose names hold NAME (all: every one)
  -lelf, --list-elf            entries with machine code, which nothing but the vendor's GPUs runs
  -arch, --gpu-architecture sm_NN   of this one only
  -V, --version
)";

constexpr std::string_view kMakeHelp = R"(Usage: fatbinary --create=FILE --image3=kind=ptx|elf,sm=NN,file=FILE...

Makes a fat binary. Images are PTX, or what ptxas made of it.

  --create FILE                where it is written
  --image3 kind=…,sm=…,file=…  an image; also --image=profile=sm_NN,file=… and --image=profile=compute_NN,file=…
  --embedded-fatbin FILE       the same as C, for a host's compiler
  -V, --version

Other options of fatbinary's are taken and change nothing.
)";

void print_tool_version(std::string_view tool) { fmt::print("{}", stand_in_version(fmt::format("{}: NVIDIA (R)", tool))); }

// 90 of sm_90a, compute_90 and 90.
int number_of(std::string_view arch) {
  if (const size_t line = arch.find('_'); line != arch.npos) arch.remove_prefix(line + 1);
  int cc = 0;
  std::from_chars(arch.data(), arch.data() + arch.size(), cc);
  return cc;
}

struct Entry {
  int cc = 0;
  std::optional<std::string> ptx;  // none: machine code
  bool packed = false;
};

// Of the text's own `.target`, for those without a header that says it.
int target_of(const std::string& ptx) {
  const size_t at = ptx.find(".target");
  return at == ptx.npos ? 0 : number_of(std::string_view(ptx).substr(at, ptx.find('\n', at) - at));
}

// Containers lie in sections of their own, in members of archives, or are the file: their magic number finds them all.
Result<std::vector<Entry>> entries_of(const std::string& bytes) {
  std::vector<Entry> out;
  if (bytes.starts_with("WBLINKED")) {
    if (!fatbin::linked_fits(bytes)) return Error{1, "it is cut short"};
    for (std::string& text : fatbin::unpack_linked(bytes.data())) out.push_back({target_of(text), std::move(text), false});
    return out;
  }
  const std::string_view magic(reinterpret_cast<const char*>(&fatbin::kMagic), sizeof fatbin::kMagic);
  for (size_t at = bytes.find(magic); at != bytes.npos; at = bytes.find(magic, at + magic.size())) {
    const std::string container = bytes.substr(at, std::min(bytes.size() - at, sizeof(fatbin::ContainerHeader)));
    fatbin::ContainerHeader header;
    if (container.size() < sizeof header) break;
    std::memcpy(&header, container.data(), sizeof header);
    if (header.header_size != sizeof header || header.size > bytes.size() - at - sizeof header) continue;
    // At a place that is aligned, whatever the file's is.
    const std::string whole = bytes.substr(at, sizeof header + header.size);
    if (!fatbin::fits(whole)) continue;
    const auto contents = fatbin::read(whole.data());
    if (!contents) continue;
    for (const int cc : contents->machine_code) out.push_back({cc, std::nullopt, false});
    for (const auto& ptx : contents->ptx) {
      auto text = fatbin::text_of(ptx);
      if (!text) return text.error();
      text->resize(std::min(text->size(), text->find('\0')));
      out.push_back({ptx.cc, std::move(*text), ptx.packing != fatbin::Contents::Packing::None});
    }
    at += sizeof header + header.size - magic.size();
  }
  if (out.empty() && bytes.find(".version") != bytes.npos && bytes.find('\0') == bytes.npos)
    out.push_back({target_of(bytes), bytes, false});
  return out;
}

std::string version_in(const std::string& ptx) {
  const size_t at = ptx.find(".version");
  if (at == ptx.npos) return "?";
  const size_t from = ptx.find_first_of("0123456789", at), end = ptx.find_first_not_of("0123456789.", from);
  std::string version = ptx.substr(from, end - from);
  std::ranges::replace(version, '.', ',');
  return version;
}

void print_ptx(const Entry& e) {
  fmt::print(
      "\nFatbin ptx code:\n================\narch = sm_{}\ncode version = [{}]\nhost = linux\ncompile_size = 64bit\n{}ptxasOptions = \n\n{}\n",
      e.cc, version_in(*e.ptx), e.packed ? "compressed\n" : "", *e.ptx);
}

int fail(std::string_view tool, std::string_view text) {
  fmt::print(stderr, "{} fatal   : {}\n", tool, text);
  return 255;
}

struct Dump {
  std::vector<std::string> files;
  std::string extract;
  bool ptx = false, list_ptx = false, list_elf = false;
  int cc = 0;
};

Result<Dump> read_dump(const Arguments& arguments) {
  Dump d;
  for (size_t at = 0; at < arguments.size(); ++at) {
    std::string word = arguments[at], value;
    const size_t equals = word.starts_with("-") ? word.find('=') : word.npos;
    if (equals != word.npos) {
      value = word.substr(equals + 1);
      word.resize(equals);
    }
    const auto with_value = [&]() -> Result<std::string> {
      if (equals != word.npos && equals < arguments[at].size()) return value;
      if (at + 1 == arguments.size()) return Error{1, fmt::format("argument expected after '{}'", word)};
      return arguments[++at];
    };
    if (!word.starts_with("-")) d.files.push_back(word);
    else if (word == "-ptx" || word == "--dump-ptx") d.ptx = true;
    else if (word == "-lptx" || word == "--list-ptx") d.list_ptx = true;
    else if (word == "-lelf" || word == "--list-elf") d.list_elf = true;
    else if (word == "-all" || word == "--all-fatbin") continue;
    else if (word == "-xptx" || word == "--extract-ptx") {
      auto name = with_value();
      if (!name) return name.error();
      d.extract = *name;
    } else if (word == "-arch" || word == "--gpu-architecture") {
      auto arch = with_value();
      if (!arch) return arch.error();
      if (!(d.cc = number_of(*arch))) return Error{1, fmt::format("Value '{}' is not defined for option 'gpu-architecture'", *arch)};
    } else if (word == "-sass" || word == "--dump-sass" || word == "-elf" || word == "--dump-elf" || word == "-xelf" ||
               word == "--extract-elf" || word == "-res-usage" || word == "--dump-resource-usage")
      return Error{1, fmt::format("'{}' is about machine code, which Warpbeam neither makes nor reads: -ptx shows what is run, "
                                  "and `warpbeam assembly` an estimate of the machine code",
                                  word)};
    else return Error{1, fmt::format("Unknown option '{}'", word)};
  }
  if (d.files.empty()) return Error{1, "No input files specified"};
  if (!d.ptx && !d.list_ptx && !d.list_elf && d.extract.empty()) d.ptx = true;
  return d;
}

}  // namespace

int cuobjdump_command(const Arguments& arguments) {
  const auto asks = [&](std::string_view a, std::string_view b) {
    return std::ranges::any_of(arguments, [&](auto& w) { return w == a || w == b; });
  };
  if (asks("-h", "--help")) return fmt::print("{}", kDumpHelp), 0;
  if (asks("-V", "--version")) return print_tool_version("cuobjdump"), 0;
  const auto dump = read_dump(arguments);
  if (!dump) return fail("cuobjdump", dump.error().message);
  for (const std::string& file : dump->files) {
    const auto bytes = read_file(file);
    if (!bytes) return fail("cuobjdump", fmt::format("Could not open input file '{}'", file));
    const auto entries = entries_of(*bytes);
    if (!entries) return fail("cuobjdump", fmt::format("'{}': {}", file, entries.error().message));
    if (entries->empty()) {
      fmt::print(stderr, "cuobjdump info    : File '{}' does not contain device code\n", file);
      continue;
    }
    const std::string base = file.substr(file.rfind('/') + 1);
    int texts = 0, codes = 0;
    for (const Entry& e : *entries) {
      const int number = e.ptx ? ++texts : ++codes;
      if (dump->cc && e.cc != dump->cc) continue;
      const std::string name = fmt::format("{}.{}.sm_{}.{}", base, number, e.cc, e.ptx ? "ptx" : "cubin");
      if (!e.ptx) {
        if (dump->list_elf) fmt::print("ELF file {:>4}: {}\n", number, name);
        continue;
      }
      if (dump->list_ptx) fmt::print("PTX file {:>4}: {}\n", number, name);
      if (dump->ptx) print_ptx(e);
      if (!dump->extract.empty() && (dump->extract == "all" || name.find(dump->extract) != name.npos)) {
        fmt::print("Extracting PTX file {:>4}: {}\n", number, name);
        if (!write_file(name, *e.ptx)) return fail("cuobjdump", fmt::format("Could not write '{}'", name));
      }
    }
  }
  return 0;
}

int fatbinary_command(const Arguments& arguments) {
  std::string create, embedded;
  std::vector<fatbin::Text> texts;
  for (size_t at = 0; at < arguments.size(); ++at) {
    std::string word = arguments[at], value;
    word.erase(0, word.starts_with("--") ? 2 : word.starts_with("-") ? 1 : 0);
    const size_t equals = word.find('=');
    if (equals != word.npos) {
      value = word.substr(equals + 1);
      word.resize(equals);
    } else if (word == "create" || word == "c" || word == "image" || word == "image3" || word == "embedded-fatbin" || word == "cmdline" ||
               word == "ident") {
      if (at + 1 == arguments.size()) return fail("fatbinary", fmt::format("argument expected after '{}'", arguments[at]));
      value = arguments[++at];
    }
    if (word == "h" || word == "help") return fmt::print("{}", kMakeHelp), 0;
    if (word == "V" || word == "version") return print_tool_version("fatbinary"), 0;
    if (word == "create" || word == "c") create = value;
    if (word == "embedded-fatbin") embedded = value;
    if (word != "image" && word != "image3") continue;
    int cc = 0;
    std::string file;
    for (size_t from = 0; from < value.size();) {
      const size_t end = std::min(value.find(',', from), value.size());
      const std::string part = value.substr(from, end - from);
      if (part.starts_with("sm=") || part.starts_with("profile=")) cc = number_of(part.substr(part.find('=') + 1));
      if (part.starts_with("file=")) file = part.substr(5);
      from = end + 1;
    }
    if (!cc || file.empty()) return fail("fatbinary", fmt::format("'{}' names no architecture or no file", value));
    const auto bytes = read_file(file);
    if (!bytes) return fail("fatbinary", fmt::format("Could not open input file '{}'", file));
    const auto entries = entries_of(*bytes);
    if (!entries) return fail("fatbinary", fmt::format("'{}': {}", file, entries.error().message));
    const size_t before = texts.size();
    for (const Entry& e : *entries)
      if (e.ptx && std::ranges::none_of(texts, [&](auto& t) { return t.cc == cc && t.ptx == *e.ptx; })) texts.push_back({cc, *e.ptx});
    if (entries->empty() || (texts.size() == before && std::ranges::none_of(*entries, [](auto& e) { return e.ptx.has_value(); })))
      return fail("fatbinary", fmt::format("'{}' holds no PTX: machine code runs on the vendor's GPUs only", file));
  }
  if (texts.empty()) return fail("fatbinary", "No images specified");
  if (create.empty() && embedded.empty()) return fail("fatbinary", "No output file specified");
  const std::string made = fatbin::write(texts);
  if (!create.empty() && !write_file(create, made)) return fail("fatbinary", fmt::format("Could not write '{}'", create));
  if (!embedded.empty()) {
    std::string c =
        "#define __CUDAFATBINSECTION  \".nvFatBinSegment\"\n#define __CUDAFATBINDATASECTION  \".nv_fatbin\"\nstatic const unsigned long long "
        "__attribute__((section(__CUDAFATBINDATASECTION), aligned(8))) fatbinData[] = {";
    for (size_t at = 0; at < made.size(); at += 8) {
      uint64_t word = 0;
      std::memcpy(&word, made.data() + at, std::min<size_t>(8, made.size() - at));
      c += fmt::format("{:#x}ull,", word);
    }
    c += fmt::format(
        "}};\ntypedef struct {{ int magic, version; const unsigned long long* data; void* more; }} __fatBinC_Wrapper_t;\nstatic const "
        "__fatBinC_Wrapper_t __attribute__((section(__CUDAFATBINSECTION), aligned(8))) __fatDeviceText = {{ {:#x}, 1, fatbinData, 0 }};\n",
        fatbin::kWrapperMagic);
    if (!write_file(embedded, c)) return fail("fatbinary", fmt::format("Could not write '{}'", embedded));
  }
  return 0;
}

}  // namespace warpbeam::compiler

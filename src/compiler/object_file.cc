#include "compiler/object_file.h"

#include <elf.h>
#include <errno.h>
#include <fmt/format.h>
#include <string.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

namespace warpbeam::compiler {

namespace {

// Bounds-checked views into an ELF file.
struct ElfView {
  std::string_view bytes;
  std::vector<Elf64_Shdr> sections;
  std::string_view names;

  std::string_view contents(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS || section.sh_offset > bytes.size() || section.sh_size > bytes.size() - section.sh_offset) return {};
    return bytes.substr(section.sh_offset, section.sh_size);
  }
  static std::string_view text_at(std::string_view strings, size_t at) {
    if (at >= strings.size()) return {};
    auto rest = strings.substr(at);
    return rest.substr(0, rest.find('\0'));
  }
  const Elf64_Shdr* find(std::string_view name) const {
    for (const auto& section : sections)
      if (text_at(names, section.sh_name) == name) return &section;
    return nullptr;
  }
};

Result<ElfView> view_elf(std::string_view bytes, const std::string& name) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header || bytes.substr(0, SELFMAG) != ELFMAG) return Error{1, fmt::format("{} is not an object file", name)};
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64)
    return Error{1, fmt::format("{} is not an object for x86-64", name)};
  ElfView view{bytes, {}, {}};
  if (header.e_shoff == 0) return view;
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > bytes.size())
    return Error{1, fmt::format("{} has a damaged section table", name)};
  // Past 65279 sections the count and the index of the names stand in the first section header.
  Elf64_Shdr first{};
  if (bytes.size() - header.e_shoff >= sizeof first) std::memcpy(&first, bytes.data() + header.e_shoff, sizeof first);
  uint64_t count = header.e_shnum ? header.e_shnum : first.sh_size;
  uint64_t names_index = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
  if (count > (bytes.size() - header.e_shoff) / sizeof(Elf64_Shdr) || names_index >= count)
    return Error{1, fmt::format("{} has a damaged section table", name)};
  view.sections.resize(count);
  std::memcpy(view.sections.data(), bytes.data() + header.e_shoff, count * sizeof(Elf64_Shdr));
  view.names = view.contents(view.sections[names_index]);
  return view;
}

struct ArchiveMember {
  std::string name;
  std::string_view bytes;
  std::string storage;  // a thin archive's member
};

constexpr std::string_view kArchiveMagic = "!<arch>\n";
constexpr std::string_view kThinMagic = "!<thin>\n";
constexpr size_t kArchiveHeader = 60;

std::string_view trimmed(std::string_view field) {
  auto end = field.find_last_not_of(' ');
  return end == field.npos ? std::string_view{} : field.substr(0, end + 1);
}

// The name of a member: "name/", or "/123" into the table of long names.
std::string member_name(std::string_view field, std::string_view long_names) {
  field = trimmed(field);
  if (field.size() > 1 && field[0] == '/') {
    size_t at = 0;
    std::from_chars(field.data() + 1, field.data() + field.size(), at);
    if (at >= long_names.size()) return {};
    auto rest = long_names.substr(at);
    return std::string(rest.substr(0, rest.find("/\n")));
  }
  return std::string(field.substr(0, field.find('/')));
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path)) return Error{1, fmt::format("cannot read {}: {}", path, strerror(errno))};
  std::stringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

Result<void> write_file(const std::string& path, std::string_view contents) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  out.close();
  if (out) return {};
  const int why = errno;
  std::error_code none;
  if (std::filesystem::is_regular_file(path, none)) unlink(path.c_str());  // half of one must not be taken for it
  return Error{1, fmt::format("cannot write {}: {}", path, strerror(why))};
}

Result<ObjectFile> read_object(std::string_view bytes, std::string name) {
  auto view = view_elf(bytes, name);
  if (!view) return view.error();
  ObjectFile object{std::move(name), {}, {}, {}};
  if (const auto* section = view->find(kRelocatableSection)) object.device_code = view->contents(*section);
  for (const auto& section : view->sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= view->sections.size()) continue;
    auto strings = view->contents(view->sections[section.sh_link]);
    auto table = view->contents(section);
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= table.size(); at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, table.data() + at, sizeof symbol);
      auto binding = ELF64_ST_BIND(symbol.st_info);
      if (binding == STB_LOCAL) continue;
      std::string text(ElfView::text_at(strings, symbol.st_name));
      if (text.empty()) continue;
      if (symbol.st_shndx != SHN_UNDEF) object.defined.insert(text);
      else if (binding != STB_WEAK) object.undefined.insert(text);
    }
  }
  return object;
}

bool is_archive(std::string_view bytes) { return bytes.starts_with(kArchiveMagic) || bytes.starts_with(kThinMagic); }

Result<std::vector<ObjectFile>> read_archive(std::string_view bytes, const std::string& path) {
  bool thin = bytes.starts_with(kThinMagic);
  std::vector<ObjectFile> objects;
  std::string_view long_names;
  size_t at = kArchiveMagic.size();
  while (at + kArchiveHeader <= bytes.size()) {
    auto header = bytes.substr(at, kArchiveHeader);
    at += kArchiveHeader;
    uint64_t size = 0;
    auto digits = trimmed(header.substr(48, 10));
    std::from_chars(digits.data(), digits.data() + digits.size(), size);
    auto field = header.substr(0, 16);
    bool index = field.starts_with("/ ") || field.starts_with("/SYM64/");
    bool names = field.starts_with("// ");
    bool inside = !thin || index || names;
    if (inside && size > bytes.size() - at) return Error{1, fmt::format("the archive {} is cut short", path)};
    auto contents = inside ? bytes.substr(at, size) : std::string_view{};
    if (inside) at += size + size % 2;
    if (index) continue;
    if (names) {
      long_names = contents;
      continue;
    }
    std::string name = member_name(field, long_names);
    std::string storage;
    if (!inside) {
      auto file = read_file((std::filesystem::path(path).parent_path() / name).string());
      if (!file) return file.error();
      storage = std::move(*file);
      contents = storage;
    }
    if (!contents.starts_with(ELFMAG)) continue;  // LLVM bitcode and the like hold no device code of ours
    auto object = read_object(contents, fmt::format("{}({})", path, name));
    if (!object) return object.error();
    objects.push_back(std::move(*object));
  }
  return objects;
}

Result<bool> replace_section(std::string& object, std::string_view section, std::string_view contents) {
  auto view = view_elf(object, "the host object");
  if (!view) return view.error();
  const Elf64_Shdr* found = view->find(section);
  if (!found) return false;
  Elf64_Shdr changed = *found;
  size_t index = found - view->sections.data();
  // The new contents go to the end of the file; the old bytes stay behind, a few hundred of them.
  constexpr size_t kAlignment = 16;
  object.resize((object.size() + kAlignment - 1) / kAlignment * kAlignment, '\0');
  changed.sh_offset = object.size();
  changed.sh_size = contents.size();
  Elf64_Ehdr header;
  std::memcpy(&header, object.data(), sizeof header);
  std::memcpy(object.data() + header.e_shoff + index * sizeof changed, &changed, sizeof changed);
  object += contents;
  return true;
}

void rename_unit(std::string& object, std::string_view id) {
  constexpr std::string_view mark = "__cudaRegisterLinkedBinary__nv_";
  auto at = object.find(mark);
  if (at == object.npos) return;
  // Clang prints its hash without leading zeros, so the number of digits differs from file to file.
  auto begin = at + mark.size();
  auto end = object.find_first_not_of("0123456789abcdef", begin);
  if (end == object.npos || end == begin || end - begin > id.size()) return;
  std::string old = "__nv_" + object.substr(begin, end - begin);
  std::string renamed = "__nv_" + std::string(id.substr(id.size() - (end - begin)));
  for (at = object.find(old); at != object.npos; at = object.find(old, at + old.size())) object.replace(at, old.size(), renamed);
}

}  // namespace warpbeam::compiler

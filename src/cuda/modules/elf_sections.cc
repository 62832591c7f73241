#include "cuda/modules/elf_sections.h"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace warpbeam::cuda {

namespace {

struct Range {
  std::string section;
  uintptr_t begin, end;
};

struct Module {
  uintptr_t base = 0;
  std::string path;
  bool found = false;
};

Module module_of(const void* address) {
  struct Search {
    uintptr_t address;
    Module module;
  } search{reinterpret_cast<uintptr_t>(address), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* search = static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type != PT_LOAD || search->address < begin || search->address >= begin + segment.p_memsz) continue;
          // The program itself has no name here.
          std::string path = info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
          search->module = {info->dlpi_addr, path, true};
          return 1;
        }
        return 0;
      },
      &search);
  return search.module;
}

std::vector<Range> read_sections(const Module& module) {
  std::vector<Range> ranges;
  std::ifstream file(module.path, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header) || header.e_shentsize != sizeof(Elf64_Shdr) ||
      header.e_shstrndx >= header.e_shnum)
    return ranges;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  file.seekg(static_cast<std::streamoff>(header.e_shoff));
  if (!file.read(reinterpret_cast<char*>(sections.data()), static_cast<std::streamsize>(sections.size() * sizeof(Elf64_Shdr))))
    return ranges;
  std::string names(sections[header.e_shstrndx].sh_size, '\0');
  file.seekg(static_cast<std::streamoff>(sections[header.e_shstrndx].sh_offset));
  if (!file.read(names.data(), static_cast<std::streamsize>(names.size()))) return ranges;
  for (const auto& section : sections)
    if ((section.sh_flags & SHF_ALLOC) && section.sh_name < names.size())
      ranges.push_back({names.c_str() + section.sh_name, module.base + section.sh_addr, module.base + section.sh_addr + section.sh_size});
  return ranges;
}

}  // namespace

std::optional<SectionRange> section_around(const void* address, std::string_view section) {
  static std::mutex mutex;
  static auto* known = new std::map<std::pair<uintptr_t, std::string>, std::vector<Range>>;  // by load address and file
  Module module = module_of(address);
  if (!module.found) return std::nullopt;
  std::lock_guard lock(mutex);
  auto [entry, fresh] = known->try_emplace({module.base, module.path});
  if (fresh) entry->second = read_sections(module);
  auto at = reinterpret_cast<uintptr_t>(address);
  for (const Range& range : entry->second)
    if (range.section == section && at >= range.begin && at < range.end)
      return SectionRange{reinterpret_cast<const void*>(range.begin), range.end - range.begin};
  return std::nullopt;
}

}  // namespace warpbeam::cuda

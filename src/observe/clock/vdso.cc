#include "observe/clock/vdso.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace warpbeam::observe {
namespace {

// mov r11, target; jmp r11
constexpr size_t kJump = 13;
void write_jump(uint8_t* at, const void* target) {
  constexpr uint8_t kMove[] = {0x49, 0xbb}, kGo[] = {0x41, 0xff, 0xe3};
  std::memcpy(at, kMove, sizeof kMove);
  std::memcpy(at + 2, &target, sizeof target);
  std::memcpy(at + 10, kGo, sizeof kGo);
}

ElfW(auxv_t) * vdso_entry(int argc, char** argv) {
  char** at = argv + argc + 1;
  while (*at) ++at;
  for (auto* entry = reinterpret_cast<ElfW(auxv_t)*>(at + 1); entry->a_type != AT_NULL; ++entry)
    if (entry->a_type == AT_SYSINFO_EHDR) return entry;
  return nullptr;
}

// A copy of the image, whose functions lead to those of the names or to the ones they were copied from: these find what they
// need beside themselves. Null: it is not as expected.
uint8_t* copy_of(const uint8_t* image, std::span<const Replacement> replacements) {
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(image);
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return nullptr;
  const auto* parts = reinterpret_cast<const ElfW(Phdr)*>(image + header->e_phoff);
  const ElfW(Phdr)* loaded = nullptr;
  const ElfW(Dyn)* dynamic = nullptr;
  for (size_t k = 0; k < header->e_phnum; ++k) {
    if (parts[k].p_type == PT_LOAD && !loaded) loaded = &parts[k];
    if (parts[k].p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(image + parts[k].p_offset);
  }
  if (!loaded || !dynamic || loaded->p_offset != 0) return nullptr;
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  const auto place = [&](uint64_t address) { return image + (address - loaded->p_vaddr); };
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(place(dynamic->d_un.d_ptr));
    if (dynamic->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(place(dynamic->d_un.d_ptr));
  }
  // The linker puts the names behind the symbols.
  if (!symbols || !names || reinterpret_cast<const char*>(symbols) >= names) return nullptr;
  const auto count = static_cast<size_t>(names - reinterpret_cast<const char*>(symbols)) / sizeof *symbols;
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), size = (loaded->p_memsz + page - 1) / page * page;
  void* const fresh = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) return nullptr;
  auto* copy = static_cast<uint8_t*>(fresh);
  std::memcpy(copy, image, loaded->p_memsz);
  for (size_t k = 0; k < count; ++k) {
    const ElfW(Sym)& symbol = symbols[k];
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF || symbol.st_size < kJump) continue;
    const char* name = names + symbol.st_name;
    // "clock_gettime" is another name of __vdso_clock_gettime.
    const auto same = [&](const Replacement& r) {
      return !std::strcmp(r.name, name) || (!std::strncmp(name, "__vdso_", 7) && !std::strcmp(r.name, name + 7));
    };
    const auto replacement = std::ranges::find_if(replacements, same);
    const uint64_t offset = symbol.st_value - loaded->p_vaddr;
    write_jump(copy + offset, replacement != replacements.end() ? replacement->function : static_cast<const void*>(image + offset));
  }
  mprotect(copy, size, PROT_READ | PROT_EXEC);
  return copy;
}

}  // namespace

void replace_vdso(std::span<const Replacement> replacements, int argc, char** argv) {
  if (!argv) return;
  ElfW(auxv_t)* const entry = vdso_entry(argc, argv);
  if (!entry || !entry->a_un.a_val) return;
  if (const uint8_t* copy = copy_of(reinterpret_cast<const uint8_t*>(entry->a_un.a_val), replacements))
    entry->a_un.a_val = reinterpret_cast<uint64_t>(copy);
}

}  // namespace warpbeam::observe

#include "observe/clock/imports.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <string_view>
#include <vector>

namespace warpbeam::observe {
namespace {

// Their own waiting has to stay on real time; what they hand out is replaced where it is asked for.
constexpr std::string_view kLeftAlone[] = {"libc.",    "libc-",     "libm.",  "libm-",    "libpthread", "librt",   "ld-linux", "linux-vdso",
                                           "libdl",    "libstdc++", "libc++", "libgcc_s", "libomp",     "libgomp", "libiomp",  "libmpi",
                                           "libopen-", "libpmix",   "libuc",  "libLLVM",  "libclang",   "libasan", "libtsan"};

struct Module {
  ElfW(Addr) base = 0;
  std::string_view file;
  const ElfW(Phdr) * headers = nullptr;
  size_t count = 0;

  bool holds(uint64_t address) const {
    for (size_t k = 0; k < count; ++k)
      if (headers[k].p_type == PT_LOAD && address - (base + headers[k].p_vaddr) < headers[k].p_memsz) return true;
    return false;
  }
  bool protects(uint64_t address) const {  // once it is loaded
    for (size_t k = 0; k < count; ++k)
      if (headers[k].p_type == PT_GNU_RELRO && address - (base + headers[k].p_vaddr) < headers[k].p_memsz) return true;
    return false;
  }
};

void write_word(const Module& module, uint64_t address, uint64_t value) {
  static const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  void* const begin = reinterpret_cast<void*>(address / page * page);
  const bool read_only = module.protects(address);
  if (read_only && mprotect(begin, page, PROT_READ | PROT_WRITE)) return;
  __atomic_store_n(reinterpret_cast<uint64_t*>(address), value, __ATOMIC_RELEASE);
  if (read_only) mprotect(begin, page, PROT_READ);
}

struct Dynamic {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * tables[2] = {};
  size_t sizes[2] = {};
};

Dynamic dynamic_part(const Module& module) {
  Dynamic found;
  for (size_t k = 0; k < module.count; ++k) {
    if (module.headers[k].p_type != PT_DYNAMIC) continue;
    // The loader has made addresses of what were offsets.
    for (auto* entry = reinterpret_cast<const ElfW(Dyn)*>(module.base + module.headers[k].p_vaddr); entry->d_tag != DT_NULL; ++entry) {
      const auto at = entry->d_un.d_ptr;
      switch (entry->d_tag) {
        case DT_SYMTAB: found.symbols = reinterpret_cast<const ElfW(Sym)*>(at); break;
        case DT_STRTAB: found.names = reinterpret_cast<const char*>(at); break;
        case DT_JMPREL: found.tables[0] = reinterpret_cast<const ElfW(Rela)*>(at); break;
        case DT_PLTRELSZ: found.sizes[0] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
        case DT_RELA: found.tables[1] = reinterpret_cast<const ElfW(Rela)*>(at); break;
        case DT_RELASZ: found.sizes[1] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
        default: break;
      }
    }
  }
  return found;
}

void redirect(const Module& module, std::span<const Replacement> replacements) {
  const Dynamic dynamic = dynamic_part(module);
  if (!dynamic.symbols || !dynamic.names) return;
  for (int table = 0; table < 2; ++table)
    for (size_t k = 0; dynamic.tables[table] && k < dynamic.sizes[table]; ++k) {
      const ElfW(Rela)& entry = dynamic.tables[table][k];
      const auto type = ELF64_R_TYPE(entry.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) continue;
      const ElfW(Sym)& symbol = dynamic.symbols[ELF64_R_SYM(entry.r_info)];
      if (symbol.st_shndx != SHN_UNDEF) continue;
      const char* name = dynamic.names + symbol.st_name;
      const auto replacement = std::ranges::find_if(replacements, [&](const Replacement& r) { return !std::strcmp(r.name, name); });
      if (replacement != replacements.end())
        write_word(module, module.base + entry.r_offset, reinterpret_cast<uint64_t>(replacement->function));
    }
}

}  // namespace

void redirect_imports(std::span<const Replacement> replacements) {
  static std::mutex mutex;
  static auto& seen = *new std::set<std::pair<ElfW(Addr), const void*>>;
  std::lock_guard lock(mutex);
  std::vector<Module> modules;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        static_cast<std::vector<Module>*>(data)->push_back(
            {info->dlpi_addr, info->dlpi_name ? info->dlpi_name : "", info->dlpi_phdr, info->dlpi_phnum});
        return 0;
      },
      &modules);
  // Those on top of the runtime are in its folder.
  std::string_view ours;
  for (const Module& module : modules)
    if (module.holds(reinterpret_cast<uint64_t>(&redirect_imports))) ours = module.file.substr(0, module.file.rfind('/') + 1);
  for (const Module& module : modules) {
    if (!seen.insert({module.base, module.headers}).second || module.holds(reinterpret_cast<uint64_t>(&redirect_imports))) continue;
    const std::string_view name = module.file.substr(module.file.rfind('/') + 1);
    if (!ours.empty() && module.file.starts_with(ours)) continue;
    if (std::ranges::any_of(kLeftAlone, [&](std::string_view each) { return name.starts_with(each); })) continue;
    redirect(module, replacements);
  }
}

}  // namespace warpbeam::observe

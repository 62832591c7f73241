// Which functions of time are not the system's: every slot by which a module that is loaded calls one, and what dlsym says, before the
// runtime is used and after. Prints how many slots there are and how many lead elsewhere than to the C library and the vdso.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

__global__ void work(int* p) { *p += 1; }

static const char* const kNames[] = {"clock_gettime", "gettimeofday", "time", "clock", "times", "getrusage", "timespec_get", "nanosleep",
                                     "clock_nanosleep", "usleep", "sleep", "poll", "select", "syscall", "dlsym", "dlvsym", "getauxval"};

struct Seen {
  int slots = 0, elsewhere = 0;
};

static bool is_the_systems(void* function) {
  Dl_info info;
  if (!dladdr(function, &info) || !info.dli_fname) return false;
  const char* slash = strrchr(info.dli_fname, '/');
  const char* name = slash ? slash + 1 : info.dli_fname;
  return !strncmp(name, "libc.", 5) || !strncmp(name, "libc-", 5) || !strncmp(name, "linux-vdso", 10) || !strncmp(name, "ld-linux", 8) ||
         !strncmp(name, "libdl", 5);
}

static int look(dl_phdr_info* module, size_t, void* data) {
  Seen& seen = *(Seen*)data;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int k = 0; k < module->dlpi_phnum; ++k)
    if (module->dlpi_phdr[k].p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn)*)(module->dlpi_addr + module->dlpi_phdr[k].p_vaddr);
  if (!dynamic || strstr(module->dlpi_name, "vdso")) return 0;
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela)* tables[2] = {};
  size_t sizes[2] = {};
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    const auto at = dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_SYMTAB) symbols = (const ElfW(Sym)*)at;
    if (dynamic->d_tag == DT_STRTAB) names = (const char*)at;
    if (dynamic->d_tag == DT_JMPREL) tables[0] = (const ElfW(Rela)*)at;
    if (dynamic->d_tag == DT_PLTRELSZ) sizes[0] = at / sizeof(ElfW(Rela));
    if (dynamic->d_tag == DT_RELA) tables[1] = (const ElfW(Rela)*)at;
    if (dynamic->d_tag == DT_RELASZ) sizes[1] = at / sizeof(ElfW(Rela));
  }
  if (!symbols || !names) return 0;
  for (int t = 0; t < 2; ++t)
    for (size_t k = 0; tables[t] && k < sizes[t]; ++k) {
      const auto type = ELF64_R_TYPE(tables[t][k].r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) continue;
      const ElfW(Sym)& symbol = symbols[ELF64_R_SYM(tables[t][k].r_info)];
      if (symbol.st_shndx != SHN_UNDEF) continue;
      for (const char* name : kNames)
        if (!strcmp(names + symbol.st_name, name)) {
          // One that has not been called yet leads to the module's own way of looking it up.
          void* const function = *(void**)(module->dlpi_addr + tables[t][k].r_offset);
          Dl_info info;
          const bool own = dladdr(function, &info) && (uintptr_t)info.dli_fbase == (uintptr_t)module->dlpi_addr;
          ++seen.slots;
          seen.elsewhere += !own && !is_the_systems(function);
        }
    }
  return 0;
}

static void tell(const char* when) {
  Seen seen;
  dl_iterate_phdr(look, &seen);
  int asked = 0;
  for (const char* name : kNames)
    if (void* function = dlsym(RTLD_DEFAULT, name)) asked += !is_the_systems(function);
  printf("%s: %s slots, %d lead elsewhere, of what dlsym finds %d\n", when, seen.slots > 3 ? "several" : "few", seen.elsewhere, asked);
}

int main() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  timeval day;
  gettimeofday(&day, nullptr);
  usleep(1);
  tell("before");
  int* p;
  cudaMalloc(&p, sizeof(int));
  cudaMemset(p, 0, sizeof(int));
  work<<<1, 1>>>(p);
  int seen = 0;
  cudaMemcpy(&seen, p, sizeof(int), cudaMemcpyDeviceToHost);
  tell("after");
  printf("%d %d\n", seen, (int)cudaGetLastError());
  return 0;
}

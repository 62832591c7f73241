// A program that finds the system's vdso by itself, or by dlsym and dlvsym, sees the same clock as by the C library.
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <time.h>

#include <cstdio>
#include <cstring>

__global__ void spin(long long ticks) {
  const long long begin = clock64();
  while (clock64() - begin < ticks) {}
}

using GetClock = int (*)(clockid_t, timespec*);

static GetClock of_vdso() {
  const auto* image = reinterpret_cast<const char*>(getauxval(AT_SYSINFO_EHDR));
  if (!image) return nullptr;
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(image);
  const auto* parts = reinterpret_cast<const Elf64_Phdr*>(image + header->e_phoff);
  const Elf64_Sym* symbols = nullptr;
  const char* names = nullptr;
  for (int k = 0; k < header->e_phnum; ++k)
    if (parts[k].p_type == PT_DYNAMIC)
      for (auto* d = reinterpret_cast<const Elf64_Dyn*>(image + parts[k].p_offset); d->d_tag != DT_NULL; ++d) {
        if (d->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const Elf64_Sym*>(image + d->d_un.d_ptr);
        if (d->d_tag == DT_STRTAB) names = image + d->d_un.d_ptr;
      }
  for (const Elf64_Sym* s = symbols; s && reinterpret_cast<const char*>(s) < names; ++s)
    if (!strcmp(names + s->st_name, "__vdso_clock_gettime")) return reinterpret_cast<GetClock>(const_cast<char*>(image) + s->st_value);
  return nullptr;
}

static double by(GetClock get) {
  timespec t{};
  get(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

int main() {
  const GetClock ways[] = {of_vdso(), reinterpret_cast<GetClock>(dlsym(RTLD_DEFAULT, "clock_gettime")),
                           reinterpret_cast<GetClock>(dlvsym(RTLD_DEFAULT, "clock_gettime", "GLIBC_2.17"))};
  spin<<<1, 1>>>(1000);
  cudaDeviceSynchronize();
  int failures = 0;
  for (const GetClock get : ways) {
    if (!get) {
      printf("it is not found\n");  // a system without
      continue;
    }
    const double begin = by(clock_gettime), begin_there = by(get);
    spin<<<1, 1>>>(2'000'000'000);
    cudaDeviceSynchronize();
    const double end = by(clock_gettime), end_there = by(get);
    if (end - begin < 500 || end_there < end || end_there - end > 10 || begin_there < begin || begin_there - begin > 10)
      printf("%f %f %f %f\n", begin, begin_there, end, end_there), ++failures;
  }
  timespec resolution{};
  if (clock_getres(CLOCK_MONOTONIC, &resolution)) ++failures;
  return failures;
}

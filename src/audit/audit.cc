// The dynamic linker calls these functions (rtld-audit(7)).
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace {

char directory[PATH_MAX];  // of Warpbeam's libraries: this one is among them
bool off, notes;

// What was found for a name stays: the linker keeps what it is given.
struct Answer {
  Answer* next;
  char* name;
  char* file;
};
Answer* answers;

const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

bool begins_with(const char* text, const char* beginning) { return strncmp(text, beginning, strlen(beginning)) == 0; }

constexpr const char* kOfToolkits[] = {"libcuda",      "libcublas",     "libcufft", "libcurand",    "libcusolver",
                                       "libcusparse",  "libcudnn",      "libcupti", "libcufile",    "libcudss",
                                       "libcutensor",  "libnccl",       "libnvrtc", "libnvJitLink", "libnvvm.so",
                                       "libnvidia-ml", "libnvToolsExt", "libnpp",   "libnvjpeg",    "libnvfatbin"};

bool of_a_toolkit(const char* name) {
  for (const char* beginning : kOfToolkits)
    if (begins_with(name, beginning)) return true;
  return false;
}

// Tools that bundle libraries into packages put a hash into the name: libcudart-d0da41ae.so.11.0.
void without_hash(const char* name, char* plain, size_t size) {
  snprintf(plain, size, "%s", name);
  char* end = strstr(plain, ".so");
  char* dash = end ? static_cast<char*>(memrchr(plain, '-', static_cast<size_t>(end - plain))) : nullptr;
  if (!dash || end - dash != 9 || strspn(dash + 1, "0123456789abcdef") != 8) return;
  memmove(dash, end, strlen(end) + 1);
}

// Linker scripts have libraries' names too.
bool is_library(const char* path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char magic[4] = {};
  const bool yes = read(file, magic, sizeof magic) == sizeof magic && memcmp(magic, "\177ELF", sizeof magic) == 0;
  close(file);
  return yes;
}

char* find(const char* name) {
  for (const Answer* answer = answers; answer; answer = answer->next)
    if (strcmp(answer->name, name) == 0) return answer->file;
  char plain[NAME_MAX + 1], path[2 * PATH_MAX];
  without_hash(base_name(name), plain, sizeof plain);
  snprintf(path, sizeof path, "%s/%s", directory, plain);
  if (!is_library(path) || strcmp(path, name) == 0) return nullptr;
  auto* answer = static_cast<Answer*>(malloc(sizeof(Answer)));
  if (!answer) return nullptr;
  *answer = {answers, strdup(name), strdup(path)};
  answers = answer;
  if (notes) dprintf(STDERR_FILENO, strchr(name, '/') ? "warpbeam: note: %s instead of %s\n" : "warpbeam: note: %s for %s\n", path, name);
  return answer->file;
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

unsigned la_version(unsigned version) {
  Dl_info own;
  if (!dladdr(reinterpret_cast<void*>(&la_version), &own) || !realpath(own.dli_fname, directory)) return 0;
  *strrchr(directory, '/') = '\0';
  const char* switched = getenv("WARPBEAM");
  off = switched && strcmp(switched, "off") == 0;
  const char* wanted = getenv("WARPBEAM_NOTES");
  notes = !off && wanted && strcmp(wanted, "1") == 0;
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

char* la_objsearch(const char* name, uintptr_t*, unsigned stage) {
  char* same = const_cast<char*>(name);
  if (off) {
    // LD_LIBRARY_PATH may have been set for a parent.
    const size_t length = strlen(directory);
    const bool ours = strncmp(name, directory, length) == 0 && name[length] == '/';
    return stage == LA_SER_LIBPATH && ours ? nullptr : same;
  }
  if (stage != LA_SER_ORIG || !of_a_toolkit(base_name(name))) return same;
  char* file = find(name);
  return file ? file : same;
}

unsigned la_objopen(link_map* object, Lmid_t, uintptr_t*) {
  const char* path = object->l_name;
  if (notes && path && of_a_toolkit(base_name(path)) && !begins_with(path, directory))
    dprintf(STDERR_FILENO, "warpbeam: note: %s is not Warpbeam's, which has no %s\n", path, base_name(path));
  return 0;  // how symbols are bound is of no interest
}

#pragma GCC visibility pop
}  // extern "C"

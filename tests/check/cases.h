// Cases of a file by name. What a case must show is written beside the line that is wrong: `// expect NAME KIND`, several
// with `;` between. A case without such a mark is correct and must show nothing.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>

struct Case {
  const char* name;
  void (*run)();
  Case* next = nullptr;
  static Case*& first() {
    static Case* first = nullptr;
    return first;
  }
  Case(const char* name, void (*run)()) : name(name), run(run) {
    Case** end = &first();
    while (*end) end = &(*end)->next;
    *end = this;
  }
};

#define CASE(name)                                 \
  static void case_##name();                       \
  static Case register_##name(#name, case_##name); \
  static void case_##name()

// Without an argument the names are printed.
int main(int count, char** words) {
  for (Case* c = Case::first(); c; c = c->next) {
    if (count < 2) {
      puts(c->name);
    } else if (!strcmp(words[1], c->name)) {
      c->run();
      return 0;
    }
  }
  return count < 2 ? 0 : 2;
}

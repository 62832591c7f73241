// bin/warpbeam and bin/nvidia-smi of a package: start the program of the same name with `.program` behind it, which lies beside them. Where glibc is too
// old for that, the loader would print a line for each library and symbol; this says one sentence. It asks glibc for what it always had.
extern const char* gnu_get_libc_version(void);
extern long readlink(const char*, char*, unsigned long);
extern int execve(const char*, char* const*, char* const*);
extern long write(int, const void*, unsigned long);
extern void _exit(int);

static void say(const char* text) {
  unsigned long n = 0;
  while (text[n]) ++n;
  write(2, text, n);
}

static int number(const char** at) {
  int n = 0;
  while (**at >= '0' && **at <= '9') n = 10 * n + *(*at)++ - '0';
  return n;
}

__attribute__((used)) void start(long* stack) {
  char** words = (char**)(stack + 1);
  const char* version = gnu_get_libc_version();
  const char* at = version;
  const int major = number(&at);
  if (*at == '.') ++at;
  if (major < 2 || (major == 2 && number(&at) < 34)) {
    say("warpbeam: this system's glibc is ");
    say(version);
    say(", and Warpbeam needs 2.34 or later: use a newer system (Ubuntu 22.04, RHEL 9, Debian 12) or a container of one\n");
    _exit(1);
  }
  static char program[4096];
  static const char more[] = ".program";
  long n = readlink("/proc/self/exe", program, sizeof program - sizeof more);
  if (n < 0) {
    say("warpbeam: /proc is not there, by which programs find themselves: mount -t proc proc /proc\n");
    _exit(1);
  }
  for (unsigned long k = 0; k < sizeof more; ++k) program[n + k] = more[k];
  execve(program, words, words + stack[0] + 1);
  say("warpbeam: ");
  say(program);
  say(" cannot be started: is the package complete?\n");
  _exit(127);
}

__asm__(".globl _start\n_start:\n  xor %ebp, %ebp\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call start\n");

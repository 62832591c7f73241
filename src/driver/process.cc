#include "driver/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

extern char** environ;

namespace warpbeam::driver {

namespace {

volatile sig_atomic_t g_interrupt = 0;
volatile sig_atomic_t g_foreground = 0;  // the program that run_program waits for

void on_interrupt(int signal) { g_interrupt = signal; }
void on_foreground(int signal) {
  // The terminal has sent SIGINT to the program as well; other signals came to us alone.
  if (signal != SIGINT && signal != SIGQUIT && g_foreground > 0) kill(g_foreground, signal);
}

void handle(std::initializer_list<int> signals, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;  // no SA_RESTART: waiting is cut short
  for (int signal : signals) sigaction(signal, &action, nullptr);
}

std::vector<char*> word_pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const auto& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::string read_whole(int fd) {
  std::string text;
  char buffer[1 << 14];
  off_t at = 0;
  for (ssize_t count; (count = pread(fd, buffer, sizeof buffer, at)) > 0; at += count) text.append(buffer, count);
  return text;
}

int status_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

struct Child {
  size_t index;
  int messages;
};

// Starts a command with stderr going to a file in memory. Gives the process, or 0 and the error in `outcome`.
pid_t start(const Command& command, int messages, Outcome& outcome) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
  // Our input belongs to the program that is run in the end.
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (!command.standard_output.empty())
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, command.standard_output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0666);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t process = 0;
  auto words = word_pointers(command.words);
  int error = posix_spawnp(&process, words[0], &actions, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (!error) return process;
  outcome = {127, fmt::format("cannot run {}: {}\n", command.words[0], strerror(error))};
  return 0;
}

}  // namespace

void catch_interrupts() { handle({SIGINT, SIGTERM, SIGHUP}, on_interrupt); }
int interrupted() { return g_interrupt; }

std::vector<Outcome> run_commands(std::span<const Command> commands, int at_once) {
  std::vector<Outcome> outcomes(commands.size());
  std::map<pid_t, Child> running;
  size_t next = 0;
  bool ended = false;
  while (next < commands.size() || !running.empty()) {
    if (g_interrupt && !ended) {
      for (auto& [process, child] : running) kill(process, SIGTERM);
      for (; next < commands.size(); ++next) outcomes[next].status = 128 + g_interrupt;
      ended = true;
      continue;
    }
    if (next < commands.size() && running.size() < static_cast<size_t>(std::max(1, at_once))) {
      int messages = memfd_create("messages", MFD_CLOEXEC);
      if (pid_t process = start(commands[next], messages, outcomes[next]))
        running[process] = {next, messages};
      else
        close(messages);
      ++next;
      continue;
    }
    int wait_status = 0;
    pid_t process = waitpid(-1, &wait_status, 0);
    auto found = running.find(process);
    if (found == running.end()) continue;
    outcomes[found->second.index] = {status_of(wait_status), read_whole(found->second.messages)};
    close(found->second.messages);
    running.erase(found);
  }
  return outcomes;
}

int run_program(const std::string& path, const std::string& name, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {name};
  words.insert(words.end(), arguments.begin(), arguments.end());
  auto pointers = word_pointers(words);
  if (interrupted()) return 128 + interrupted();
  fflush(nullptr);
  pid_t parent = getpid();
  pid_t process = fork();
  if (process < 0) {
    fmt::print(stderr, "warpbeam: cannot start {}: {}\n", name, strerror(errno));
    return 126;
  }
  if (process == 0) {
    // The program must not outlive a driver that is killed outright.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(128 + SIGKILL);
    handle({SIGINT, SIGTERM, SIGHUP}, SIG_DFL);
    execv(path.c_str(), pointers.data());
    int error = errno;
    if (error != ENOENT) fmt::print(stderr, "warpbeam: cannot run {}: {}\n", path, strerror(error));
    _exit(error == ENOENT ? 127 : 126);
  }
  g_foreground = process;
  handle({SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}, on_foreground);
  if (g_interrupt) kill(process, g_interrupt);  // it came before the handlers were changed
  int wait_status = 0;
  while (waitpid(process, &wait_status, 0) < 0 && errno == EINTR) {
  }
  g_foreground = 0;
  handle({SIGUSR1, SIGUSR2, SIGQUIT}, SIG_DFL);
  catch_interrupts();
  if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) != SIGINT && WTERMSIG(wait_status) != SIGPIPE)
    fmt::print(stderr, "warpbeam: the program was ended by signal {} ({}){}\n", WTERMSIG(wait_status),
               strsignal(WTERMSIG(wait_status)), WCOREDUMP(wait_status) ? ", core dumped" : "");
  return status_of(wait_status);
}

Result<TemporaryDirectory> TemporaryDirectory::make(const std::string& parent) {
  std::string base = parent;
  if (base.empty()) {
    const char* set = getenv("TMPDIR");
    base = set && *set ? set : "/tmp";
  }
  std::string pattern = base + "/warpbeam.XXXXXX";
  if (!mkdtemp(pattern.data()))
    return Error{1, fmt::format("cannot make a temporary directory in {}: {}", base, strerror(errno))};
  return TemporaryDirectory(pattern);
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

bool is_program(const std::string& path) {
  const std::filesystem::path file(path);
  std::error_code failed;
  if (!std::filesystem::is_regular_file(file, failed) || access(path.c_str(), X_OK)) return false;
  static constexpr std::string_view kOthers[] = {".cu", ".cpp", ".cc", ".cxx", ".c", ".o", ".a", ".so"};
  const std::string name = file.filename().string();
  return std::ranges::find(kOthers, file.extension().string()) == std::end(kOthers) && name.find(".so.") == name.npos;
}

std::vector<std::string> program_arguments(const std::vector<std::string>& words, size_t at) {
  const size_t first = at + 1 < words.size() && words[at + 1] == "--" ? at + 2 : at + 1;
  return {words.begin() + static_cast<long>(std::min(first, words.size())), words.end()};
}

std::string find_program(const std::string& name) {
  const char* path = getenv("PATH");
  std::string_view rest = path ? path : "";
  while (!rest.empty()) {
    auto colon = rest.find(':');
    std::string file = std::string(rest.substr(0, colon)) + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return file;
    rest = colon == rest.npos ? std::string_view{} : rest.substr(colon + 1);
  }
  return {};
}

}  // namespace warpbeam::driver

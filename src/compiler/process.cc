#include "compiler/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "compiler/toolchain.h"

extern char** environ;

namespace warpbeam::compiler {

namespace {

volatile sig_atomic_t g_interrupt = 0;
bool g_has_run = false;
volatile sig_atomic_t g_foreground = 0;  // the program that run_program waits for

using Handler = void (*)(int, siginfo_t*, void*);

void on_interrupt(int signal, siginfo_t*, void*) { g_interrupt = signal; }
void on_foreground(int signal, siginfo_t* from, void*) {
  // A terminal sends to the program as well; what a process sent may have come to us alone.
  if (from->si_code != SI_KERNEL && g_foreground > 0) kill(g_foreground, signal);
}

// Signals that were ignored when we began stay so, as nohup and shells' background jobs ask; without a handler there is
// the signal's own effect.
void handle(std::initializer_list<int> signals, Handler handler) {
  for (int signal : signals) {
    struct sigaction action{};
    sigaction(signal, nullptr, &action);
    if (!(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN) continue;
    action = {};
    if (handler) {
      action.sa_flags = SA_SIGINFO;  // no SA_RESTART: waiting is cut short
      action.sa_sigaction = handler;
    }
    sigaction(signal, &action, nullptr);
  }
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

int status_of(int wait_status) { return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status); }

struct Child {
  size_t index;
  pid_t process;
  int handle;  // becomes readable when the process ends
  int messages;
};

// The place of a child that has ended or is about to be waited for; none after a signal. Children are waited for one by
// one, by name: NVRTC runs commands in programs that have children of their own.
std::optional<size_t> next_to_end(const std::vector<Child>& running) {
  std::vector<pollfd> handles;
  for (const Child& child : running) {
    if (child.handle < 0) return size_t(handles.size());  // a system without such handles
    handles.push_back({child.handle, POLLIN, 0});
  }
  if (poll(handles.data(), handles.size(), -1) < 0) return std::nullopt;
  for (size_t k = 0; k < handles.size(); ++k)
    if (handles[k].revents) return k;
  return std::nullopt;
}

// Starts a command with stderr going to a file in memory. Gives the process, or 0 and the error in `outcome`.
pid_t start(const Command& command, int messages, Outcome& outcome) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
  // Our input belongs to the program that is run in the end.
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (command.output_too) posix_spawn_file_actions_adddup2(&actions, messages, STDOUT_FILENO);
  if (!command.standard_output.empty())
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, command.standard_output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  pid_t process = 0;
  auto words = word_pointers(command.words);
  int error = posix_spawnp(&process, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (!error) return process;
  outcome = {127, fmt::format("warpbeam: cannot run {}: {}\n", command.words[0], strerror(error))};
  return 0;
}

}  // namespace

void catch_interrupts() { handle({SIGINT, SIGQUIT, SIGTERM, SIGHUP}, on_interrupt); }
int interrupted() { return g_interrupt; }

std::vector<Outcome> run_commands(std::span<const Command> commands, int at_once) {
  std::vector<Outcome> outcomes(commands.size());
  std::vector<Child> running;
  size_t next = 0;
  bool ended = false;
  while (next < commands.size() || !running.empty()) {
    if (g_interrupt && !ended) {
      for (const Child& child : running) kill(child.process, SIGTERM);
      for (; next < commands.size(); ++next) outcomes[next].status = 128 + g_interrupt;
      ended = true;
      continue;
    }
    if (next < commands.size() && running.size() < static_cast<size_t>(std::max(1, at_once))) {
      int messages = memfd_create("messages", MFD_CLOEXEC);
      if (pid_t process = start(commands[next], messages, outcomes[next]))
        running.push_back({next, process, static_cast<int>(syscall(SYS_pidfd_open, process, 0)), messages});
      else close(messages);
      ++next;
      continue;
    }
    const auto ended_one = next_to_end(running);
    if (!ended_one) continue;
    const Child child = running[*ended_one];
    int wait_status = 0;
    const pid_t process = waitpid(child.process, &wait_status, 0);
    if (process < 0 && errno == EINTR) continue;
    outcomes[child.index] = {process < 0 ? kUnknownStatus : status_of(wait_status), read_whole(child.messages)};
    close(child.messages);
    if (child.handle >= 0) close(child.handle);
    running.erase(running.begin() + static_cast<long>(*ended_one));
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
    handle({SIGINT, SIGQUIT, SIGTERM, SIGHUP}, nullptr);
    execv(path.c_str(), pointers.data());
    int error = errno;
    if (error != ENOENT) fmt::print(stderr, "warpbeam: cannot run {}: {}\n", path, strerror(error));
    _exit(error == ENOENT ? 127 : 126);
  }
  g_has_run = true;
  g_foreground = process;
  handle({SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}, on_foreground);
  if (g_interrupt) kill(process, g_interrupt);  // it came before the handlers were changed
  int wait_status = 0;
  while (waitpid(process, &wait_status, 0) < 0 && errno == EINTR) {}
  g_foreground = 0;
  handle({SIGUSR1, SIGUSR2}, nullptr);
  catch_interrupts();
  if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) != SIGINT && WTERMSIG(wait_status) != SIGPIPE)
    fmt::print(stderr, "warpbeam: the program was ended by signal {} ({}){}\n", WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)),
               WCOREDUMP(wait_status) ? ", core dumped" : "");
  return status_of(wait_status);
}

bool has_run_program() { return g_has_run; }

int run_executable(const std::string& name, const std::vector<std::string>& arguments) {
  offer_libraries();
  const std::string path = name.find('/') == name.npos && !is_program(name) ? find_program(name) : name;
  std::error_code none;
  if (path.empty() || !std::filesystem::exists(path, none)) {
    fmt::print(stderr, "warpbeam: there is no command '{}'\n", name);
    return 127;
  }
  catch_interrupts();
  return run_program(path, name, arguments);
}

bool starts_programs(const std::string& folder) {
  struct statvfs disk{};
  return statvfs(folder.c_str(), &disk) != 0 || !(disk.f_flag & ST_NOEXEC);
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
  if (name.find('/') != name.npos) return access(name.c_str(), X_OK) == 0 ? name : std::string();
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

}  // namespace warpbeam::compiler

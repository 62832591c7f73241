// Running other programs: several at once, with their messages collected, and ended cleanly by Ctrl-C.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpbeam::compiler {

struct Command {
  std::vector<std::string> words;
  std::string standard_output;  // a file; empty: ours
  size_t shared = 0;            // CUDA sources: how many of the first words are the same for every source (prelude_cache.h)
  std::vector<std::string> varying = {};  // links: the files that are others for every program (link_cache.h)
  bool output_too = false;  // what it says on stdout is among its messages
};

// Somebody else has waited for the process, or SIGCHLD is ignored: nobody knows how it ended.
inline constexpr int kUnknownStatus = -1;

struct Outcome {
  int status = 0;  // exit status, 128 + signal, or kUnknownStatus
  std::string messages;
};

// Makes SIGINT, SIGQUIT, SIGTERM and SIGHUP end the children, unwind and remove temporary files instead of killing us.
void catch_interrupts();

// The signal that asked us to stop, or 0.
int interrupted();

// Runs the commands, at most `at_once` together, each with its stderr collected. After an interrupt the remaining
// ones are not started and the running ones are ended. Outcomes are in the order of the commands.
std::vector<Outcome> run_commands(std::span<const Command> commands, int at_once);

// Runs a program in the foreground with our stdin, stdout, stderr and waits for it. Interrupts are the program's to
// handle; what a process sends to us alone is passed on. Gives its exit status, or 128 + signal; 126 or 127 when it could
// not be started. `name` is its argv[0].
int run_program(const std::string& path, const std::string& name, const std::vector<std::string>& arguments);

// Whether run_program has started one.
bool has_run_program();

// A command that somebody made, run with Warpbeam's libraries before all others of their names.
int run_executable(const std::string& name, const std::vector<std::string>& arguments);
// Sets the environment for such commands, and for what they start; not with WARPBEAM=off.
void offer_libraries();

// An executable that somebody made before, rather than something to compile or link with.
bool is_program(const std::string& path);
// What follows the program at `at` is for it, whatever it looks like; a `--` in between is ours.
std::vector<std::string> program_arguments(const std::vector<std::string>& words, size_t at);

// Not on a file system that is mounted noexec, as some clusters' homes and temporary folders are.
bool starts_programs(const std::string& folder);

// Looks a program up in PATH; empty when it is not there.
std::string find_program(const std::string& name);

}  // namespace warpbeam::compiler

// The command line of the compiler driver, parsed by the table in options.inc.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/arch.h"

namespace warpbeam::compiler {

enum class Takes : uint8_t { Nothing, Text, List, Truth };
enum class State : uint8_t { Works, Nothing, Refused };
enum class Group : uint8_t { Phase, Files, Device, Host, Messages, Driver };

enum class OptionId : uint8_t {
#define OPTION(id, ...) id,
#include "compiler/options.inc"
#undef OPTION
};

struct OptionRow {
  OptionId id;
  std::string_view long_name;
  std::string_view short_name;
  Takes takes;
  std::string_view value;
  Group group;
  State state;
  std::string_view help;
  std::string_view how;
};

enum class PtxasId : uint8_t {
#define PTXAS(id, ...) id,
#include "compiler/ptxas_options.inc"
#undef PTXAS
};

struct PtxasRow {
  PtxasId id;
  std::string_view long_name;
  std::string_view short_name;
  Takes takes;
  State state;
  std::string_view how;
};

const std::vector<OptionRow>& option_table();
const std::vector<PtxasRow>& ptxas_table();

// What the command makes.
enum class Phase : uint8_t {
  Executable,
  Object,
  HostText,  // C++ for the host's compiler, with all of the program in it
  DeviceLink,
  Library,
  Ptx,
  Fatbin,
  Preprocess,
  Dependencies,
  DeviceSyntax,
};

enum class Language : uint8_t { Cuda, Cxx, C, Ptx, Object, Archive, SharedLibrary };

struct Input {
  std::string path;
  Language language;
};

// How device code treats single precision.
struct Precision {
  bool ftz = false;
  bool prec_div = true;
  bool prec_sqrt = true;
  bool fmad = true;
  bool fast_math = false;
};

struct Dependencies {
  bool while_compiling = false;  // -MD, -MMD
  bool system = true;
  bool phony = false;
  std::string file;
  std::string target;
};

struct Options {
  Phase phase = Phase::Executable;
  bool shared = false;
  bool run = false;
  std::string program;  // to be run as it is
  std::vector<std::string> run_arguments;
  std::vector<Input> inputs;  // sources, objects and libraries in the order given; -lfoo is an input of its own
  std::string output;
  std::string output_directory;
  std::string cubin_suffix;  // ".cubin" or ".fatbin" when phase is Fatbin

  std::vector<CodeTarget> targets;  // device architectures; never empty after parsing
  bool rdc = false;
  bool device_debug = false;
  bool device_optimise = false;
  bool device_register = true;  // false for -nodlink
  bool per_thread_stream = false;
  bool relaxed_constexpr = false;
  bool extended_lambda = false;
  bool resource_usage = false;
  bool inline_remarks = false;
  int max_registers = 0;
  Precision precision;
  std::string load_cache;   // "ca", "cg", … or empty
  std::string store_cache;  // "wb", "cg", … or empty

  std::string optimise;  // empty: choose
  std::string standard;  // "c++17"; empty: the default
  bool debug = false;
  bool profile = false;
  bool exceptions = true;
  bool link_runtime = true;

  std::string prelude = "prelude.h";      // of include/warpbeam, read before CUDA sources
  std::string cccl;                       // the folder of CUB, Thrust and libcu++ to be used; empty: what is there
  bool cccl_open = false;  // nobody said which, and newer ones may do: what was fetched, and where that does not, what is there
  std::vector<std::string> preprocessor;  // -I -isystem -D -U -include, in order, as clang takes them
  std::vector<std::string> both;  // for every pass of clang
  std::vector<std::string> host;  // -Xcompiler
  std::vector<std::string> device;  // what a command of ours wants of device code
  std::vector<std::string> linker;  // as clang takes them: -L…, -Wl,…
  std::vector<std::string> archiver_options;
  std::vector<std::string> library_paths;
  std::string archiver;

  Dependencies dependencies;
  bool keep = false;
  std::string keep_directory;
  bool dry_run = false;
  bool verbose = false;
  int threads = 0;
  bool quiet = false;  // -w
  bool for_times = false;  // device code as nvcc makes it, also where other code runs faster here (src/lowering)
  bool facts = false;  // of `warpbeam check`: the passes tell what it wants to know (check_facts.h)

  bool show_help = false;
  bool show_version = false;
  bool list_arch = false;
  bool list_code = false;
  std::vector<std::string> warnings;  // notes on the command line itself, to be printed once
};

// What parsing needs to know from outside: the architecture of the chosen device.
Result<Options> parse_options(const std::vector<std::string>& arguments, int default_cc);

// For commands with options of their own beside nvcc's: what to say of a word that is none of nvcc's and nearly one of
// `own`, without dashes; empty for all others.
std::string option_meant(std::string_view word, const std::vector<std::string_view>& own);

// Whether --dryrun or --verbose is among the options, even where something else is wrong with them: build systems ask
// about the toolkit with an input that does not exist.
bool shows_commands(const std::vector<std::string>& arguments);

// Whether the option at `arguments[at]` has its value in the word after it: in `-Xptxas -v` the `-v` is nobody else's.
bool takes_next_word(const std::vector<std::string>& arguments, size_t at);

// `-l` names that stand for parts of the CUDA toolkit, and what a user gets for them.
bool is_runtime_library(std::string_view name);

std::string options_help();
std::string options_markdown();

// The nearest of `names` to `given`, or empty when none is near.
std::string nearest_name(std::string_view given, const std::vector<std::string_view>& names);

}  // namespace warpbeam::compiler

// `warpbeam run`: compile (or find in the cache), run, and hand on whatever the program does.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "driver/build.h"
#include "driver/commands.h"
#include "driver/compile_cache.h"
#include "driver/passes.h"
#include "driver/process.h"
#include "driver/split.h"
#include "model/device.h"

namespace warpbeam::driver {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHelp = R"(Usage: warpbeam run [options] [nvcc options] file... [-- arguments]

Compiles CUDA C++, C++ and C sources and runs the program in the current directory. Its input, output and exit status
are those of this command; the arguments after -- are the program's.

  --device NAME     the GPU to be (default h200; `warpbeam devices` lists them); sets WARPBEAM_DEVICE
  --engine NAME     interpreter, jit or auto (default auto); sets WARPBEAM_ENGINE
  --emit-ptx        print the PTX instead of running
  -v, --verbose     print the commands, and whether the compiled program was cached
  --no-install      if packages are missing, list them and stop
  -h, --help        this text

Every option of `warpbeam nvcc` is accepted as well (`warpbeam nvcc --help`).
)";

struct RunRequest {
  Arguments compiler;  // everything for the compiler driver, sources included
  Arguments program;
  std::string device;
  std::string engine;
  bool emit_ptx = false;
  bool verbose = false;
  bool help = false;
};

Result<RunRequest> read_request(const Arguments& arguments) {
  RunRequest request;
  for (size_t at = 0; at < arguments.size(); ++at) {
    const std::string& word = arguments[at];
    auto value_of = [&](std::string_view name, std::string& value) -> Result<bool> {
      if (word == name) {
        if (at + 1 >= arguments.size()) return Error{1, fmt::format("argument expected after '{}'", word)};
        value = arguments[++at];
        return true;
      }
      if (!word.starts_with(std::string(name) + "=")) return false;
      value = word.substr(name.size() + 1);
      return true;
    };
    if (word == "--") {
      request.program.assign(arguments.begin() + static_cast<long>(at) + 1, arguments.end());
      break;
    }
    auto device = value_of("--device", request.device);
    if (!device) return device.error();
    if (*device) continue;
    auto engine = value_of("--engine", request.engine);
    if (!engine) return engine.error();
    if (*engine) continue;
    if (word == "--emit-ptx")
      request.emit_ptx = true;
    else if (word == "-v" || word == "--verbose")
      request.verbose = true;
    else if (word == "-h" || word == "--help")
      request.help = true;
    else if (word != "--no-install")
      request.compiler.push_back(word);
  }
  if (!request.engine.empty() && request.engine != "interpreter" && request.engine != "jit" && request.engine != "auto")
    return Error{1, fmt::format("--engine '{}': interpreter, jit or auto", request.engine)};
  return request;
}

std::string file_identity(const std::string& path) {
  struct stat data {};
  if (stat(path.c_str(), &data)) return path;
  return fmt::format("{} {} {}.{}", path, data.st_size, data.st_mtim.tv_sec, data.st_mtim.tv_nsec);
}

// Everything that decides what a build makes, apart from the contents of files.
std::string cache_key(const Arguments& words, int cc) {
  Hasher hash;
  std::error_code ignored;
  hash.add(file_identity(toolchain().driver));
  hash.add(file_identity(find_program(toolchain().clang)));
  hash.add(toolchain().include_directory);
  hash.add(toolchain().library_directory);
  hash.add(fs::current_path(ignored).string());
  hash.add(std::to_string(cc));
  hash.add(isatty(STDERR_FILENO) ? "colours" : "plain");
  for (const char* name : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH"}) {
    const char* value = std::getenv(name);
    hash.add(value ? value : "");
  }
  for (const auto& word : words) hash.add(word);
  return hash.hex();
}

std::string program_name(const Options& options) {
  for (const auto& input : options.inputs)
    if (!input.path.starts_with("-l")) return fs::path(input.path).stem().string();
  return "a";
}

int run_uncached(Options options, const std::string& name, const Arguments& arguments) {
  auto directory = TemporaryDirectory::make();
  if (!directory) {
    fmt::print(stderr, "warpbeam: {}\n", directory.error().message);
    return 1;
  }
  options.output = directory->file(name);
  if (int status = build(options)) return status;
  return run_program(options.output, "./" + name, arguments);
}

int run_cached(Options& options, const std::string& key, const RunRequest& request) {
  std::string name = program_name(options);
  auto cache = CompileCache::open();
  if (!cache) return run_uncached(options, name, request.program);
  // A second round only when another run's clean-up removes the program between finding and starting it.
  for (int round = 0; round < 2; ++round) {
    if (auto found = cache->find(key)) {
      if (request.verbose) fmt::print(stderr, "warpbeam: the compiled program was cached: {}\n", found->path);
      fmt::print(stderr, "{}", found->messages);
      int status = run_program(found->path, "./" + name, request.program);
      if (status == 127 && access(found->path.c_str(), F_OK)) continue;
      return status;
    }
    std::string directory = cache->begin();
    if (directory.empty()) break;
    options.output = directory + "/" + name;
    options.verbose = request.verbose;
    BuildRecord record;
    std::error_code ignored;
    if (int status = build(options, &record)) {
      fs::remove_all(directory, ignored);
      return status;
    }
    if (auto stored = cache->store(key, directory, name, record.files, record.messages)) {
      int status = run_program(stored->path, "./" + name, request.program);
      if (status == 127 && access(stored->path.c_str(), F_OK)) continue;
      return status;
    }
    int status = run_program(options.output, "./" + name, request.program);
    fs::remove_all(directory, ignored);
    return status;
  }
  return run_uncached(options, name, request.program);
}

}  // namespace

Result<int> chosen_cc(const std::string& spelling) {
  std::string wanted = spelling;
  if (wanted.empty())
    if (const char* set = std::getenv("WARPBEAM_DEVICE")) wanted = set;
  const model::Device* device = wanted.empty() ? &model::default_device() : model::find_device(wanted);
  if (device) {
    // The newest architecture that clang knows and the device runs.
    int cc = 0;
    for (const auto& arch : known_archs())
      if (arch.cc <= device->cc()) cc = arch.cc;
    return cc;
  }
  std::string text = fmt::format("there is no device '{}'", wanted);
  if (auto near = model::nearest_device(wanted); !near.empty()) text += fmt::format("; did you mean '{}'?", near);
  return Error{1, text + " (`warpbeam devices` lists them)"};
}

int run_command(const Arguments& arguments) {
  auto fail = [](const std::string& message) {
    fmt::print(stderr, "warpbeam run: {}\n", message);
    return 1;
  };
  auto request = read_request(arguments);
  if (!request) return fail(request.error().message);
  if (request->help) {
    fmt::print("{}", kHelp);
    return 0;
  }
  auto cc = chosen_cc(request->device);
  if (!cc) return fail(cc.error().message);
  Arguments words;
  if (const char* before = std::getenv("NVCC_PREPEND_FLAGS")) append(words, split_shell(before));
  append(words, request->compiler);
  if (const char* after = std::getenv("NVCC_APPEND_FLAGS")) append(words, split_shell(after));
  auto options = parse_options(words, *cc);
  if (!options) {
    std::string text = options.error().message;
    if (text.starts_with("Don't know what to do")) text += "; the program's own arguments go after --";
    return fail(text);
  }
  if (options->show_help) {
    fmt::print("{}", kHelp);
    return 0;
  }
  if (options->inputs.empty()) return fail("no source is named; `warpbeam run --help` tells more");
  if (!request->device.empty()) setenv("WARPBEAM_DEVICE", request->device.c_str(), 1);
  if (!request->engine.empty()) setenv("WARPBEAM_ENGINE", request->engine.c_str(), 1);
  catch_interrupts();
  if (request->emit_ptx) {
    if (options->phase != Phase::Executable) return fail("--emit-ptx and an option that makes something else");
    options->phase = Phase::Ptx;
    options->verbose = request->verbose;
    if (options->output.empty()) options->output = "-";
    std::erase_if(options->inputs, [](const Input& input) { return input.language != Language::Cuda; });
    return build(*options);
  }
  if (options->phase != Phase::Executable || options->shared)
    return fail("it makes a program and runs it; use `warpbeam nvcc` to make something else");
  if (!options->output.empty()) return fail("-o: the program is kept in a cache; use `warpbeam nvcc -o` to make one");
  if (options->dry_run) return build(*options);
  options->run = false;
  append(request->program, options->run_arguments);
  return run_cached(*options, cache_key(words, *cc), *request);
}

}  // namespace warpbeam::driver

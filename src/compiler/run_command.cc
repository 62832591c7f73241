// `warpbeam run`: compile (or find in the cache), run, and hand on whatever the program does.
#include <fmt/format.h>

#include <cstdlib>

#include "base/machine_word.h"
#include "compiler/build.h"
#include "compiler/cached_program.h"
#include "compiler/commands.h"
#include "compiler/process.h"
#include "compiler/split.h"
#include "model/device.h"

namespace warpbeam::compiler {

namespace {

constexpr std::string_view kHelp = R"(Usage: warpbeam run [options] [nvcc options] file... [-- arguments]
       warpbeam run [options] executable [arguments]
       warpbeam run [options] -- command [arguments]

Compiles CUDA C++, C++ and C sources and runs the program in the current directory. Its input, output and exit status
are those of this command; the arguments after -- are the program's. An executable or a command is run as it is and finds
Warpbeam's libraries (libcuda, libcudart, libcublas ...) and tools (nvcc ...) first, wherever it looks for them; with -v it
says which. WARPBEAM=off in the environment of a process that it starts steps aside.

  --device NAME     the GPU to be (default h200; `warpbeam devices` lists them); sets WARPBEAM_DEVICE
  --engine NAME     auto (the default), jit or interpreter; sets WARPBEAM_ENGINE
  --strict          kernels fault where they read outside of an allocation; sets WARPBEAM_STRICT. Without it a read that is less
                    than a GPU's page (2 MiB) away gives what memory has there, and is told of
  --lockstep        run every kernel on both engines; at the first difference name its register and PTX line
  --clock NAME      host (the default) or device: the program lives on the time that the GPU would take, as far as the model
                    knows it (docs/clock.md); sets WARPBEAM_CLOCK
  --host-scale X    with --clock device: how much of its own time host code takes there; 1, or 0 for none; sets
                    WARPBEAM_HOST_SCALE
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
  std::string clock;
  std::string host_scale;
  bool strict = false;
  bool emit_ptx = false;
  bool verbose = false;
  bool help = false;
  bool version = false;
};

const std::vector<std::string_view> kOwnOptions = {"device",   "engine",   "strict",  "clock",     "host-scale",
                                                   "lockstep", "emit-ptx", "verbose", "no-install"};

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
    auto clock = value_of("--clock", request.clock);
    if (!clock) return clock.error();
    if (*clock) continue;
    auto scale = value_of("--host-scale", request.host_scale);
    if (!scale) return scale.error();
    if (*scale) continue;
    if (word == "--lockstep") request.engine = "lockstep";
    else if (word == "--strict") request.strict = true;
    else if (word == "--emit-ptx") request.emit_ptx = true;
    else if (word == "-v" || word == "--verbose") request.verbose = true;
    else if (word == "-h" || word == "--help") request.help = true;
    else if (word == "-V" || word == "--version") request.version = true;
    else if (word != "--no-install") {
      if (std::string wrong = option_meant(word, kOwnOptions); !wrong.empty()) return Error{1, wrong};
      request.compiler.push_back(word);
      if (request.compiler.size() == 1 && is_program(word)) {
        request.program = program_arguments(arguments, at);
        break;
      }
      if (takes_next_word(arguments, at)) request.compiler.push_back(arguments[++at]);
    }
  }
  if (!request.engine.empty() && request.engine != "interpreter" && request.engine != "jit" && request.engine != "auto" &&
      request.engine != "lockstep")
    return Error{1, fmt::format("--engine '{}': interpreter, jit or auto", request.engine)};
  if (!request.clock.empty() && request.clock != "host" && request.clock != "device")
    return Error{1, fmt::format("--clock '{}': host or device", request.clock)};
  if (!request.host_scale.empty()) {
    char* end = nullptr;
    const double scale = std::strtod(request.host_scale.c_str(), &end);
    if (*end || !(scale >= 0 && scale <= 1e6))
      return Error{1, fmt::format("--host-scale '{}': a number from 0 to 1000000 was needed", request.host_scale)};
    const char* already = std::getenv("WARPBEAM_CLOCK");
    if (request.clock != "device" && (!request.clock.empty() || !already || std::string_view(already) != "device"))
      return Error{1, "--host-scale is for --clock device"};
  }
  return request;
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
  if (request->version) {
    print_version();
    return 0;
  }
  auto cc = chosen_cc(request->device);
  if (!cc) return fail(cc.error().message);
  if (!request->device.empty()) setenv("WARPBEAM_DEVICE", request->device.c_str(), 1);
  if (!request->engine.empty()) setenv("WARPBEAM_ENGINE", request->engine.c_str(), 1);
  if (!request->clock.empty()) setenv("WARPBEAM_CLOCK", request->clock.c_str(), 1);
  const char *const clock = std::getenv("WARPBEAM_CLOCK"), *const tool = std::getenv("WARPBEAM_TOOL");
  const bool device_clock = clock && std::string_view(clock) == "device";
  if (device_clock) setenv("WARPBEAM_MACHINE", machine_word().c_str(), 1);
  if (!request->host_scale.empty()) setenv("WARPBEAM_HOST_SCALE", request->host_scale.c_str(), 1);
  if (request->strict) setenv("WARPBEAM_STRICT", "1", 1);
  if (request->verbose) setenv("WARPBEAM_NOTES", "1", 1);
  if (request->compiler.size() == 1 && is_program(request->compiler[0])) return run_executable(request->compiler[0], request->program);
  if (request->compiler.empty() && !request->program.empty())
    return run_executable(request->program[0], {request->program.begin() + 1, request->program.end()});
  Arguments words = with_environment_flags(request->compiler);
  auto options = parse_options(words, *cc);
  if (!options) {
    std::string text = options.error().message;
    if (text.starts_with("Don't know what to do") && !text.ends_with('?')) text += "; the program's own arguments go after --";
    return fail(text);
  }
  if (options->show_help) {
    fmt::print("{}", kHelp);
    return 0;
  }
  if (options->inputs.empty()) return fail("no source is named; `warpbeam run --help` tells more");
  catch_interrupts();
  if (device_clock || (tool && std::string_view(tool) == "profile")) {
    options->for_times = true;
    words.push_back("for times");
  }
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
  return compile_and_run(*options, cache_key(words, *cc), request->verbose, request->program);
}

}  // namespace warpbeam::compiler

#include "compiler/cached_program.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "compiler/build.h"
#include "compiler/check_facts.h"
#include "compiler/cccl.h"
#include "compiler/compile_cache.h"
#include "compiler/object_file.h"
#include "compiler/passes.h"
#include "compiler/process.h"
#include "compiler/split.h"

namespace warpbeam::compiler {

namespace {

namespace fs = std::filesystem;

std::string program_name(const Options& options) {
  for (const auto& input : options.inputs)
    if (const std::string stem = fs::path(input.path).stem(); !input.path.starts_with("-l") && stem != "." && stem != "..") return stem;
  return "a";
}

int build_uncached(Options& options, CompiledProgram* program) {
  auto directory = TemporaryDirectory::make(TemporaryDirectory::For::Programs);
  if (!directory) {
    fmt::print(stderr, "warpbeam: {}\n", directory.error().message);
    return 1;
  }
  options.output = directory->file(program->name);
  program->path = options.output;
  program->directory = std::make_shared<TemporaryDirectory>(std::move(*directory));
  if (!options.facts) return build(options);
  BuildRecord record;
  const int status = build(options, &record);
  if (status) return status;
  const auto written = write_file(facts_file_of(options.output), record.facts);
  if (!written) fmt::print(stderr, "warpbeam: {}\n", written.error().message);
  return written ? 0 : written.error().code;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::string file_identity(const std::string& path) {
  struct stat data{};
  if (stat(path.c_str(), &data)) return path;
  return fmt::format("{} {} {}.{}", path, data.st_size, data.st_mtim.tv_sec, data.st_mtim.tv_nsec);
}

std::string cache_key(const Arguments& words, int cc) {
  Hasher hash;
  std::error_code ignored;
  hash.add(file_identity(toolchain().driver));
  hash.add(file_identity(find_program(toolchain().clang)));
  hash.add(toolchain().include_directory);
  hash.add(toolchain().library_directory);
  hash.add(toolchain().sysroot);
  hash.add(toolchain().gcc);
  hash.add(file_identity(toolchain().library_directory + "/libwarpbeam_lowering.so"));
  hash.add(fs::current_path(ignored).string());
  hash.add(std::to_string(cc));
  hash.add(isatty(STDERR_FILENO) ? "colours" : "plain");
  for (const char* name : kHeaderVariables) hash.add(variable(name));
  for (const char* name : {"LIBRARY_PATH", "COMPILER_PATH", "WARPBEAM_CCCL"}) hash.add(variable(name));
  hash.add(fetched_cccl());
  for (const auto& word : words) hash.add(word);
  return hash.hex();
}

std::vector<std::string> searched_directories(const Options& options) {
  std::vector<std::string> words;
  for (const auto* part : {&options.preprocessor, &options.both, &options.host, &options.linker}) append(words, *part);
  return searched_directories(words);
}

int compile_program(Options& options, const std::string& key, bool verbose, CompiledProgram* program) {
  program->name = program_name(options);
  auto cache = CompileCache::open();
  if (!cache || !cache->can_start_programs()) return build_uncached(options, program);
  if (auto found = cache->find(key)) {
    if (verbose) fmt::print(stderr, "warpbeam: the compiled program was cached: {}\n", found->path);
    fmt::print(stderr, "{}", found->messages);
    program->path = found->path;
    program->files = std::move(found->files);
    return 0;
  }
  const std::string directory = cache->begin();
  if (directory.empty()) return build_uncached(options, program);
  options.output = directory + "/" + program->name;
  options.verbose = verbose;
  BuildRecord record;
  std::error_code ignored;
  if (int status = build(options, &record)) {
    const bool had_room = cache->has_room();
    fs::remove_all(directory, ignored);
    return had_room || interrupted() ? status : build_uncached(options, program);
  }
  if (options.facts && !write_file(facts_file_of(options.output), record.facts)) {
    fs::remove_all(directory, ignored);
    return build_uncached(options, program);
  }
  if (auto stored = cache->store(key, directory, program->name, record.files, record.messages, searched_directories(options))) {
    program->path = stored->path;
    program->files = std::move(stored->files);
  } else {
    // It runs from where it was built. To build it again would say the compiler's messages twice.
    program->path = options.output;
    program->directory = std::make_shared<TemporaryDirectory>(TemporaryDirectory::adopt(directory));
  }
  return 0;
}

int compile_and_run(Options& options, const std::string& key, bool verbose, const Arguments& arguments) {
  for (int round = 0;; ++round) {
    CompiledProgram program;
    if (int status = compile_program(options, key, verbose, &program)) return status;
    const int status = run_program(program.path, "./" + program.name, arguments);
    if (status == 127 && round == 0 && access(program.path.c_str(), F_OK)) continue;
    return status;
  }
}

}  // namespace warpbeam::compiler

#include "compiler/cccl.h"
#include "compiler/passes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "compiler/hash.h"
#include "compiler/split.h"

namespace warpbeam::compiler {

namespace {

using Words = std::vector<std::string>;

constexpr const char* kSanitizer = WARPBEAM_SANITIZE;

// Diagnostics keep their colours although they are collected before they are shown.
void add_diagnostics(Words& words, const Options& options) {
  if (isatty(STDERR_FILENO)) words.push_back("-fcolor-diagnostics");
  if (options.quiet) words.push_back("-w");
  // A clang that crashes would leave its preprocessed input in the temporary directory.
  append(words, {"-Wno-unused-command-line-argument", "-fno-crash-diagnostics"});
}

// What nvcc and g++ accept without a word, or with a warning where clang would stop.
void add_leniency(Words& words, const Options& options) {
  append(words, {"-Wno-error=c++11-narrowing", "-Wno-vla-cxx-extension", "-Wno-pass-failed", "-Wno-unknown-cuda-version",
                 "-Wno-deprecated-this-capture", "-Wno-c++20-extensions", "-Wno-reserved-user-defined-literal", "-Wno-register",
                 "-Wno-cuda-compat", "-Wno-assume"});
  // `Base<T>::template store(p)`, with nothing in angle brackets behind the name.
  words.push_back("-Wno-missing-template-arg-list-after-template-kw");
  // A constexpr function that calls log or sqrt: never constant to nvcc either, where nobody asks.
  words.push_back("-Wno-invalid-constexpr");
  // `x << 32 - n`, `a & b == c`, `if (a) if (b) …; else …`, `rand() / (float)RAND_MAX`, `-1 << 8`, `while (…);` and a switch
  // without all of the enumerators are questions of style to them.
  append(words,
         {"-Wno-parentheses", "-Wno-implicit-const-int-float-conversion", "-Wno-switch", "-Wno-shift-negative-value", "-Wno-empty-body"});
  // So are a constructor behind `extern "C"`, `int i = 2.7` and a static member that another source defines. In clang these
  // warnings do not come with -Wall, so that one who asks for all gets them here.
  auto asks = [](const Words& given) { return std::ranges::find(given, "-Wall") != given.end(); };
  if (!asks(options.both) && !asks(options.host))
    append(words, {"-Wno-return-type-c-linkage", "-Wno-literal-conversion", "-Wno-undefined-var-template"});
  // g++ and nvcc let a function fall off its end, where clang would let control run into the next one; and CUDA code
  // reads floats through int pointers, which nvcc takes as it was meant.
  append(words, {"-fno-strict-return", "-fno-strict-aliasing"});
}

// What C compilers took with a warning for thirty years, and gcc 12 still does.
void add_c_leniency(Words& words) {
  append(words, {"-fno-strict-aliasing", "-Wno-error=implicit-function-declaration", "-Wno-error=implicit-int", "-Wno-error=int-conversion",
                 "-Wno-error=incompatible-function-pointer-types", "-Wno-error=return-mismatch", "-Wno-error=return-type"});
}

// nvcc lets device code declare functions with `...` that nobody calls: templates choose among overloads so.
void add_device_leniency(Words& words) { append(words, {"-Xclang", "-fcuda-allow-variadic-functions"}); }

// User's -I, -D and the like, then our headers.
void add_preprocessor(Words& words, const Options& options) {
  append(words, options.preprocessor);
  append(words, {"-isystem", toolchain().include_directory});
}

// For C and C++ sources. The prelude of CUDA sources defines the same, and __CUDACC__.
void add_version_macros(Words& words) {
  append(words, {"-D__NVCC__=1", fmt::format("-D__CUDACC_VER_MAJOR__={}", kCudaMajor), fmt::format("-D__CUDACC_VER_MINOR__={}", kCudaMinor),
                 fmt::format("-D__CUDACC_VER_BUILD__={}", kCudaBuild)});
}

std::string arch_list(const Options& options) {
  std::vector<int> macros;
  for (const auto& target : options.targets) macros.push_back(target.cuda_arch_macro());
  std::ranges::sort(macros);
  macros.erase(std::unique(macros.begin(), macros.end()), macros.end());
  return fmt::format("-D__CUDA_ARCH_LIST__={}", fmt::join(macros, ","));
}

// The parts of a CUDA compilation on which both passes must agree.
void add_cuda(Words& words, const Options& options, bool preprocessed) {
  append(words, {"-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-path=/dev/null", "-Xclang", "-target-sdk-version=12.3"});
  add_diagnostics(words, options);
  add_leniency(words, options);
  add_device_leniency(words);
  // Where C++20 has modules, clang takes a host's function and a device's of one name, read from a prelude that was
  // compiled ahead, for two definitions of one. CUDA has no modules.
  append(words, {"-Xclang", "-fno-cxx-modules"});
  words.push_back("-std=" + (options.standard.empty() ? std::string("gnu++17") : options.standard));
  words.push_back(arch_list(options));
  if (options.rdc) append(words, {"-D__CUDACC_RDC__", "-fgpu-rdc", "-fuse-cuid=none"});
  if (options.device_debug) words.push_back("-D__CUDACC_DEBUG__");
  if (options.extended_lambda) words.push_back("-D__CUDACC_EXTENDED_LAMBDA__");
  if (options.relaxed_constexpr) words.push_back("-D__CUDACC_RELAXED_CONSTEXPR__");
  if (!options.precision.prec_sqrt) words.push_back("-D__WARPBEAM_APPROX_SQRT__=1");
  if (options.precision.fast_math) append(words, {"-D__USE_FAST_MATH__=1", "-fgpu-approx-transcendentals"});
  if (options.per_thread_stream) append(words, {"-Xclang", "-fgpu-default-stream=per-thread", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1"});
  if (!preprocessed) {
    add_preprocessor(words, options);
    append(words, {"-include", header_ahead(options.prelude)});
  }
  append(words, options.both);
}

void add_dependencies(Words& words, const DependencyOutput* dependencies) {
  if (!dependencies) return;
  append(words, {dependencies->system ? "-MD" : "-MMD", "-MF", dependencies->file, "-MT", dependencies->target});
  if (dependencies->phony) words.push_back("-MP");
}

void add_device(Words& words, const Options& options, const CodeTarget& target) {
  append(words, {"--cuda-device-only", "--cuda-gpu-arch=" + target.clang_arch(), "--cuda-feature=+ptx85"});
  if (target.arch.cc < 20) append(words, {"-U__CUDA_ARCH__", fmt::format("-D__CUDA_ARCH__={}", target.cuda_arch_macro())});
  words.push_back(options.device_debug && !options.device_optimise ? "-O0" : "-O3");
  // File and line for each instruction, without DWARF; the optimiser is not affected.
  words.push_back("-gline-directives-only");
  // `int w; if (leader) w = atomicAdd(…); w = __shfl_sync(mask, w, 0);` is how books write it. In C++ an argument must
  // have a value, from which clang would conclude that every lane is the leader.
  append(words, {"-Xclang", "-no-enable-noundef-analysis"});
  // A store through a null pointer is a fault that the machine reports, and a loop that waits for ever is a hang:
  // neither may vanish as something that cannot happen.
  append(words, {"-fno-delete-null-pointer-checks", "-fno-finite-loops"});
  // `(int)x` saturates, also where the compiler knows x: without this a number out of range would be no number at all,
  // and what is done with it would vanish (src/lowering/optimiser/narrow_conversions.cc).
  append(words, {"-fno-strict-float-cast-overflow"});
  // The device's malloc may fail, and programs test that it does: the optimiser must not assume what it knows of the
  // host's.
  append(words, {"-fno-builtin-malloc", "-fno-builtin-free"});
  const Precision& p = options.precision;
  words.push_back(p.fmad ? "-ffp-contract=fast" : "-ffp-contract=off");
  if (p.ftz) words.push_back("-fgpu-flush-denormals-to-zero");
  if (!p.prec_div) append(words, {"-mllvm", p.fast_math ? "-nvptx-prec-divf32=0" : "-nvptx-prec-divf32=1"});
  if (!p.prec_sqrt) append(words, {"-mllvm", "-nvptx-prec-sqrtf32=0"});
  if (options.inline_remarks) words.push_back("-Rpass=inline");
  // What nvcc's optimiser does and clang's does not (src/lowering).
  if (const std::string lowering = lowering_library(); !lowering.empty()) {
    // Options of a plugin are known, and its part before code generation runs, only once it is loaded.
    append(words, {"-fpass-plugin=" + lowering, "-Xclang", "-load", "-Xclang", lowering});
    // With types come the members of structures that are copied; the plugin forgets the types of accesses (split_copies.cc).
    words.push_back("-fstrict-aliasing");
    // Of loops of unknown length nvcc makes four rounds one, also where it takes some reckoning to find the length
    // (loop_lengths.cc, unroll_counts.cc).
    append(words,
           {"-mllvm", "-unroll-max-count=4", "-mllvm", "-unroll-partial-threshold=202", "-mllvm", "-scev-cheap-expansion-budget=16"});
    // A loop that sets or copies an array stays one.
    append(words, {"-mllvm", "-disable-loop-idiom-memset", "-mllvm", "-disable-loop-idiom-memcpy"});
    // `if (i < n) { if (a) o[i] = x; else o[i] = y; }` stores in two places with nvcc, which leaves what several ways end with where
    // it is, but for what joined_stores.cc joins.
    append(words, {"-mllvm", "-sink-common-insts=0"});
    if (!options.rdc) append(words, {"-mllvm", "-warpbeam-whole-program"});
    if (options.for_times) append(words, {"-mllvm", "-warpbeam-for-times"});
    // PTX that is only asked for as a text may be linked with other texts.
    if (!options.rdc && options.phase != Phase::Ptx) append(words, {"-mllvm", "-warpbeam-all-here"});
    for (const std::string& folder : {toolchain().include_directory, std::string("/usr/include"), std::string("/usr/lib"), options.cccl})
      if (!folder.empty()) append(words, {"-mllvm", platform_word(folder)});
  } else {
    words.push_back("-DWARPBEAM_NO_LOWERING");
  }
  append(words, options.device);
}

// Host code generation. Without -O nvcc leaves host code unoptimised; host reference results are often the slowest
// part of a program, so here it is optimised unless it is to be debugged.
void add_host(Words& words, const Options& options) {
  words.push_back("-O" + (!options.optimise.empty() ? options.optimise : options.debug ? "0" : "2"));
  if (options.debug) words.push_back("-g");
  if (options.profile) words.push_back("-pg");
  if (!options.exceptions) words.push_back("-fno-exceptions");
  if (options.shared) words.push_back("-fPIC");
  // Host code that nvcc leaves unoptimised counts past INT_MAX without harm (random numbers, checksums).
  words.push_back("-fwrapv");
  // Device functions are looked at here too (deduction_guides.cc), and very long functions are not optimised (long_functions.cc).
  if (const std::string lowering = lowering_library(); !lowering.empty())
    append(words, {"-Xclang", "-load", "-Xclang", lowering, "-fpass-plugin=" + lowering, "-mllvm", "-warpbeam-host"});
  append(words, options.host);
  // Whoever links the object may bring the other library of OpenMP.
  const bool openmp = std::ranges::any_of(options.host, [](const std::string& word) { return word.starts_with("-fopenmp"); });
  if (openmp && (options.phase == Phase::Object || options.phase == Phase::Library))
    append(words, {"-include", header_ahead("openmp_stubs.h")});
}

// -Wl cuts at commas, which folders' names may have.
Words for_linker(const Words& given) {
  Words words;
  std::string together = "-Wl";
  for (const std::string& word : given) {
    together += ',' + word;
    append(words, {"-Xlinker", word});
  }
  return std::ranges::any_of(given, [](const std::string& word) { return word.find(',') != word.npos; }) ? words : Words{together};
}

Words source_words(const Options& options, const Input& source) {
  Words words;
  if (source.language == Language::C) {
    words = compiler_words(toolchain().c_compiler);
    append(words, {"-x", "c"});
  } else {
    words = compiler_words(toolchain().clang);
    append(words, {"-x", "c++", "-std=" + (options.standard.empty() ? "gnu++17" : options.standard)});
  }
  add_diagnostics(words, options);
  if (source.language == Language::C) add_c_leniency(words);
  else add_leniency(words, options);
  add_version_macros(words);
  words.push_back(arch_list(options));
  if (options.per_thread_stream) words.push_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
  add_preprocessor(words, options);
  append(words, options.both);
  add_host(words, options);
  return words;
}

// Device code or host code of any source.
Words device_words(const Options& options, const CodeTarget& target, bool preprocessed = false) {
  Words words = compiler_words(toolchain().clang);
  add_cuda(words, options, preprocessed);
  add_device(words, options, target);
  return words;
}

Words host_words(const Options& options, bool preprocessed = false) {
  Words words = compiler_words(toolchain().clang);
  add_cuda(words, options, preprocessed);
  append(words, {"--cuda-host-only", "--cuda-gpu-arch=" + options.targets.front().clang_arch()});
  add_host(words, options);
  return words;
}

void add_unit(Words& words, const Options& options, const std::string& source) {
  if (options.rdc) append(words, {"-Xclang", "-cuid=" + unit_id(options, source)});
}

// Of a source of ours, where the words so far are the same for every one.
Command compilation(Words words) {
  const size_t shared = words.size();
  return {std::move(words), "", shared};
}

}  // namespace

std::string unit_id(const Options& options, const std::string& source) {
  std::error_code ignored;
  Hasher hash;
  hash.add(std::filesystem::absolute(source, ignored).lexically_normal().string());
  for (const auto& word : options.preprocessor) hash.add(word);
  hash.add(arch_list(options));
  hash.add(options.output);
  return hash.short_hex();
}

Command device_pass(const Options& options, const std::string& source, const CodeTarget& target, const std::string& ptx_file,
                    const DependencyOutput* dependencies) {
  Command command = compilation(device_words(options, target));
  add_unit(command.words, options, source);
  add_dependencies(command.words, dependencies);
  append(command.words, {"-S", source, "-o", ptx_file});
  return command;
}

Command host_pass(const Options& options, const std::string& source, const std::string& placeholder, const std::string& object_file,
                  const DependencyOutput* dependencies) {
  Command command = compilation(host_words(options));
  add_unit(command.words, options, source);
  append(command.words, {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", placeholder});
  add_dependencies(command.words, dependencies);
  append(command.words, {"-c", source, "-o", object_file});
  return command;
}

Command preprocess_device(const Options& options, const std::string& source, const CodeTarget& target, const std::string& text_file,
                          const DependencyOutput* dependencies) {
  Words words = device_words(options, target);
  add_unit(words, options, source);
  add_dependencies(words, dependencies);
  append(words, {"-D__WARPBEAM_DEVICE_LAUNCHES__=1", "-E", source, "-o", text_file});
  return {words, ""};
}

Command preprocess_host(const Options& options, const std::string& source, const std::string& text_file,
                        const DependencyOutput* dependencies) {
  Words words = host_words(options);
  add_unit(words, options, source);
  add_dependencies(words, dependencies);
  append(words, {"-E", source, "-o", text_file});
  return {words, ""};
}

Command rewritten_device_pass(const Options& options, const std::string& source, const CodeTarget& target, const std::string& text_file,
                              const std::string& ptx_file) {
  Words words = device_words(options, target, true);
  add_unit(words, options, source);
  append(words, {"-S", text_file, "-o", ptx_file});
  return {words, ""};
}

Command rewritten_host_pass(const Options& options, const std::string& source, const std::string& placeholder, const std::string& text_file,
                            const std::string& object_file) {
  Words words = host_words(options, true);
  add_unit(words, options, source);
  append(words, {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", placeholder});
  append(words, {"-c", text_file, "-o", object_file});
  return {words, ""};
}

Command plain_pass(const Options& options, const Input& source, const std::string& object_file, const DependencyOutput* dependencies) {
  Words words = source_words(options, source);
  add_dependencies(words, dependencies);
  append(words, {"-c", source.path, "-o", object_file});
  return {words, ""};
}

Command preprocess_pass(const Options& options, const Input& source) {
  Words words = source.language == Language::Cuda ? host_words(options) : source_words(options, source);
  append(words, {"-E", source.path});
  if (!options.output.empty()) append(words, {"-o", options.output});
  return {words, ""};
}

Command dependency_pass(const Options& options, const Input& source, const std::string& target) {
  Words words = source.language == Language::Cuda ? host_words(options) : source_words(options, source);
  append(words, {options.dependencies.system ? "-M" : "-MM", "-MT", target, source.path});
  if (options.dependencies.phony) words.push_back("-MP");
  std::string file = !options.output.empty() ? options.output : options.dependencies.file;
  if (!file.empty()) append(words, {"-MF", file});
  return {words, ""};
}

Command syntax_pass(const Options& options, const std::string& source, const CodeTarget& target) {
  Command command = compilation(device_words(options, target));
  append(command.words, {"-fsyntax-only", source});
  return command;
}

void ask_for_facts(Command& command, const std::string& file) {
  if (lowering_library().empty()) return;  // which is loaded already
  append(command.words, {"-Xclang", "-plugin-arg-warpbeam-facts", "-Xclang", file});
}

Result<std::vector<std::string>> library_words(const Options& options, const std::string& name) {
  // Parts of the toolkit that a program may name and that are not in libwarpbeam.
  static const std::vector<std::string_view> vendor = {"cublas",   "cublasLt", "cufft",     "cufftw",   "curand",
                                                       "cusolver", "cusparse", "cudnn",     "nvrtc",    "nvJitLink",
                                                       "nvjpeg",   "nppc",     "nppial",    "nppicc",   "nppif",
                                                       "nppig",    "nppist",   "npps",      "cupti",    "nvblas",
                                                       "cufile",   "nccl",     "nvidia-ml", "cutensor", "nvptxcompiler_static",
                                                       "nvfatbin"};
  if (is_runtime_library(name)) return Words{options.link_runtime ? Words{} : Words{"-L" + toolchain().library_directory, "-lwarpbeam"}};
  // Toolkits before 13 have NVTX as a library. Here its functions are in the header.
  if (name == "nvToolsExt") return Words{};
  // Clang's OpenMP code calls libomp, which answers libgomp's calls as well; both in one program would disagree.
  if (name == "gomp" || name == "iomp5") return Words{"-L" + toolchain().openmp_directory, "-lomp"};
  std::string_view stem = name;
  if (stem.ends_with("_static")) stem.remove_suffix(7);
  if (std::ranges::find(vendor, stem) != vendor.end() || std::ranges::find(vendor, name) != vendor.end()) {
    std::error_code ignored;
    for (const char* end : {".so", ".a"})
      if (std::filesystem::exists(toolchain().library_directory + "/lib" + name + end, ignored))
        return Words{"-L" + toolchain().library_directory, "-l" + name};
    return Error{1, fmt::format("-l{}: this version of Warpbeam has no {} library", name, stem)};
  }
  return Words{"-l" + name};
}

Command link_pass(const Options& options, const LinkInputs& inputs, const std::string& output) {
  Words words = compiler_words(toolchain().clang);
  append(words, {"-o", output});
  add_diagnostics(words, options);
  if (options.shared) words.push_back("-shared");
  if (options.debug) words.push_back("-g");
  if (options.profile) words.push_back("-pg");
  // Compiler options reach the link as well, as nvcc does: -fopenmp and -pthread mean something to both.
  append(words, options.host);
  words.push_back("-Wl,--start-group");
  if (!inputs.registration.empty()) words.push_back(inputs.registration);
  // As with nvcc, what -Xlinker gives comes behind the objects and before -l: it may name an archive, or say how libraries
  // are taken.
  Words files, libraries;
  for (const std::string& word : inputs.files) (word.starts_with("-") ? libraries : files).push_back(word);
  append(words, files);
  append(words, options.linker);
  append(words, libraries);
  words.push_back("-Wl,--end-group");
  if (options.link_runtime) {
    const std::string& directory = toolchain().library_directory;
    append(words, {"-L" + directory, "-lwarpbeam"});
    append(words, for_linker({"-rpath", directory}));
    // A runtime that was built with a sanitizer needs the program to bring the sanitizer's own runtime.
    if constexpr (kSanitizer[0] != '\0') words.push_back(std::string("-fsanitize=") + kSanitizer);
  }
  Words varying = files;
  varying.push_back(output);
  if (!inputs.dependency_file.empty()) {
    append(words, for_linker({"--dependency-file=" + inputs.dependency_file}));
    varying.push_back(inputs.dependency_file);
  }
  if (!inputs.registration.empty()) varying.clear();  // assembly, which is more than a link
  return {words, "", 0, varying};
}

Command archive_pass(const Options& options, const std::vector<std::string>& objects, const std::string& output) {
  Words words = {options.archiver.empty() ? toolchain().archiver : options.archiver, "crs"};
  append(words, options.archiver_options);
  words.push_back(output);
  append(words, objects);
  return {words, ""};
}

Command assemble_pass(const std::string& assembly, const std::string& object_file) {
  Words words = compiler_words(toolchain().c_compiler);
  append(words, {"-c", assembly, "-o", object_file});
  return {words, ""};
}

}  // namespace warpbeam::compiler

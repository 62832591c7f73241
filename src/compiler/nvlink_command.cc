// `warpbeam nvlink`: stands in for the device linker where compilers call it. The linking is nvJitLink's.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "../include/nvJitLink.h"
#include "compiler/commands.h"
#include "compiler/object_file.h"
#include "compiler/stand_in.h"

namespace warpbeam::compiler {
namespace {

constexpr std::string_view kHelp = R"(Usage: nvlink [options] FILE...

Links device code of PTX, cubins, fat binaries, objects and archives into one image that cuModuleLoad takes.

  -arch, --arch sm_NN      (default: the chosen device's)
  -o, --output-file FILE   (default: a.out)
  -L, -l                   where libraries are, and their names
  -dlto, -lto              inputs are intermediate code of this NVRTC or libnvvm
  -v, --verbose            what was linked
  -V, --version

Other options of the linker's are taken and change nothing. Host objects are linked by `nvcc -dlink`, which registers their code.
)";

// Options with a value in the next word; all others have it behind '=' or have none.
constexpr std::array<std::string_view, 14> kWithValue = {"-o",         "--output-file", "-arch", "--arch",    "-L",    "--library-path",
                                                         "-l",         "--library",     "-m",    "--machine", "-optf", "--options-file",
                                                         "--cpu-arch", "-cpu-arch"};
// What is built into the runtime here.
constexpr std::array<std::string_view, 3> kBuiltIn = {"cudadevrt", "cudart", "cudart_static"};

struct Request {
  std::vector<std::string> files, directories, libraries, options;
  std::string output = "a.out", arch;
  bool verbose = false, help = false, version = false;
};

Result<Request> read_request(const Arguments& arguments) {
  Request r;
  for (size_t at = 0; at < arguments.size(); ++at) {
    std::string word = arguments[at], value;
    if (!word.starts_with("-")) {
      r.files.push_back(word);
      continue;
    }
    if (word.starts_with("-L") || word.starts_with("-l")) {
      if (word.size() > 2 && word != "-lto") {
        value = word.substr(word[2] == '=' ? 3 : 2);
        word.resize(2);
      }
    } else if (const size_t equals = word.find('='); equals != word.npos) {
      value = word.substr(equals + 1);
      word.resize(equals);
    }
    if (value.empty() && std::ranges::find(kWithValue, word) != kWithValue.end()) {
      if (at + 1 == arguments.size()) return Error{1, fmt::format("argument expected after '{}'", word)};
      value = arguments[++at];
    }
    if (word == "-o" || word == "--output-file") r.output = value;
    else if (word == "-arch" || word == "--arch") r.arch = value;
    else if (word == "-L" || word == "--library-path") r.directories.push_back(value);
    else if (word == "-l" || word == "--library") r.libraries.push_back(value);
    else if (word == "-dlto" || word == "-lto" || word == "--link-time-opt") r.options.push_back("-lto");
    else if (word == "-v" || word == "--verbose") r.verbose = true;
    else if (word == "-h" || word == "--help") r.help = true;
    else if (word == "-V" || word == "--version") r.version = true;
    else if (word == "--register-link-binaries" || word == "-register-link-binaries")
      return Error{1, fmt::format("'{}' is a step of nvcc's own: `nvcc -dlink` links objects and registers their code", word)};
  }
  return r;
}

Result<std::string> library_file(const Request& request, const std::string& name) {
  std::error_code none;
  for (const std::string& directory : request.directories)
    if (std::string file = fmt::format("{}/lib{}.a", directory, name); std::filesystem::exists(file, none)) return file;
  return Error{1, fmt::format("Could not find library '{}'", name)};
}

int fatal(std::string_view text) {
  fmt::print(stderr, "nvlink fatal   : {}\n", text);
  return 255;
}

// nvJitLink's functions, from the library that lies beside the others of ours.
struct Linker {
  decltype(&nvJitLinkCreate) create;
  decltype(&nvJitLinkDestroy) destroy;
  decltype(&nvJitLinkAddFile) add;
  decltype(&nvJitLinkComplete) complete;
  decltype(&nvJitLinkGetLinkedCubinSize) image_size;
  decltype(&nvJitLinkGetLinkedCubin) image;
  decltype(&nvJitLinkGetErrorLogSize) errors_size;
  decltype(&nvJitLinkGetErrorLog) errors;
  decltype(&nvJitLinkGetInfoLogSize) info_size;
  decltype(&nvJitLinkGetInfoLog) info;

  std::string text(nvJitLinkHandle link, decltype(nvJitLinkGetErrorLogSize)* size_of, decltype(nvJitLinkGetErrorLog)* text_of) const {
    size_t size = 0;
    if (size_of(link, &size) != NVJITLINK_SUCCESS || size == 0) return "";
    std::string text(size, '\0');
    text_of(link, text.data());
    return text.c_str();
  }
};

Result<Linker> load_linker() {
  const std::string file = toolchain().library_directory + "/libnvJitLink.so";
  void* library = dlopen(file.c_str(), RTLD_NOW);
  if (!library) return Error{1, fmt::format("{} cannot be loaded: {}", file, dlerror())};
  Linker linker;
  bool whole = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    whole = whole && function;
  };
  find(linker.create, "nvJitLinkCreate");
  find(linker.destroy, "nvJitLinkDestroy");
  find(linker.add, "nvJitLinkAddFile");
  find(linker.complete, "nvJitLinkComplete");
  find(linker.image_size, "nvJitLinkGetLinkedCubinSize");
  find(linker.image, "nvJitLinkGetLinkedCubin");
  find(linker.errors_size, "nvJitLinkGetErrorLogSize");
  find(linker.errors, "nvJitLinkGetErrorLog");
  find(linker.info_size, "nvJitLinkGetInfoLogSize");
  find(linker.info, "nvJitLinkGetInfoLog");
  if (!whole) return Error{1, fmt::format("{} is not of this version", file)};
  return linker;
}

}  // namespace

int nvlink_command(const Arguments& arguments) {
  auto request = read_request(arguments);
  if (!request) return fatal(request.error().message);
  if (request->help) return fmt::print("{}", kHelp), 0;
  if (request->version) return fmt::print("{}", stand_in_version("nvlink: NVIDIA (R) Cuda linker")), 0;
  for (const std::string& name : request->libraries) {
    if (std::ranges::find(kBuiltIn, name) != kBuiltIn.end()) continue;
    auto file = library_file(*request, name);
    if (!file) return fatal(file.error().message);
    request->files.push_back(*file);
  }
  if (request->files.empty()) return fatal("no input files");
  if (request->arch.empty()) {
    const auto cc = chosen_cc("");
    if (!cc) return fatal(cc.error().message);
    request->arch = fmt::format("sm_{}", *cc);
  }
  request->options.push_back("-arch=" + request->arch);
  if (request->verbose) request->options.push_back("-verbose");
  const auto linker = load_linker();
  if (!linker) return fatal(linker.error().message);

  std::vector<const char*> options;
  for (const std::string& option : request->options) options.push_back(option.c_str());
  nvJitLinkHandle link = nullptr;
  if (linker->create(&link, static_cast<uint32_t>(options.size()), options.data()) != NVJITLINK_SUCCESS)
    return fatal(fmt::format("Value '{}' is not defined for option 'arch'", request->arch));
  nvJitLinkResult result = NVJITLINK_SUCCESS;
  for (const std::string& file : request->files)
    if (result == NVJITLINK_SUCCESS) result = linker->add(link, NVJITLINK_INPUT_ANY, file.c_str());
  if (result == NVJITLINK_SUCCESS) result = linker->complete(link);
  fmt::print(stderr, "{}", linker->text(link, linker->info_size, linker->info));
  if (result != NVJITLINK_SUCCESS) {
    std::string errors = linker->text(link, linker->errors_size, linker->errors);
    while (errors.ends_with('\n')) errors.pop_back();
    return fatal(errors.empty() ? fmt::format("link failed with {}", static_cast<int>(result)) : errors);
  }
  size_t size = 0;
  linker->image_size(link, &size);
  std::string image(size, '\0');
  linker->image(link, image.data());
  linker->destroy(&link);
  return write_file(request->output, image) ? 0 : fatal(fmt::format("Could not write '{}'", request->output));
}

}  // namespace warpbeam::compiler

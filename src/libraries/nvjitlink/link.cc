#include "libraries/nvjitlink/link.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <string_view>

namespace warpbeam::nvjitlink {

namespace {

using Form = cuda::CodeLink::Form;

constexpr const char* kNames[] = {"none", "CUBIN", "PTX", "LTOIR", "FATBIN", "OBJECT", "LIBRARY", "INDEX"};

constexpr std::string_view kLtoIr =
    "\xed"
    "CN\x7f";
constexpr std::string_view kFatbinMagic = "\x50\xed\x55\xba";

// What the bytes are by their beginning. An ELF file is a host's or, with CUDA's machine number, a cubin; a cubin of
// this platform is linked code.
nvJitLinkInputType recognize(std::string_view bytes) {
  constexpr size_t kMachine = 18;  // its offset in an ELF header
  constexpr unsigned char kCuda = 190;
  if (bytes.starts_with("WBLINKED")) return NVJITLINK_INPUT_CUBIN;
  if (bytes.starts_with("\x7f"
                        "ELF"))
    return bytes.size() > kMachine && static_cast<unsigned char>(bytes[kMachine]) == kCuda ? NVJITLINK_INPUT_CUBIN : NVJITLINK_INPUT_OBJECT;
  // Or a script that names the libraries, as those of this platform are.
  if (bytes.starts_with("!<arch>\n") || bytes.starts_with("INPUT(")) return NVJITLINK_INPUT_LIBRARY;
  if (bytes.starts_with(kLtoIr)) return NVJITLINK_INPUT_LTOIR;
  if (bytes.starts_with(kFatbinMagic)) return NVJITLINK_INPUT_FATBIN;
  if (bytes.find(".version") != bytes.npos) return NVJITLINK_INPUT_PTX;
  return NVJITLINK_INPUT_NONE;
}

Form form_of(nvJitLinkInputType type) {
  switch (type) {
    case NVJITLINK_INPUT_OBJECT:
    case NVJITLINK_INPUT_LIBRARY: return Form::HostObject;
    case NVJITLINK_INPUT_PTX: return Form::Ptx;
    default: return Form::Image;
  }
}

}  // namespace

nvJitLinkResult Link::refuse(nvJitLinkResult result, const std::string& message) {
  errors += message + "\n";
  return result;
}

nvJitLinkResult Link::check_type(nvJitLinkInputType* type, const std::string& bytes, const std::string& name) {
  const nvJitLinkInputType is = recognize(bytes);
  if (*type == NVJITLINK_INPUT_ANY) {
    *type = is;
    if (is == NVJITLINK_INPUT_NONE) return refuse(NVJITLINK_ERROR_UNRECOGNIZED_INPUT, fmt::format("{}: not device code of any type", name));
  }
  if (*type < NVJITLINK_INPUT_CUBIN || *type >= NVJITLINK_INPUT_INDEX)
    return refuse(NVJITLINK_ERROR_INCORRECT_INPUT_TYPE, fmt::format("{}: unsupported input type", name));
  // What NVRTC here calls a cubin is the text.
  if (is != *type && !(*type == NVJITLINK_INPUT_CUBIN && is == NVJITLINK_INPUT_PTX))
    return refuse(NVJITLINK_ERROR_INCORRECT_INPUT_TYPE, fmt::format("{}: this is no {}", name, kNames[*type]));
  if (is == NVJITLINK_INPUT_LTOIR && !options_.lto)
    return refuse(NVJITLINK_ERROR_LTO_NOT_ENABLED, fmt::format("{}: LTO-IR needs -lto", name));
  if (is == NVJITLINK_INPUT_LTOIR && !bytes.starts_with(nvvm::kLinkable))
    return refuse(NVJITLINK_ERROR_NVVM_COMPILE,
                  fmt::format("{}: LTO-IR, the vendor's intermediate code, is not supported; that of this libnvvm and NVRTC is", name));
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult Link::add(nvJitLinkInputType type, const std::string& bytes, const std::string& name) {
  if (image()) return NVJITLINK_ERROR_INTERNAL;
  if (!options_.target) return NVJITLINK_ERROR_MISSING_ARCH;
  if (auto result = check_type(&type, bytes, name); result != NVJITLINK_SUCCESS) return result;
  if (type == NVJITLINK_INPUT_LTOIR) {
    linkable_.push_back({name, bytes.substr(std::string_view(nvvm::kLinkable).size())});
    return NVJITLINK_SUCCESS;
  }
  const Form form = form_of(type);
  // Programs hand over all of their objects, also those without device code.
  if (form == Form::HostObject && bytes.find(kFatbinMagic) == bytes.npos) return NVJITLINK_SUCCESS;
  cuda::CodeLink piece(*options_.target);
  if (auto added = piece.add(form, bytes, name); !added) return refuse(NVJITLINK_ERROR_INVALID_INPUT, added.error().message);
  if (auto checked = piece.check(); !checked)
    return refuse(NVJITLINK_ERROR_PTX_COMPILE, fmt::format("{}: {}", name, checked.error().message));
  code_.append(piece);
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult Link::add_file(nvJitLinkInputType type, const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return refuse(NVJITLINK_ERROR_INVALID_INPUT, fmt::format("no such file: {}", path));
  return add(type, std::string(std::istreambuf_iterator<char>(file), {}), path);
}

// Where nothing else is linked, functions that are no kernels are nobody's but this program's.
nvJitLinkResult Link::compile_linkable() {
  nvvm::Options options = options_.code;
  options.whole_program = code_.empty();
  nvvm::Compiled compiled = nvvm::compile(linkable_, options);
  if (compiled.status != nvvm::Status::Ok) return refuse(NVJITLINK_ERROR_NVVM_COMPILE, compiled.log);
  info += compiled.log;
  if (auto added = code_.add(Form::Ptx, compiled.code, "<lto>"); !added) return refuse(NVJITLINK_ERROR_PTX_COMPILE, added.error().message);
  if (options_.ptx) ptx_ = std::move(compiled.code);
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult Link::complete() {
  if (image()) return NVJITLINK_ERROR_INTERNAL;
  if (!options_.target) return NVJITLINK_ERROR_MISSING_ARCH;
  // Of PTX there is nothing to optimize while linking.
  if (options_.ptx && !code_.empty()) return refuse(NVJITLINK_ERROR_INCORRECT_INPUT_TYPE, "-ptx needs LTO-IR in all inputs");
  if (!linkable_.empty()) {
    if (const auto result = compile_linkable(); result != NVJITLINK_SUCCESS) return result;
  } else if (options_.lto) return refuse(NVJITLINK_ERROR_NVVM_COMPILE, "-lto needs LTO-IR");
  // A link of nothing gives an image without kernels.
  if (code_.empty()) {
    const std::string nothing = fmt::format(".version 7.0\n.target {}\n.address_size 64\n", options_.target->key);
    if (auto added = code_.add(Form::Ptx, nothing, "nothing"); !added) return NVJITLINK_ERROR_INTERNAL;
  }
  std::string log;
  const cudaError_t status = code_.link(&log);
  errors += log;
  if (options_.verbose)
    for (const std::string& name : code_.names()) info += fmt::format("info: linked {}\n", name);
  return status == cudaSuccess ? NVJITLINK_SUCCESS : NVJITLINK_ERROR_INTERNAL;
}

}  // namespace warpbeam::nvjitlink

#include "cuda/modules/device_code.h"

#include <fmt/format.h>

#include <cstring>

#include "cuda/api.h"
#include "cuda/notes.h"
#include "fatbin/contents.h"
#include "fatbin/format.h"
#include "fatbin/linked.h"

namespace warpbeam::cuda {

namespace {

constexpr char kElfMagic[4] = {'\x7f', 'E', 'L', 'F'};

bool begins(const void* image, const void* magic, size_t bytes) {
  // One byte at a time: a short text ends before the magic number does.
  for (size_t i = 0; i < bytes; ++i)
    if (static_cast<const char*>(image)[i] != static_cast<const char*>(magic)[i]) return false;
  return true;
}

Error no_image(const model::Device& device, std::string_view why) {
  return {cudaErrorNoKernelImageForDevice,
          fmt::format("no kernel image for {} (compute capability {}.{}): {}", device.name, device.major, device.minor, why)};
}

Result<std::vector<std::string>> read_container(const void* container, const model::Device& device) {
  auto contents = fatbin::read(container);
  if (!contents) return Error{cudaErrorInvalidKernelImage, contents.error().message};
  if (const auto* best = fatbin::best_ptx(*contents, device.cc())) {
    if (best->cc > device.cc())
      note_once("newer PTX",
                [&] { return fmt::format("a fat binary has machine code for {} and PTX for newer ones only: that is run", device.name); });
    auto text = fatbin::text_of(*best);
    if (!text) return Error{cudaErrorInvalidKernelImage, text.error().message};
    return std::vector{std::move(*text)};
  }
  if (!contents->ptx.empty())
    return no_image(device, fmt::format("its PTX needs compute capability {}.{} or newer", contents->ptx.front().cc / 10,
                                        contents->ptx.front().cc % 10));
  return no_image(device, !contents->machine_code.empty()
                              ? "it holds machine code for the vendor's GPUs only; build with PTX (-arch=compute_…)"
                              : "it holds no code");
}

}  // namespace

Result<std::vector<std::string>> read_device_code(const void* image, const model::Device& device) {
  if (begins(image, &fatbin::kMagic, sizeof fatbin::kMagic)) return read_container(image, device);
  if (begins(image, &fatbin::kWrapperMagic, sizeof fatbin::kWrapperMagic)) {
    fatbin::Wrapper wrapper;
    std::memcpy(&wrapper, image, sizeof wrapper);
    return read_container(wrapper.container, device);
  }
  if (fatbin::is_linked(image)) return fatbin::unpack_linked(image);
  if (begins(image, kElfMagic, sizeof kElfMagic))
    return no_image(device, "a cubin holds machine code for the vendor's GPUs only; load its PTX instead");
  return std::vector<std::string>{static_cast<const char*>(image)};
}

bool holds_whole_image(std::string_view bytes) {
  if (bytes.starts_with(std::string_view(reinterpret_cast<const char*>(&fatbin::kMagic), sizeof fatbin::kMagic)))
    return fatbin::fits(bytes);
  return bytes.size() < sizeof(uint64_t) || !fatbin::is_linked(bytes.data()) || fatbin::linked_fits(bytes);
}

std::vector<std::string> relocatable_code(std::string_view bytes, const model::Device& device) {
  // The containers start with their magic number on a boundary of eight bytes from the object's start; in an archive
  // objects begin anywhere, so every even place is looked at.
  std::vector<std::string> texts;
  const std::string_view magic(reinterpret_cast<const char*>(&fatbin::kMagic), sizeof fatbin::kMagic);
  for (size_t at = bytes.find(magic); at != bytes.npos; at = bytes.find(magic, at + magic.size())) {
    std::string container(bytes.substr(at));  // read_container takes aligned bytes
    if (!fatbin::fits(container)) continue;
    if (auto code = read_container(container.data(), device)) texts.push_back(std::move(code->front()));
  }
  return texts;
}

}  // namespace warpbeam::cuda

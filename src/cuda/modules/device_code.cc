#include "cuda/modules/device_code.h"

#include <fmt/format.h>

#include <cstring>

#include "cuda/api.h"
#include "cuda/notes.h"
#include "fatbin/contents.h"
#include "fatbin/format.h"

namespace warpbeam::cuda {

namespace {

// Linked code: this header, then for each text its length in eight bytes and its characters.
struct LinkedHeader {
  char magic[8];
  uint64_t texts;
};
constexpr char kLinkedMagic[8] = {'W', 'B', 'L', 'I', 'N', 'K', 'E', 'D'};

constexpr char kElfMagic[4] = {'\x7f', 'E', 'L', 'F'};

bool begins(const void* image, const void* magic, size_t bytes) {
  // One byte at a time: a short text ends before the magic number does.
  for (size_t i = 0; i < bytes; ++i)
    if (static_cast<const char*>(image)[i] != static_cast<const char*>(magic)[i]) return false;
  return true;
}

std::vector<std::string> unpack_linked_code(const char* at) {
  LinkedHeader header;
  std::memcpy(&header, at, sizeof header);
  at += sizeof header;
  std::vector<std::string> texts;
  for (uint64_t i = 0; i < header.texts; ++i) {
    uint64_t length;
    std::memcpy(&length, at, sizeof length);
    texts.emplace_back(at + sizeof length, length);
    at += sizeof length + length;
  }
  return texts;
}

Error no_image(const model::Device& device, std::string_view why) {
  return {cudaErrorNoKernelImageForDevice, fmt::format("no kernel image for {} (compute capability {}.{}): {}",
                                                       device.name, device.major, device.minor, why)};
}

Result<std::vector<std::string>> read_container(const void* container, const model::Device& device) {
  auto contents = fatbin::read(container);
  if (!contents) return Error{cudaErrorInvalidKernelImage, contents.error().message};
  if (const auto* best = fatbin::best_ptx(*contents, device.cc())) {
    if (best->cc > device.cc())
      note_once("newer PTX", [&] { return fmt::format("a fat binary has machine code for {} and PTX for newer ones only: that is run", device.name); });
    auto text = fatbin::text_of(*best);
    if (!text) return Error{cudaErrorInvalidKernelImage, text.error().message};
    return std::vector{std::move(*text)};
  }
  if (!contents->ptx.empty())
    return no_image(device, fmt::format("its PTX needs compute capability {}.{} or newer",
                                        contents->ptx.front().cc / 10, contents->ptx.front().cc % 10));
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
  if (begins(image, kLinkedMagic, sizeof kLinkedMagic)) return unpack_linked_code(static_cast<const char*>(image));
  if (begins(image, kElfMagic, sizeof kElfMagic))
    return no_image(device, "a cubin holds machine code for the vendor's GPUs only; load its PTX instead");
  return std::vector<std::string>{static_cast<const char*>(image)};
}

bool holds_whole_image(std::string_view bytes) {
  if (bytes.starts_with(std::string_view(reinterpret_cast<const char*>(&fatbin::kMagic), sizeof fatbin::kMagic)))
    return fatbin::fits(bytes);
  if (!bytes.starts_with(std::string_view(kLinkedMagic, sizeof kLinkedMagic))) return true;
  LinkedHeader header;
  if (bytes.size() < sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes.remove_prefix(sizeof header);
  for (uint64_t i = 0, length = 0; i < header.texts; ++i) {
    if (bytes.size() < sizeof length) return false;
    std::memcpy(&length, bytes.data(), sizeof length);
    bytes.remove_prefix(sizeof length);
    if (bytes.size() < length) return false;
    bytes.remove_prefix(length);
  }
  return true;
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

std::string pack_linked_code(const std::vector<std::string>& texts) {
  auto bytes = [](const auto& value) { return std::string_view(reinterpret_cast<const char*>(&value), sizeof value); };
  LinkedHeader header;
  std::memcpy(header.magic, kLinkedMagic, sizeof kLinkedMagic);
  header.texts = texts.size();
  std::string packed(bytes(header));
  for (const std::string& text : texts) {
    packed += bytes(uint64_t{text.size()});
    packed += text;
  }
  return packed;
}

}  // namespace warpbeam::cuda

// Remarks for whoever asks for them: WARPBEAM_NOTES=1 prints each once on stderr.
#pragma once
#include <functional>
#include <string>

namespace warpbeam::cuda {

void note_once(const char* key, const std::function<std::string()>& text);

}  // namespace warpbeam::cuda

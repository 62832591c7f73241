// A recording of the profiler, as it stands in its file.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpbeam::report {

using Json = nlohmann::ordered_json;

Result<Json> read_recording(const std::string& path);

// All recordings of a folder, one for each process of a program, as one: launches are numbered through. An empty folder
// is an error that says so.
Result<Json> read_recordings(const std::string& folder);

// Puts the text of the source files beside their names, so that a report needs them no more. Files that cannot be read
// or are very long stay away. The names are believed: for what this process has recorded.
void embed_sources(Json& recording);

// The same of a recording that came from elsewhere: only files that lie under `folder`, however they are named.
void embed_sources_under(Json& recording, const std::string& folder);

// Kernel names as CUDA's tools print them: `scale(float *, int)`.
std::string spaced_name(const std::string& name);

}  // namespace warpbeam::report

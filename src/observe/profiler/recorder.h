// Turns launches into the recording: a JSON document that names no address of this process.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "observe/profiler/launch_profile.h"

namespace warpbeam::observe {

using Json = nlohmann::ordered_json;

// The part of a recording that launches share: files and the text of functions.
class Recorder {
 public:
  // What `profile` holds, once its grid has ended and while its program is still loaded.
  Json launch(const LaunchProfile& profile);
  Json files() const { return files_; }
  Json functions() const { return functions_; }

 private:
  struct Known {
    size_t index = 0;
    std::vector<int> place;  // of each instruction in the function's listing; -1: the decoder added it
  };
  const Known& function(const vm::FunctionCode& code);
  size_t file(const std::string& path);

  Json files_ = Json::array(), functions_ = Json::array();
  std::map<std::string, size_t> file_index_;
  std::map<std::string, Known> known_;  // by name and text
};

// Names of the numbers in a launch's "counts", and of all metrics, in their order.
Json count_fields();
Json metric_table();
Json device_facts(const model::Device& device);

}  // namespace warpbeam::observe

// Turns launches into the recording: a JSON document that names no address of this process.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "observe/profiler/launch_profile.h"
#include "timing/device/children.h"

namespace warpbeam::observe {

using Json = nlohmann::ordered_json;

// Keeps what launches did, in little room, and writes it when asked.
class Recorder {
 public:
  // What `profile` holds, once its grid has ended and while its program is still loaded. `parent` is the kernel that
  // launched it, empty for the host.
  void keep(const LaunchProfile& profile, const std::string& parent);
  // The launches as a JSON array, numbered in the order of their operations. Those that a grid launched follow it; they
  // end in any order, so they are listed by what they are and did.
  void write_launches(std::ostream& out) const;
  Json files() const { return files_; }
  Json functions() const { return functions_; }

 private:
  struct Known {
    struct Place {
      int listed = -1;  // in the function's listing; -1: the decoder added it
      int file = -1;
      uint32_t line = 0;
    };
    size_t index = 0;
    std::vector<Place> place;  // of each instruction
  };
  // JSON text around the metrics, which are worked out when it is written.
  struct Launch {
    std::string before;
    Totals totals;
    std::string after;
    std::optional<timing::Prediction> prediction;  // without what it says of instructions
    std::string stalls;                            // of the prediction
    timing::device::Child place;                   // among what the operation's kernel launched
    std::string text() const;
  };
  struct Operation {
    std::vector<Launch> by_host, by_device;
    timing::device::ChildCosts costs;  // of launches by the device
  };
  // A kernel is over when all is that it launched.
  static void wait_for_children(const Operation& operation, Launch& kernel);
  const Known& function(const vm::FunctionCode& code);
  const Known& listing(const vm::FunctionCode& code);
  size_t file(const std::string& path);
  void write_counts(Launch& kept, const LaunchProfile& profile);
  void write_accesses(std::string& out, const LaunchProfile& profile);
  void write_paths(std::string& out, const LaunchProfile& profile);

  Json files_ = Json::array(), functions_ = Json::array();
  std::map<std::string, size_t> file_index_;
  std::map<std::string, Known> known_;              // by name and text
  std::map<uint64_t, const Known*> known_serial_;   // FunctionCode::serial
  std::map<uint64_t, Operation> operations_;
};

// Names of the numbers in a launch's "counts", and of all metrics, in their order.
Json count_fields();
Json metric_table();
Json device_facts(const model::Device& device);

}  // namespace warpbeam::observe

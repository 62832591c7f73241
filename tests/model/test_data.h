// Recorded answers of a real device, in data/.
#pragma once
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

inline nlohmann::json read_test_data(const std::string& name) {
  std::ifstream file(std::string(WARPBEAM_TEST_DATA) + "/" + name);
  if (!file) throw std::runtime_error("cannot read " + name);
  return nlohmann::json::parse(file);
}

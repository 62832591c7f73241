// Every function of the driver API with no context, a popped one, another one, a destroyed one, another device's: what an H200 answered
// (context_codes.txt) is what is answered here.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#ifndef CUDA_API_PER_THREAD_DEFAULT_STREAM  // the program calls the functions by their plain names
namespace {

using Answers = std::map<std::string, std::map<std::string, std::string>>;  // function, situation

Answers read(std::istream& in) {
  Answers all;
  std::vector<std::string> situations;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::stringstream words(line);
    std::string name, word;
    words >> name;
    std::vector<std::string> row;
    while (words >> word) row.push_back(word);
    if (name == "function") situations = row;
    else
      for (size_t k = 0; k < row.size() && k < situations.size(); ++k) all[name][situations[k]] = row[k];
  }
  return all;
}

struct Exception {
  const char* function;   // a regular expression
  const char* situation;  // another
  const char* why;
};
const Exception kExceptions[] = {
    {".*", "uninitialised", "a null handle is looked at before cuInit is asked for"},
    {"cu(Graph|UserObject).*", "destroyed|elsewhere",
     "graphs go with their context here; on a GPU most that have more than host nodes crash the process that uses them then"},
    {"cuCtxPushCurrent_v2", "destroyed|elsewhere", "what was destroyed is refused at once"},
    {"cuCtx(Enable|Disable)PeerAccess", "current|other", "contexts of one device may be peers here"},
    {"cuEvent(Query|ElapsedTime_v2)", ".*", "whether the work before the event was done by then"},
    {"cuLibraryGetManaged", "popped", "no managed variable of that name: whose context it would be is asked first"},
    {"cuSurfObjectGetResourceDesc", "other|device",
     "each context counts its surfaces, so that one of another is none or a wrong one there"},
    {"cuStreamBeginCapture_v2", "none", "an H100's driver says CUDA_ERROR_INVALID_HANDLE of the null stream"},
    {"cuGreenCtxCreate", "none", "without a description"},
    {"cuGraphAddKernelNode_v2", "none", "neither graph nor kernel: which of them is looked at first"},
    {"cuGraphExecUpdate_v2", "current|other|device", "what was changed and changed back before counts there"},
    {"cuDevicePrimaryCtx(Release|Reset)_v2.*", ".*", "not permitted on the machine that was asked"},
};

// Of handles that mean nothing any more the errors differ: that there is one counts.
bool same(const std::string& situation, const std::string& theirs, const std::string& ours) {
  if (theirs == ours) return true;
  return (situation == "destroyed" || situation == "elsewhere") && theirs != "0" && ours != "0";
}

std::string output_of(const char* command) {
  std::string text;
  FILE* program = popen(command, "r");
  if (!program) return text;
  for (char part[4096]; const size_t n = std::fread(part, 1, sizeof part, program);) text.append(part, n);
  EXPECT_EQ(pclose(program), 0) << command;
  return text;
}

TEST(ContextCodes, are_those_of_a_gpu) {
  std::ifstream record(WARPBEAM_CONTEXT_CODES);
  const Answers theirs = read(record);
  std::stringstream out(
      output_of(WARPBEAM_CONTEXT_CODES_PROGRAM " uninitialised none current popped other destroyed elsewhere 2>/dev/null") +
      output_of("WARPBEAM_DEVICES=2 " WARPBEAM_CONTEXT_CODES_PROGRAM " device 2>/dev/null"));
  const Answers ours = read(out);
  EXPECT_GT(theirs.size(), 300u);
  int compared = 0;
  for (const auto& [function, row] : theirs)
    for (const auto& [situation, answer] : row) {
      if (answer == "crash" || answer == "hang" || answer == "-") continue;
      const auto excused = [&](const Exception& e) {
        return std::regex_match(function, std::regex(e.function)) && std::regex_match(situation, std::regex(e.situation));
      };
      if (std::any_of(std::begin(kExceptions), std::end(kExceptions), excused)) continue;
      const auto it = ours.find(function);
      ASSERT_NE(it, ours.end()) << function;
      const std::string& here = it->second.at(situation);
      EXPECT_TRUE(same(situation, answer, here)) << function << ", " << situation << ": " << here << " instead of " << answer;
      ++compared;
    }
  EXPECT_GT(compared, 1800);
}

}  // namespace
#endif

// One run of the compiler driver, step by step: what is asked for (build.cc), each source on its way to an object (build_units.cc), what is made of the
// objects (build_outputs.cc).
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "compiler/build.h"
#include "compiler/diagnostics.h"
#include "compiler/passes.h"
#include "compiler/process.h"
#include "compiler/temporary_directory.h"

namespace warpbeam::compiler {

// A source on its way to an object.
struct Unit {
  Input source;
  std::string object;
  std::string device;  // `-o /dev/null`: what the object is written to, since it cannot be made there
  std::vector<std::string> ptx_files;  // one per target
  std::vector<std::string> dependency_files;
  std::string host_facts, device_facts;  // files of what the checker wants to know
  // Preprocessed and rewritten, where device code launches kernels; else empty.
  std::string host_text;
  std::vector<std::string> device_texts;  // one per target
};

inline bool is_source(Language language) { return language == Language::Cuda || language == Language::Cxx || language == Language::C; }

class Build {
 public:
  Build(const Options& options, BuildRecord* record) : options_(options), record_(record) {}
  int run();

 private:
  Result<void> prepare();
  Result<void> run_phase();
  Result<void> make_objects(bool keep_objects);
  Result<void> make_host_texts();
  Result<void> make_executable();
  Result<void> make_library();
  Result<void> make_device_link();
  Result<void> make_ptx();
  Result<void> make_fatbins();
  Result<void> preprocess();
  Result<void> list_dependencies();
  Result<void> check_device_syntax();

  Unit plan_unit(const Input& source, bool keep_object);
  Result<void> rewrite_launches(Unit& unit, bool with_host, const DependencyOutput* dependencies);
  DependencyOutput recorded_dependencies(const Unit& unit, size_t pass) const;
  DependencyOutput first_dependencies(const Unit& unit) const;
  Command device_command(const Unit& unit, size_t target, const DependencyOutput* dependencies) const;
  void add_commands(const Unit& unit, std::vector<Command>& commands);
  Result<void> add_device_commands(Unit& unit, std::vector<Command>& commands);
  Result<void> run_and_close(const std::vector<Command>& commands);  // and says how many messages there were
  void read_respelled(const Unit& unit, std::vector<Command>& commands, size_t first);
  Result<std::string> container(const Unit& unit, std::string_view object);
  Result<void> embed(const Unit& unit);
  std::string facts_of_units() const;
  Result<std::string> finished_ptx(const std::string& file, const CodeTarget& target);
  std::vector<Outcome> run_with_libraries(std::vector<Command> commands, int at_once);
  Result<void> run_all(const std::vector<Command>& commands, int at_once);
  Result<std::vector<std::string>> link_files(std::vector<std::string>& device_files);
  Result<void> registration_object(const std::vector<std::string>& device_files, std::string& assembly);
  Result<void> write(const std::string& path, std::string_view contents);
  Result<void> print_resources(const std::string& ptx, const std::string& file, const CodeTarget& target);

  void say(std::string_view text);
  void show(const std::string& line);  // a line of --dryrun and --verbose
  std::string temporary(const std::string& name) const { return directory_ + "/" + name; }
  std::string unique(const std::string& stem);
  std::string output_name(const std::string& source, const std::string& suffix) const;
  bool only_shown() const { return options_.dry_run; }
  int processors() const;

  const Options& options_;
  BuildRecord* record_;
  Diagnostics diagnostics_;
  std::unique_ptr<TemporaryDirectory> temporary_directory_;
  std::string directory_;
  std::vector<Unit> units_;
  std::vector<std::string> used_names_;
  int status_ = 0;
};

}  // namespace warpbeam::compiler

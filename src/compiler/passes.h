// The command lines of one compilation: each pass of clang, the link, the archive.
#pragma once
#include <string>
#include <vector>

#include "compiler/options.h"
#include "compiler/process.h"
#include "compiler/toolchain.h"

namespace warpbeam::compiler {

// A number that names one source compiled with one set of options; relocatable device code gets unique names from it.
std::string unit_id(const Options& options, const std::string& source);

// Where a pass writes the files it included, for the compile cache or for -MD.
struct DependencyOutput {
  std::string file;
  std::string target;
  bool system = true;
  bool phony = false;
};

// CUDA source to PTX text.
Command device_pass(const Options& options, const std::string& source, const CodeTarget& target, const std::string& ptx_file,
                    const DependencyOutput* dependencies);

// CUDA source to a host object whose fat binary is the placeholder file.
Command host_pass(const Options& options, const std::string& source, const std::string& placeholder, const std::string& object_file,
                  const DependencyOutput* dependencies);

// The same two passes in two steps, for sources that launch from device code (device_launches.h): the preprocessed text,
// and what comes of it once it has been rewritten.
Command preprocess_device(const Options& options, const std::string& source, const CodeTarget& target, const std::string& text_file,
                          const DependencyOutput* dependencies);
Command preprocess_host(const Options& options, const std::string& source, const std::string& text_file,
                        const DependencyOutput* dependencies);
Command rewritten_device_pass(const Options& options, const std::string& source, const CodeTarget& target, const std::string& text_file,
                              const std::string& ptx_file);
Command rewritten_host_pass(const Options& options, const std::string& source, const std::string& placeholder, const std::string& text_file,
                            const std::string& object_file);

// C or C++ source to an object.
Command plain_pass(const Options& options, const Input& source, const std::string& object_file, const DependencyOutput* dependencies);

// Preprocessing (-E) and dependency lists (-M, -MM) on the host's view of a source.
Command preprocess_pass(const Options& options, const Input& source);
Command dependency_pass(const Options& options, const Input& source, const std::string& target);

// Device code through the front end only.
Command syntax_pass(const Options& options, const std::string& source, const CodeTarget& target);

// Has a compilation of a CUDA source write what the checker wants to know (check_facts.h) to a file.
void ask_for_facts(Command& command, const std::string& file);

struct LinkInputs {
  std::vector<std::string> files;  // objects, archives, -lNAME in order
  std::string registration;        // assembly or object that registers relocatable device code, or empty
  std::string dependency_file;     // where the linker lists what it read, or empty
};
// The words that stand for one -lNAME on the link line: none where libwarpbeam is the library.
Result<std::vector<std::string>> library_words(const Options& options, const std::string& name);

Command link_pass(const Options& options, const LinkInputs& inputs, const std::string& output);

Command archive_pass(const Options& options, const std::vector<std::string>& objects, const std::string& output);

// Assembly to object, for the registration of relocatable device code.
Command assemble_pass(const std::string& assembly, const std::string& object_file);

}  // namespace warpbeam::compiler

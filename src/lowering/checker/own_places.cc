// Lines of the program instead of lines of the platform's headers, for clang's device pass.
//
// PTX as LLVM 19 writes it has one line for an instruction, and knows nothing of calls that were inlined. A race in
// `barrier.arrive_and_wait()` is of interest where that stands, not in the header in which it ends.
#include "lowering/checker/own_places.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/Path.h>

namespace warpbeam::lowering {
namespace {

llvm::cl::list<std::string> platform("warpbeam-platform", llvm::cl::desc("Folder of headers that are no part of the program"));

constexpr llvm::StringLiteral kAlgorithms[] = {"/cub/", "/thrust/"}, kOthers[] = {"/cuda/std/", "/libcudacxx/"};

template <size_t kCount>
bool in_one_of(llvm::StringRef file, const llvm::StringLiteral (&folders)[kCount]) {
  return llvm::any_of(folders, [&](llvm::StringRef folder) { return file.contains(folder); });
}

bool in_platform(const llvm::DIFile* source) {
  if (!source) return false;
  const llvm::SmallString<256> file = path_of(*source);
  // NVIDIA's libraries of headers may stand anywhere.
  return llvm::any_of(platform, [&](const std::string& folder) { return file.starts_with(folder); }) || in_one_of(file, kAlgorithms) ||
         in_one_of(file, kOthers);
}

}  // namespace

llvm::SmallString<256> path_of(const llvm::DIFile& source) {
  llvm::SmallString<256> file = source.getFilename();
  if (!llvm::sys::path::is_relative(file)) return file;
  file = source.getDirectory();
  llvm::sys::path::append(file, source.getFilename());
  return file;
}

bool is_of_platform(const llvm::Function& f) {
  const llvm::DISubprogram* program = f.getSubprogram();
  return program && in_platform(program->getFile());
}

bool is_of_platform(const llvm::DILocation* place) { return place && in_platform(place->getFile()); }

llvm::PreservedAnalyses OwnPlaces::run(llvm::Function& f, llvm::FunctionAnalysisManager&) {
  for (llvm::Instruction& i : llvm::instructions(f)) {
    const llvm::DILocation* place = i.getDebugLoc();
    bool of_algorithm = false;
    for (; place && in_platform(place->getFile()); place = place->getInlinedAt())
      of_algorithm |= in_one_of(path_of(*place->getFile()), kAlgorithms);
    if (!place || place == i.getDebugLoc()) continue;
    if (of_algorithm)
      place = llvm::DILocation::get(f.getContext(), place->getLine(), kOfAlgorithm, place->getScope(), place->getInlinedAt());
    i.setDebugLoc(place);
  }
  return llvm::PreservedAnalyses::all();
}

}  // namespace warpbeam::lowering

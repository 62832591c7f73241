#pragma once
#include <string>

namespace llvm {
class Module;
}

namespace warpbeam::nvvm {

struct Options;

// Of one module, as read: what NVVM calls otherwise than LLVM 19 gets LLVM's name.
void adapt_annotations(llvm::Module& module);

// Of the whole program: bodies for NVVM's functions that LLVM 19 does not know, in LLVM's own. What is called and
// neither knows is named in the result; else it is empty.
std::string define_foreign_intrinsics(llvm::Module& module);

// Says of functions of the device library that only their results count.
void describe_device_library(llvm::Module& module);

// Threads that part may meet again in any function and any assembly: LLVM is told, and finds out where that is not so.
void mark_convergent(llvm::Module& module);

// What the options say to every function.
void apply_options(llvm::Module& module, const Options& options);

}  // namespace warpbeam::nvvm

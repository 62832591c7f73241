// What a runtime that is linked into the program keeps with each context: values by key, each with a function that is
// told when the context goes.
#pragma once
#include "cuda/driver_api.h"

namespace warpbeam::cuda {

class Context;

using StorageEnds = void (*)(CUcontext context, void* key, void* value);

void store_in_context(Context& context, void* key, void* value, StorageEnds ends);
bool forget_in_context(Context& context, void* key);  // without telling anybody; false if there is no such key
bool find_in_context(Context& context, void* key, void** value);

// The context is emptied: every value's function is called, and may still use the context.
void end_context_storage(Context& context);

}  // namespace warpbeam::cuda

// The types of the runtime API, by chapter.
#ifndef WARPBEAM_DRIVER_TYPES_H
#define WARPBEAM_DRIVER_TYPES_H
// Programs test for NVIDIA's own guard too.
#define __DRIVER_TYPES_H__

// Programs, C ones above all, use INT_MAX and NULL without asking for them.
#ifndef __CUDACC_RTC__
#include <limits.h>
#include <stddef.h>
#endif

#include "warpbeam/runtime/handles.h"
#include "warpbeam/runtime/errors.h"
#include "warpbeam/runtime/device.h"
#include "warpbeam/runtime/memory.h"
#include "warpbeam/runtime/launch.h"
#include "warpbeam/runtime/interop.h"
#include "warpbeam/runtime/graph.h"
#include "warpbeam/runtime/library.h"

#endif

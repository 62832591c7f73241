// Pipelines of copies: see cuda/pipeline for the classes.
#include "warpbeam/hide_macros.h"
#include "cuda_pipeline_primitives.h"
#include "warpbeam/restore_macros.h"

// Pipelines of copies: see cuda/pipeline for the classes.
#include "cuda_pipeline_primitives.h"

// Barriers that split arriving from waiting: see cuda/barrier for the class.
#include "cuda_awbarrier_primitives.h"

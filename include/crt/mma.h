// A name of the toolkit.
#pragma once
#include "../mma.h"

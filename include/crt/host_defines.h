#pragma once
#include "../warpbeam/device/attributes.h"
#define __HOST_DEFINES_H__

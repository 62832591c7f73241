// The standard headers that those of cooperative groups and of libcu++ bring along: programs use FLT_MAX, std::string or an
// exception without asking for them.
#ifndef WARPBEAM_CXX_IMPLIED_H
#define WARPBEAM_CXX_IMPLIED_H

#include "../prelude.h"

#ifndef __CUDACC_RTC__
#include <cassert>
#include <cctype>
#include <cerrno>
#include <cfloat>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <iterator>
#include <stdexcept>
#include <string>
#include <typeinfo>
#endif

#endif

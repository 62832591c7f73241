// Files without a name in which memory lies that processes share. A number that another process gives, of a file or of a process and its
// file, may be stale or forged: what it leads to is one of ours, by name and by seals, or it is not opened.
#pragma once
#include <sys/types.h>

#include <cstdint>

namespace warpbeam::cuda {

enum class SharedKind { Memory, Event, Physical, Pool };

// Of that size for good, or growing (pools). No process can make it smaller, which would end others that have it mapped. -1: no memory.
int make_shared_file(SharedKind kind, uint64_t bytes);

// Whether a descriptor of this process is of such a file, and how large it is.
bool is_shared_file(SharedKind kind, int file, uint64_t* bytes);

// The file that `process` has open under that number, or -1 where that is none of the kind.
int open_shared_file(SharedKind kind, pid_t process, int number, uint64_t* bytes);

}  // namespace warpbeam::cuda

// CUDA_VISIBLE_DEVICES: which of the devices a process sees, and in what order.
#pragma once
#include <driver_types.h>

#include <string>
#include <vector>

namespace warpbeam::cuda {

// The places of those to see, of `count` devices of the model that `key` names. `asked`: the user has said how many there
// are. A list that leaves none then leaves none, and so does one that the program itself has set; but one that the program
// was started with speaks of the GPUs of the host, and hides nothing where it fits none of ours.
std::vector<int> visible_devices(const std::string& key, int count, bool asked);

// Where the device with this number stands among all of them.
int place_of_device(int ordinal);

// The same device has the same identity in every run.
cudaUUID_t uuid_of(const std::string& key, int place);

}  // namespace warpbeam::cuda

// The device table for people: on the command line and as docs/devices.md.
#pragma once
#include <iosfwd>
#include <string>

#include "model/device.h"

namespace warpbeam::model {

// One line per device; with `verbose` every fact of every device.
void print_devices(std::ostream& out, bool verbose);

// Every fact of one device, grouped.
void print_device(std::ostream& out, const Device& device);

// The text of docs/devices.md.
std::string devices_page();

}  // namespace warpbeam::model

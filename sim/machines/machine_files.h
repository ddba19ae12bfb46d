// The files of a host's /proc and /sys about its hardware and its kernel. The machine's own files
// depend on everything else that runs there, so a program that reads them would not be
// reproducible.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace anyrdma::sim {

struct MachineFile {
  std::string path;
  std::string text;
};

/// Of a host with two processors of the machine's kind (`cpuinfo`: what its /proc/cpuinfo says), 8
/// GiB of memory, half of them free, and nothing to do, 1000 s after it was switched on. Sources:
/// proc(5); Documentation/ABI/testing/sysfs-devices-system-cpu and -node of Linux.
[[nodiscard]] std::vector<MachineFile> machine_files(std::string_view cpuinfo);

}  // namespace anyrdma::sim

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

/// Returns the files of a simulated host with two idle processors and 8 GiB of memory, half of it
/// free, 1000 s after it was switched on. `cpuinfo`: the content of the real machine's
/// /proc/cpuinfo, from which the processor's type is taken. Sources: proc(5);
/// Documentation/ABI/testing/sysfs-devices-system-cpu and -node of Linux.
[[nodiscard]] std::vector<MachineFile> machine_files(std::string_view cpuinfo);

}  // namespace anyrdma::sim

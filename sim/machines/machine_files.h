// Makes the files in a simulated host's /proc and /sys about its hardware and its kernel. A program
// that reads the real machine's files would not be reproducible, because these depend on everything
// else that runs there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace anyrdma::sim {

struct MachineFile {
  std::string path;
  std::string text;
};

/// Returns the files of a simulated host with two idle processors and 8 GiB of memory, half of
/// which is free, 1000 s after power-on. `cpuinfo`: the content of the real machine's
/// /proc/cpuinfo, from which the processor's type is taken. Sources: proc(5);
/// Documentation/ABI/testing/sysfs-devices-system-cpu and -node of Linux.
[[nodiscard]] std::vector<MachineFile> machine_files(std::string_view cpuinfo);

/// Returns the files that replace some of machine_files() on a host with `all` huge pages of 2 MiB,
/// of which `free` are free.
[[nodiscard]] std::vector<MachineFile> huge_page_files(unsigned all, unsigned free);

}  // namespace anyrdma::sim

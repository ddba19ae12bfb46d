// Makes the files in a simulated host's /proc and /sys about its hardware and its kernel. A program
// that reads the real machine's files would not be reproducible, because these depend on everything
// else that runs there.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/host_description.h"

namespace anyrdma::sim {

struct MachineFile {
  std::string path;
  std::string text;
};

/// Returns the files of a simulated host 1000 s after power-on, whose processors are idle and half
/// of whose memory is free. `cpuinfo`: the content of the real machine's /proc/cpuinfo, from which
/// the processor's type is taken. Source: proc(5);
/// Documentation/ABI/testing/sysfs-devices-system-cpu and -node of Linux.
[[nodiscard]] std::vector<MachineFile> machine_files(const HostDescription& description,
                                                     std::string_view cpuinfo);

/// Returns the files in /sys/devices/system/cpu, by their paths there: a package in which each
/// processor is a core of its own. Source: Documentation/admin-guide/cputopology.rst of Linux.
[[nodiscard]] std::map<std::string, std::string> processor_files(unsigned processors);

/// Returns the files that replace some of machine_files() on a host with `all` huge pages of 2 MiB,
/// of which `free` are free.
[[nodiscard]] std::vector<MachineFile> huge_page_files(const HostDescription& description,
                                                       unsigned all, unsigned free);

}  // namespace anyrdma::sim

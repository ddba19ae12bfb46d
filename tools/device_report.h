// Prints the attributes of a device in the format of ibv_devinfo -v (rdma-core 44), which people
// and scripts know.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>

namespace anyrdma::tools {

/// Prints to stdout. `board_id` is left out when it is empty.
void print_device(const ibv_device& device, __be64 guid, const ibv_device_attr_ex& attr,
                  int completion_vectors, const std::string& board_id);
void print_port(unsigned number, const ibv_port_attr& attr);
/// An entry of the table of a port; the empty ones are not shown.
void print_gid(const ibv_gid_entry& entry, std::uint8_t link_layer);

}  // namespace anyrdma::tools

// Makes and parses the messages of rdma netlink (<rdma/rdma_netlink.h>) with libnl. netlink.h sends
// them to the kernel.
#pragma once

#include <netlink/msg.h>

#include <cstdint>
#include <memory>
#include <string>

#include "verbs/result.h"

namespace anyrdma::transport::rxe {

using verbs::Result;

struct MessageDeleter {
  void operator()(nl_msg* message) const { nlmsg_free(message); }
};
using Message = std::unique_ptr<nl_msg, MessageDeleter>;

// --- requests; ENOMEM ---------------------------------------------------------------------------

/// Makes a request for all RDMA devices. The kernel sends one answer for each device:
/// parse_device().
[[nodiscard]] Result<Message> ask_for_devices();
/// Makes a request for a device's driver. parse_driver() parses the answer.
[[nodiscard]] Result<Message> ask_for_driver(std::uint32_t device);
/// Makes a request for the first port of a device. parse_interface() parses the answer.
[[nodiscard]] Result<Message> ask_for_port(std::uint32_t device);
[[nodiscard]] Result<Message> make_link(const std::string& name, const std::string& interface);
[[nodiscard]] Result<Message> remove_link(std::uint32_t device);

// --- answers; EBADMSG: not what was asked for ---------------------------------------------------

/// An RDMA device as the kernel knows it.
struct Device {
  std::uint32_t index = 0;
  std::string name;
};
/// Parses an answer about a device. Precondition of this and the next functions: all bytes that the
/// message's header announces exist (libnl's nlmsg_ok).
[[nodiscard]] Result<Device> parse_device(nlmsghdr& answer);
/// Parses an answer about a driver. Returns an rdma_driver_id.
[[nodiscard]] Result<std::uint32_t> parse_driver(nlmsghdr& answer);
/// Parses an answer about a port. Returns the name of the port's network interface; empty: it has
/// none.
[[nodiscard]] Result<std::string> parse_interface(nlmsghdr& answer);

}  // namespace anyrdma::transport::rxe

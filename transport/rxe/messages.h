// The messages to the kernel over rdma netlink, and their answers: <rdma/rdma_netlink.h>, through
// libnl. netlink.h sends them.
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
/// Makes a request for all RDMA devices. The kernel sends an answer for each: parse_device().
[[nodiscard]] Result<Message> ask_for_devices();
/// Makes a request for a device's driver. Answer: parse_driver().
[[nodiscard]] Result<Message> ask_for_driver(std::uint32_t device);
/// The first port of a device: an answer for parse_interface().
[[nodiscard]] Result<Message> ask_for_port(std::uint32_t device);
[[nodiscard]] Result<Message> make_link(const std::string& name, const std::string& interface);
[[nodiscard]] Result<Message> remove_link(std::uint32_t device);

// --- answers; EBADMSG: not what was asked for ---------------------------------------------------
/// An RDMA device as the kernel knows it.
struct Device {
  std::uint32_t index = 0;
  std::string name;
};
/// Precondition of each: all bytes that the header speaks of are there (libnl's nlmsg_ok).
[[nodiscard]] Result<Device> parse_device(nlmsghdr& answer);
/// An rdma_driver_id.
[[nodiscard]] Result<std::uint32_t> parse_driver(nlmsghdr& answer);
/// The network interface of the port; empty: it has none.
[[nodiscard]] Result<std::string> parse_interface(nlmsghdr& answer);

}  // namespace anyrdma::transport::rxe

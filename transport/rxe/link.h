// Soft-RoCE links: RDMA devices that the kernel's rdma_rxe makes of network interfaces. Works in
// the network namespace of the calling thread; on Linux 6.1 rxe itself works in the first one only.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "transport/rxe/error.h"
#include "verbs/result.h"

namespace anyrdma::transport::rxe {

using verbs::Result;

struct LinkInfo {
  std::uint32_t index = 0;  ///< of the RDMA device
  std::string name;
  std::string interface;
};

/// Returns all links, ordered by index. Any user may call this. Errors: kNoRdma.
[[nodiscard]] Result<std::vector<LinkInfo>> links();

/// Makes a link, loading rdma_rxe if need be. Its GIDs come a moment later. Errors: kBadName,
/// kNoRdma, kNotPermitted, kNoModule, kNoChecksum, kNoInterface, kNameTaken, kInterfaceTaken; what
/// else the kernel says.
[[nodiscard]] Result<void> add_link(const std::string& name, const std::string& interface);

/// Removes a link: programs on it see their device vanish. On Linux 6.1 this returns only when all
/// of them have closed it, the caller included. Errors: kNoRdma, kNotPermitted, kNoLink,
/// kNotSoftware.
[[nodiscard]] Result<void> remove_link(const std::string& name);

/// A link to work on. One that was made for this purpose ends with its owner; one that was there
/// before stays.
class Link {
 public:
  /// Creates a link, with the errors of add_link.
  [[nodiscard]] static Result<Link> add(const std::string& name, const std::string& interface);
  /// The link of an interface; if it has none, a new one with a name that is free. Empty: any
  /// link's, else suitable_interface(). A new one is waited for, two seconds at most, until its
  /// device has a GID with an IPv4 address. Errors: as links(), add_link(), suitable_interface().
  [[nodiscard]] static Result<Link> find_or_add(const std::string& interface);
  /// Removes the link if this process created it and it still exists. Precondition: the process has
  /// closed the device.
  ~Link();
  Link(Link&& other) noexcept;
  Link& operator=(Link&&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Whether this object created the link, and so removes it.
  [[nodiscard]] bool was_made() const { return maker_ != 0; }
  /// A link that was made ends with this process instead, however that ends: for who cannot close
  /// the device before. (librdmacm keeps a device open from its first use on, so that a process
  /// which removes its own link waits for ever.) Errors: as send_after_the_end().
  [[nodiscard]] Result<void> end_with_process();

 private:
  [[nodiscard]] static Result<Link> add_under_a_free_name(const std::string& interface);
  Link(std::string name, pid_t maker) : name_(std::move(name)), maker_(maker) {}

  std::string name_;
  pid_t maker_;  ///< 0: not ours to remove
};

/// The default interface for a new link: the first that is up and has an IPv4 address other than
/// loopback. Errors: kNoneSuitable.
[[nodiscard]] Result<std::string> suitable_interface();

}  // namespace anyrdma::transport::rxe

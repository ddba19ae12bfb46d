// Creates and removes Soft-RoCE links: RDMA devices that the kernel's rdma_rxe makes of network
// interfaces. Works in the network namespace of the calling thread. On Linux 6.1, rdma_rxe works
// only in the initial network namespace.
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
  std::uint32_t index = 0;  ///< index of the RDMA device
  std::string name;
  std::string interface;
};

/// Returns all links, ordered by index. Any user may call this. Errors: kNoRdma.
[[nodiscard]] Result<std::vector<LinkInfo>> links();

/// Creates a link, and loads rdma_rxe if needed. The link's GIDs appear a moment later. Errors:
/// kBadName, kNoRdma, kNotPermitted, kNoModule, kNoChecksum, kNoInterface, kNameTaken,
/// kInterfaceTaken, or the kernel's errno.
[[nodiscard]] Result<void> add_link(const std::string& name, const std::string& interface);

/// Removes a link. The device of the programs that use it then no longer exists. On Linux 6.1, the
/// function returns only when all these programs, the caller included, have closed the device.
/// Errors: kNoRdma, kNotPermitted, kNoLink, kNotSoftware.
[[nodiscard]] Result<void> remove_link(const std::string& name);

/// A Soft-RoCE link that a transport uses. If this object has created the link, it also removes it.
/// A link that existed before stays.
class Link {
 public:
  /// Creates a link, with the errors of add_link.
  [[nodiscard]] static Result<Link> add(const std::string& name, const std::string& interface);
  /// Returns the link of an interface. If the interface has none, creates a link with an unused
  /// name. An empty `interface` means any interface with a link, else suitable_interface(). Waits
  /// at most two seconds until the device of a new link has a GID with an IPv4 address. Errors: as
  /// links(), add_link(), suitable_interface().
  [[nodiscard]] static Result<Link> find_or_add(const std::string& interface);
  /// Removes the link if this process created it and it still exists. Precondition: the process has
  /// closed the device.
  ~Link();
  Link(Link&& other) noexcept;
  Link& operator=(Link&&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Whether this object created the link, and so removes it.
  [[nodiscard]] bool was_made() const { return maker_ != 0; }
  /// Makes a created link end with this process instead of with this object, even if the process is
  /// killed. For owners that cannot close the device before: librdmacm keeps a device open from its
  /// first use on, so a process that removes its own link would wait for ever. Errors: as
  /// send_after_the_end().
  [[nodiscard]] Result<void> end_with_process();

 private:
  [[nodiscard]] static Result<Link> add_under_a_free_name(const std::string& interface);
  Link(std::string name, pid_t maker) : name_(std::move(name)), maker_(maker) {}

  std::string name_;
  pid_t maker_;  ///< process that created the link; 0: the link existed before
};

/// Returns the default interface for a new link: the first one that is up and has an IPv4 address,
/// except loopback. Errors: kNoneSuitable.
[[nodiscard]] Result<std::string> suitable_interface();

}  // namespace anyrdma::transport::rxe

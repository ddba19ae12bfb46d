// The interface by which a recording observes the packets and the device of an opened transport.
#pragma once

#include <cstddef>

#include "transport/station/packet_watch.h"
#include "verbs/soft/hca_observer.h"
#include "verbs/soft/ownership/finding.h"

namespace anyrdma::transport {

/// The interface by which observers are installed in the layers below a transport.
class Watchable {
 public:
  virtual ~Watchable() = default;
  /// Sets the observer of packets, as station::Station::set_packet_watch does.
  virtual void set_packet_watch(station::PacketWatch* watch) = 0;
  /// The number of devices.
  [[nodiscard]] virtual std::size_t devices() const = 0;
  /// The number of ports of all devices.
  [[nodiscard]] virtual std::size_t rails() const = 0;
  virtual void set_work_observer(std::size_t device, verbs::soft::HcaObserver* observer) = 0;
  virtual void set_ownership_sink(verbs::soft::OwnershipSink* sink) = 0;
};

}  // namespace anyrdma::transport

// The interface by which a recording observes an opened transport.
#pragma once

#include "transport/station/packet_watch.h"
#include "verbs/soft/hca_observer.h"
#include "verbs/soft/ownership/finding.h"

namespace anyrdma::transport {

/// The interface to observe the layers below a transport.
class Watchable {
 public:
  virtual ~Watchable() = default;
  /// Sets the observer of packets: see station::Station::set_packet_watch.
  virtual void set_packet_watch(station::PacketWatch* watch) = 0;
  virtual void set_work_observer(verbs::soft::HcaObserver* observer) = 0;
  virtual void set_ownership_sink(verbs::soft::OwnershipSink* sink) = 0;
};

}  // namespace anyrdma::transport

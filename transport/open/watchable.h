// What of an opened transport somebody can see: for recordings.
#pragma once

#include "transport/station/packet_watch.h"
#include "verbs/soft/hca_observer.h"

namespace anyrdma::transport {

/// How somebody sees what is below a transport, where there is something to see.
class Watchable {
 public:
  virtual ~Watchable() = default;
  /// As station::Station has them.
  virtual void set_packet_watch(station::PacketWatch* watch) = 0;
  virtual void set_work_observer(verbs::soft::HcaObserver* observer) = 0;
};

}  // namespace anyrdma::transport

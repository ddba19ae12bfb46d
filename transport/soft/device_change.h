// Reports changes of a device to the processes that have it open. Each process has its own part of
// the device.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "transport/soft/address.h"
#include "transport/soft/network.h"
#include "verbs/soft/hca.h"

namespace anyrdma::transport::soft {

struct DeviceChange {
  enum class Kind : std::uint8_t {
    kRemoved,         ///< it is unplugged
    kPortDown,        ///< its port has lost its link
    kPortUp,          ///< the port's link is up again
    kMoved,           ///< its interface now has the link address `link`
    kNeighbourMoved,  ///< the neighbour `neighbour` has the link address `link`
    kQpFailed,        ///< queue pair `object` failed with `event` (verbs::soft::Hca::fail_qp)
    kCqOverrun,       ///< completion queue `object` has overrun (verbs::soft::Hca::overrun_cq)
    kSrqFailed,       ///< shared receive queue `object` failed (verbs::soft::Hca::fail_srq)
    kEvent,           ///< the device raises `event` (verbs::soft::Hca::raise_event)
    kGroupLost,       ///< the multicast group `neighbour` has ended
  };

  Kind kind{};
  verbs::soft::ObjectName object{};
  ibv_event_type event = IBV_EVENT_QP_FATAL;
  Address neighbour{};
  LinkNumber link{};
};

}  // namespace anyrdma::transport::soft

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
    kReturned,        ///< it is plugged in again, with another GUID if `new_guid`
    kAddressAdded,    ///< its interface has got the address `neighbour` with `bits`
    kAddressDropped,  ///< its interface has lost the address `neighbour` with `bits`
  };
  static constexpr Kind kLast = Kind::kAddressDropped;

  Kind kind{};
  verbs::soft::ObjectName object{};
  ibv_event_type event = IBV_EVENT_QP_FATAL;
  Address neighbour{};
  LinkNumber link{};
  std::uint8_t bits = 0;  ///< the length of the prefix, as in Prefix
  bool new_guid = false;
};

}  // namespace anyrdma::transport::soft

// Events of a device that several processes have open, each with its own part of it.
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
    kMoved,           ///< its interface has the link address `link` now
    kNeighbourMoved,  ///< there is news of `neighbour`, whose link address is `link`
    kQpFailed,        ///< `object`, with `event`: verbs::soft::Hca::fail_qp
    kCqOverrun,       ///< `object`: verbs::soft::Hca::overrun_cq
    kSrqFailed,       ///< `object`: verbs::soft::Hca::fail_srq
    kEvent,           ///< `event`: verbs::soft::Hca::raise_event
    kGroupLost,       ///< `neighbour`, of many
  };

  Kind kind{};
  verbs::soft::ObjectName object{};
  ibv_event_type event = IBV_EVENT_QP_FATAL;
  Address neighbour{};
  LinkNumber link{};
};

}  // namespace anyrdma::transport::soft

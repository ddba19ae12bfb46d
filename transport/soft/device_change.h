// What happens to a device that several processes have open, each its own share of it.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "transport/soft/address.h"
#include "verbs/soft/hca.h"

namespace anyrdma::transport::soft {

struct DeviceChange {
  enum class Kind : std::uint8_t {
    kRemoved,         ///< it is unplugged
    kPortDown,        ///< its port has lost its link
    kPortUp,          ///< or has it again
    kMoved,           ///< its interface has failed over to another link address
    kNeighbourMoved,  ///< that of `neighbour` has
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
};

}  // namespace anyrdma::transport::soft

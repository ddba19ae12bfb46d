// A host's tasks in the event queue. Internal to the host.
#pragma once

#include "sim/host.h"

namespace anyrdma::sim {

/// The earliest timer of the transport and the devices.
class Host::Deadline final : public Task {
 public:
  explicit Deadline(Host& host) : host_(host) {}

 private:
  void run() override { host_.on_deadline(); }

  Host& host_;
};

/// One question for a neighbour's link address that waits for its answer.
class Host::Question final : public Task {
 public:
  explicit Question(Host& host) : host_(host) {}

  transport::soft::NeighbourToken token{};
  Address neighbour{};
  int interface = 0;
  int path_error = 0;  ///< of a query for a path instead: how it ends
  Instant gives_up{};
  Uplink* asker = nullptr;  ///< null: the host's own transport

 private:
  void run() override {
    if (host_.running()) host_.answer(*this);  // else it waits until the host goes on
  }

  Host& host_;
};

}  // namespace anyrdma::sim

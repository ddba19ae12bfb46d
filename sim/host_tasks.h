// A host's tasks in the event queue. Internal to the host.
#pragma once

#include "sim/host.h"

namespace anyrdma::sim {

/// The task that runs when the earliest timer of the host's transport and devices expires.
class Host::Deadline final : public Task {
 public:
  explicit Deadline(Host& host) : host_(host) {}

 private:
  void run() override { host_.on_deadline(); }

  Host& host_;
};

/// A request for a neighbour's link address that has no answer yet.
class Host::Question final : public Task {
 public:
  explicit Question(Host& host) : host_(host) {}

  transport::soft::NeighbourToken token{};
  Address neighbour{};
  int interface = 0;
  int path_error = 0;  ///< of a request for a path: its errno
  Instant gives_up{};
  Uplink* asker = nullptr;  ///< null: the host's own transport

 private:
  void run() override {
    if (host_.running()) host_.answer(*this);  // else it waits until the host goes on
  }

  Host& host_;
};

}  // namespace anyrdma::sim

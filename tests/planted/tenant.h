// A second sample application, for what befalls a program besides its messages: a house with one
// room, and tenants, who also hear a group, keep a shared receive queue, and heed what their device
// says.
#pragma once

#include <cstdint>
#include <string>

#include "sim/host.h"

namespace anyrdma::planted {

/// How it goes, and what must not be.
struct Tenancy {
  std::string complaints{};
  bool open = false;        ///< the house lets its room
  int moved_in = 0;         ///< tenants
  bool member = false;      ///< the last one hears the group
  int registrations = 0;    ///< with the subnet's manager: one, and one for each time it asks
  int partition_looks = 0;  ///< into the table, whenever it may have changed
  int address_looks = 0;    ///< likewise
  int manager_looks = 0;    ///< who manages the subnet
  int queues = 0;           ///< shared receive queues made
  bool given_up = false;    ///< on a device that said that it is broken

  void complain(const std::string& text) { complaints += "courier: " + text + "\n"; }
};

/// Starts the house; it serves until the world ends.
void start_house(sim::Host& host, Tenancy& tenancy);
/// Starts a tenant, who never moves out.
void start_tenant(sim::Host& host, const sim::Host& house, Tenancy& tenancy);

}  // namespace anyrdma::planted

// A second sample application, for what befalls a program besides its messages: a house with one
// room and two doors, and tenants, who also hear a group, keep a shared receive queue, and heed
// what their device and their links say.
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
  int door = 0;             ///< through which the last one has moved in
  bool member = false;      ///< the last one hears the group
  int registrations = 0;    ///< with the subnet's manager: one, and one for each time it asks
  int partition_looks = 0;  ///< into the table, whenever it may have changed
  int address_looks = 0;    ///< likewise
  int manager_looks = 0;    ///< who manages the subnet
  int link_looks = 0;       ///< at the own link, whenever it has changed
  int neighbour_looks = 0;  ///< at where the house is, at each news of it
  int queues = 0;           ///< shared receive queues made
  bool given_up = false;    ///< on a device that said that it is broken

  void complain(const std::string& text) { complaints += "courier: " + text + "\n"; }
};

/// Starts the house; it serves until the world ends.
void start_house(sim::Host& host, Tenancy& tenancy);
/// Starts a tenant, a process of that name, who never moves out.
void start_tenant(sim::Host& host, const sim::Host& house, Tenancy& tenancy);

}  // namespace anyrdma::planted

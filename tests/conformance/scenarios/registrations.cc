// Memory regions that change under way, or whose pages come when they are used.
#include "tests/conformance/endpoint.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

constexpr unsigned kLocal = IBV_ACCESS_LOCAL_WRITE;

void write(Link& link, std::uint32_t length, std::size_t at) {
  link.active.post(
      {.opcode = IBV_WR_RDMA_WRITE, .length = length, .peer = &link.passive, .at = at});
  link.active.take_send();
}

}  // namespace

SCENARIO(registrations, are_changed) {
  Endpoint alone(server, {});
  alone.rereg(IBV_REREG_MR_CHANGE_ACCESS, kLocal);
}

SCENARIO(registrations, of_changed_rights_give_those, .needs = {Ability::kRereg}) {
  Link link(stage);
  write(link, 8, 0);
  link.passive.rereg(IBV_REREG_MR_CHANGE_ACCESS, kLocal | IBV_ACCESS_REMOTE_READ);
  link.active.post({.opcode = IBV_WR_RDMA_READ, .length = 8, .peer = &link.passive});
  link.active.take_send();
  write(link, 8, 0);
}

SCENARIO(registrations, of_another_place_open_that, .needs = {Ability::kRereg}) {
  Link link(stage);
  link.active.memory().fill('a');
  link.passive.rereg(IBV_REREG_MR_CHANGE_TRANSLATION, 0, 4096, 100);
  write(link, 100, 4096);
  link.passive.note_memory(104, 4094);
  write(link, 8, 0);
}

SCENARIO(registrations, stay_as_they_are_when_they_cannot_be_changed, .needs = {Ability::kRereg}) {
  Link link(stage);
  link.passive.rereg(0x10, kLocal);
  link.passive.rereg(IBV_REREG_MR_CHANGE_ACCESS, IBV_ACCESS_REMOTE_WRITE);
  write(link, 8, 0);
}

SCENARIO(registrations, for_remote_writes_need_local_ones) {
  Endpoint alone(server, {.memory = IBV_ACCESS_REMOTE_WRITE});
  alone.note_made();
}

SCENARIO(registrations, for_remote_atomics_need_local_writes) {
  Endpoint alone(server, {.memory = IBV_ACCESS_REMOTE_ATOMIC});
  alone.note_made();
}

SCENARIO(registrations, are_paged_on_demand) {
  Endpoint alone(server, {.memory = kLocal | IBV_ACCESS_ON_DEMAND});
  alone.note_made();
}

SCENARIO(registrations, that_are_paged_on_demand_are_like_others, .needs = {Ability::kOnDemand}) {
  Link link(stage, {}, {.memory = kLocal | kRemoteAccess | IBV_ACCESS_ON_DEMAND});
  link.active.memory().fill('a');
  write(link, 8, 4092);
  link.passive.note_memory(12, 4090);
  link.passive.post_recv(64);
  link.active.post({.length = 8});
  link.active.take_send();
  link.passive.take_recv();
  write(link, 8, Endpoint::kMemory - 4);
}

}  // namespace anyrdma::conformance

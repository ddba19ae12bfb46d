// Eight bytes that are written at once.
#include "tests/conformance/endpoint.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

constexpr EndpointOptions kWriter{.wr_calls = IBV_QP_EX_WITH_ATOMIC_WRITE};

void write(Link& link, std::size_t at, const Key& key) {
  ibv_qp_ex* const qp = link.active.qp_ex();
  if (qp == nullptr) return link.active.note("has no ibv_wr_* functions");
  const std::array<char, 8> value = {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'};
  ibv_wr_start(qp);
  qp->wr_id = link.active.take_number();
  qp->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_atomic_write(qp, key.value, link.passive.piece(8, at).addr, value.data());
  link.active.note_call("atomic_write(" + std::to_string(at) + ") #" + std::to_string(qp->wr_id),
                        ibv_wr_complete(qp));
  link.active.take_send();
}

}  // namespace

SCENARIO(atomic_write, stores_eight_bytes) {
  Link link(stage, kWriter, {});
  write(link, 8, link.passive.key());
  link.passive.note_memory(20);
}

SCENARIO(atomic_write, needs_an_aligned_place, .needs = {Ability::kAtomicWrite}) {
  Link link(stage, kWriter, {});
  write(link, 4, link.passive.key());
  link.passive.note_memory(20);
  link.active.note_qp();
}

SCENARIO(atomic_write, needs_the_right_key, .needs = {Ability::kAtomicWrite}) {
  Link link(stage, kWriter, {});
  write(link, 8, link.passive.key().wrong());
  link.passive.note_memory(20);
}

}  // namespace anyrdma::conformance

// How an extended connection takes requests: as a reliable one, but each names the shared receive
// queue that it is for (IBTA vol 1, annex A14).
#include "verbs/soft/queue_pair.h"
#include "verbs/soft/responder.h"

namespace anyrdma::verbs::soft {

// The receive queue that a request names; null when this QP may not use it.
SoftSrq* Responder::named_queue(std::uint8_t opcode, std::span<const std::uint8_t> datagram) const {
  const auto header =
      roce::XrcEth::parse(roce::view<roce::XrcEth>(datagram, opcode, roce::kXrcEth));
  const std::vector<SoftSrq*>& queues = qp_.core.xrc_queues;
  const std::size_t index = std::size_t{header.shared_queue} - 1;
  SoftSrq* const queue = index < queues.size() ? queues[index] : nullptr;
  const bool shared = queue != nullptr && queue->xrcd()->domain == qp_.xrcd->domain;
  return shared ? queue : nullptr;
}

// A message stays with the queue that its first packet named. The queue's protection domain is the
// one that counts: a receiving QP has none.
bool Responder::enter_queue(const roce::OpcodeRow& row, std::span<const std::uint8_t> datagram) {
  SoftSrq* const queue = named_queue(row.code, datagram);
  if (queue == nullptr) return false;
  if (!roce::is_first(row.place)) return queue == qp_.receives.source();
  qp_.receives.draw_from(*queue);
  domain_ = queue->pd;
  return true;
}

// The owner of the memory that a repeated request may name; null: none.
const ibv_pd* Responder::domain_of(std::uint8_t opcode,
                                   std::span<const std::uint8_t> datagram) const {
  if (qp_.service != roce::Service::kXrc) return qp_.pd;
  const SoftSrq* const queue = named_queue(opcode, datagram);
  return queue != nullptr ? queue->pd : nullptr;
}

}  // namespace anyrdma::verbs::soft

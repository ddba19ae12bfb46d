// How a connection without acknowledgements takes requests: losses are not reported, so the
// rest of a broken message is dropped and the next one is taken (IBTA vol 1, 9.8.2.2).
#include "verbs/soft/queue_pair.h"
#include "verbs/soft/responder.h"

namespace anyrdma::verbs::soft {

void Responder::on_unreliable(const roce::Envelope& packet, const roce::OpcodeRow& row,
                              std::span<const std::uint8_t> datagram) {
  // A packet is missing, or the end of a message is.
  if (packet.bth.psn != expected_ || roce::is_first(row.place)) abandon_message();
  expected_ = packet.bth.psn;
  if (!in_sequence(row) || !length_fits(row, packet.payload.size())) {
    drop_message(IBV_WC_SUCCESS);
  } else if (row.operation == roce::Operation::kSend) {
    on_send(packet, row, datagram);
  } else {
    on_write(packet, row, datagram);
  }
  expected_ = packet.bth.psn + 1;
}

// The peer's mistakes end the message and nothing else: its receive waits for the next one. Only
// memory that we said could be written and cannot is an error, of ours (IBTA vol 1, 9.9.3).
void Responder::drop_message(ibv_wc_status status) {
  ++qp_.core.counters.broken_messages;
  const bool our_fault = message_ == Message::kSend && status == IBV_WC_LOC_PROT_ERR;
  message_ = Message::kNone;
  if (!our_fault) return;
  fail_receive(status);
  qp_.enter_error();
}

}  // namespace anyrdma::verbs::soft

#include "recording/work/entries.h"

namespace anyrdma::recording {

void write(Writer& writer, verbs::Instant now, Number lane, const QueuePairState& state) {
  writer.write<EntryKind::kQueuePairState>(now, lane, state.qp_num, state.state);
}

void write(Writer& writer, verbs::Instant now, Number lane, const PostedWork& work) {
  writer.write<EntryKind::kPosted>(now, lane, work.qp_num, work.operation, work.wr_id, work.bytes);
}

void write(Writer& writer, verbs::Instant now, Number lane, const TakenCompletion& completion) {
  writer.write<EntryKind::kCompleted>(now, lane, completion.qp_num, completion.wr_id,
                                      completion.opcode, completion.status, completion.bytes);
}

void write(Writer& writer, verbs::Instant now, Number lane, const RaisedEvent& event) {
  writer.write<EntryKind::kAsync>(now, lane, event.type, event.qp_num);
}

}  // namespace anyrdma::recording

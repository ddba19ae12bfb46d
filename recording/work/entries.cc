#include "recording/work/entries.h"

namespace anyrdma::recording {

void write(Writer& writer, verbs::Instant now, Number lane, const QueuePairState& state) {
  writer.begin(EntryKind::kQueuePairState, now).number(lane).number(state.qp_num).text(state.state);
}

void write(Writer& writer, verbs::Instant now, Number lane, const PostedWork& work) {
  writer.begin(EntryKind::kPosted, now)
      .number(lane)
      .number(work.qp_num)
      .text(work.operation)
      .number(work.wr_id)
      .number(work.bytes);
}

void write(Writer& writer, verbs::Instant now, Number lane, const TakenCompletion& completion) {
  writer.begin(EntryKind::kCompleted, now)
      .number(lane)
      .number(completion.qp_num)
      .number(completion.wr_id)
      .number(completion.opcode)
      .number(completion.status)
      .number(completion.bytes);
}

void write(Writer& writer, verbs::Instant now, Number lane, const RaisedEvent& event) {
  writer.begin(EntryKind::kAsync, now).number(lane).number(event.type).number(event.qp_num);
}

}  // namespace anyrdma::recording

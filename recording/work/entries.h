// Writes a device's work into a recording.
#pragma once

#include "recording/work/work.h"
#include "recording/writer.h"
#include "verbs/time.h"

namespace anyrdma::recording {

/// An entry each, of what happens now in a lane.
void write(Writer& writer, verbs::Instant now, Number lane, const QueuePairState& state);
void write(Writer& writer, verbs::Instant now, Number lane, const PostedWork& work);
void write(Writer& writer, verbs::Instant now, Number lane, const TakenCompletion& completion);
void write(Writer& writer, verbs::Instant now, Number lane, const RaisedEvent& event);

}  // namespace anyrdma::recording

// Everything that a test of an RDMA program needs, for projects that have only the installed
// headers and libraries: docs/testing.md. Names from many folders, in one namespace.
#pragma once

#include "cm/event.h"
#include "cm/event_channel.h"
#include "cm/id.h"
#include "sim/testing/program.h"
#include "sim/testing/recordings.h"
#include "sim/testing/settings.h"
#include "sim/testing/sim_test.h"
#include "transport/testing/event_matchers.h"
#include "transport/testing/eventually_established.h"
#include "transport/testing/mock_transport.h"

namespace anyrdma::testing {

/// Makes the linker include the code that writes a recording and its page when a test fails.
inline const bool kRecorded = (sim::testing::require_recordings(), true);

// The fixture, and steps of a connection's life for programs in it.
using sim::testing::current_settings;
using sim::testing::parameters;
using sim::testing::Pipe;
using sim::testing::Program;
using sim::testing::SimTest;

// Matchers of events, and of the channel they come from.
using transport::testing::EventIs;
using transport::testing::EventuallyEstablished;
using transport::testing::HasNoPrivateData;
using transport::testing::HasPrivateData;
using transport::testing::HasStatus;

// A transport whose every answer the test decides.
using transport::testing::MockEndpoint;
using transport::testing::MockTransport;

}  // namespace anyrdma::testing

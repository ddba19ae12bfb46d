// Includes everything that a test of an RDMA program needs, for projects that have only the
// installed headers and libraries (docs/testing.md). The names from several folders are in one
// namespace.
#pragma once

#include "cm/event.h"
#include "cm/event_channel.h"
#include "cm/id.h"
#include "sim/testing/program.h"
#include "sim/testing/recordings.h"
#include "sim/testing/settings.h"
#include "sim/testing/sim_test.h"
#include "sim/testing/two_rails.h"
#include "transport/testing/event_matchers.h"
#include "transport/testing/eventually_established.h"
#include "transport/testing/mock_transport.h"

namespace anyrdma::testing {

/// Makes the linker include the code that writes a recording and its HTML page when a test fails.
inline const bool kRecorded = (sim::testing::require_recordings(), true);

// The test fixture, and building blocks for its programs, such as the steps of a connection.
using sim::testing::current_settings;
using sim::testing::parameters;
using sim::testing::Pipe;
using sim::testing::Program;
using sim::testing::SimTest;

// Two rails, one of which fails at any moment (docs/failover.md).
using sim::testing::DeliveryPromise;
using sim::testing::problems_with_rails;
using sim::testing::RailFailures;
using sim::testing::TwoRails;

// GoogleMock matchers of CM events, and of the channel that the events come from.
using transport::testing::EventIs;
using transport::testing::EventuallyEstablished;
using transport::testing::HasNoPrivateData;
using transport::testing::HasPrivateData;
using transport::testing::HasStatus;

// A mock transport: the test decides every answer of the transport.
using transport::testing::MockEndpoint;
using transport::testing::MockTransport;

}  // namespace anyrdma::testing

// Every cell of the state table, played: a connection brought into the state by messages, then one
// event, then what could be seen.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/ibcm/state_table.h"
#include "transport/ibcm/testing/pair.h"

namespace anyrdma::ibcm::testing {

/// A connection in the state asked for, the two hosts around it, and who its peer is.
struct Subject {
  std::unique_ptr<Pair> pair;
  Host* host = nullptr;
  CommId id{};
  CommId peer_id{};  ///< also where the subject does not know it yet
  Qpn own_qpn{};
  Qpn peer_qpn{};
  Guid peer_guid{};
};

/// Brings a connection into `state` by nothing but commands, messages and time. Not for LISTEN and
/// REP_RCVD, in which no connection rests.
[[nodiscard]] Subject reach(State state, const Profile& profile = kLinux61);
/// Whether the event makes a connection where there was none.
[[nodiscard]] bool makes_a_connection(Event event);
/// False for LISTEN and REP_RCVD.
[[nodiscard]] bool can_rest_in(State state);

using Mad = std::array<std::uint8_t, kMadBytes>;

/// The message that makes `event` happen to the subject, as its peer would write it.
[[nodiscard]] Mad message_of_peer(const Subject& subject, Event event);

/// What one event did.
struct Observation {
  std::optional<State> state;  ///< nullopt: the connection is gone
  std::vector<wire::Attribute> sent;
  std::vector<UpcallKind> heard;
  std::vector<DropReason> dropped;
  int error = 0;  ///< of the command
};

/// Lets `event` happen to the subject. Precondition: the row of the cell is not a bug.
[[nodiscard]] Observation provoke(Subject& subject, Event event);

/// All cells that are not bugs, as the Markdown page docs/ibcm-states.md.
[[nodiscard]] std::string describe_all_cells();

/// The spelling of a message's name: "REQ".
[[nodiscard]] std::string_view name_of(wire::Attribute attribute);

}  // namespace anyrdma::ibcm::testing

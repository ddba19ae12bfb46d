// What a scenario is performed on: a server and a client, and what may happen to them.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/backend.h"
#include "tests/conformance/party.h"
#include "tests/conformance/place.h"
#include "tests/conformance/record.h"

namespace anyrdma::conformance {

/// Established from both sides: see Stage::connect.
struct Connection {
  Id& active;
  Id& passive;
};

/// What a connection is made with, if not with what is usual. By default both ends may read.
struct Terms {
  Param asked{.resources = 2, .depth = 2};
  Param granted{.resources = 2, .depth = 2};
  QpOptions active{};
  QpOptions passive{};
};

/// One performance of one scenario.
class Stage {
 public:
  Stage(Backend& backend, unsigned number);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  [[nodiscard]] Party& server() { return *server_; }
  [[nodiscard]] Party& client() { return *client_; }

  // --- connections: recorded in one line, unless something unusual happens -----------------------
  /// A listener (the first time), and the client's request in the hands of the server. Both ids
  /// have queue pairs.
  Connection request();
  /// As request, accepted, and the client has its ESTABLISHED; the server's is not fetched.
  Connection half_connect();
  /// An established connection with queue pairs; no event is left to fetch.
  Connection connect();
  /// The same on other terms.
  Connection connect(const Terms& terms);
  /// The same without queue pairs.
  Connection connect_without_qp();

  // --- what happens -----------------------------------------------------------------------------
  /// Runs two bodies at once, for calls that block. What each side records stays together.
  void both(std::function<void()> server, std::function<void()> client);
  /// Lets time pass; keep it short if it is real.
  void pass(Duration time);
  /// Lets what has been sent arrive and be dealt with, on a busy machine too.
  void settle();
  /// Loses the next `count` messages of a kind that one side sends; 0: all. Needs kLoss.
  void lose(Party& from, Message message, unsigned count = 1);
  /// Unplugs the device. Needs kRemoveDevice.
  void remove_device(Party& of);
  /// A bonded interface takes another link address. Needs kFailOver.
  void fail_over(Party& of);
  /// It has the first one again. Needs kFailOver.
  void fail_back(Party& of);
  /// News of the neighbour that moves. Needs kMovingNeighbour.
  void tell_of_neighbour(NeighbourNews news);

  // --- for parties ------------------------------------------------------------------------------
  [[nodiscard]] Backend& backend() { return backend_; }
  [[nodiscard]] Record& record() { return record_; }
  [[nodiscard]] const Record& record() const { return record_; }
  void add(Side side, const std::string& line);
  [[nodiscard]] Instant last_line() const { return last_line_; }
  [[nodiscard]] Address address(Place place);
  /// "server:p", "client:ephemeral".
  [[nodiscard]] std::string place_text(Place place) const;
  [[nodiscard]] std::string place_text(const sockaddr& address);
  /// A number that no other id of any scenario uses as its QPN.
  [[nodiscard]] std::uint32_t take_number() { return first_number_ + numbers_++; }
  /// "c1": whose QPN, as `reader` sees it in an event.
  [[nodiscard]] std::string qpn_text(const Party& reader, std::uint32_t qpn);

 private:
  [[nodiscard]] std::string ip(Role role);
  void listen_once();
  /// Asks the server for what it does not have: when it refuses, what either side has sent before
  /// is there, for nothing overtakes it.
  void ask_in_vain();
  void ask_in_vain(rdma_cm_id& id);
  /// Replaces what was recorded since `first` if it is what is usual.
  void condense(std::size_t first, const Connection& connection, std::string_view kind,
                std::initializer_list<std::string_view> usual);

  Backend& backend_;
  std::uint16_t first_port_;
  std::uint32_t first_number_;
  unsigned number_;
  std::uint32_t numbers_ = 0;
  Record record_;
  Instant last_line_{};
  std::unique_ptr<Party> server_;
  std::unique_ptr<Party> client_;
  Id* listener_ = nullptr;
};

}  // namespace anyrdma::conformance

// The claim: private data arrives unchanged, padded with zeros to the message's length, as with
// Linux on RoCE.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "check/violations.h"

namespace anyrdma::check {

/// The message that carries it.
enum class Carrier : std::uint8_t {
  kRequest,   ///< REQ, SIDR_REQ
  kReply,     ///< REP, SIDR_REP
  kRejection  ///< REJ, SIDR_REP with a status
};

/// Two sides belong together by their route: both socket addresses, the active side's first.
class PrivateData {
 public:
  using Bytes = std::vector<std::uint8_t>;

  explicit PrivateData(Violations& violations) : violations_(violations) {}

  void on_given(const std::string& route, Carrier carrier, std::span<const std::uint8_t> data);
  /// Whether a side of a route has given anything for such a message.
  [[nodiscard]] bool has_given(const std::string& route, Carrier carrier) const;
  /// A rejection with this data may come on any route: a fault plan's. Empty: the CM's own.
  void excuse(std::span<const std::uint8_t> data);
  /// The CM may reject on this route by itself, without private data, because its program ended
  /// without an answer.
  void on_silent_end(const std::string& route);
  void on_delivered(const IdName& to, const std::string& route, Carrier carrier, std::size_t room,
                    std::span<const std::uint8_t> data);

 private:
  [[nodiscard]] bool matches_any(const std::vector<Bytes>& given,
                                 std::span<const std::uint8_t> data) const;

  Violations& violations_;
  std::map<std::pair<std::string, Carrier>, std::vector<Bytes>> given_;
  std::vector<Bytes> excused_;
};

}  // namespace anyrdma::check

// The checker of private data. Private data must arrive unchanged, padded with zeros to the fixed
// length of the CM message, as with Linux on RoCE.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "check/violations.h"

namespace anyrdma::check {

/// The CM message that carries the private data.
enum class Carrier : std::uint8_t {
  kRequest,   ///< REQ, SIDR_REQ
  kReply,     ///< REP, SIDR_REP
  kRejection  ///< REJ, SIDR_REP with a status
};

/// Compares the private data that both sides of a connection report. A route identifies the two
/// sides: both socket addresses, the active side's first.
class PrivateData {
 public:
  using Bytes = std::vector<std::uint8_t>;

  explicit PrivateData(Violations& violations) : violations_(violations) {}

  void on_given(const std::string& route, Carrier carrier, std::span<const std::uint8_t> data);
  /// Whether a side of the route has given private data for such a message.
  [[nodiscard]] bool has_given(const std::string& route, Carrier carrier) const;
  /// Call when a fault plan rejects requests with `data`. A rejection with this data may then come
  /// on any route. Empty `data` stands for rejections by the CM itself.
  void excuse(std::span<const std::uint8_t> data);
  /// Call when the program of this route has ended without an answer. The CM may then reject the
  /// request by itself, without private data.
  void on_silent_end(const std::string& route);
  /// Forgets the data of a route. No id of the route exists any more, and no message for one is
  /// under way.
  void forget(const std::string& route) { given_.erase(route); }
  void on_delivered(const IdName& to, const std::string& route, Carrier carrier, std::size_t room,
                    std::span<const std::uint8_t> data);

 private:
  [[nodiscard]] bool matches_any(const std::vector<Bytes>& given,
                                 std::span<const std::uint8_t> data) const;

  /// The private data that both sides of a route have given, by Carrier.
  using Given = std::array<std::vector<Bytes>, 3>;
  [[nodiscard]] std::vector<Bytes>& given_on(const std::string& route, Carrier carrier) {
    return given_[route][static_cast<std::size_t>(carrier)];
  }

  Violations& violations_;
  std::unordered_map<std::string, Given> given_;
  std::vector<Bytes> excused_;
};

}  // namespace anyrdma::check

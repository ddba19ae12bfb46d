// The reasons why a parser rejects a received CM message. The peer is responsible for the message,
// so no call fails with these errors.
#pragma once

#include <boost/system/error_code.hpp>
#include <type_traits>

namespace anyrdma::ibcm::wire {

/// The reasons to reject a message that tests and traces distinguish.
enum class DecodeErrc {
  kLength = 1,        ///< not the 256 bytes of a MAD
  kBaseVersion,       ///< base version is not 1
  kManagementClass,   ///< not the communication management class
  kClassVersion,      ///< class version is not 2
  kMethod,            ///< method is not Send
  kAttribute,         ///< the attribute is that of another message
  kCommId,            ///< a communication id is 0 where the message needs one
  kPathMtu,           ///< path MTU outside 256..4096
  kTransportService,  ///< transport service is reliable datagram, or an unknown extended transport
  kMessage,           ///< the field that names the answered message has an unknown value

  /// The length of the additional reject information is too large for the message.
  kInfoLength,
};

/// The error category of DecodeErrc. Its messages are for traces.
[[nodiscard]] const boost::system::error_category& decode_category();

[[nodiscard]] inline boost::system::error_code make_error_code(DecodeErrc error) {
  return {static_cast<int>(error), decode_category()};
}

}  // namespace anyrdma::ibcm::wire

template <>
struct boost::system::is_error_code_enum<anyrdma::ibcm::wire::DecodeErrc> : std::true_type {};

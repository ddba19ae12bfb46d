// The reason why a parser rejected a message. The peer sent the message, so it is not an errno of a
// call.
#pragma once

#include <boost/system/error_code.hpp>
#include <type_traits>

namespace anyrdma::ibcm::wire {

/// The reasons that tests or traces distinguish.
enum class DecodeErrc {
  kLength = 1,        ///< not the 256 bytes of a MAD
  kBaseVersion,       ///< base version is not 1
  kManagementClass,   ///< not the communication management class
  kClassVersion,      ///< class version is not 2
  kMethod,            ///< method is not Send
  kAttribute,         ///< another message than the one to be parsed
  kCommId,            ///< a communication id is 0 where one must be given
  kPathMtu,           ///< path MTU outside 256..4096
  kTransportService,  ///< reliable datagram, or an unknown extended transport
  kMessage,           ///< the message answered is none that exists
  kInfoLength,        ///< more additional reject information than there is room for
};

/// The category of DecodeErrc; its messages are for traces.
[[nodiscard]] const boost::system::error_category& decode_category();

[[nodiscard]] inline boost::system::error_code make_error_code(DecodeErrc error) {
  return {static_cast<int>(error), decode_category()};
}

}  // namespace anyrdma::ibcm::wire

template <>
struct boost::system::is_error_code_enum<anyrdma::ibcm::wire::DecodeErrc> : std::true_type {};

// GoogleMock matchers for fetched events. They accept any class with the functions of cm::Event
// (type(), status(), conn(), private_data()), because transport must not depend on cm.
#pragma once

#include <gmock/gmock.h>
#include <rdma/rdma_cma.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/event_name.h"

namespace anyrdma::transport::testing {

/// Returns the bytes of a text, or of any container of bytes.
[[nodiscard]] inline std::vector<std::uint8_t> bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}
template <class Bytes>
requires(!std::convertible_to<Bytes, std::string_view>)
    [[nodiscard]] std::vector<std::uint8_t> bytes_of(const Bytes& bytes) {
  return {std::begin(bytes), std::end(bytes)};
}

MATCHER_P(EventIs, type, std::string("is ") + std::string(short_event_name(type))) {
  *result_listener << "which is " << short_event_name(arg.type()) << ", status " << arg.status();
  return arg.type() == type;
}

MATCHER_P2(EventIs, type, status,
           std::string("is ") + std::string(short_event_name(type)) + " with status " +
               std::to_string(status)) {
  *result_listener << "which is " << short_event_name(arg.type()) << ", status " << arg.status();
  return arg.type() == type && arg.status() == status;
}

MATCHER_P(HasStatus, status, "") {
  *result_listener << "whose status is " << arg.status();
  return arg.status() == status;
}

/// Matches private data that begins with `data` and is padded with zeros to `length` bytes.
MATCHER_P2(HasPrivateData, data, length, "") {
  const std::span<const std::uint8_t> actual = arg.private_data();
  *result_listener << "with " << actual.size() << " bytes of private data";
  std::vector<std::uint8_t> expected(std::begin(data), std::end(data));
  expected.resize(static_cast<std::size_t>(length));
  return std::equal(actual.begin(), actual.end(), expected.begin(), expected.end());
}

/// Matches private data that begins with `data` and is padded with zeros.
MATCHER_P(HasPrivateData, data, "has " + ::testing::PrintToString(data) + " as private data") {
  const std::span<const std::uint8_t> actual = arg.private_data();
  const std::vector<std::uint8_t> expected = bytes_of(data);
  *result_listener << "with " << actual.size() << " bytes of private data: "
                   << ::testing::PrintToString(std::string(actual.begin(), actual.end()));
  return actual.size() >= expected.size() &&
         std::equal(expected.begin(), expected.end(), actual.begin()) &&
         std::all_of(actual.begin() + static_cast<std::ptrdiff_t>(expected.size()), actual.end(),
                     [](std::uint8_t byte) { return byte == 0; });
}

MATCHER(HasNoPrivateData, "") {
  return arg.private_data().empty() && arg.conn().private_data == nullptr;
}

MATCHER_P2(HasDepths, responder_resources, initiator_depth, "") {
  *result_listener << "with responder_resources " << int{arg.conn().responder_resources}
                   << ", initiator_depth " << int{arg.conn().initiator_depth};
  return arg.conn().responder_resources == responder_resources &&
         arg.conn().initiator_depth == initiator_depth;
}

/// Matches an event of the id `id` (a pointer).
MATCHER_P(ConcernsId, id, "") {
  return &arg.id() == id;
}

}  // namespace anyrdma::transport::testing

// Matchers for fetched events. They work on anything that reads like cm::Event (type(), status(),
// conn(), private_data()), so that transport needs not know cm.
#pragma once

#include <gmock/gmock.h>
#include <rdma/rdma_cma.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "transport/event_name.h"

namespace anyrdma::transport::testing {

MATCHER_P(EventIs, type, std::string("is ") + std::string(short_event_name(type))) {
  *result_listener << "which is " << short_event_name(arg.type()) << ", status " << arg.status();
  return arg.type() == type;
}

MATCHER_P(HasStatus, status, "") {
  *result_listener << "whose status is " << arg.status();
  return arg.status() == status;
}

/// `data` first, zeros up to `length` bytes.
MATCHER_P2(HasPrivateData, data, length, "") {
  const std::span<const std::uint8_t> actual = arg.private_data();
  *result_listener << "with " << actual.size() << " bytes of private data";
  std::vector<std::uint8_t> expected(std::begin(data), std::end(data));
  expected.resize(static_cast<std::size_t>(length));
  return std::equal(actual.begin(), actual.end(), expected.begin(), expected.end());
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

/// The event's id is `id` (a pointer).
MATCHER_P(ConcernsId, id, "") {
  return &arg.id() == id;
}

}  // namespace anyrdma::transport::testing

// What the courier's two sides agree upon.
#pragma once

#include <rdma/rdma_cma.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>

namespace anyrdma::planted {

/// In front of every message.
struct Label {
  std::uint32_t client = 0;
  std::uint32_t round = 0;
  std::uint32_t generation = 0;  ///< how often this round was asked before
  std::uint32_t key = 0;
  std::uint64_t address = 0;  ///< where the parcel is to be written back to
};

/// The client's private data.
struct Hello {
  std::uint32_t client = 0;
  std::uint32_t unwelcome = 0;
};

/// The server's: a place that the client may read.
struct Welcome {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint32_t client = 0;
};

inline constexpr char kGoAway[] = "go away";

/// What is in a parcel.
inline std::uint8_t content(const Label& label, std::size_t at) {
  const std::size_t mixed = label.client * 31 + label.round * 7 + label.generation * 3;
  return static_cast<std::uint8_t>(mixed + at * 5 + at / 256);
}

/// What is at the place that a client may read.
inline std::uint8_t stamp(std::size_t at) {
  return static_cast<std::uint8_t>(at * 3 + at / 512);
}

template <class T>
T copy_from(std::span<const std::uint8_t> bytes) {
  T value{};
  if (bytes.size() >= sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

template <class T>
rdma_conn_param parameters(const T& data) {
  rdma_conn_param param{};
  param.private_data = &data;
  param.private_data_len = sizeof data;
  param.responder_resources = 4;
  param.initiator_depth = 4;
  param.retry_count = 7;
  param.rnr_retry_count = 0;  // receives are there before they are needed
  return param;
}

/// Whether no more can come on a connection.
inline bool is_end(rdma_cm_event_type type) {
  return type == RDMA_CM_EVENT_DISCONNECTED || type == RDMA_CM_EVENT_REJECTED ||
         type == RDMA_CM_EVENT_CONNECT_ERROR || type == RDMA_CM_EVENT_DEVICE_REMOVAL;
}

}  // namespace anyrdma::planted

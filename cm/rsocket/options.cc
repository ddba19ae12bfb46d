#include "cm/rsocket/options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <rdma/rsocket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace anyrdma::rsocket {
namespace {

Result<std::size_t> written(const void* from, std::size_t size, std::span<std::byte> value) {
  const std::size_t length = std::min(size, value.size());
  std::memcpy(value.data(), from, length);
  return length;
}

}  // namespace

const int* StreamOptions::place_of(int level, int name) const {
  struct Row {
    int level;
    int name;
    const int* place;
  };
  const Row rows[] = {
      {SOL_SOCKET, SO_REUSEADDR, &reuse_address_},      {SOL_SOCKET, SO_KEEPALIVE, &keep_alive_},
      {SOL_SOCKET, SO_OOBINLINE, &out_of_band_inline_}, {IPPROTO_TCP, TCP_NODELAY, &no_delay_},
      {IPPROTO_TCP, TCP_MAXSEG, &largest_segment_},     {IPPROTO_TCP, TCP_KEEPIDLE, &keep_idle_},
      {IPPROTO_TCP, TCP_KEEPINTVL, &keep_interval_},    {IPPROTO_TCP, TCP_KEEPCNT, &keep_count_},
      {IPPROTO_IPV6, IPV6_V6ONLY, &only_version_6_},    {IPPROTO_IP, IP_TOS, &type_of_service_},
  };
  const auto* const row = std::find_if(std::begin(rows), std::end(rows), [&](const Row& each) {
    return each.level == level && each.name == name;
  });
  return row == std::end(rows) ? nullptr : row->place;
}

Result<void> StreamOptions::set(int level, int name, std::span<const std::byte> value,
                                bool connected, rdma_cm_id* id) {
  if (level == SOL_SOCKET && (name == SO_LINGER || name == SO_RCVBUF || name == SO_SNDBUF)) {
    return set_of_socket(name, value, connected, id);
  }
  const bool of_rdma = level == SOL_RDMA && name >= RDMA_SQSIZE && name <= RDMA_IOMAPSIZE;
  const int* const place = place_of(level, name);
  if (!of_rdma && place == nullptr) return errno_code(ENOPROTOOPT);
  int number = 0;
  if (value.size() < sizeof number) return errno_code(EINVAL);
  std::memcpy(&number, value.data(), sizeof number);
  if (of_rdma) return set_of_rdma(name, number, connected);
  constexpr int kLongestIdle = 32767;  // as Linux
  if (place == &keep_idle_ && (number < 1 || number > kLongestIdle)) return errno_code(EINVAL);
  // What the CM must know.
  int option = -1;
  if (place == &reuse_address_) option = RDMA_OPTION_ID_REUSEADDR;
  if (place == &only_version_6_) option = RDMA_OPTION_ID_AFONLY;
  if (option >= 0 && id != nullptr && !connected &&
      rdma_set_option(id, RDMA_OPTION_ID, option, &number, sizeof number) != 0) {
    return errno_code(errno);
  }
  if (place == &type_of_service_ && id != nullptr) {
    auto service = static_cast<std::uint8_t>(number);
    if (rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &service, sizeof service) != 0) {
      return errno_code(errno);
    }
  }
  *const_cast<int*>(place) = number;
  return {};
}

Result<void> StreamOptions::set_of_socket(int name, std::span<const std::byte> value,
                                          bool connected, rdma_cm_id* /*id*/) {
  if (name == SO_LINGER) {
    if (value.size() < sizeof linger_) return errno_code(EINVAL);
    std::memcpy(&linger_, value.data(), sizeof linger_);
    return {};
  }
  int number = 0;
  if (value.size() < sizeof number) return errno_code(EINVAL);
  std::memcpy(&number, value.data(), sizeof number);
  if (connected) return errno_code(EINVAL);
  // As Linux: twice what the program asks for.
  const auto doubled = static_cast<std::uint64_t>(std::max<std::int64_t>(number, 0)) * 2;
  (name == SO_RCVBUF ? settings_.sizes.receive_buffer : settings_.sizes.send_buffer) =
      fitting_buffer(doubled);
  return {};
}

Result<void> StreamOptions::set_of_rdma(int name, int value, bool connected) {
  if (connected || value < 0) return errno_code(EINVAL);
  const auto number = static_cast<std::uint32_t>(value);
  switch (name) {
    case RDMA_SQSIZE:
      settings_.sizes.send_queue = fitting_queue(number);
      break;
    case RDMA_RQSIZE:
      settings_.sizes.receive_queue = fitting_queue(number);
      break;
    case RDMA_INLINE:
      settings_.inline_data = std::min(number, kLargestQueue);
      break;
    default:
      settings_.mappings = expressible_mappings(std::min(number, kLargestQueue));
      break;
  }
  return {};
}

Result<std::size_t> StreamOptions::get(int level, int name, std::span<std::byte> value) const {
  if (level == SOL_SOCKET && name == SO_LINGER) return written(&linger_, sizeof linger_, value);
  const auto answer = [value](std::uint32_t number) {
    return written(&number, sizeof number, value);
  };
  if (level == SOL_SOCKET && name == SO_RCVBUF) return answer(settings_.sizes.receive_buffer);
  if (level == SOL_SOCKET && name == SO_SNDBUF) return answer(settings_.sizes.send_buffer);
  if (level == SOL_RDMA && name == RDMA_SQSIZE) return answer(settings_.sizes.send_queue);
  if (level == SOL_RDMA && name == RDMA_RQSIZE) return answer(settings_.sizes.receive_queue);
  if (level == SOL_RDMA && name == RDMA_INLINE) return answer(settings_.inline_data);
  if (level == SOL_RDMA && name == RDMA_IOMAPSIZE) return answer(settings_.mappings);
  const int* const place = place_of(level, name);
  if (place == nullptr) return errno_code(ENOPROTOOPT);
  return written(place, sizeof *place, value);
}

Deadline StreamOptions::linger() const {
  if (linger_.l_onoff == 0) return std::nullopt;
  return std::chrono::steady_clock::now() + std::chrono::seconds(std::max(linger_.l_linger, 0));
}

std::optional<std::chrono::seconds> StreamOptions::keep_alive() const {
  if (keep_alive_ == 0) return std::nullopt;
  return std::chrono::seconds(keep_idle_);
}

Settings StreamOptions::settings(const rdma_cm_id& id) const {
  Settings fitting = settings_;
  ibv_device_attr device{};
  if (ibv_query_device(id.verbs, &device) != 0 || device.max_qp_wr <= 0) return fitting;
  const auto largest = static_cast<std::uint32_t>(device.max_qp_wr);
  Sizes& sizes = fitting.sizes;
  sizes.send_queue = std::min(sizes.send_queue, std::max(largest, kLeastQueue));
  sizes.receive_queue = std::min(
      sizes.receive_queue, std::max(largest, kLeastQueue + kControlReceives) - kControlReceives);
  return fitting;
}

}  // namespace anyrdma::rsocket

// Converts events and calls of ids to entries of a recording. The simulator's fibers, the processes
// on simulated hosts and the processes in real time all use this class.
#pragma once

#include <rdma/rdma_cma.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "recording/entry.h"
#include "transport/transport.h"

namespace anyrdma::recording {

/// Both addresses of an id, as bytes. Each address is one byte with the length of the IP address
/// (0, 4 or 16), the port in network byte order, and the IP address.
class Addresses {
 public:
  explicit Addresses(const rdma_addr& addresses);
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return {bytes_.data(), size_}; }

 private:
  void put(const sockaddr_storage& address);
  std::array<std::uint8_t, 2 * (1 + 2 + 16)> bytes_{};
  std::size_t size_ = 0;
};

/// Reports events and calls of ids to a sink, which must outlive this object. Threads: as cm calls
/// the observers.
class IdObserver final : public transport::EventObserver, public transport::CallObserver {
 public:
  explicit IdObserver(EntrySink& sink) : sink_(sink) {}

  // --- EventObserver ----------------------------------------------------------------------------
  void on_event(Step step, std::uint64_t id, std::uint64_t listener,
                const rdma_cm_event& event) override;
  void on_acknowledged(std::uint64_t id) override;

  // --- CallObserver -----------------------------------------------------------------------------
  void on_call(std::uint64_t id, std::string_view call, int error) override;
  void on_refused(std::uint64_t id, std::string_view call, int error) override;
  void on_state(std::uint64_t id, std::string_view state) override;
  void on_handshake(std::uint64_t id, const rdma_cm_id& raw, std::string_view call,
                    const transport::ConnectionParameters& given) override;

 private:
  EntrySink& sink_;
};

}  // namespace anyrdma::recording

// A librdmacm and a libibverbs made of functions of this process: tests say what they answer, and
// see what they were asked.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "transport/ucma/functions.h"
#include "verbs/ibv/functions.h"

namespace anyrdma::transport::ucma::testing {

/// One at a time: C functions have no object. Threads: the transport's may call beside the test's.
class FakeSystem {
 public:
  FakeSystem();
  ~FakeSystem();
  FakeSystem(const FakeSystem&) = delete;
  FakeSystem& operator=(const FakeSystem&) = delete;

  [[nodiscard]] static CmFunctions cm_functions();
  [[nodiscard]] static verbs::ibv::VerbsFunctions verbs_functions();

  /// The next call of this function fails with this errno.
  void fail(const std::string& function, int error) { failures_[function] = error; }
  /// From now on there is none; ones that are open stay.
  void remove_devices() { devices_ = 0; }
  [[nodiscard]] ibv_device* device() { return &device_; }
  [[nodiscard]] ibv_context* context() { return &context_.context; }

  /// Puts an event into the channel. A CONNECT_REQUEST gets a fresh id when it is fetched.
  void raise(const rdma_cm_event& event);
  /// Binds an id to the device, as fetching ADDR_RESOLVED does.
  void bind_to_device(rdma_cm_id& id);

  [[nodiscard]] rdma_cm_id& last_id() { return *ids_.back(); }
  /// How often a function was called, failed calls included.
  [[nodiscard]] int calls(const std::string& function) { return calls_[function]; }
  [[nodiscard]] std::size_t living_ids() const { return ids_.size() - destroyed_.size(); }
  [[nodiscard]] bool is_destroyed(rdma_cm_id& id) const { return destroyed_.contains(&id); }
  /// Fetched and not acknowledged.
  [[nodiscard]] int unacknowledged() const { return unacknowledged_; }
  [[nodiscard]] int open_channels() const { return open_channels_; }

  // --- what the last call of its kind said ------------------------------------------------------
  rdma_conn_param param{};
  std::vector<std::uint8_t> private_data;
  ibv_ece local_ece{};
  int backlog = -1;
  int timeout_ms = 0;
  std::uint32_t join_flags = 0;
  sockaddr_storage left{};  ///< the group

  // --- what calls answer ------------------------------------------------------------------------
  ibv_ece remote_ece{};

 private:
  friend struct Calls;
  /// Counts a call; whether it goes well. If not, errno is set as the test wants it.
  bool goes_well(const char* function);

  std::recursive_mutex mutex_;
  int error_ = 0;
  std::map<std::string, int> failures_;
  std::map<std::string, int> calls_;
  std::vector<std::unique_ptr<rdma_cm_id>> ids_;
  std::set<rdma_cm_id*> destroyed_;
  std::deque<rdma_cm_event> events_;
  int unacknowledged_ = 0;
  int open_channels_ = 0;
  int event_fd_ = -1;
  int devices_ = 1;
  ibv_device device_{};
  verbs_context context_{};
};

}  // namespace anyrdma::transport::ucma::testing

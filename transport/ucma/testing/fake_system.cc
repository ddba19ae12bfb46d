#include "transport/ucma/testing/fake_system.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "verbs/assert.h"

namespace anyrdma::transport::ucma::testing {
namespace {

FakeSystem* current = nullptr;

}  // namespace

/// The functions themselves.
struct Calls {
  static FakeSystem& fake() {
    CM_ASSERT(current != nullptr);
    return *current;
  }
  static int answer(const char* function) {
    const std::lock_guard lock(fake().mutex_);
    return fake().goes_well(function) ? 0 : -1;
  }

  static int* errno_location() { return &fake().error_; }

  // --- channel and events -----------------------------------------------------------------------
  static rdma_event_channel* create_event_channel() {
    const std::lock_guard lock(fake().mutex_);
    if (!fake().goes_well("create_event_channel")) return nullptr;
    ++fake().open_channels_;
    return new rdma_event_channel{::dup(fake().event_fd_)};
  }
  static void destroy_event_channel(rdma_event_channel* channel) {
    const std::lock_guard lock(fake().mutex_);
    --fake().open_channels_;
    if (channel->fd >= 0) ::close(channel->fd);
    delete channel;
  }
  static int get_cm_event(rdma_event_channel*, rdma_cm_event** event) {
    const std::lock_guard lock(fake().mutex_);
    if (fake().events_.empty()) fake().fail("get_cm_event", EAGAIN);
    if (!fake().goes_well("get_cm_event")) return -1;
    std::uint64_t count = 0;
    (void)!::read(fake().event_fd_, &count, sizeof count);
    *event = new rdma_cm_event(fake().events_.front());
    fake().events_.pop_front();
    ++fake().unacknowledged_;
    if ((*event)->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
      fake().ids_.push_back(std::make_unique<rdma_cm_id>(*(*event)->listen_id));
      (*event)->id = fake().ids_.back().get();
      fake().bind_to_device(*(*event)->id);
    }
    return 0;
  }
  static int ack_cm_event(rdma_cm_event* event) {
    const std::lock_guard lock(fake().mutex_);
    --fake().unacknowledged_;
    delete event;
    return 0;
  }

  // --- ids --------------------------------------------------------------------------------------
  static int create_id(rdma_event_channel*, rdma_cm_id** id, void* context, rdma_port_space ps) {
    const std::lock_guard lock(fake().mutex_);
    if (!fake().goes_well("create_id")) return -1;
    auto fresh = std::make_unique<rdma_cm_id>();
    fresh->context = context;
    fresh->ps = ps;
    fresh->qp_type = ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
    fake().ids_.push_back(std::move(fresh));
    *id = fake().ids_.back().get();
    return 0;
  }
  static int destroy_id(rdma_cm_id* id) {
    const std::lock_guard lock(fake().mutex_);
    if (!fake().goes_well("destroy_id")) return -1;
    CM_ASSERT(fake().unacknowledged_ == 0);  // it would wait for ever
    fake().destroyed_.insert(id);
    return 0;
  }
  static int listen(rdma_cm_id*, int backlog) {
    fake().backlog = backlog;
    return answer("listen");
  }
  static int resolve_addr(rdma_cm_id*, sockaddr*, sockaddr*, int timeout) {
    fake().timeout_ms = timeout;
    return answer("resolve_addr");
  }
  static int connected(const char* function, const rdma_conn_param& param) {
    fake().param = param;
    const auto* data = static_cast<const std::uint8_t*>(param.private_data);
    fake().private_data.assign(data, data + param.private_data_len);
    return answer(function);
  }
  static int rejected(const char* function, const void* data, std::uint8_t length) {
    const auto* bytes = static_cast<const std::uint8_t*>(data);
    fake().private_data.assign(bytes, bytes + length);
    return answer(function);
  }
  static int init_qp_attr(rdma_cm_id*, ibv_qp_attr* attr, int* mask) {
    *mask = IBV_QP_STATE | IBV_QP_RQ_PSN;
    attr->rq_psn = 17;
    return answer("init_qp_attr");
  }
  static int join(rdma_cm_id*, rdma_cm_join_mc_attr_ex* attr, void*) {
    fake().join_flags = attr->join_flags;
    return answer("join_multicast_ex");
  }
  static int leave(rdma_cm_id*, sockaddr* group) {
    std::memcpy(&fake().left, group, sizeof(sockaddr_in));
    return answer("leave_multicast");
  }
  static int set_local_ece(rdma_cm_id*, ibv_ece* ece) {
    fake().local_ece = *ece;
    return answer("set_local_ece");
  }
  static int get_remote_ece(rdma_cm_id*, ibv_ece* ece) {
    *ece = fake().remote_ece;
    return answer("get_remote_ece");
  }

  // --- devices ----------------------------------------------------------------------------------
  static ibv_context** get_devices(int* count) {
    const std::lock_guard lock(fake().mutex_);
    *count = 0;
    if (!fake().goes_well("get_devices")) return nullptr;
    auto** list = new ibv_context*[2]();
    if (fake().devices_ != 0) list[(*count)++] = &fake().context_.context;
    return list;
  }
  static ibv_device** get_device_list(int* count) {
    const std::lock_guard lock(fake().mutex_);
    auto** list = new ibv_device*[2]();
    *count = 0;
    if (fake().devices_ != 0) list[(*count)++] = &fake().device_;
    return list;
  }
  static ibv_context* open_device(ibv_device*) {
    const std::lock_guard lock(fake().mutex_);
    return fake().goes_well("open_device") ? &fake().context_.context : nullptr;
  }
};

FakeSystem::FakeSystem() : event_fd_(::eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK)) {
  CM_ASSERT(current == nullptr && event_fd_ >= 0);
  current = this;
  context_.sz = sizeof context_;
  context_.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
  context_.context.device = &device_;
}

FakeSystem::~FakeSystem() {
  current = nullptr;
  ::close(event_fd_);
}

bool FakeSystem::goes_well(const char* function) {
  ++calls_[function];
  const auto found = failures_.find(function);
  if (found == failures_.end()) return true;
  error_ = found->second;
  failures_.erase(found);
  return false;
}

void FakeSystem::raise(const rdma_cm_event& event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(event);
  const std::uint64_t one = 1;
  CM_ASSERT(::write(event_fd_, &one, sizeof one) == sizeof one);
}

void FakeSystem::bind_to_device(rdma_cm_id& id) {
  id.verbs = &context_.context;
  id.port_num = 1;
}

CmFunctions FakeSystem::cm_functions() {
  CmFunctions it{};
  it.errno_location = Calls::errno_location;
  it.create_event_channel = Calls::create_event_channel;
  it.destroy_event_channel = Calls::destroy_event_channel;
  it.get_cm_event = Calls::get_cm_event;
  it.ack_cm_event = Calls::ack_cm_event;
  it.create_id = Calls::create_id;
  it.destroy_id = Calls::destroy_id;
  it.bind_addr = [](rdma_cm_id*, sockaddr*) { return Calls::answer("bind_addr"); };
  it.resolve_addr = Calls::resolve_addr;
  it.resolve_route = [](rdma_cm_id*, int) { return Calls::answer("resolve_route"); };
  it.listen = Calls::listen;
  it.connect = [](rdma_cm_id*, rdma_conn_param* p) { return Calls::connected("connect", *p); };
  it.accept = [](rdma_cm_id*, rdma_conn_param* p) { return Calls::connected("accept", *p); };
  it.establish = [](rdma_cm_id*) { return Calls::answer("establish"); };
  it.reject = [](rdma_cm_id*, const void* data, std::uint8_t length) {
    return Calls::rejected("reject", data, length);
  };
  it.reject_ece = [](rdma_cm_id*, const void* data, std::uint8_t length) {
    return Calls::rejected("reject_ece", data, length);
  };
  it.disconnect = [](rdma_cm_id*) { return Calls::answer("disconnect"); };
  it.notify = [](rdma_cm_id*, ibv_event_type) { return Calls::answer("notify"); };
  it.init_qp_attr = Calls::init_qp_attr;
  it.set_option = [](rdma_cm_id*, int, int, void*, std::size_t) {
    return Calls::answer("set_option");
  };
  it.join_multicast_ex = Calls::join;
  it.leave_multicast = Calls::leave;
  it.set_local_ece = Calls::set_local_ece;
  it.get_remote_ece = Calls::get_remote_ece;
  it.get_devices = Calls::get_devices;
  it.free_devices = [](ibv_context** list) { delete[] list; };
  return it;
}

verbs::ibv::VerbsFunctions FakeSystem::verbs_functions() {
  verbs::ibv::VerbsFunctions it{};
  it.errno_location = Calls::errno_location;
  it.get_device_list = Calls::get_device_list;
  it.free_device_list = [](ibv_device** list) { delete[] list; };
  it.open_device = Calls::open_device;
  it.close_device = [](ibv_context*) { return 0; };
  return it;
}

}  // namespace anyrdma::transport::ucma::testing

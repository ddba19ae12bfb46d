// The device and its contexts.
#include "verbs/soft/soft_hca.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <utility>

#include "verbs/assert.h"
#include "verbs/misuse.h"

namespace anyrdma::verbs::soft {

namespace {

// As rxe names itself: a software device without a vendor's number.
constexpr std::uint32_t kVendorId = 0xffffff;

template <std::size_t N>
void copy_text(char (&to)[N], const std::string& text) {
  std::snprintf(to, N, "%s", text.c_str());
}

}  // namespace

std::unique_ptr<Hca> Hca::create(Runtime& runtime, Random& random, PacketPool& pool,
                                 const HcaConfig& config) {
  return std::make_unique<SoftHca>(runtime, random, pool, config);
}

namespace {

// What the device says it has is what can be had of it.
HcaConfig obtainable(HcaConfig config) {
  config.max_qp = std::min(config.max_qp, config.qpn_count);
  config.max_mr = std::min(config.max_mr, kKeysMost);
  config.max_mw = std::min(config.max_mw, kKeysMost);
  return config;
}

// A product of limits, as far as an attribute can tell it.
int told(std::uint64_t product) {
  constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
  return static_cast<int>(std::min(product, kMost));
}

/// Devices of one process or host have queue pair numbers of their own, which tell their keys
/// apart. Fibonacci hashing spreads the numbers; that of the first device becomes 0.
std::uint8_t generation_of(std::uint32_t qpn_first) {
  constexpr std::uint32_t kGolden = 0x9e3779b1;
  constexpr unsigned kAllButTheTopByte = 24;
  return static_cast<std::uint8_t>(((qpn_first - HcaConfig{}.qpn_first) * kGolden) >>
                                   kAllButTheTopByte);
}

}  // namespace

SoftHca::SoftHca(Runtime& runtime, Random& random, PacketPool& pool, const HcaConfig& config)
    : core_{runtime, random, pool, obtainable(config)}, ports_(config.ports) {
  core_.hca = this;
  CM_ASSERT(config.ports > 0 && config.ports <= kPortsMost);
  CM_ASSERT(config.qpn_first > 1);
  CM_ASSERT(config.qpn_count > 0);
  CM_ASSERT(config.qpn_first + config.qpn_count <= kQpnEnd);
  mad_psn_ = wire::Psn{0};
  core_.memory.set_first_generation(
      static_cast<std::uint8_t>(generation_of(config.qpn_first) + config.key_generation));
  describe_device();
}

// What an application left behind goes with the device, as the kernel does with a dead process.
SoftHca::~SoftHca() {
  drop_effects(core_);
  for (const auto& name : names_) name->let_go();
  for (SoftQp* qp : numbers_)
    if (qp != nullptr) qp->close();
  const auto dispose = [](auto* object) { delete object; };
  live_address_handles_.clear_and_dispose(dispose);
  live_shared_receive_queues_.clear_and_dispose(dispose);
  live_completion_queues_.clear_and_dispose(dispose);
  live_xrc_domains_.clear_and_dispose(dispose);
  live_channels_.clear_and_dispose(dispose);
  live_domains_.clear_and_dispose(dispose);
  live_thread_domains_.clear_and_dispose(dispose);
  for (SoftContext* context : contexts_) delete context;
}

void SoftHca::describe_device() {
  ibv_device& device = device_.device;
  const std::string& name = core_.config.name;
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const std::string number = digits < name.size() ? name.substr(digits) : "0";
  device.node_type = IBV_NODE_CA;
  device.transport_type = IBV_TRANSPORT_IB;
  copy_text(device.name, name);
  copy_text(device.dev_name, "uverbs" + number);
  copy_text(device.dev_path, "/sys/class/infiniband_verbs/uverbs" + number);
  copy_text(device.ibdev_path, "/sys/class/infiniband/" + name);
}

// --- contexts -----------------------------------------------------------------------------------

Result<ibv_context*> SoftHca::open_device(ibv_device* device) {
  CM_ASSERT(device == &device_.device);
  auto units = core_.runtime.make_semaphore();
  if (!units) return units.error();
  (*units)->set_purpose("an asynchronous event of a device");
  CriticalSection section(core_.runtime);
  if (const int error = core_.refusal("open_device"); error != 0) return errno_code(error);
  auto* context = new SoftContext(*this, core_, device, std::move(*units));
  contexts_.push_back(context);
  return context->ibv();
}

Result<void> SoftHca::close_device(ibv_context* context) {
  CriticalSection section(core_.runtime);
  SoftContext& soft = SoftContext::from(context);
  if (std::erase(contexts_, &soft) == 0) return errno_code(EBADF);  // closed already
  end_objects_of(context);
  std::erase_if(counters_, [context](const auto& each) {
    return each->context == context && each->users == 0;
  });
  graveyard_.bury<ProvidedContext>(&soft);
  return {};
}

Result<ibv_async_event> SoftHca::get_async_event(ibv_context* context) {
  SoftContext& soft = SoftContext::from(context);
  while (true) {
    if (const auto waited = soft.async_units->wait(); !waited) return waited.error();
    CriticalSection section(core_.runtime);
    if (soft.events.empty()) continue;  // forgotten together with its object
    const ibv_async_event event = soft.events.pop_front();
    const auto charge = [this](auto* object) {
      ++object->async_taken;
      object->taker = core_.runtime.mark();
    };
    if (event.event_type == IBV_EVENT_CQ_ERR) charge(static_cast<SoftCq*>(event.element.cq));
    if (is_qp_event(event.event_type)) charge(static_cast<SoftQp*>(event.element.qp));
    if (is_srq_event(event.event_type)) charge(static_cast<SoftSrq*>(event.element.srq));
    return event;
  }
}

namespace {

std::string name_of(const SoftCq& cq) {
  return "completion queue " + std::to_string(cq.made);
}
std::string name_of(const SoftQp& qp) {
  return "queue pair " + std::to_string(qp.qp_num);
}
std::string name_of(const SoftSrq& srq) {
  return "shared receive queue " + std::to_string(srq.handle);
}

// For a caller that waits to destroy an object, and for rdma-core's own count.
template <class Object>
void acknowledge(Runtime& runtime, ibv_event_type type, Object* object,
                 std::uint32_t& events_completed) {
  if (object->async_acknowledged == object->async_taken) {
    report_misuse(runtime, {"ibv_ack_async_event", name_of(*object),
                            "acknowledges " + std::string(event_name(type)) +
                                ", but has no asynchronous event that waits for that"});
    return;
  }
  ++object->async_acknowledged;
  ++events_completed;
  if (object->destroyer != nullptr) object->destroyer->post();
}

}  // namespace

namespace {

std::string debt(Runtime& runtime, const std::string& object, const char* kind, std::uint32_t taken,
                 std::uint32_t acknowledged, const Runtime::Mark& taker) {
  if (taken == acknowledged) return {};
  return std::string("  ") + kind + " events: " + std::to_string(taken) + " taken, " +
         std::to_string(acknowledged) + " acknowledged (" + object + ", the last taken " +
         runtime.describe(taker) + ")\n";
}

}  // namespace

std::string debts_of(Runtime& runtime, const SoftCq& cq) {
  const std::string name = name_of(cq);
  return debt(runtime, name, "completion", cq.taken, cq.acknowledged, cq.taker) +
         debt(runtime, name, "asynchronous", cq.async_taken, cq.async_acknowledged, cq.taker);
}

std::string debts_of(Runtime& runtime, const SoftQp& qp) {
  return debt(runtime, name_of(qp), "asynchronous", qp.async_taken, qp.async_acknowledged,
              qp.taker);
}

std::string debts_of(Runtime& runtime, const SoftSrq& srq) {
  return debt(runtime, name_of(srq), "asynchronous", srq.async_taken, srq.async_acknowledged,
              srq.taker);
}

void SoftHca::ack_async_event(const ibv_async_event& event) {
  CriticalSection section(core_.runtime);
  if (event.event_type == IBV_EVENT_CQ_ERR) {
    acknowledge(core_.runtime, event.event_type, static_cast<SoftCq*>(event.element.cq),
                event.element.cq->async_events_completed);
  } else if (is_qp_event(event.event_type)) {
    acknowledge(core_.runtime, event.event_type, static_cast<SoftQp*>(event.element.qp),
                event.element.qp->events_completed);
  } else if (is_srq_event(event.event_type)) {
    acknowledge(core_.runtime, event.event_type, static_cast<SoftSrq*>(event.element.srq),
                event.element.srq->events_completed);
  }
}

// --- queries ------------------------------------------------------------------------------------

Result<void> SoftHca::query_device(ibv_context*, ibv_device_attr* attr) {
  CriticalSection section(core_.runtime);
  if (core_.removed) return errno_code(EIO);
  const HcaConfig& config = core_.config;
  *attr = ibv_device_attr{};
  copy_text(attr->fw_ver, "0.1");
  attr->node_guid = attr->sys_image_guid = device_guid(nullptr);
  attr->max_mr_size = ~std::uint64_t{0};
  attr->page_size_cap = 0xfffff000;
  attr->vendor_id = kVendorId;
  attr->max_qp = static_cast<int>(config.max_qp);
  attr->max_qp_wr = static_cast<int>(config.max_qp_wr);
  attr->device_cap_flags = IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_PORT_ACTIVE_EVENT |
                           IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_CURR_QP_STATE_MOD |
                           IBV_DEVICE_SRQ_RESIZE;
  if (config.xrc) attr->device_cap_flags |= IBV_DEVICE_XRC;
  if (config.path_migration) attr->device_cap_flags |= IBV_DEVICE_AUTO_PATH_MIG;
  if (config.max_mw != 0) {
    attr->device_cap_flags |=
        IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_MEM_MGT_EXTENSIONS;
  }
  attr->max_sge = attr->max_sge_rd = static_cast<int>(config.max_sge);
  attr->max_cq = static_cast<int>(config.max_cq);
  attr->max_cqe = static_cast<int>(config.max_cqe);
  attr->max_mr = static_cast<int>(config.max_mr);
  attr->max_mw = static_cast<int>(config.max_mw);
  attr->max_pd = static_cast<int>(config.max_pd);
  attr->max_qp_rd_atom = config.max_qp_rd_atom;
  attr->max_res_rd_atom = told(std::uint64_t{config.max_qp_rd_atom} * config.max_qp);
  attr->max_qp_init_rd_atom = config.max_qp_init_rd_atom;
  attr->atomic_cap = static_cast<ibv_atomic_cap>(config.atomics);
  attr->max_ah = static_cast<int>(config.max_ah);
  attr->max_srq = static_cast<int>(config.max_srq);
  attr->max_srq_wr = static_cast<int>(config.max_srq_wr);
  attr->max_srq_sge = static_cast<int>(config.max_srq_sge);
  attr->max_mcast_grp = static_cast<int>(config.max_mcast_grp);
  attr->max_mcast_qp_attach = static_cast<int>(config.max_mcast_qp_attach);
  attr->max_total_mcast_qp_attach =
      told(std::uint64_t{config.max_mcast_grp} * config.max_mcast_qp_attach);
  attr->max_pkeys = 1;
  attr->local_ca_ack_delay = config.local_ca_ack_delay;
  attr->phys_port_cnt = config.ports;
  return {};
}

// --- what the network layer below tells us ------------------------------------------------------

void SoftHca::remove() {
  if (std::exchange(core_.removed, true)) return;
  for (SoftQp* qp : numbers_) {
    if (qp == nullptr) continue;
    groups_.detach_everywhere(*qp);  // the kernel's queue pair is gone: nothing keeps ours busy
    if (qp->state == IBV_QPS_RESET) continue;
    qp->responder.forget_answers();
    qp->enter_error();
  }
  mads_in_.clear();
  mads_out_.clear();
  raise_everywhere(1, IBV_EVENT_DEVICE_FATAL);
}

void SoftHca::raise_everywhere(std::uint8_t port, ibv_event_type type) {
  for (SoftContext* context : contexts_) context->raise_port(port, type);
}

}  // namespace anyrdma::verbs::soft

#include "verbs/ibv/pass_through.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>

namespace anyrdma::verbs::ibv {

PassThrough::~PassThrough() {
  for (const Generation& each : generations_) system_.free_device_list(each.list);
}

int PassThrough::last_error() const {
  const int error = *system_.errno_location();
  return error > 0 ? error : EIO;
}

// Some functions return the errno value, others -1 with errno set, and which do what has changed
// with the library's age.
Result<void> PassThrough::done(int returned) const {
  if (returned == 0) return {};
  return errno_code(returned > 0 ? returned : last_error());
}

template <class Object>
Result<Object*> PassThrough::made(Object* object) const {
  if (object == nullptr) return errno_code(last_error());
  return object;
}

// --- devices ------------------------------------------------------------------------------------

std::span<ibv_device* const> PassThrough::devices() {
  const std::lock_guard lock(mutex_);
  int count = 0;
  ibv_device** const list = system_.get_device_list(&count);
  if (list == nullptr) return {};
  const std::span<ibv_device* const> now(list, static_cast<std::size_t>(count));
  if (!generations_.empty() && std::ranges::equal(generations_.back().devices, now)) {
    system_.free_device_list(list);
  } else {
    generations_.push_back({list, {now.begin(), now.end()}});
  }
  return generations_.back().devices;
}

Result<ibv_context*> PassThrough::open_device(ibv_device* device) {
  return made(system_.open_device(device));
}

Result<void> PassThrough::close_device(ibv_context* context) {
  return done(system_.close_device(context));
}

__be64 PassThrough::device_guid(ibv_device* device) {
  return system_.get_device_guid(device);
}

Result<void> PassThrough::query_device(ibv_context* context, ibv_device_attr* attr) {
  return done(system_.query_device(context, attr));
}

Result<void> PassThrough::query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attr) {
  // The exported ibv_query_port fills an older, shorter structure.
  // The structure grows at its front, and says how far it goes.
  constexpr std::size_t kNeeded = sizeof(verbs_context) - offsetof(verbs_context, query_port);
  const verbs_context* const extended = verbs_get_ctx(context);
  if (extended == nullptr || extended->sz < kNeeded || extended->query_port == nullptr) {
    return errno_code(EOPNOTSUPP);
  }
  *attr = {};
  return done(extended->query_port(context, port, attr, sizeof *attr));
}

Result<ibv_gid_entry> PassThrough::query_gid(ibv_context* context, std::uint8_t port,
                                             std::uint32_t index) {
  ibv_gid_entry entry{};
  const Result<void> queried =
      done(system_.query_gid_ex(context, port, index, &entry, 0, sizeof entry));
  if (!queried) return queried.error();
  return entry;
}

Result<__be16> PassThrough::query_pkey(ibv_context* context, std::uint8_t port, int index) {
  __be16 key = 0;
  const Result<void> queried = done(system_.query_pkey(context, port, index, &key));
  if (!queried) return queried.error();
  return key;
}

// --- memory -------------------------------------------------------------------------------------

Result<ibv_pd*> PassThrough::alloc_pd(ibv_context* context) {
  return made(system_.alloc_pd(context));
}

Result<void> PassThrough::dealloc_pd(ibv_pd* pd) {
  return done(system_.dealloc_pd(pd));
}

Result<ibv_mr*> PassThrough::reg_mr(ibv_pd* pd, void* address, std::size_t length,
                                    std::uint64_t iova, unsigned access) {
  return made(system_.reg_mr_iova2(pd, address, length, iova, access));
}

Result<void> PassThrough::dereg_mr(ibv_mr* mr) {
  return done(system_.dereg_mr(mr));
}

Result<void> PassThrough::rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* address,
                                   std::size_t length, int access) {
  return done(system_.rereg_mr(mr, flags, pd, address, length, access));
}

// --- completions --------------------------------------------------------------------------------

Result<ibv_comp_channel*> PassThrough::create_comp_channel(ibv_context* context) {
  return made(system_.create_comp_channel(context));
}

Result<void> PassThrough::destroy_comp_channel(ibv_comp_channel* channel) {
  return done(system_.destroy_comp_channel(channel));
}

Result<ibv_cq*> PassThrough::create_cq(ibv_context* context, int cqe, void* cq_context,
                                       ibv_comp_channel* channel, int comp_vector) {
  return made(system_.create_cq(context, cqe, cq_context, channel, comp_vector));
}

Result<void> PassThrough::destroy_cq(ibv_cq* cq) {
  return done(system_.destroy_cq(cq));
}

Result<ibv_cq*> PassThrough::get_cq_event(ibv_comp_channel* channel) {
  ibv_cq* cq = nullptr;
  void* cq_context = nullptr;
  const Result<void> got = done(system_.get_cq_event(channel, &cq, &cq_context));
  if (!got) return got.error();
  return cq;
}

void PassThrough::ack_cq_events(ibv_cq* cq, unsigned count) {
  system_.ack_cq_events(cq, count);
}

Result<void> PassThrough::resize_cq(ibv_cq* cq, int cqe) {
  return done(system_.resize_cq(cq, cqe));
}

// --- queue pairs --------------------------------------------------------------------------------

Result<ibv_qp*> PassThrough::create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
  return made(system_.create_qp(pd, attr));
}

Result<void> PassThrough::modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
  return done(system_.modify_qp(qp, attr, mask));
}

Result<void> PassThrough::query_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask,
                                   ibv_qp_init_attr* init) {
  return done(system_.query_qp(qp, attr, mask, init));
}

Result<void> PassThrough::destroy_qp(ibv_qp* qp) {
  return done(system_.destroy_qp(qp));
}

ibv_qp_ex* PassThrough::qp_to_qp_ex(ibv_qp* qp) {
  return system_.qp_to_qp_ex(qp);
}

// --- datagrams ----------------------------------------------------------------------------------

Result<ibv_ah*> PassThrough::create_ah(ibv_pd* pd, const ibv_ah_attr& attr) {
  ibv_ah_attr wanted = attr;
  return made(system_.create_ah(pd, &wanted));
}

Result<void> PassThrough::destroy_ah(ibv_ah* ah) {
  return done(system_.destroy_ah(ah));
}

Result<void> PassThrough::attach_mcast(ibv_qp* qp, const ibv_gid& gid, std::uint16_t lid) {
  return done(system_.attach_mcast(qp, &gid, lid));
}

Result<void> PassThrough::detach_mcast(ibv_qp* qp, const ibv_gid& gid, std::uint16_t lid) {
  return done(system_.detach_mcast(qp, &gid, lid));
}

// --- shared receive queues ----------------------------------------------------------------------

Result<ibv_srq*> PassThrough::create_srq(ibv_pd* pd, ibv_srq_init_attr* attr) {
  return made(system_.create_srq(pd, attr));
}

Result<void> PassThrough::modify_srq(ibv_srq* srq, const ibv_srq_attr& attr, int mask) {
  ibv_srq_attr wanted = attr;
  return done(system_.modify_srq(srq, &wanted, mask));
}

Result<void> PassThrough::query_srq(ibv_srq* srq, ibv_srq_attr* attr) {
  return done(system_.query_srq(srq, attr));
}

Result<void> PassThrough::destroy_srq(ibv_srq* srq) {
  return done(system_.destroy_srq(srq));
}

// --- enhanced connection establishment, events --------------------------------------------------

Result<void> PassThrough::set_ece(ibv_qp* qp, const ibv_ece& ece) {
  ibv_ece wanted = ece;
  return done(system_.set_ece(qp, &wanted));
}

Result<ibv_ece> PassThrough::query_ece(ibv_qp* qp) {
  ibv_ece answer{};
  const Result<void> queried = done(system_.query_ece(qp, &answer));
  if (!queried) return queried.error();
  return answer;
}

Result<ibv_async_event> PassThrough::get_async_event(ibv_context* context) {
  ibv_async_event event{};
  const Result<void> got = done(system_.get_async_event(context, &event));
  if (!got) return got.error();
  return event;
}

void PassThrough::ack_async_event(const ibv_async_event& event) {
  ibv_async_event taken = event;
  system_.ack_async_event(&taken);
}

}  // namespace anyrdma::verbs::ibv

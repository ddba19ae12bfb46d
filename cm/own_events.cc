// Events that come not from the transport but from the program (L/cma.c:rdma_write_cm_event), and
// those of rdma_resolve_addrinfo, which the library writes for it.
#include <cerrno>
#include <cstring>
#include <utility>

#include "cm/event_record.h"
#include "cm/id.h"
#include "cm/newer_rdma_cma.h"

namespace anyrdma::cm {

void Id::enqueue_own(int type, int status, std::uint64_t argument) {
  if (!endpoint_->reports()) return;
  EventRecord& record = channel_->pool_->take();
  record.charged = this;
  record.own = true;
  rdma_cm_event& event = record.raw.event;
  event.id = raw();
  event.event = static_cast<rdma_cm_event_type>(type);
  event.status = status;
  std::memcpy(&event.param, &argument, sizeof argument);
  channel_->push(record);
}

Result<void> Id::write_event(int status, std::uint64_t argument) {
  verbs::CriticalSection section(runtime());
  // The kernel looks the id up and asks no more (K/ucma.c:ucma_write_cm_event).
  if (Result<void> live = check(Call::kQuery); !live) return live;
  enqueue_own(kUserEvent, status, argument);
  return {};
}

bool Id::is_told() const {
  const verbs::CriticalSection section(runtime());
  return endpoint_ != nullptr && endpoint_->reports();
}

Result<void> Id::resolve_addrinfo(const char* node, const char* service,
                                  const rdma_addrinfo* hints) {
  {
    verbs::CriticalSection section(runtime());
    if (resolving_addrinfo_) return verbs::errno_code(EBUSY);
    const int flags = hints == nullptr ? 0 : hints->ai_flags;
    if ((flags & kRaiSa) != 0) return refuse_administrator(node, service, flags);
    resolving_addrinfo_ = true;
  }
  Result<void> resolved = resolve_by_name(node, service, hints);
  // An incoming id would wait for ever for the event that it does not get.
  if (resolved && is_told()) resolved = complete();
  if (resolved) return {};
  Addrinfo unwanted;
  verbs::CriticalSection section(runtime());
  resolving_addrinfo_ = false;
  unwanted = std::move(resolved_addrinfo_);
  return resolved;
}

// The kernel asks its own state first: only an id that is bound to a port has an administrator.
Result<void> Id::refuse_administrator(const char* node, const char* service, int flags) {
  if ((flags & kRaiDns) != 0 || node != nullptr) return verbs::errno_code(EOPNOTSUPP);
  if (service == nullptr) return verbs::errno_code(EINVAL);
  if (Result<void> live = check(Call::kQuery); !live) return live;
  const bool bound = state() == "RDMA_CM_ADDR_BOUND" && raw_.id.verbs != nullptr;
  return verbs::errno_code(bound ? EOPNOTSUPP : EINVAL);
}

Result<void> Id::resolve_by_name(const char* node, const char* service,
                                 const rdma_addrinfo* hints) {
  Result<Addrinfo> found = cm::resolve_addrinfo(node, service, hints);
  if (!found) return found.error();
  verbs::CriticalSection section(runtime());
  if (Result<void> live = check(Call::kQuery); !live) return live;
  resolved_addrinfo_ = std::move(*found);
  enqueue_own(kAddrinfoResolvedEvent, 0, 0);
  return {};
}

Result<Addrinfo> Id::query_addrinfo() {
  verbs::CriticalSection section(runtime());
  if (resolved_addrinfo_ == nullptr) return verbs::errno_code(ENOENT);
  resolving_addrinfo_ = false;
  return std::move(resolved_addrinfo_);
}

}  // namespace anyrdma::cm

// Extended connections (XRC) of the software HCA: domains, their shared receive queues, and queue
// pairs that several programs' parts may hold (IBTA vol 1, annex A14).
#include <algorithm>
#include <cerrno>
#include <set>

#include "verbs/soft/soft_hca.h"

namespace anyrdma::verbs::soft {

// --- domains ------------------------------------------------------------------------------------

Result<ibv_xrcd*> SoftHca::open_xrcd(ibv_context* context, std::optional<FileIdentity> file,
                                     int flags) {
  CriticalSection section(core_.runtime);
  if (const int error = core_.refusal("open_xrcd"); error != 0) return errno_code(error);
  if (!core_.config.xrc) return errno_code(EOPNOTSUPP);
  const auto found = std::find_if(
      live_xrc_domains_.begin(), live_xrc_domains_.end(),
      [&file](const SoftXrcd& xrcd) { return file.has_value() && xrcd.domain->file == file; });
  const bool exists = found != live_xrc_domains_.end();
  // The kernel's answers.
  if (!exists && (flags & kMakeDomain) == 0) return errno_code(EAGAIN);
  if (exists && (flags & kFreshDomain) != 0) return errno_code(EINVAL);
  if (!exists && xrc_domains() >= core_.config.max_xrcd) return errno_code(ENOMEM);
  auto* xrcd = new SoftXrcd{};
  xrcd->context = context;
  (void)core_.handles.add(*xrcd);
  xrcd->domain = exists ? found->domain : std::make_shared<const XrcDomain>(XrcDomain{file});
  live_xrc_domains_.push_back(*xrcd);
  return xrcd;
}

// Those of one file are one.
std::size_t SoftHca::xrc_domains() const {
  std::set<const XrcDomain*> domains;
  for (const SoftXrcd& xrcd : live_xrc_domains_) domains.insert(xrcd.domain.get());
  return domains.size();
}

// Its struct shows no handle: rdma-core finds that behind, and so follows the pointer.
Result<SoftXrcd*> SoftHca::find_live(const ibv_context* context, const ibv_xrcd& given) const {
  if (given.context != context) return errno_code(ENOENT);
  const auto& soft = static_cast<const SoftXrcd&>(given);
  return core_.handles.find<SoftXrcd>(context, soft.registration.handle());
}

Result<void> SoftHca::close_xrcd(ibv_xrcd* xrcd) {
  CriticalSection section(core_.runtime);
  const auto found = find_live(xrcd->context, *xrcd);
  if (!found) return found.error();
  SoftXrcd* const soft = *found;
  if (soft->users != 0) return errno_code(EBUSY);
  delete soft;
  return {};
}

// --- shared receive queues ----------------------------------------------------------------------

namespace {

constexpr std::uint32_t kSrqNumbers = 1 << 24;  // XRCETH has 24 bits for one

}  // namespace

Result<ibv_srq*> SoftHca::create_xrc_srq(const ibv_srq_init_attr_ex& init) {
  CriticalSection section(core_.runtime);
  const auto xrcd = find_live(init.pd->context, *init.xrcd);
  if (!xrcd) return xrcd.error();
  const auto completions = core_.handles.find<SoftCq>(init.pd->context, *init.cq);
  if (!completions) return completions.error();
  ibv_srq_init_attr basic{.srq_context = init.srq_context, .attr = init.attr};
  const auto made = make_srq(*init.pd, basic);
  if (!made) return made.error();
  auto& queues = core_.xrc_queues;
  const auto free = std::find(queues.begin(), queues.end(), nullptr);
  const auto index = static_cast<std::uint32_t>(free - queues.begin());
  if (index + 1 >= kSrqNumbers) {
    forget_srq(**made);
    return errno_code(ENOMEM);
  }
  if (free == queues.end()) queues.push_back(nullptr);
  (*made)->join(**xrcd, **completions, index + 1);
  queues[index] = *made;
  return *made;
}

// Takes it away from those who receive into one of its requests.
void SoftHca::forget_srq(SoftSrq& srq) {
  for (SoftQp* qp : numbers_)
    if (qp != nullptr && qp->receives.source() == &srq) qp->receives.let_go();
  --static_cast<SoftPd*>(srq.pd)->users;
  --shared_receive_queues_;
  delete &srq;
}

// --- shared queue pairs -------------------------------------------------------------------------

Result<ibv_qp*> SoftHca::open_qp(ibv_context* context, const ibv_qp_open_attr& attr) {
  CriticalSection section(core_.runtime);
  if (const int error = core_.refusal("open_qp"); error != 0) return errno_code(error);
  const auto found = find_live(context, *attr.xrcd);
  if (!found) return found.error();
  SoftXrcd* const xrcd = *found;
  SoftQp* shared = find(wire::Qpn{attr.qp_num});
  if (shared == nullptr || shared->qp_type != IBV_QPT_XRC_RECV ||
      attr.qp_type != IBV_QPT_XRC_RECV || shared->xrcd->domain != xrcd->domain)
    return errno_code(EINVAL);
  names_.push_back(std::make_unique<SoftQp>(core_));
  names_.back()->refer_to(*shared, *xrcd, attr.qp_context);
  return names_.back().get();
}

void SoftHca::close_name(SoftQp& name) {
  SoftQp* named = name.named;
  name.let_go();
  std::erase_if(names_, [&name](const auto& each) { return each.get() == &name; });
  if (named != nullptr && named->abandoned && named->names.empty()) retire(*named);
}

}  // namespace anyrdma::verbs::soft

// The operations of extended connections that <infiniband/verbs.h> reaches through the context.
#include <sys/stat.h>

#include <cerrno>
#include <optional>

#include "verbs/soft/context.h"
#include "verbs/soft/soft_hca.h"

namespace anyrdma::verbs::soft {

namespace {

SoftHca& hca_of(const ibv_context* context) {
  return static_cast<SoftHca&>(provider_of(context));
}

template <class T>
T* null_on_error(const Result<T*>& result) {
  if (result) return *result;
  errno = result.error().value();
  return nullptr;
}

template <class T>
T* refused(int error) {
  errno = error;
  return nullptr;
}

ibv_xrcd* open_xrcd(ibv_context* context, ibv_xrcd_init_attr* attr) {
  constexpr std::uint32_t kNeeded = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
  if (attr->comp_mask != kNeeded) return refused<ibv_xrcd>(EINVAL);
  std::optional<FileIdentity> file;
  if (attr->fd != -1) {
    struct stat status {};
    if (fstat(attr->fd, &status) != 0) return refused<ibv_xrcd>(EBADF);
    file.emplace(status.st_dev, status.st_ino);
  }
  return null_on_error(hca_of(context).open_xrcd(context, file, attr->oflags));
}

int close_xrcd(ibv_xrcd* xrcd) {
  const auto closed = hca_of(xrcd->context).close_xrcd(xrcd);
  return closed ? 0 : closed.error().value();
}

ibv_srq* create_srq_ex(ibv_context* context, ibv_srq_init_attr_ex* init) {
  constexpr std::uint32_t kBasic = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
  constexpr std::uint32_t kXrc = kBasic | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
  const std::uint32_t mask = init->comp_mask;
  if ((mask & ~(kXrc | IBV_SRQ_INIT_ATTR_TM)) != 0) return refused<ibv_srq>(EINVAL);
  const bool typed = (mask & IBV_SRQ_INIT_ATTR_TYPE) != 0;
  const ibv_srq_type type = typed ? init->srq_type : IBV_SRQT_BASIC;
  if (type == IBV_SRQT_TM || (mask & IBV_SRQ_INIT_ATTR_TM) != 0)
    return refused<ibv_srq>(EOPNOTSUPP);
  if ((mask & IBV_SRQ_INIT_ATTR_PD) == 0) return refused<ibv_srq>(EINVAL);
  if (type == IBV_SRQT_XRC) {
    if (mask != kXrc) return refused<ibv_srq>(EINVAL);
    return null_on_error(hca_of(context).create_xrc_srq(*init));
  }
  if (type != IBV_SRQT_BASIC || (mask & ~kBasic) != 0) return refused<ibv_srq>(EINVAL);
  ibv_srq_init_attr basic{.srq_context = init->srq_context, .attr = init->attr};
  return null_on_error(hca_of(context).create_srq(init->pd, &basic));
}

int get_srq_num(ibv_srq* srq, std::uint32_t* number) {
  const auto* soft = static_cast<const SoftSrq*>(srq);
  if (soft->number() == 0) return EINVAL;  // only queues that peers can name have one
  *number = soft->number();
  return 0;
}

ibv_qp* open_qp(ibv_context* context, ibv_qp_open_attr* attr) {
  constexpr std::uint32_t kNeeded =
      IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
  if ((attr->comp_mask | IBV_QP_OPEN_ATTR_CONTEXT) != (kNeeded | IBV_QP_OPEN_ATTR_CONTEXT))
    return refused<ibv_qp>(EINVAL);
  return null_on_error(hca_of(context).open_qp(context, *attr));
}

}  // namespace

void install_xrc_operations(verbs_context& context) {
  context.open_xrcd = open_xrcd;
  context.close_xrcd = close_xrcd;
  context.create_srq_ex = create_srq_ex;
  context.get_srq_num = get_srq_num;
  context.open_qp = open_qp;
}

}  // namespace anyrdma::verbs::soft

#include "transport/rxe/error.h"

#include <cerrno>

namespace anyrdma::transport::rxe {
namespace {

struct Row {
  RxeErrc error;
  int number;
  const char* message;
};

constexpr Row kRows[] = {
    {RxeErrc::kBadName, EINVAL, "not a name for a link"},
    {RxeErrc::kNoRdma, EPROTONOSUPPORT, "the kernel has no RDMA"},
    {RxeErrc::kNotPermitted, EPERM, "CAP_NET_ADMIN is needed"},
    {RxeErrc::kNoModule, EOPNOTSUPP, "the kernel has no rdma_rxe"},
    {RxeErrc::kNoChecksum, ENOENT, "the kernel has no crc32_generic"},
    {RxeErrc::kNoInterface, ENODEV, "no such interface"},
    {RxeErrc::kNoneSuitable, ENODEV, "no interface with an IPv4 address"},
    {RxeErrc::kNameTaken, EEXIST, "the name is taken"},
    {RxeErrc::kInterfaceTaken, EEXIST, "the interface has a link"},
    {RxeErrc::kNoLink, ENODEV, "no such link"},
    {RxeErrc::kNotSoftware, EINVAL, "not a software link"},
    {RxeErrc::kNoNetem, ENOENT, "the kernel has no sch_netem"},
};

const Row* row_of(int value) {
  for (const Row& row : kRows)
    if (static_cast<int>(row.error) == value) return &row;
  return nullptr;
}

class RxeCategory final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "anyrdma-rxe"; }
  std::string message(int value) const override {
    const Row* row = row_of(value);
    return row != nullptr ? row->message : "unknown error of Soft-RoCE";
  }
  boost::system::error_condition default_error_condition(int value) const noexcept override {
    const Row* row = row_of(value);
    if (row == nullptr) return {value, *this};
    return {row->number, boost::system::generic_category()};
  }
};

std::string in_quotes(std::string_view word) {
  return "'" + std::string(word) + "'";
}

std::string sentence(RxeErrc error, std::string_view link, std::string_view interface) {
  switch (error) {
    case RxeErrc::kBadName:
      return in_quotes(link) +
             " cannot name an RDMA device: use 1 to 63 letters, digits, '.', '_' or '-'.";
    case RxeErrc::kNoRdma:
      return "This kernel has no RDMA: load its module (`modprobe ib_core`), or in a container ask "
             "for that on its host.";
    case RxeErrc::kNotPermitted:
      return "Making and removing Soft-RoCE links takes CAP_NET_ADMIN: run this as root, or "
             "use a link that root has made (`anyrdma rxe add`).";
    case RxeErrc::kNoModule:
      return "The kernel's module rdma_rxe is missing: install the kernel's modules and say "
             "`modprobe rdma_rxe`, or in a container ask for that on its host.";
    case RxeErrc::kNoChecksum:
      return "The kernel's module crc32_generic is missing, without which rdma_rxe makes no link: "
             "say `modprobe crc32_generic`.";
    case RxeErrc::kNoInterface:
      return "There is no network interface " + in_quotes(interface) +
             " in this network namespace: `ip link` lists those there are.";
    case RxeErrc::kNoneSuitable:
      return "No network interface is up with an IPv4 address other than loopback: bring one up "
             "(`ip link`, `ip address`), or name an interface.";
    case RxeErrc::kNameTaken:
      return "An RDMA device is called " + in_quotes(link) +
             " already: choose another name; `anyrdma rxe show` lists those taken.";
    case RxeErrc::kInterfaceTaken:
      return "The interface " + in_quotes(interface) +
             " has a Soft-RoCE link already: use that one, or remove it first; `anyrdma rxe show` "
             "names it.";
    case RxeErrc::kNoLink:
      return "There is no RDMA device " + in_quotes(link) +
             ": `anyrdma rxe show` lists the Soft-RoCE links.";
    case RxeErrc::kNotSoftware:
      return "The RDMA device " + in_quotes(link) +
             " is not a software link and stays: name one that `anyrdma rxe show` lists.";
    case RxeErrc::kNoNetem:
      return "The kernel's module sch_netem is missing, which loses and delays packets: say "
             "`modprobe sch_netem`.";
  }
  return "unknown error of Soft-RoCE";
}

}  // namespace

const boost::system::error_category& rxe_category() {
  static const RxeCategory category;
  return category;
}

boost::system::error_code what_adding_met(const boost::system::error_code& error) {
  switch (error.value()) {
    case EPERM:
      return RxeErrc::kNotPermitted;
    case EINVAL:
      return RxeErrc::kNoModule;  // the name is good, so it is the kind of link
    case ENOENT:
      return RxeErrc::kNoChecksum;
    case ENODEV:
      return RxeErrc::kNoInterface;
    case ENFILE:
      return RxeErrc::kNameTaken;
    case EEXIST:
      return RxeErrc::kInterfaceTaken;
    default:  // any errno
      return error;
  }
}

boost::system::error_code what_removing_met(const boost::system::error_code& error) {
  switch (error.value()) {
    case EPERM:
      return RxeErrc::kNotPermitted;
    case EINVAL:
      return RxeErrc::kNotSoftware;
    case ENODEV:
      return RxeErrc::kNoLink;  // gone meanwhile
    default:                    // any errno
      return error;
  }
}

std::string explain(const boost::system::error_code& error, std::string_view link,
                    std::string_view interface) {
  if (error.category() == rxe_category()) {
    return sentence(static_cast<RxeErrc>(error.value()), link, interface);
  }
  const std::string_view subject = interface.empty() ? link : interface;
  return "The kernel refuses an operation on " +
         (subject.empty() ? "Soft-RoCE" : in_quotes(subject)) + ": " + error.message() + ".";
}

}  // namespace anyrdma::transport::rxe

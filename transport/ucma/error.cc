#include "transport/ucma/error.h"

#include <cerrno>

#include "transport/ucma/system.h"

namespace anyrdma::transport::ucma {
namespace {

struct Row {
  UcmaErrc error;
  int number;
  const char* message;
  const char* sentence;  ///< null: the library's fault says more
};

constexpr Row kRows[] = {
    {UcmaErrc::kNoLibrary, ENODEV, "no libibverbs or librdmacm", nullptr},
    {UcmaErrc::kTooOld, ENOSYS, "libibverbs or librdmacm is too old", nullptr},
    {UcmaErrc::kNoDevice, ENODEV, "no RDMA device",
     "This machine has no RDMA device: load its driver, make one of software (as root: modprobe "
     "rdma_rxe; rdma link add rxe0 type rxe netdev eth0), or use a transport that needs none."},
    {UcmaErrc::kNoModule, ENODEV, "no /dev/infiniband/rdma_cm",
     "/dev/infiniband/rdma_cm or the device's /dev/infiniband/uverbs file is missing: load the "
     "modules (as root: modprobe -a rdma_ucm ib_uverbs), and in a container pass /dev/infiniband "
     "into it."},
    {UcmaErrc::kNoPermission, EACCES, "no permission for /dev/infiniband",
     "/dev/infiniband/rdma_cm or the device's /dev/infiniband/uverbs file may not be opened: give "
     "this user read and write permission (udev usually makes them 0666), and in a container allow "
     "the devices in its cgroup."},
    {UcmaErrc::kOtherAbi, EPROTO, "another version of the kernel's interface",
     "The system's librdmacm does not speak the version of the kernel's connection manager "
     "interface: update rdma-core, or boot a kernel that it knows."},
    {UcmaErrc::kNoResources, EMFILE, "out of descriptors, memory or threads",
     "No descriptors, memory or threads are left to open the RDMA device: raise the limits (ulimit "
     "-n, ulimit -u)."},
};

const Row* row_of(int value) {
  for (const Row& row : kRows)
    if (static_cast<int>(row.error) == value) return &row;
  return nullptr;
}

class UcmaCategory final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "anyrdma-ucma"; }
  std::string message(int value) const override {
    const Row* row = row_of(value);
    return row != nullptr ? row->message : "unknown ucma error";
  }
  boost::system::error_condition default_error_condition(int value) const noexcept override {
    const Row* row = row_of(value);
    if (row == nullptr) return {value, *this};
    return {row->number, boost::system::generic_category()};
  }
};

}  // namespace

const boost::system::error_category& ucma_category() {
  static const UcmaCategory category;
  return category;
}

int errno_of(const boost::system::error_code& error) {
  return error.default_error_condition().value();
}

std::string explain(const boost::system::error_code& error, const UcmaConfig& config) {
  const Row* row = error.category() == ucma_category() ? row_of(error.value()) : nullptr;
  if (row == nullptr) {
    return "The kernel's RDMA connection manager cannot be used: " + error.message() + ".";
  }
  if (row->sentence != nullptr) return row->sentence;
  const auto fault = fault_of(config.library_directories);
  return fault ? fault->sentence
               : "The system's RDMA libraries, which could not be used before, can be used now: "
                 "try again.";
}

}  // namespace anyrdma::transport::ucma

// rdma_set_option (fact sheet 1.4).
#include <rdma/rdma_cma.h>

#include <cstring>
#include <optional>

#include "cm/event_record.h"
#include "cm/id.h"

namespace anyrdma::cm {
namespace {

/// Which row of the table an ID option is, and its size. Nothing: unknown.
struct IdOption {
  Operation operation;
  std::size_t size;
};
std::optional<IdOption> id_option(int option) {
  switch (option) {
    case RDMA_OPTION_ID_TOS:
      return IdOption{Operation::kSetTos, 1};
    case RDMA_OPTION_ID_REUSEADDR:
      return IdOption{Operation::kSetReuseAddr, sizeof(int)};
    case RDMA_OPTION_ID_AFONLY:
      return IdOption{Operation::kSetAfOnly, sizeof(int)};
    case RDMA_OPTION_ID_ACK_TIMEOUT:
      return IdOption{Operation::kSetAckTimeout, 1};
  }
  return std::nullopt;
}

bool all_zero(std::span<const std::uint8_t> value) {
  for (std::uint8_t byte : value) {
    if (byte != 0) return false;
  }
  return true;
}

bool has_ack_timeout(ibv_qp_type type) {
  return type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND;  // the kernel's XRC_INI
}

}  // namespace

Result<void> Id::set_option(int level, int option, std::span<const std::uint8_t> value) {
  verbs::CriticalSection section(runtime());
  // The kernel looks the id up before it looks at the option; the TOS row is any live id's.
  if (Result<void> live = check(Operation::kSetTos); !live) return live;
  if (level == RDMA_OPTION_ID) return set_id_option(option, value);
  if (level == RDMA_OPTION_IB && option == RDMA_OPTION_IB_PATH) return set_ib_path(value);
  return verbs::errno_code(ENOSYS);
}

Result<void> Id::set_id_option(int option, std::span<const std::uint8_t> value) {
  std::optional<IdOption> known = id_option(option);
  if (!known) return verbs::errno_code(ENOSYS);
  if (value.size() != known->size) return verbs::errno_code(EINVAL);
  Operation operation = known->operation;
  if (operation == Operation::kSetReuseAddr && all_zero(value)) {
    operation = Operation::kClearReuseAddr;
  }
  return perform(operation, [&]() -> Result<void> {
    if (operation == Operation::kSetAckTimeout && !has_ack_timeout(raw_.id.qp_type)) {
      return verbs::errno_code(EINVAL);
    }
    return endpoint_->set_option(RDMA_OPTION_ID, option, value);
  });
}

Result<void> Id::set_ib_path(std::span<const std::uint8_t> value) {
  if (value.empty() || value.size() % sizeof(ibv_path_data) != 0) {
    return verbs::errno_code(EINVAL);
  }
  Result<void> set = perform(Operation::kSetIbPath, [&] {
    return endpoint_->set_option(RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, value);
  });
  // The one option that is an event at once (fact 50).
  if (set) enqueue({.type = RDMA_CM_EVENT_ROUTE_RESOLVED, .private_data = {}}, nullptr);
  return set;
}

}  // namespace anyrdma::cm

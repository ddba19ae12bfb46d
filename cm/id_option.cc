// rdma_set_option: the kernel's business but for its name.
#include "cm/id.h"

namespace anyrdma::cm {

Result<void> Id::set_option(int level, int option, std::span<const std::uint8_t> value) {
  verbs::CriticalSection section(runtime());
  if (const auto call = transport::call_of_option(level, option, value)) {
    return perform(*call, [&] { return endpoint_->set_option(level, option, value); });
  }
  if (Result<void> alive = check(Call::kQuery); !alive) return alive;
  return endpoint_->set_option(level, option, value);
}

}  // namespace anyrdma::cm

#include "cm/ep_settings.h"

#include <algorithm>
#include <cerrno>

namespace anyrdma::cm {

Result<std::span<const std::uint8_t>> EpSettings::prefixed(std::span<const std::uint8_t> data,
                                                           PrivateDataBuffer& buffer) const {
  if (connect_prefix.empty()) return data;
  const std::size_t size = connect_prefix.size() + data.size();
  if (size > buffer.size()) return verbs::errno_code(EINVAL);
  const auto end = std::ranges::copy(connect_prefix, buffer.begin()).out;
  std::ranges::copy(data, end);
  return std::span<const std::uint8_t>(buffer.data(), size);
}

}  // namespace anyrdma::cm

#include "cm/rsocket/defaults.h"

#include <algorithm>
#include <fstream>
#include <functional>

namespace anyrdma::rsocket {
namespace {

constexpr std::uint64_t kLeastBuffer = 4096;
constexpr std::uint64_t kLargestBuffer = 1U << 29;
constexpr std::uint64_t kAlignment = 64;

}  // namespace

std::uint32_t fitting_buffer(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(std::clamp(bytes, kLeastBuffer, kLargestBuffer) &
                                    ~(kAlignment - 1));
}

std::uint32_t fitting_queue(std::uint64_t requests) {
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(requests, kLeastQueue, kLargestQueue));
}

Settings settings_in(const std::filesystem::path& folder) {
  Settings settings;
  const auto read = [&folder](const char* name, const std::function<void(std::uint64_t)>& use) {
    std::ifstream file(folder / name);
    std::uint64_t number = 0;
    if (file >> number) use(number);
  };
  Sizes& sizes = settings.sizes;
  read("mem_default", [&](std::uint64_t n) { sizes.receive_buffer = fitting_buffer(n); });
  read("wmem_default", [&](std::uint64_t n) { sizes.send_buffer = fitting_buffer(n); });
  read("sqsize_default", [&](std::uint64_t n) { sizes.send_queue = fitting_queue(n); });
  read("rqsize_default", [&](std::uint64_t n) { sizes.receive_queue = fitting_queue(n); });
  const auto small = [](std::uint64_t n) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(n, kLargestQueue));
  };
  read("inline_default", [&](std::uint64_t n) { settings.inline_data = small(n); });
  read("iomap_size", [&](std::uint64_t n) { settings.mappings = expressible_mappings(small(n)); });
  return settings;
}

const Settings& default_settings() {
  static const auto* const settings = new Settings(settings_in("/etc/rdma/rsocket"));
  return *settings;
}

}  // namespace anyrdma::rsocket

#include "check/keys.h"

namespace anyrdma::check {
namespace {

constexpr std::string_view kKeys = "keys";

}  // namespace

void Keys::on_closed(const std::string& device, std::uint32_t key) {
  closed_[{device, key}] = {++closings_, now_};
}

Keys::Closing Keys::closing_of(const std::string& device, std::uint32_t key) const {
  const auto closed = closed_.find({device, key});
  if (closed == closed_.end() || now_ - closed->second.at < grace_) return 0;
  return closed->second.closing;
}

void Keys::on_success(const std::string& qp, const std::string& device, std::uint32_t key,
                      Closing posted) {
  if (posted == 0 || closing_of(device, key) != posted) return;
  violations_.add(kKeys, qp + ": what names key " + std::to_string(key) +
                             " succeeded, which was closed before");
}

}  // namespace anyrdma::check

#include "transport/ibcm/wire/decode_error.h"

#include <string>

namespace anyrdma::ibcm::wire {
namespace {

class DecodeCategory final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "ibcm-decode"; }
  std::string message(int value) const override {
    switch (static_cast<DecodeErrc>(value)) {
      case DecodeErrc::kLength:
        return "not 256 bytes long";
      case DecodeErrc::kBaseVersion:
        return "unknown MAD base version";
      case DecodeErrc::kManagementClass:
        return "not a communication management MAD";
      case DecodeErrc::kClassVersion:
        return "unknown class version";
      case DecodeErrc::kMethod:
        return "method is not Send";
      case DecodeErrc::kAttribute:
        return "another attribute than expected";
      case DecodeErrc::kCommId:
        return "communication id is zero";
      case DecodeErrc::kPathMtu:
        return "path MTU out of range";
      case DecodeErrc::kTransportService:
        return "unknown transport service";
      case DecodeErrc::kMessage:
        return "answers an unknown message";
      case DecodeErrc::kInfoLength:
        return "reject information too long";
    }
    return "unknown decode error";
  }
};

}  // namespace

const boost::system::error_category& decode_category() {
  static const DecodeCategory category;
  return category;
}

}  // namespace anyrdma::ibcm::wire

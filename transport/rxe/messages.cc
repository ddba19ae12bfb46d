#include "transport/rxe/messages.h"

#include <netlink/attr.h>
#include <rdma/rdma_netlink.h>

#include <array>
#include <cerrno>

namespace anyrdma::transport::rxe {
namespace {

constexpr std::uint32_t kFirstPort = 1;
constexpr const char* kKindOfLink = "rxe";
constexpr const char* kVerbsDevice = "uverbs";

/// Adds attributes until one does not fit.
class Builder {
 public:
  Builder(int command, int flags)
      : message_(nlmsg_alloc_simple(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command), flags)) {}

  Builder& add(int attribute, std::uint32_t value) {
    complete_ = complete_ && message_ && nla_put_u32(message_.get(), attribute, value) == 0;
    return *this;
  }
  Builder& add(int attribute, const char* text) {
    complete_ = complete_ && message_ && nla_put_string(message_.get(), attribute, text) == 0;
    return *this;
  }
  Result<Message> take() {
    if (!complete_ || !message_) return verbs::errno_code(ENOMEM);
    return std::move(message_);
  }

 private:
  Message message_;
  bool complete_ = true;
};

/// The attributes of an answer that are read here, of the type they must have.
class Attributes {
 public:
  explicit Attributes(nlmsghdr& answer) {
    std::array<nla_policy, RDMA_NLDEV_ATTR_MAX> policy{};
    for (const int number : {RDMA_NLDEV_ATTR_DEV_INDEX, RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID}) {
      policy[static_cast<std::size_t>(number)].type = NLA_U32;
    }
    for (const int text : {RDMA_NLDEV_ATTR_DEV_NAME, RDMA_NLDEV_ATTR_NDEV_NAME}) {
      policy[static_cast<std::size_t>(text)].type = NLA_STRING;
    }
    valid_ = RDMA_NL_GET_CLIENT(answer.nlmsg_type) == RDMA_NL_NLDEV &&
             nlmsg_parse(&answer, 0, all_.data(), RDMA_NLDEV_ATTR_MAX - 1, policy.data()) == 0;
  }

  [[nodiscard]] bool valid() const { return valid_; }
  [[nodiscard]] nlattr* find(int attribute) const {
    return valid_ ? all_[static_cast<std::size_t>(attribute)] : nullptr;
  }

 private:
  std::array<nlattr*, RDMA_NLDEV_ATTR_MAX> all_{};
  bool valid_ = false;
};

}  // namespace

Result<Message> ask_for_devices() {
  return Builder(RDMA_NLDEV_CMD_GET, NLM_F_DUMP).take();
}

Result<Message> ask_for_driver(std::uint32_t device) {
  return Builder(RDMA_NLDEV_CMD_GET_CHARDEV, 0)
      .add(RDMA_NLDEV_ATTR_DEV_INDEX, device)
      .add(RDMA_NLDEV_ATTR_CHARDEV_TYPE, kVerbsDevice)
      .take();
}

Result<Message> ask_for_port(std::uint32_t device) {
  return Builder(RDMA_NLDEV_CMD_PORT_GET, 0)
      .add(RDMA_NLDEV_ATTR_DEV_INDEX, device)
      .add(RDMA_NLDEV_ATTR_PORT_INDEX, kFirstPort)
      .take();
}

Result<Message> make_link(const std::string& name, const std::string& interface) {
  return Builder(RDMA_NLDEV_CMD_NEWLINK, 0)
      .add(RDMA_NLDEV_ATTR_DEV_NAME, name.c_str())
      .add(RDMA_NLDEV_ATTR_LINK_TYPE, kKindOfLink)
      .add(RDMA_NLDEV_ATTR_NDEV_NAME, interface.c_str())
      .take();
}

Result<Message> remove_link(std::uint32_t device) {
  return Builder(RDMA_NLDEV_CMD_DELLINK, 0).add(RDMA_NLDEV_ATTR_DEV_INDEX, device).take();
}

Result<Device> parse_device(nlmsghdr& answer) {
  const Attributes attributes(answer);
  nlattr* const index = attributes.find(RDMA_NLDEV_ATTR_DEV_INDEX);
  nlattr* const name = attributes.find(RDMA_NLDEV_ATTR_DEV_NAME);
  if (index == nullptr || name == nullptr) return verbs::errno_code(EBADMSG);
  return Device{nla_get_u32(index), nla_get_string(name)};
}

Result<std::uint32_t> parse_driver(nlmsghdr& answer) {
  nlattr* const driver = Attributes(answer).find(RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID);
  if (driver == nullptr) return verbs::errno_code(EBADMSG);
  return nla_get_u32(driver);
}

Result<std::string> parse_interface(nlmsghdr& answer) {
  const Attributes attributes(answer);
  if (!attributes.valid()) return verbs::errno_code(EBADMSG);
  nlattr* const interface = attributes.find(RDMA_NLDEV_ATTR_NDEV_NAME);
  return interface != nullptr ? std::string(nla_get_string(interface)) : std::string();
}

}  // namespace anyrdma::transport::rxe

#include "sim/fault_names.h"

#include <string_view>

#include "sim/fault_fields.h"
#include "sim/fault_scalars.h"
#include "sim/host.h"
#include "sim/world.h"

namespace anyrdma::sim {
namespace {

/// Looks up every name among the fields of a trigger or action.
class NameChecker {
 public:
  explicit NameChecker(const World& world) : world_(world) {}

  void name(std::string_view key, const std::string& name) {
    if (key == "host") {
      host_ = look_up(name);
    } else if (host_ == nullptr) {
      return;
    } else if (key == "device") {
      if (!host_->knows_device(name)) fail("no device " + quoted(name) + " there");
    } else if (!host_->has_interface(name)) {
      fail("no interface " + quoted(name) + " there");
    }
  }
  void any_host(std::string_view, const std::string& host) {
    if (!host.empty()) (void)look_up(host);
  }
  void one_way(std::string_view, const std::string& from, const std::string& to) {
    any_host("from", from);
    any_host("to", to);
  }
  void path(std::string_view key, const std::string& from, const std::string& to, bool) {
    one_way(key, from, to);
  }
  void host_or_id(std::string_view key, const std::string& host, std::uint64_t) {
    any_host(key, host);
  }
  // The others name nothing.
  void time(std::string_view, verbs::Duration) {}
  void message(std::string_view, CmMessage) {}
  void event(std::string_view, rdma_cm_event_type) {}
  void call(std::string_view, const std::string&) {}
  void occurrence(std::string_view, const Occurrence&) {}
  void reason(std::string_view, std::uint8_t) {}
  void data(std::string_view, const std::vector<std::uint8_t>&) {}
  void option(std::string_view, std::string_view, bool) {}

  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  const Host* look_up(const std::string& name) {
    const Host* host = world_.find_host(name);
    if (host == nullptr) fail("no host " + quoted(name));
    return host;
  }
  void fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

  const World& world_;
  const Host* host_ = nullptr;
  std::string problem_;
};

}  // namespace

std::string problem_with_names(const World& world, const Fault& fault) {
  NameChecker checker(world);
  std::visit([&checker](const auto& part) { visit_fields(checker, part); }, fault.trigger);
  std::visit([&checker](const auto& part) { visit_fields(checker, part); }, fault.action);
  return checker.problem();
}

}  // namespace anyrdma::sim

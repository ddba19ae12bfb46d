#include "sim/fault_names.h"

#include <span>
#include <string_view>

#include "sim/host.h"
#include "sim/world.h"
#include "transport/fault/plan/scalars.h"

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
      if (!host_->knows_device(name)) fail("no device " + fault::quoted(name) + " there");
    } else if (key == "address") {
      if (!Prefix::parse(name)) fail(fault::quoted(name) + " is no address");
    } else if (!host_->has_interface(name)) {
      fail("no interface " + fault::quoted(name) + " there");
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
  void object(std::string_view key, const std::string& host, std::string_view, ObjectName) {
    any_host(key, host);
  }
  void host_or_object(std::string_view key, const std::string& host, std::string_view, ObjectName) {
    any_host(key, host);
  }
  // The others name nothing.
  void scalar(std::string_view, const auto&) {}
  void one_of(std::string_view, const std::string&, std::span<const std::string_view>) {}
  void data(std::string_view, const std::vector<std::uint8_t>&) {}
  void option(std::string_view, std::string_view, bool) {}

  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  const Host* look_up(const std::string& name) {
    const Host* host = world_.find_host(name);
    if (host == nullptr) fail("no host " + fault::quoted(name));
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
  const auto look = [&checker]<class Part>(const Part& part) { Part::visit(checker, part); };
  std::visit(look, fault.trigger);
  std::visit(look, fault.action);
  return checker.problem();
}

}  // namespace anyrdma::sim

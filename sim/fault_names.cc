#include "sim/fault_names.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "sim/host.h"
#include "sim/world.h"
#include "transport/fault/plan/altered_field.h"
#include "transport/fault/plan/name_visitor.h"
#include "transport/fault/plan/scalars.h"

namespace anyrdma::sim {
namespace {

/// Looks up every name among the fields of a trigger or action.
class NameChecker : public fault::NameVisitor<NameChecker> {
 public:
  explicit NameChecker(const World& world) : world_(world) {}

  void name(std::string_view key, const std::string& name) {
    if (key == "host") {
      host_ = look_up(name);
    } else if (host_ == nullptr) {
      return;
    } else if (key == "device") {
      if (!host_->devices().knows(name))
        fail("no device " + fault::in_quotes(name) + " on that host");
    } else if (key == "address") {
      if (!Prefix::parse(name)) fail(fault::in_quotes(name) + " is no address");
    } else if (host_->interfaces().find(name) == nullptr) {
      fail("no interface " + fault::in_quotes(name) + " on that host");
    }
  }
  void device_or_port(std::string_view key, const std::string& device, std::uint8_t port) {
    name(key, device);
    const std::string number = std::to_string(port);
    if (port > 1 && host_ != nullptr && !host_->devices().knows(device + "/" + number))
      fail("no port " + number + " of the device " + fault::in_quotes(device));
  }
  void rails(std::string_view, const std::string& from, const std::string& from_interface,
             const std::string& to, const std::string& to_interface) {
    look_up_rail(from, from_interface);
    look_up_rail(to, to_interface);
  }
  void named(const std::string& host) { (void)look_up(host); }
  void host_or_program(std::string_view, const std::string& name, const std::string& program,
                       std::uint32_t number) {
    const Host* const host = look_up(name);
    if (host == nullptr || program.empty()) return;
    count_programs(program, number, host->processes().count(program));
  }
  void host_or_thread(std::string_view, const std::string& name, const std::string& program,
                      std::uint32_t number, std::uint32_t thread) {
    const Host* const host = look_up(name);
    if (host == nullptr || program.empty()) return;
    if (thread != 0 && !host->processes().expected()) {
      return fail("fibers have names of their own: say " + name + "/NAME, not " + name + "/" +
                  program + "/" + std::to_string(thread));
    }
    const bool is_fiber =
        std::ranges::any_of(world_.scheduler().fibers().all(), [&](const auto& fiber) {
          return fiber->host() == host && fiber->name() == name + "/" + program;
        });
    count_programs(program, number, std::max(host->processes().count(program), is_fiber ? 1U : 0U));
  }

  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  void count_programs(const std::string& program, std::uint32_t number, std::uint32_t count) {
    if (count == 0) return fail("no program " + fault::in_quotes(program) + " on that host");
    if (number > count) {
      fail("no program " + fault::in_quotes(program + "#" + std::to_string(number)) +
           " on that host, which starts " + std::to_string(count) + " of that name");
    }
  }
  void look_up_rail(const std::string& name, const std::string& interface) {
    const Host* const host = name.empty() ? nullptr : look_up(name);
    if (host != nullptr && !interface.empty() && host->interfaces().find(interface) == nullptr)
      fail("no interface " + fault::in_quotes(interface) + " on that host");
  }
  const Host* look_up(const std::string& name) {
    const Host* host = world_.find_host(name);
    if (host == nullptr) fail("no host " + fault::in_quotes(name));
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
  if (std::string problem = fault::problem_with_field(fault); !problem.empty()) return problem;
  NameChecker checker(world);
  const auto look = [&checker]<class Part>(const Part& part) { Part::visit(checker, part); };
  std::visit(look, fault.trigger);
  std::visit(look, fault.action);
  return checker.problem();
}

}  // namespace anyrdma::sim

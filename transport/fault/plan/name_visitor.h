// A base class for visitors of triggers and actions (part.h) that need only the names in their
// fields.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/fault/plan/api.h"

namespace anyrdma::fault {

/// Passes the names in a trigger or action to `Visitor`, which derives from this class. `Visitor`
/// defines name(key, value), and named(host), which is called for every host except "any".
template <class Visitor>
class NameVisitor {
 public:
  void any_host(std::string_view, const std::string& host) {
    if (!host.empty()) static_cast<Visitor&>(*this).named(host);
  }
  void rails(std::string_view key, const std::string& from, const std::string&,
             const std::string& to, const std::string&) {
    path(key, from, to, false);
  }
  void path(std::string_view key, const std::string& from, const std::string& to, bool) {
    any_host(key, from);
    any_host(key, to);
  }
  void device_or_port(std::string_view key, const std::string& device, std::uint8_t) {
    static_cast<Visitor&>(*this).name(key, device);
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
  void host_or_program(std::string_view key, const std::string& host, const std::string&,
                       std::uint32_t) {
    any_host(key, host);
  }
  void host_or_thread(std::string_view key, const std::string& host, const std::string&,
                      std::uint32_t, std::uint32_t) {
    any_host(key, host);
  }
  // Fields without names are ignored.
  void scalar(std::string_view, const auto&) {}
  void one_of(std::string_view, const std::string&, std::span<const std::string_view>) {}
  void data(std::string_view, const std::vector<std::uint8_t>&) {}
  void option(std::string_view, std::string_view, bool) {}
};

}  // namespace anyrdma::fault

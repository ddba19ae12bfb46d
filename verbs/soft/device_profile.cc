#include "verbs/soft/device_profile.h"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <variant>

#include "base/number.h"

namespace anyrdma::verbs::soft {
namespace {

/// A field of the configuration that a profile may set.
struct Key {
  std::string_view name;
  std::variant<std::uint32_t HcaConfig::*, std::uint8_t HcaConfig::*, std::size_t HcaConfig::*,
               bool HcaConfig::*>
      field;
  std::uint32_t least = 0;
  std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
};

constexpr std::uint32_t kObjectsMost = 0x7fff'ffff;  // ibv_device_attr has ints

constexpr std::array kKeys{
    Key{"max_qp", &HcaConfig::max_qp, 0, kObjectsMost},
    Key{"max_cq", &HcaConfig::max_cq, 0, kObjectsMost},
    Key{"max_mr", &HcaConfig::max_mr, 0, kObjectsMost},
    Key{"max_mw", &HcaConfig::max_mw, 0, kObjectsMost},
    Key{"max_pd", &HcaConfig::max_pd, 0, kObjectsMost},
    Key{"max_ah", &HcaConfig::max_ah, 0, kObjectsMost},
    Key{"max_srq", &HcaConfig::max_srq, 0, kObjectsMost},
    Key{"max_xrcd", &HcaConfig::max_xrcd, 0, kObjectsMost},
    Key{"max_mcast_grp", &HcaConfig::max_mcast_grp, 0, 0xffff},
    Key{"max_mcast_qp_attach", &HcaConfig::max_mcast_qp_attach, 0, 0x7fff},
    Key{"max_cqe", &HcaConfig::max_cqe, 1, kObjectsMost},
    Key{"max_qp_wr", &HcaConfig::max_qp_wr, 1, 1 << 20},
    Key{"max_sge", &HcaConfig::max_sge, 1, 255},
    Key{"max_srq_wr", &HcaConfig::max_srq_wr, 1, 1 << 20},
    Key{"max_srq_sge", &HcaConfig::max_srq_sge, 1, 255},
    Key{"max_inline_data", &HcaConfig::max_inline_data, 0, 1 << 16},
    Key{"max_qp_rd_atom", &HcaConfig::max_qp_rd_atom, 0, 255},
    Key{"max_qp_init_rd_atom", &HcaConfig::max_qp_init_rd_atom, 0, 255},
    Key{"local_ca_ack_delay", &HcaConfig::local_ca_ack_delay, 0, 31},
    Key{"min_ack_timeout", &HcaConfig::min_ack_timeout, 0, 31},
    Key{"uc", &HcaConfig::uc, 0, 1},
    Key{"xrc", &HcaConfig::xrc, 0, 1},
    Key{"path_migration", &HcaConfig::path_migration, 0, 1},
    Key{"atomics", &HcaConfig::atomics, IBV_ATOMIC_NONE, IBV_ATOMIC_GLOB},
    Key{"on_demand_paging", &HcaConfig::on_demand_paging, 0, 1},
    Key{"max_dm_size", &HcaConfig::max_dm_size, 0, 1 << 30},
    Key{"free_when_executed", &HcaConfig::free_when_executed, 0, 1},
    Key{"flush_with_cause", &HcaConfig::flush_with_cause, 0, 1},
    Key{"late_length_error", &HcaConfig::late_length_error, 0, 1},
};
constexpr std::string_view kMtuKey = "mtu";

struct Profile {
  std::string_view name;
  std::string_view text;
};

// rxe: rxe_param.h of Linux 6.1. connectx: a ConnectX-5 Ex as `ibv_devinfo -v` shows it. minimal:
// less than any device that is sold, of everything that a program may forget to ask about.
constexpr std::array kProfiles{
    Profile{"anyrdma", ""},
    Profile{"rxe",
            "max_qp = 1048560, max_cq = 1048576, max_mr = 524287, max_mw = 524287,"
            "max_pd = 1048576, max_ah = 32767, max_srq = 917503, max_mcast_grp = 8192,"
            "max_mcast_qp_attach = 56, max_cqe = 32767, max_qp_wr = 1048576, max_sge = 32,"
            "max_srq_wr = 1048576, max_srq_sge = 27, max_inline_data = 512, max_qp_rd_atom = 128,"
            "max_qp_init_rd_atom = 128, local_ca_ack_delay = 15, xrc = 0, on_demand_paging = 0, "
            "max_dm_size = 0, free_when_executed = 1, mtu = 1024"},
    Profile{"connectx",
            "max_qp = 131072, max_cq = 16777216, max_mr = 16777216, max_mw = 16777216,"
            "max_pd = 8388608, max_srq = 8388608, max_mcast_grp = 2097, max_mcast_qp_attach = 240,"
            "max_cqe = 4194303, max_qp_wr = 32768, max_sge = 30, max_srq_wr = 32767,"
            "max_srq_sge = 31, max_inline_data = 956, max_qp_rd_atom = 16,"
            "max_qp_init_rd_atom = 16, local_ca_ack_delay = 16, min_ack_timeout = 10"},
    Profile{"minimal",
            "max_qp = 339, max_cq = 339, max_mr = 512, max_mw = 0, max_pd = 64, max_ah = 64,"
            "max_srq = 0, max_mcast_grp = 0, max_cqe = 1024, max_qp_wr = 128, max_sge = 2,"
            "max_inline_data = 0, max_qp_rd_atom = 1, max_qp_init_rd_atom = 1, uc = 0, xrc = 0,"
            "atomics = 0, on_demand_paging = 0, max_dm_size = 0, mtu = 1024"},
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) + 1 - first);
}

/// What is before the next `end`, or all; `text` goes on behind it.
std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return taken;
}

std::string in_quotes(std::string_view text) {
  return "'" + std::string(text) + "'";
}

/// The reason why not, or none.
using Refusal = std::string;

Refusal read_number(std::string_view text, const Key& key, std::uint32_t& value) {
  const auto number = whole_number<std::uint32_t>(text);
  if (number && *number >= key.least && *number <= key.most) {
    value = *number;
    return {};
  }
  return std::string(key.name) + " is a number from " + std::to_string(key.least) + " to " +
         std::to_string(key.most) + ", not " + in_quotes(text);
}

Refusal set_mtu(HcaConfig& device, std::string_view value) {
  constexpr std::array<std::string_view, 5> kBytes{"256", "512", "1024", "2048", "4096"};
  const auto* const found = std::find(kBytes.begin(), kBytes.end(), value);
  if (found == kBytes.end()) return "mtu is 256, 512, 1024, 2048 or 4096, not " + in_quotes(value);
  device.active_mtu = static_cast<ibv_mtu>(IBV_MTU_256 + (found - kBytes.begin()));
  return {};
}

Refusal set(HcaConfig& device, std::string_view name, std::string_view value) {
  if (name == kMtuKey) return set_mtu(device, value);
  const auto* const key = std::find_if(kKeys.begin(), kKeys.end(),
                                       [name](const Key& each) { return each.name == name; });
  if (key == kKeys.end()) return "a device profile has no entry " + in_quotes(name);
  std::uint32_t number = 0;
  if (Refusal why = read_number(value, *key, number); !why.empty()) return why;
  std::visit(
      [&]<class Field>(Field HcaConfig::*field) { device.*field = static_cast<Field>(number); },
      key->field);
  return {};
}

Refusal take_over(HcaConfig& device, std::string_view name) {
  for (const Profile& profile : kProfiles) {
    if (profile.name != name) continue;
    device = *parse_profile(profile.text);
    return {};
  }
  Refusal why = "there is no device profile " + in_quotes(name) + "; profiles:";
  for (const Profile& profile : kProfiles) why += " " + std::string(profile.name);
  return why;
}

/// `entries`: how many there were before.
Refusal read_entry(HcaConfig& device, std::string_view entry, std::size_t entries) {
  constexpr std::string_view kLike = "like ";
  const std::size_t equals = entry.find('=');
  if (equals != std::string_view::npos)
    return set(device, trimmed(entry.substr(0, equals)), trimmed(entry.substr(equals + 1)));
  if (entries != 0) return in_quotes(entry) + " is no entry; write NAME = NUMBER";
  return take_over(device, entry.starts_with(kLike) ? trimmed(entry.substr(kLike.size())) : entry);
}

std::string number_of(const HcaConfig& device, const Key& key) {
  return std::visit(
      [&device](auto field) { return std::to_string(static_cast<std::uint32_t>(device.*field)); },
      key.field);
}

}  // namespace

std::string ProfileError::to_string() const {
  return "line " + std::to_string(line) + ": " + reason;
}

void throw_exception_from_error(const ProfileError& error, const boost::source_location&) {
  throw std::invalid_argument(error.to_string());
}

ProfileResult parse_profile(std::string_view text) {
  HcaConfig device;
  std::size_t entries = 0;
  for (std::size_t line = 1; !text.empty(); ++line) {
    std::string_view row = take_until(text, '\n');
    row = row.substr(0, row.find('#'));
    while (!row.empty()) {
      const std::string_view entry = trimmed(take_until(row, ','));
      if (entry.empty()) continue;
      if (Refusal why = read_entry(device, entry, entries); !why.empty())
        return ProfileError{line, std::move(why)};
      ++entries;
    }
  }
  // As many numbers as queue pairs. A driver that has its own numbers keeps them: see resemble().
  device.qpn_count = std::clamp(device.max_qp, HcaConfig{}.qpn_count, kQpnEnd - device.qpn_first);
  return device;
}

std::string to_string(const HcaConfig& device) {
  const HcaConfig plain;
  std::string text;
  for (const Key& key : kKeys) {
    const std::string number = number_of(device, key);
    if (number != number_of(plain, key)) text += std::string(key.name) + " = " + number + "\n";
  }
  if (device.active_mtu != plain.active_mtu)
    text += "mtu = " + std::to_string(128u << static_cast<unsigned>(device.active_mtu)) + "\n";
  return text;
}

std::vector<std::string_view> profile_names() {
  std::vector<std::string_view> names;
  for (const Profile& profile : kProfiles) names.push_back(profile.name);
  return names;
}

std::vector<std::string_view> entry_names() {
  std::vector<std::string_view> names{kMtuKey};
  for (const Key& key : kKeys) names.push_back(key.name);
  return names;
}

void resemble(HcaConfig& device, const HcaConfig& like) {
  HcaConfig result = like;
  result.name = device.name;
  result.node_guid = device.node_guid;
  result.qpn_first = device.qpn_first;
  result.qpn_count = device.qpn_count;
  result.link_layer = device.link_layer;
  result.ports = device.ports;
  result.min_ack_timeout = std::max(device.min_ack_timeout, like.min_ack_timeout);
  result.active_mtu = std::min(device.active_mtu, like.active_mtu);
  device = std::move(result);
}

}  // namespace anyrdma::verbs::soft

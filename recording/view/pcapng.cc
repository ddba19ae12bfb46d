#include "recording/view/pcapng.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "recording/packets/packet_restore.h"
#include "verbs/soft/frame.h"
#include "verbs/soft/icrc.h"

namespace anyrdma::recording {
namespace {

using verbs::soft::Packet;

// draft-ietf-opsawg-pcapng, section 4: blocks; 3.5: options.
constexpr std::uint32_t kSection = 0x0a0d0d0a;
constexpr std::uint32_t kByteOrder = 0x1a2b3c4d;
constexpr std::uint32_t kInterface = 1;
constexpr std::uint32_t kNames = 4;
constexpr std::uint32_t kPacket = 6;
constexpr std::uint16_t kComment = 1;
constexpr std::uint16_t kInterfaceName = 2;
constexpr std::uint16_t kResolution = 9;
constexpr std::uint8_t kNanoseconds = 9;
constexpr std::uint16_t kApplication = 4;
constexpr std::uint16_t kEthernet = 1;
constexpr std::uint16_t kNameOfIpv4 = 1;
constexpr std::uint16_t kNameOfIpv6 = 2;
constexpr std::size_t kOptionBytesMax = 32'768;
constexpr std::size_t kGids = 2 * sizeof(ibv_gid);
/// What a packet's payload is shown as that is not in the recording.
constexpr const char* kZeros = "\nthe payload was not recorded: zeros stand for it";
constexpr std::size_t kIpv4At = 12;  ///< in a GID

class Block {
 public:
  explicit Block(std::uint32_t type) : type_(type) {}
  template <class Number>
  void number(Number value) {
    for (std::size_t i = 0; i < sizeof value; ++i)
      bytes_.push_back(static_cast<std::uint8_t>(std::uint64_t{value} >> (8 * i)));
  }
  void bytes(std::span<const std::uint8_t> all) {
    bytes_.insert(bytes_.end(), all.begin(), all.end());
    while (bytes_.size() % 4 != 0) bytes_.push_back(0);
  }
  void option(std::uint16_t code, std::string_view text) {
    text = text.substr(0, kOptionBytesMax);
    if (text.empty()) return;
    number(code);
    number(static_cast<std::uint16_t>(text.size()));
    bytes({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    options_ = true;
  }
  void append_to(std::vector<std::uint8_t>& file) {
    if (options_) number(std::uint32_t{0});
    const auto length = static_cast<std::uint32_t>(bytes_.size() + 12);
    Block outer(0);
    outer.number(type_);
    outer.number(length);
    outer.bytes(bytes_);
    outer.number(length);
    file.insert(file.end(), outer.bytes_.begin(), outer.bytes_.end());
  }

 private:
  std::uint32_t type_;
  std::vector<std::uint8_t> bytes_;
  bool options_ = false;
};

bool is_ipv4(std::span<const std::uint8_t, sizeof(ibv_gid)> gid) {
  constexpr std::uint8_t kMapped[kIpv4At] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(std::begin(kMapped), std::end(kMapped), gid.begin());
}

class Pcapng {
 public:
  explicit Pcapng(const Story& story) : story_(story) {
    for (const Record& record : story.records) {
      for (const std::size_t struck : record.strikes)
        faults_[struck] += "FAULT " + record.name + "\n";
    }
  }

  [[nodiscard]] std::vector<std::uint8_t> file() {
    section();
    interfaces();
    names();
    for (std::size_t i = 0; i < story_.records.size(); ++i) {
      if (story_.records[i].kind == RecordKind::kMessage) packet(i);
    }
    return std::move(file_);
  }

 private:
  void section() {
    std::string comment = "anyrdma, seed " + story_.seed + ", " + story_.verdict;
    if (!story_.hash.empty()) comment += ", trace hash " + story_.hash;
    for (const std::string& line : story_.plan) comment += "\nplan: " + line;
    if (!story_.command.empty()) comment += "\n" + story_.command;
    Block block(kSection);
    block.number(kByteOrder);
    block.number(std::uint16_t{1});
    block.number(std::uint16_t{0});
    block.number(~std::uint64_t{0});  // its length: not said
    block.option(kComment, comment);
    block.option(kApplication, "anyrdma " + story_.build);
    block.append_to(file_);
  }

  void interfaces() {
    for (std::size_t i = 0; i < story_.lanes.size(); ++i) {
      if (story_.lanes[i].of != "host") continue;
      const auto number = static_cast<std::uint32_t>(interfaces_.size());
      interfaces_[i] = number;
      Block block(kInterface);
      block.number(kEthernet);
      block.number(std::uint16_t{0});
      block.number(std::uint32_t{0});  // no limit
      block.option(kInterfaceName, story_.lanes[i].name);
      block.option(kResolution, std::string(1, static_cast<char>(kNanoseconds)));
      block.append_to(file_);
    }
  }

  void names() {
    Block block(kNames);
    std::set<std::string> known;
    for (const Record& record : story_.records) {
      if (record.packet.size() < kGids) continue;
      const std::string gid = record.packet.substr(0, sizeof(ibv_gid));
      if (!known.insert(gid).second) continue;
      name(block, gid, story_.lanes[story_.host_of(record.lane)].name);
    }
    if (known.empty()) return;
    block.number(std::uint32_t{0});  // the end of the records
    block.append_to(file_);
  }

  static void name(Block& block, const std::string& gid, const std::string& host) {
    const std::span<const std::uint8_t, sizeof(ibv_gid)> address(
        reinterpret_cast<const std::uint8_t*>(gid.data()), sizeof(ibv_gid));
    const bool ipv4 = is_ipv4(address);
    const std::size_t skip = ipv4 ? kIpv4At : 0;
    std::vector<std::uint8_t> value(address.begin() + static_cast<std::ptrdiff_t>(skip),
                                    address.end());
    value.insert(value.end(), host.begin(), host.end());
    value.push_back(0);
    block.number(ipv4 ? kNameOfIpv4 : kNameOfIpv6);
    block.number(static_cast<std::uint16_t>(value.size()));
    block.bytes(value);
  }

  /// As simulated hosts have them.
  [[nodiscard]] roce::Mac mac_of(std::optional<std::size_t> lane) const {
    const auto found = interfaces_.find(lane ? story_.host_of(*lane) : ~std::size_t{0});
    if (found == interfaces_.end()) return {};
    const std::uint32_t number = found->second + 1;
    return {2, 0, 0, static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number), 0};
  }

  [[nodiscard]] std::string comment_of(std::size_t number) const {
    const Record& record = story_.records[number];
    std::string text = "anyrdma " + std::to_string(number);
    for (const std::size_t lane : record.about) text += " " + story_.lanes[lane].name;
    if (record.same) text += "\nonce more: " + std::to_string(*record.same);
    if (!record.fate.empty()) text += "\n" + record.fate;
    const auto fault = faults_.find(number);
    if (fault != faults_.end()) text += "\n" + fault->second.substr(0, fault->second.size() - 1);
    return text;
  }

  void packet(std::size_t number) {
    const Record& record = story_.records[number];
    const auto interface = interfaces_.find(story_.host_of(record.lane));
    if (record.packet.size() < kGids || interface == interfaces_.end()) return;
    const auto* const raw = reinterpret_cast<const std::uint8_t*>(record.packet.data());
    std::memcpy(packet_->source.raw, raw, sizeof(ibv_gid));
    std::memcpy(packet_->destination.raw, raw + sizeof(ibv_gid), sizeof(ibv_gid));
    packet_->udp_source_port = record.udp_source_port;
    FieldReader fields({raw + kGids, record.packet.size() - kGids});
    const std::size_t kept = restore_packet(fields, *packet_);
    if (kept == 0) return;
    // Dissectors of RoCE take what a capture has cut off for malformed.
    const bool whole = packet_->ip_protocol == 0;
    if (whole) roce::seal(*packet_);
    const bool group = roce::is_multicast(packet_->destination);
    const auto frame =
        roce::to_frame(*packet_, mac_of(record.lane),
                       group ? roce::mac_from(packet_->destination) : mac_of(record.to));
    const std::size_t lacking = whole ? 0 : packet_->size - kept;
    const auto time = static_cast<std::uint64_t>(std::max(record.time, Duration{}).count());
    Block block(kPacket);
    block.number(interface->second);
    block.number(static_cast<std::uint32_t>(time >> 32));
    block.number(static_cast<std::uint32_t>(time));
    block.number(static_cast<std::uint32_t>(frame.size() - lacking));
    block.number(static_cast<std::uint32_t>(frame.size()));
    block.bytes(std::span(frame).first(frame.size() - lacking));
    const bool zeros = whole && kept != packet_->size && record.bytes.value_or(0) != 0;
    block.option(kComment, comment_of(number) + (zeros ? kZeros : ""));
    block.append_to(file_);
  }

  const Story& story_;
  std::map<std::size_t, std::string> faults_;
  std::map<std::size_t, std::uint32_t> interfaces_;
  std::unique_ptr<Packet> packet_ = std::make_unique<Packet>();
  std::vector<std::uint8_t> file_;
};

}  // namespace

std::vector<std::uint8_t> pcapng_of(const Story& story) {
  return Pcapng(story).file();
}

}  // namespace anyrdma::recording

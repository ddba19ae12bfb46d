// Whose messages they are. A CM message names connections by numbers of the wire, a packet of data
// its receiver's queue pair: what programs call them has to be found.
#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/number.h"
#include "recording/view/narrator.h"

namespace anyrdma::recording {
namespace {

/// A host's lane, and a number of the wire.
using End = std::pair<std::size_t, std::string>;

std::string value_of(const Record& record, std::string_view name) {
  for (const auto& [key, value] : record.fields) {
    if (key == name) return value;
  }
  return {};
}

std::uint64_t hex_value(std::string_view text) {
  if (!text.starts_with("0x")) return 0;
  text.remove_prefix(2);
  return take_number<std::uint64_t>(text, 16).value_or(0);
}

bool is_request(const std::string& name) {
  return name == "REQ" || name == "SIDR_REQ";
}
bool is_answer(const std::string& name) {
  return name == "REP" || name == "SIDR_REP";
}

void add_once(std::vector<std::size_t>& lanes, std::size_t lane) {
  if (std::find(lanes.begin(), lanes.end(), lane) == lanes.end()) lanes.push_back(lane);
}

class Owners {
 public:
  Owners(Story& story,
         const std::vector<std::tuple<std::size_t, std::uint64_t, std::size_t>>& given)
      : story_(story) {
    for (const auto& [host, qp, id] : given) given_[{host, qp}] = id;
    for (std::size_t i = 0; i < story.lanes.size(); ++i) {
      if (story.lanes[i].of == "qp") qps_[story.lanes[i].name] = i;
    }
    for (const Record& record : story.records) note_call(record);
  }

  void find() {
    for (const Record& record : story_.records) {
      if (record.kind == RecordKind::kMessage) learn(record);
    }
    for (Record& record : story_.records) {
      if (record.kind == RecordKind::kMessage) attribute(record);
    }
  }

 private:
  struct Call {
    Duration time;
    std::size_t id;
  };

  void note_call(const Record& record) {
    if (record.kind != RecordKind::kCall || record.about.empty() || record.result != "0") return;
    const std::size_t host = story_.host_of(record.about.front());
    if (record.name == "rdma_connect") connects_[host].push_back({record.time, record.about[0]});
    if (record.name == "rdma_accept") accepts_[host].push_back({record.time, record.about[0]});
  }

  [[nodiscard]] static std::string own_number(const Record& record) {
    const std::string id = value_of(record, "id");
    return id.empty() ? value_of(record, "request") : id;
  }

  /// The id that has given this queue pair, else the one whose call was nearest.
  [[nodiscard]] std::optional<std::size_t> id_behind(const Record& record) {
    const std::string qp = value_of(record, "qpn");
    const auto known = given_.find({record.lane, hex_value(qp)});
    if (!qp.empty() && known != given_.end()) return known->second;
    auto& calls = (is_request(record.name) ? connects_ : accepts_)[record.lane];
    const auto nearest =
        std::min_element(calls.begin(), calls.end(), [&](const Call& a, const Call& b) {
          return std::chrono::abs(a.time - record.time) < std::chrono::abs(b.time - record.time);
        });
    if (nearest == calls.end()) return std::nullopt;
    const std::size_t id = nearest->id;
    calls.erase(nearest);
    return id;
  }

  void learn(const Record& record) {
    const bool request = is_request(record.name);
    if ((!request && !is_answer(record.name)) || record.same) return;
    const End own{record.lane, own_number(record)};
    if (!ids_.contains(own)) {
      if (const auto id = id_behind(record)) ids_[own] = *id;
    }
    const std::string qp = value_of(record, "qpn");
    if (!qp.empty()) pairs_[own] = hex_value(qp);
    if (request || !record.to) return;
    const std::string peer = value_of(record, "peer");
    const End other{*record.to, peer.empty() ? own.second : peer};
    others_[own] = other;
    others_[other] = own;
    join(own, other);
  }

  void join(const End& one, const End& other) {
    const auto left = pairs_.find(one);
    const auto right = pairs_.find(other);
    if (left == pairs_.end() || right == pairs_.end()) return;
    peers_[{one.first, left->second}] = {other.first, right->second};
    peers_[{other.first, right->second}] = {one.first, left->second};
  }

  void attribute(Record& record) {
    const bool data = record.name.find(' ') != std::string::npos;
    if (data) return attribute_data(record);
    const End own{record.lane, own_number(record)};
    add_id(record, own);
    if (const auto other = others_.find(own); other != others_.end())
      return add_id(record, other->second);
    const std::string peer = value_of(record, "peer");
    if (record.to && !peer.empty()) add_id(record, {*record.to, peer});
  }

  void add_id(Record& record, const End& end) {
    const auto found = ids_.find(end);
    if (found != ids_.end()) add_once(record.about, found->second);
  }

  /// The sender's queue pair is the one that is connected with the receiver's.
  void attribute_data(Record& record) {
    if (!record.to) return;
    const std::string from = value_of(record, "from-qpn");
    if (!from.empty()) return add_qp(record, record.lane, hex_value(from));
    const auto peer = peers_.find({*record.to, hex_value(value_of(record, "qpn"))});
    if (peer != peers_.end() && peer->second.first == record.lane)
      add_qp(record, record.lane, peer->second.second);
  }

  void add_qp(Record& record, std::size_t host, std::uint64_t number) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, number, 16).ptr;
    const auto found = qps_.find(story_.lanes[host].name + "#qp0x" + std::string(text, end));
    if (found != qps_.end()) add_once(record.about, found->second);
  }

  Story& story_;
  std::map<std::pair<std::size_t, std::uint64_t>, std::size_t> given_;
  std::map<std::string, std::size_t> qps_;
  std::map<std::size_t, std::vector<Call>> connects_;
  std::map<std::size_t, std::vector<Call>> accepts_;
  std::map<End, std::size_t> ids_;
  std::map<End, std::uint64_t> pairs_;
  std::map<End, End> others_;
  std::map<std::pair<std::size_t, std::uint64_t>, std::pair<std::size_t, std::uint64_t>> peers_;
};

}  // namespace

void find_owners(Story& story,
                 const std::vector<std::tuple<std::size_t, std::uint64_t, std::size_t>>& given) {
  Owners(story, given).find();
}

}  // namespace anyrdma::recording

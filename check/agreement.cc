#include "check/agreement.h"

#include <algorithm>
#include <map>

#include "verbs/wire/gid.h"

namespace anyrdma::check {
namespace {

using wire::same;

constexpr std::string_view kAgreement = "agreement";

/// "server" of "server/rping[2]".
std::string host_of(const std::string& program) {
  return program.substr(0, program.find('/'));
}

bool is_up(const QpCensus& qp) {
  return qp.state == IBV_QPS_RTR || qp.state == IBV_QPS_RTS || qp.state == IBV_QPS_SQD;
}

/// What is wrong with the way from `from` to `to`; empty when nothing is.
std::string misfit(const QpCensus& from, const QpCensus& to, std::uint32_t to_number) {
  const auto numbers = [](const char* what, std::uint32_t a, std::uint32_t b) {
    return std::string(what) + " " + std::to_string(a) + " instead of " + std::to_string(b);
  };
  if (from.attr.dest_qp_num != to_number) {
    return numbers("it sends to QP", from.attr.dest_qp_num, to_number);
  }
  if (from.state == IBV_QPS_RTS && from.attr.sq_psn != to.attr.rq_psn) {
    return numbers("it sends from PSN", from.attr.sq_psn, to.attr.rq_psn);
  }
  if (!same(from.attr.ah_attr.grh.dgid, to.gid)) return "it sends to another GID";
  if (from.attr.path_mtu != to.attr.path_mtu) return "the MTUs differ";
  return {};
}

}  // namespace

std::string Terms::to_string() const {
  return "qpn=" + std::to_string(qp_num) + " resources=" + std::to_string(responder_resources) +
         " depth=" + std::to_string(initiator_depth);
}

void Agreement::on_offer(const IdName& id, const std::string& route, bool active,
                         const Terms& terms) {
  End& end = ends_[id];
  if (end.route != route) by_route_[route].push_back(id);
  end.route = route;
  end.active = active;
  end.offered = true;
  end.terms = terms;
  end.stage = Stage::kShaking;
}

void Agreement::pair(const IdName& id, const IdName& peer) {
  ends_[id].peer = peer;
  ends_[peer].peer = id;
}

void Agreement::on_heard(const IdName& id, const std::string& route, bool active,
                         const Terms& terms) {
  const Terms said{terms.qp_num, terms.initiator_depth, terms.responder_resources};
  static const std::vector<IdName> kNone;
  const auto of_route = by_route_.find(route);
  const std::vector<IdName>& ids = of_route == by_route_.end() ? kNone : of_route->second;
  const auto match = std::find_if(ids.rbegin(), ids.rend(), [&](const IdName& each) {
    const auto end = ends_.find(each);
    return end != ends_.end() && end->second.offered && end->second.active != active &&
           end->second.terms == said;
  });
  if (match != ids.rend()) {
    IdName peer = *match;  // NOLINT(performance-unnecessary-copy-initialization): ids may grow
    End& own = ends_[id];
    if (!active && own.route.empty()) {
      own.route = route;
      by_route_[route].push_back(id);
    }
    return pair(id, peer);
  }
  if (std::ranges::find(of_the_dead_, Offer{route, !active, said}) != of_the_dead_.end()) return;
  std::string offered;
  for (const IdName& each : ids) {
    const auto end = ends_.find(each);
    if (end != ends_.end() && end->second.offered && end->second.active != active)
      offered = end->second.terms.to_string();
  }
  violations_.add(kAgreement, id.to_string() + ": its event on " + route +
                                  " says that the peer has " + said.to_string() +
                                  ", but the peer " +
                                  (offered.empty() ? "sent no such message" : "sent " + offered));
}

void Agreement::on_queue_pairs(const IdName& active, const IdName& passive, const QpCensus& left,
                               std::uint32_t left_number, const QpCensus& right,
                               std::uint32_t right_number) {
  if (!is_up(left) || !is_up(right)) return;
  std::string wrong = misfit(left, right, right_number);
  if (!wrong.empty())
    violations_.add(kAgreement, active.to_string() + ": its QP does not fit: " + wrong);
  wrong = misfit(right, left, left_number);
  if (wrong.empty()) return;
  violations_.add(kAgreement, passive.to_string() + ": its QP does not fit: " + wrong);
}

void Agreement::on_up(const IdName& id) {
  const auto found = ends_.find(id);
  if (found != ends_.end()) found->second.stage = Stage::kUp;
}

void Agreement::on_over(const IdName& id) {
  const auto found = ends_.find(id);
  if (found != ends_.end()) found->second.stage = Stage::kOver;
}

void Agreement::on_crash(const std::string& host) {
  for (const auto& [id, end] : ends_) {
    if (id.host() == host && end.offered)
      of_the_dead_.push_back({end.route, end.active, end.terms});
  }
  std::erase_if(ends_, [&](const auto& entry) { return entry.first.host() == host; });
  for (auto& [route, ids] : by_route_) {
    std::erase_if(ids, [&](const IdName& id) { return id.host() == host; });
  }
  const std::string at = host_of(host);
  troubled_.insert(std::minmax(at, std::string()));
}

void Agreement::on_message_lost(const std::string& host, const std::string& other) {
  troubled_.insert(std::minmax(host, other));
}

bool Agreement::troubled(const std::string& one, const std::string& another) const {
  const std::string host = host_of(one);
  const std::string other = host_of(another);
  return excused_ || troubled_.contains(std::minmax(host, other)) ||
         troubled_.contains(std::minmax(host, std::string())) ||
         troubled_.contains(std::minmax(other, std::string()));
}

void Agreement::forget(const std::string& route) {
  const auto found = by_route_.find(route);
  if (found == by_route_.end()) return;
  for (const IdName& id : found->second) {
    const auto end = ends_.find(id);
    if (end != ends_.end() && end->second.route == route) ends_.erase(end);
  }
  by_route_.erase(found);
}

void Agreement::on_rest() {
  std::map<IdName, End*> up;
  for (auto& [id, end] : ends_) {
    if (end.stage == Stage::kUp && end.peer.id != 0 && !end.reported) up.emplace(id, &end);
  }
  for (const auto& [id, found] : up) {
    End& end = *found;
    const auto peer = ends_.find(end.peer);
    if (peer == ends_.end() || peer->second.stage == Stage::kUp) continue;
    if (peer->second.peer != id || troubled(id.host(), end.peer.host())) continue;
    end.reported = true;
    violations_.add(kAgreement, id.to_string() + ": is connected to " + end.peer.to_string() +
                                    ", which is not, and no message was lost");
  }
}

IdName Agreement::peer_of(const IdName& id) const {
  const auto found = ends_.find(id);
  return found == ends_.end() ? IdName{} : found->second.peer;
}

Terms Agreement::terms_of(const IdName& id) const {
  const auto found = ends_.find(id);
  return found == ends_.end() ? Terms{} : found->second.terms;
}

}  // namespace anyrdma::check

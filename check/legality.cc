#include "check/legality.h"

#include <algorithm>

#include "transport/event_name.h"

namespace anyrdma::check {
namespace {

using enum Phase;
using Step = transport::EventObserver::Step;

bool is_dead(Phase phase) {
  return phase == kRemoved || phase == kDestroyed;
}

bool is_about_a_group(rdma_cm_event_type event) {
  return event == RDMA_CM_EVENT_MULTICAST_JOIN || event == RDMA_CM_EVENT_MULTICAST_ERROR;
}

/// What comes with a device rather than with what the id has been through.
bool is_about_the_device(rdma_cm_event_type event) {
  return event == RDMA_CM_EVENT_DEVICE_REMOVAL || event == RDMA_CM_EVENT_ADDR_CHANGE;
}

bool speaks_of(Service row, Service service) {
  return row == Service::kAny || row == service;
}

const LegalEvent* find_step(Phase from, rdma_cm_event_type event, Service service, Side side) {
  for (const LegalEvent& legal : legal_events()) {
    if (legal.from != from || legal.event != event) continue;
    if (!speaks_of(legal.service, service)) continue;
    if (legal.side == Side::kAny || legal.side == side) return &legal;
  }
  return nullptr;
}

/// What librdmacm may make of a queued event when it is fetched (L/cma.c:rdma_get_cm_event).
bool can_be_fetched_as(rdma_cm_event_type queued, rdma_cm_event_type fetched) {
  switch (queued) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      return fetched == queued || fetched == RDMA_CM_EVENT_ADDR_ERROR;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      return fetched == queued || fetched == RDMA_CM_EVENT_ROUTE_ERROR;
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
      return fetched == queued || fetched == RDMA_CM_EVENT_ESTABLISHED ||
             fetched == RDMA_CM_EVENT_CONNECT_ERROR;
    case RDMA_CM_EVENT_MULTICAST_JOIN:
      return fetched == queued || fetched == RDMA_CM_EVENT_MULTICAST_ERROR;
    default:  // foreign enum
      return fetched == queued;
  }
}

/// Whether it may vanish: after a CONNECT_ERROR, with a group that is left.
bool can_be_swallowed(rdma_cm_event_type queued) {
  return queued == RDMA_CM_EVENT_REJECTED || queued == RDMA_CM_EVENT_DISCONNECTED ||
         is_about_a_group(queued);
}

}  // namespace

Legality::Life& Legality::life_of(std::string_view host, std::uint64_t id) {
  auto found = hosts_.find(host);
  if (found == hosts_.end()) found = hosts_.emplace(host, Lives()).first;
  Lives& lives = found->second;
  const auto [life, is_new] = lives.known.try_emplace(id);
  if (is_new && lives.destroyed.contains(id)) life->second.phase = kDestroyed;
  return life->second;
}

void Legality::forget(std::string_view host, std::uint64_t id) {
  const auto found = hosts_.find(host);
  if (found == hosts_.end()) return;
  found->second.known.erase(id);
  found->second.destroyed.insert(id);
}

void Legality::violation(std::string_view host, std::uint64_t id, std::string text) {
  violations_.push_back(std::string(host) + "#" + std::to_string(id) + ": " + std::move(text));
}

void Legality::on_call(std::string_view host, std::uint64_t id, std::string_view call, int error) {
  if (error != 0) return;
  Life& life = life_of(host, id);
  if (call == "join_multicast") life.joined = true;
  if (call == "establish") life.connected = true;
  if (call == "disconnect" && life.connected) life.parted = true;
  for (const CallEffect& effect : call_effects()) {
    if (effect.call != call || !speaks_of(effect.service, life.service)) continue;
    if (effect.next != kDestroyed && is_dead(life.phase)) {
      violation(
          host, id,
          std::string(call) + " succeeded although it is " + std::string(to_string(life.phase)));
    }
    life.phase = effect.next;
    if (call == "connect") life.side = Side::kActive;
    if (effect.next == kDestroyed) return forget(host, id);
  }
}

void Legality::on_event(std::string_view host, Step step, std::uint64_t id, std::uint64_t listener,
                        rdma_cm_event_type event, Service service) {
  Life& life = life_of(host, id);
  if (step == Step::kFetched) return on_fetched(host, id, life, event);
  life.service = service;
  if (event == RDMA_CM_EVENT_CONNECT_REQUEST) {
    on_request(host, id, listener);
  } else {
    on_queued(host, id, life, event);
  }
  life.queued.push_back(event);
}

void Legality::on_request(std::string_view host, std::uint64_t id, std::uint64_t listener) {
  Life& life = life_of(host, id);
  const Phase heard_by = life_of(host, listener).phase;
  if (heard_by != kListening) {
    violation(host, id,
              "CONNECT_REQUEST from listener " + std::to_string(listener) + ", which is " +
                  std::string(to_string(heard_by)));
  }
  if (life.phase != kIdle || life.side != Side::kAny) {
    violation(host, id, "CONNECT_REQUEST with an id that is not new");
  }
  life.phase = kRequested;
  life.side = Side::kPassive;
}

void Legality::on_queued(std::string_view host, std::uint64_t id, Life& life,
                         rdma_cm_event_type event) {
  const LegalEvent* legal = find_step(life.phase, event, life.service, life.side);
  const bool deaf = is_dead(life.phase) || life.phase == kRequested;
  if (legal != nullptr) {
    life.phase = legal->next;
    if (life.phase == kEstablished) life.connected = true;
  } else if (is_about_the_device(event) && !deaf) {
    if (event == RDMA_CM_EVENT_DEVICE_REMOVAL) life.phase = kRemoved;
  } else if (!(is_about_a_group(event) && life.joined && !deaf)) {
    violation(host, id,
              std::string(transport::short_event_name(event)) + " although it is " +
                  std::string(to_string(life.phase)));
  }
}

void Legality::on_fetched(std::string_view host, std::uint64_t id, Life& life,
                          rdma_cm_event_type event) {
  auto& queued = life.queued;
  auto match = queued.begin();
  while (match != queued.end() && !can_be_fetched_as(*match, event) && can_be_swallowed(*match)) {
    ++match;
  }
  if (match == queued.end() || !can_be_fetched_as(*match, event)) {
    const std::string next =
        queued.empty() ? "nothing" : std::string(transport::short_event_name(queued.front()));
    return violation(host, id,
                     std::string(transport::short_event_name(event)) +
                         " fetched, but next in its queue is " + next);
  }
  queued.erase(queued.begin(), match + 1);
}

std::string_view Legality::awaited_by(const Life& life) {
  switch (life.phase) {
    case kAddrQuery:
    case kRouteQuery:
    case kConnecting:
    case kAccepted:
    case kAsking:
      return to_string(life.phase);
    case kResponded:
    case kEstablished:
      return life.parted ? "disconnect" : "";
    case kDisconnected:
      return life.parted ? "time wait" : "";
    case kIdle:
    case kAddrResolved:
    case kRouteResolved:
    case kListening:
    case kUnreached:
    case kRequested:
    case kRefused:
    case kOver:
    case kUnanswered:
    case kAnswered:
    case kServing:
    case kRemoved:
    case kDestroyed:
      return "";
  }
  return "";
}

void Legality::on_crash(std::string_view host) {
  const auto found = hosts_.find(host);
  if (found != hosts_.end()) hosts_.erase(found);
}

void Legality::for_each(const std::function<void(const std::string&, std::uint64_t, Life&)>& body) {
  for (auto& [host, lives] : hosts_) {
    std::map<std::uint64_t, Life*> sorted;
    for (auto& [id, life] : lives.known) sorted.emplace(id, &life);
    for (const auto& [id, life] : sorted) body(host, id, *life);
  }
}

void Legality::on_rest() {
  for_each([this](const std::string& host, std::uint64_t id, Life& life) {
    const std::string_view awaited = awaited_by(life);
    if (awaited.empty() || life.missed) return;
    life.missed = true;
    violation(host, id, "the run ended without an answer to its " + std::string(awaited));
  });
}

void Legality::on_end() {
  for_each([this](const std::string& host, std::uint64_t id, const Life& life) {
    if (life.phase != kDestroyed) violation(host, id, "never destroyed");
  });
}

}  // namespace anyrdma::check

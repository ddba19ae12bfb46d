// The fields of every trigger and action, in the order of their text. A visitor is a reader or a
// writer of words.
#pragma once

#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>

#include "sim/fault.h"

namespace anyrdma::sim {

/// The kinds, in the order of the variants.
inline constexpr std::array<std::string_view, std::variant_size_v<Trigger>> kTriggerKinds{
    "time", "message", "packet", "request", "queued", "fetched", "call"};
inline constexpr std::array<std::string_view, std::variant_size_v<FaultAction>> kActionKinds{
    "lose",   "delay",     "duplicate", "corrupt", "reject", "overflow", "remove",
    "return", "fail-over", "port-down", "port-up", "cut",    "mend",     "slow"};

/// `Part` or `const Part`.
template <class T, class Part>
concept Of = std::same_as<std::remove_const_t<T>, Part>;

template <class T, class... Parts>
concept OneOf = (Of<T, Parts> || ...);

void visit_fields(auto& visitor, Of<AtTime> auto& at) {
  visitor.time("time", at.time);
}

void visit_fields(auto& visitor, Of<OnMessage> auto& on) {
  visitor.one_way("path", on.from, on.to);
  visitor.message("message", on.message);
  visitor.occurrence("occurrence", on.occurrence);
}

void visit_fields(auto& visitor, Of<OnPacket> auto& on) {
  visitor.one_way("path", on.from, on.to);
  visitor.occurrence("occurrence", on.occurrence);
}

void visit_fields(auto& visitor, Of<OnRequest> auto& on) {
  visitor.any_host("host", on.host);
  visitor.occurrence("occurrence", on.occurrence);
}

void visit_fields(auto& visitor, OneOf<OnQueued, OnFetched> auto& on) {
  visitor.host_or_id("host", on.host, on.id);
  visitor.event("event", on.event);
  visitor.occurrence("occurrence", on.occurrence);
}

void visit_fields(auto& visitor, Of<OnCall> auto& on) {
  visitor.host_or_id("host", on.host, on.id);
  visitor.call("call", on.call);
  visitor.occurrence("occurrence", on.occurrence);
}

void visit_fields(auto&,
                  OneOf<LoseMessage, DuplicateMessage, CorruptMessage, OverflowBacklog> auto&) {}

void visit_fields(auto& visitor, Of<DelayMessage> auto& delay) {
  visitor.time("by", delay.by);
}

void visit_fields(auto& visitor, Of<RejectRequest> auto& reject) {
  visitor.reason("reason", reject.reason);
  visitor.data("data", reject.data);
}

void visit_fields(auto& visitor, OneOf<RemoveDevice, PortDown, PortUp> auto& device) {
  visitor.name("host", device.host);
  visitor.name("device", device.device);
}

void visit_fields(auto& visitor, Of<ReturnDevice> auto& device) {
  visitor.name("host", device.host);
  visitor.name("device", device.device);
  visitor.option("guid", "new-guid", device.new_guid);
}

void visit_fields(auto& visitor, Of<ChangeAddress> auto& change) {
  visitor.name("host", change.host);
  visitor.name("interface", change.interface);
}

void visit_fields(auto& visitor, OneOf<CutPath, MendPath> auto& path) {
  visitor.path("path", path.from, path.to, path.both);
}

void visit_fields(auto& visitor, Of<SlowPath> auto& slow) {
  visitor.path("path", slow.from, slow.to, slow.both);
  visitor.time("latency", slow.latency);
}

}  // namespace anyrdma::sim

#include "sim/gateway/gateway.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "sim/world.h"
#include "transport/fabric/device_message.h"
#include "transport/fabric/membership.h"
#include "transport/fabric/switchboard.h"
#include "transport/ibcm/wire/req.h"
#include "verbs/assert.h"
#include "verbs/soft/mad_packet.h"
#include "verbs/soft/wire/headers.h"

namespace anyrdma::sim {

using transport::fabric::Audience;
using transport::fabric::Destination;
using transport::fabric::kGatewaySlot;
using transport::fabric::NeighbourMessage;
using transport::soft::NeighbourToken;
using verbs::soft::Packet;
using verbs::soft::PacketPtr;

namespace {

constexpr std::size_t kBytesMin = roce::Bth::kBytes + roce::kIcrcBytes;
constexpr const char* kFabricName = "world";

/// Of EUI-64, as Linux makes them.
std::string link_local_of(const roce::Mac& mac) {
  ibv_gid gid{};
  const std::uint8_t bytes[] = {
      static_cast<std::uint8_t>(mac[0] ^ 2), mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
  gid.raw[0] = 0xfe;
  gid.raw[1] = 0x80;
  std::ranges::copy(bytes, gid.raw + sizeof gid.raw - sizeof bytes);
  return Prefix{Address::from_gid(gid), 64}.to_string();
}

/// Seen from the host whose packet it is.
ibcm::Path path_of(const ibv_gid& own, const ibv_gid& peer) {
  ibcm::Path path;
  std::ranges::copy(own.raw, path.source.begin());
  std::ranges::copy(peer.raw, path.destination.begin());
  return path;
}

ibv_gid gid_of(const ibcm::Gid& bytes) {
  ibv_gid gid{};
  std::ranges::copy(bytes, gid.raw);
  return gid;
}

}  // namespace

// --- life ---------------------------------------------------------------------------------------

/// The uplink of one interface. The first one stands for the host where power and programs are
/// concerned.
class Gateway::Port final : public Uplink {
 public:
  Port(Gateway& gateway, std::size_t interface) : gateway_(gateway), interface_(interface) {}

  void on_packet(const Packet& packet) override { gateway_.on_packet(packet, interface_); }
  void on_neighbour(NeighbourToken token, int error) override {
    gateway_.on_neighbour(token, error);
  }
  void on_change(const transport::soft::DeviceChange& change) override {
    gateway_.on_change(change, interface_);
  }
  void on_crash() override {
    if (interface_ == 0) gateway_.on_crash();
  }
  void on_kill() override {
    if (interface_ == 0) gateway_.on_kill();
  }
  bool on_kill_program(std::string_view name, std::uint32_t number) override {
    return interface_ == 0 && gateway_.on_kill_program(name, number);
  }
  std::optional<bool> on_pause_program(const Threads& threads, bool paused) override {
    return interface_ == 0 ? gateway_.on_pause_program(threads, paused) : std::nullopt;
  }

 private:
  Gateway& gateway_;
  const std::size_t interface_;
};

Gateway::Gateway(Host& host)
    : host_(host), random_(host.world().seeds(), "gateway " + host.name()) {}

Result<std::unique_ptr<Gateway>> Gateway::create(Host& host, std::string directory) {
  std::unique_ptr<Gateway> gateway(new Gateway(host));
  if (Result<void> joined = gateway->join(std::move(directory)); !joined) return joined.error();
  return gateway;
}

Result<void> Gateway::join(std::string directory) {
  CM_ASSERT(host_.interfaces().size() <= transport::fabric::kRailsMax);
  const auto is_link_local = [](const Prefix& each) { return each.address.is_link_local(); };
  for (const Interface& each : host_.interfaces()) {
    if (std::ranges::none_of(each.prefixes, is_link_local)) {
      Result<void> added = host_.interfaces().add_address(each.name, link_local_of(each.mac));
      if (!added) return added.error();
    }
    config_.rails.push_back({.addresses = each.prefixes, .device = each.device, .port = each.port});
  }
  config_.name = kFabricName;
  config_.directory = std::move(directory);
  config_.profile = host_.world().options().profile;
  auto registry =
      transport::fabric::Registry::join(config_, random_, {}, transport::fabric::Seat::kGateway);
  if (!registry) return registry.error();
  registry_ = std::move(*registry);
  auto mesh = transport::fabric::Mesh::create(mesh_config(config_, *registry_), pool_, *this);
  if (!mesh) return mesh.error();
  mesh_ = std::move(*mesh);
  agent_ = ibcm::Agent::create({.profile = config_.profile}, random_);
  for (std::size_t i = 0; i < host_.interfaces().size(); ++i) {
    ports_.push_back(std::make_unique<Port>(*this, i));
    host_.interfaces().set_uplink(i, ports_.back().get());
  }
  return {};
}

Gateway::~Gateway() {
  for (std::size_t i = 0; i < ports_.size(); ++i) host_.interfaces().set_uplink(i, nullptr);
}

std::vector<std::string> Gateway::environment() const {
  std::string addresses;
  for (const transport::fabric::Rail& rail : config_.rails) {
    if (!addresses.empty()) addresses += ';';
    if (!rail.device.empty()) addresses += rail.device;
    if (rail.port > 1) addresses += '/' + std::to_string(rail.port);
    if (!rail.device.empty()) addresses += '=';
    for (const Prefix& each : rail.addresses)
      addresses += (&each == rail.addresses.data() ? "" : ",") + each.to_string();
  }
  return {"ANYRDMA_TRANSPORT=fabric", "ANYRDMA_FABRIC=" + config_.name,
          "ANYRDMA_DIR=" + config_.directory, "ANYRDMA_ADDRESSES=" + addresses};
}

std::string Gateway::lids() const {
  std::string text;
  for (const ibv_gid& gid : host_.world().lids().gids()) {
    if (!text.empty()) text += ',';
    text += Prefix{Address::from_gid(gid), 128}.to_string();
  }
  return text;
}

std::optional<std::size_t> Gateway::owner(const ibv_gid& gid) const {
  const Address address = Address::from_gid(gid);
  for (std::size_t i = 0; i < host_.interfaces().size(); ++i) {
    const auto is_it = [&](const Prefix& each) { return each.address.ip == address.ip; };
    if (std::ranges::any_of(host_.interfaces()[i].prefixes, is_it)) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> Gateway::sender(const ibv_gid& gid) const {
  if (const auto found = owner(gid)) return found;
  const auto former = former_.find(std::to_array(gid.raw));
  if (former == former_.end()) return std::nullopt;
  return former->second;
}

// --- from the host's processes ------------------------------------------------------------------

bool Gateway::poll() {
  bool any = false;
  polling_ = true;
  while (mesh_->poll()) any = true;
  polling_ = false;
  any |= say_farewells();
  flush();
  return any;
}

// What is not the host's to send is not sent by a kernel either.
void Gateway::on_packet(PacketPtr packet) {
  if (const auto question = NeighbourMessage::parse(*packet)) return ask(*question);
  const auto from = sender(packet->source);
  if (packet->size < kBytesMin || !from || owner(packet->destination)) return;
  if (const auto mad = verbs::soft::mad_in(*packet)) {
    connections_.on_sent(path_of(packet->source, packet->destination), *mad);
  }
  packet->mark = 0;  // of the world's packets
  host_.interfaces().send_from(*from, *packet);
}

void Gateway::ask(const NeighbourMessage& question) {
  if (question.kind != NeighbourMessage::Kind::kQuestion) return;
  if (question.rail >= ports_.size()) return;
  questions_.emplace(++asked_, Question{question.asker, question.number, question.neighbour});
  host_.neighbours().ask(question.rail, NeighbourToken{asked_},
                         Address::from_gid(question.neighbour),
                         std::chrono::milliseconds(question.milliseconds));
}

bool Gateway::say_farewells() {
  bool any = false;
  for (const Slot slot : std::exchange(gone_, {})) {
    any = true;
    std::erase_if(questions_, [slot](const auto& each) { return each.second.asker == slot; });
    for (const auto& farewell : connections_.bury(slot)) send_out(farewell.path, farewell.mad);
  }
  return any;
}

void Gateway::send_out(const ibcm::Path& path, Connections::Mad mad) {
  PacketPtr packet = pool_.take();
  verbs::soft::write_mad(
      *packet, {.source = gid_of(path.source), .destination = gid_of(path.destination)}, psn_, mad);
  psn_ = psn_ + 1;
  host_.interfaces().send_from(sender(packet->source).value_or(0), *packet);
}

// --- from the world -----------------------------------------------------------------------------

void Gateway::on_packet(const Packet& packet, std::size_t interface) {
  if (packet.size < kBytesMin) return;
  if (roce::is_multicast(packet.destination)) {
    to_everyone(packet, interface);
  } else if (const auto mad = verbs::soft::mad_in(packet)) {
    take_message(packet, *mad);
  } else {
    const auto bth = roce::Bth::parse(packet.payload().first<roce::Bth::kBytes>());
    // Which has no queue pair; 0 and 1 would be its, too.
    const Slot slot = transport::fabric::slot_of(bth.destination);
    if (slot != kGatewaySlot) mesh_->send(slot, pool_.copy_of(packet));
  }
  flush();
  if (delivered_) delivered_();
}

void Gateway::to_everyone(const Packet& packet, std::optional<std::size_t> interface) {
  for (const Slot slot : registry_->others()) {
    PacketPtr copy = pool_.copy_of(packet);
    copy->mark = interface ? *interface + 1 : 0;  // MemberCarrier::rail_of
    mesh_->send(slot, std::move(copy));
  }
}

void Gateway::take_message(const Packet& packet, Connections::Mad mad) {
  const ibcm::Path path = path_of(packet.destination, packet.source);
  Destination to = transport::fabric::destination_of(packet, *registry_);
  if (const auto request = ibcm::wire::Req::parse(mad)) {
    // A repetition belongs to whoever has the request, even if others listen by now, or nobody.
    if (const auto before = connections_.who_got(path.destination, request->local_comm_id))
      to = {Audience::kOne, *before, {}, 0};
  }
  if (to.audience == Audience::kEveryone) {
    connections_.on_arrived(path, mad, kGatewaySlot);
    return to_everyone(packet);
  }
  if (to.audience != Audience::kOne || !lives(to.slot)) return answer_for_nobody(path, mad);
  connections_.on_arrived(path, mad, to.slot);
  mesh_->send(to.slot, pool_.copy_of(packet));
}

/// As a kernel that has nothing of the kind.
void Gateway::answer_for_nobody(const ibcm::Path& path, Connections::Mad mad) {
  agent_->on_mad(host_.world().now(), path, mad);
  while (const ibcm::Action* action = agent_->next_action()) {
    if (const auto* answer = std::get_if<ibcm::SendMad>(action))
      send_out(answer->path, answer->mad);
    agent_->pop_action();
  }
}

bool Gateway::lives(Slot slot) {
  const std::vector<Slot> all = registry_->others();
  return std::ranges::binary_search(all, slot);
}

void Gateway::on_neighbour(NeighbourToken token, int error) {
  const auto found = questions_.find(static_cast<std::uint64_t>(token));
  if (found == questions_.end()) return;
  PacketPtr packet = pool_.take();
  NeighbourMessage{.kind = NeighbourMessage::Kind::kAnswer,
                   .asker = found->second.asker,
                   .number = found->second.number,
                   .error = static_cast<std::uint32_t>(error),
                   .neighbour = found->second.neighbour}
      .serialize(*packet);
  const Slot asker = found->second.asker;
  questions_.erase(found);
  mesh_->send(asker, std::move(packet));
  flush();
  if (delivered_ && !polling_) delivered_();
}

void Gateway::on_change(const transport::soft::DeviceChange& change, std::size_t interface) {
  using Kind = transport::soft::DeviceChange::Kind;
  const ibcm::Gid address = std::to_array(change.neighbour.gid().raw);
  if (change.kind == Kind::kAddressDropped) former_[address] = interface;
  if (change.kind == Kind::kAddressAdded) former_.erase(address);
  for (const Slot slot : registry_->others()) {
    PacketPtr packet = pool_.take();
    transport::fabric::DeviceMessage{change, static_cast<std::uint8_t>(interface)}.serialize(
        *packet);
    mesh_->send(slot, std::move(packet));
  }
  if (changed_) changed_(change, interface);
  flush();
  if (delivered_ && !polling_) delivered_();
}

void Gateway::on_crash() {
  connections_.clear();
  questions_.clear();
  if (!kill_) return;
  kill_();
  // What they said last is lost now, while nothing leaves the host.
  (void)poll();
}

void Gateway::on_kill() {
  questions_.clear();
  if (!kill_alone_) return;
  kill_alone_();
  (void)poll();
}

// Nobody hears the answers to what it has asked: its number is no other's.
bool Gateway::on_kill_program(std::string_view name, std::uint32_t number) {
  if (!kill_program_ || !kill_program_(name, number)) return false;
  (void)poll();
  return true;
}

std::optional<bool> Gateway::on_pause_program(const Uplink::Threads& threads, bool paused) {
  return pause_program_ ? pause_program_(threads, paused) : std::nullopt;
}

void Gateway::flush() {
  if (polling_) return;
  mesh_->transmit();
  (void)say_farewells();
}

}  // namespace anyrdma::sim

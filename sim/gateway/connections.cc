#include "sim/gateway/connections.h"

#include "transport/ibcm/wire/drep.h"
#include "transport/ibcm/wire/dreq.h"
#include "transport/ibcm/wire/mra.h"
#include "transport/ibcm/wire/rej.h"
#include "transport/ibcm/wire/rep.h"
#include "transport/ibcm/wire/req.h"
#include "transport/ibcm/wire/rtu.h"

namespace anyrdma::sim {

using ibcm::wire::AnsweredMessage;
using ibcm::wire::Attribute;
using wire::CommId;

namespace {

constexpr int kGuidBytes = 8;

std::optional<Attribute> attribute_of(Connections::Mad mad) {
  const auto header = ibcm::wire::MadHeader::parse(mad);
  if (!header) return std::nullopt;
  return header->attribute;
}

}  // namespace

// --- what passes by -----------------------------------------------------------------------------

void Connections::on_sent(const Path& path, Mad mad) {
  const std::optional<Attribute> attribute = attribute_of(mad);
  if (attribute == Attribute::kReq) {
    const auto req = ibcm::wire::Req::parse(mad);
    if (!req || by_local(path, req->local_comm_id)) return;
    begin({.path = path,
           .slot = transport::fabric::slot_of(req->local_comm_id),
           .stage = Stage::kAsked,
           .local = req->local_comm_id,
           .guid = req->local_ca_guid,
           .transaction_id = req->transaction_id});
  } else if (attribute == Attribute::kMra) {
    const auto mra = ibcm::wire::Mra::parse(mad);
    if (!mra) return;
    if (const auto found = by_remote(path, mra->remote_comm_id))
      learn_local(*found, mra->local_comm_id);
  } else if (attribute == Attribute::kRep) {
    const auto rep = ibcm::wire::Rep::parse(mad);
    const auto found = rep ? by_remote(path, rep->remote_comm_id) : std::nullopt;
    if (!found) return;
    learn_local(*found, rep->local_comm_id);
    if (all_.at(*found).stage == Stage::kAsking) all_.at(*found).stage = Stage::kAccepted;
  } else if (attribute == Attribute::kRtu) {
    const auto rtu = ibcm::wire::Rtu::parse(mad);
    const auto found = rtu ? by_local(path, rtu->local_comm_id) : std::nullopt;
    if (found) all_.at(*found).stage = Stage::kOpen;
  } else if (attribute == Attribute::kRej) {
    const auto rej = ibcm::wire::Rej::parse(mad);
    if (!rej) return;
    auto found = by_local(path, rej->local_comm_id);
    if (!found) found = by_remote(path, rej->remote_comm_id);
    if (found) end(*found);
  } else if (attribute == Attribute::kDreq) {
    const auto dreq = ibcm::wire::Dreq::parse(mad);
    const auto found = dreq ? by_local(path, dreq->local_comm_id) : std::nullopt;
    if (found) end(*found);
  } else if (attribute == Attribute::kDrep) {
    const auto drep = ibcm::wire::Drep::parse(mad);
    const auto found = drep ? by_local(path, drep->local_comm_id) : std::nullopt;
    if (found) end(*found);
  }
}

void Connections::on_arrived(const Path& path, Mad mad, Slot slot) {
  const std::optional<Attribute> attribute = attribute_of(mad);
  if (attribute == Attribute::kReq) {
    const auto req = ibcm::wire::Req::parse(mad);
    if (!req || by_remote(path, req->local_comm_id)) return;
    begin({.path = path,
           .slot = slot,
           .stage = Stage::kAsking,
           .remote = req->local_comm_id,
           .remote_qpn = req->local_qpn,
           .transaction_id = req->transaction_id});
  } else if (attribute == Attribute::kRep) {
    const auto rep = ibcm::wire::Rep::parse(mad);
    const auto found = rep ? by_local(path, rep->remote_comm_id) : std::nullopt;
    if (!found || all_.at(*found).stage != Stage::kAsked) return;
    learn_remote(*found, rep->local_comm_id);
    all_.at(*found).remote_qpn = rep->local_qpn;
    all_.at(*found).stage = Stage::kAnswered;
  } else if (attribute == Attribute::kRtu) {
    const auto rtu = ibcm::wire::Rtu::parse(mad);
    const auto found = rtu ? by_local(path, rtu->remote_comm_id) : std::nullopt;
    if (found && all_.at(*found).stage == Stage::kAccepted) all_.at(*found).stage = Stage::kOpen;
  } else if (attribute == Attribute::kRej) {
    const auto rej = ibcm::wire::Rej::parse(mad);
    if (!rej) return;
    auto found = by_local(path, rej->remote_comm_id);
    if (!found) found = by_remote(path, rej->local_comm_id);  // its sender never heard of us
    if (found) end(*found);
  } else if (attribute == Attribute::kDreq) {
    const auto dreq = ibcm::wire::Dreq::parse(mad);
    const auto found = dreq ? by_local(path, dreq->remote_comm_id) : std::nullopt;
    if (!found) return;
    all_.at(*found).stage = Stage::kLeft;
    all_.at(*found).transaction_id = dreq->transaction_id;
  }
}

std::optional<Slot> Connections::who_got(const ibcm::Gid& peer, CommId request) const {
  const auto found = remote_.find({peer, request});
  if (found == remote_.end()) return std::nullopt;
  return all_.at(found->second).slot;
}

// --- ends ---------------------------------------------------------------------------------------

std::vector<Connections::Farewell> Connections::bury(Slot slot) {
  std::vector<Farewell> said;
  for (auto each = all_.begin(); each != all_.end();) {
    const Number number = each->first;
    const Connection& connection = each->second;
    ++each;
    if (connection.slot != slot) continue;
    said.push_back(farewell_of(connection));
    end(number);
  }
  return said;
}

Connections::Farewell Connections::farewell_of(const Connection& c) {
  Farewell said{.path = c.path};
  if (c.stage == Stage::kOpen) {
    ibcm::wire::Dreq{.transaction_id = c.transaction_id,
                     .local_comm_id = c.local,
                     .remote_comm_id = c.remote,
                     .remote_qpn = c.remote_qpn}
        .serialize(said.mad);
    return said;
  }
  if (c.stage == Stage::kLeft) {
    ibcm::wire::Drep{
        .transaction_id = c.transaction_id, .local_comm_id = c.local, .remote_comm_id = c.remote}
        .serialize(said.mad);
    return said;
  }
  // Whoever was only asked may have made a connection of it: it is found by the asker's GUID.
  std::array<std::uint8_t, kGuidBytes> guid{};
  for (int i = 0; i < kGuidBytes; ++i) {
    guid[static_cast<std::size_t>(i)] =
        static_cast<std::uint8_t>(value(c.guid) >> 8 * (kGuidBytes - 1 - i));
  }
  ibcm::wire::Rej rej{.transaction_id = c.transaction_id,
                      .local_comm_id = c.local,
                      .remote_comm_id = c.remote,
                      .message = AnsweredMessage::kOther,
                      .reason = ibcm::kRejConsumerDefined};
  if (c.stage == Stage::kAsked) {
    rej.reason = ibcm::kRejTimeout;
    rej.info = guid;
  } else if (c.stage == Stage::kAsking) {
    rej.message = AnsweredMessage::kReq;
  } else if (c.stage == Stage::kAnswered) {
    rej.message = AnsweredMessage::kRep;
  }
  rej.serialize(said.mad);
  return said;
}

void Connections::clear() {
  all_.clear();
  local_.clear();
  remote_.clear();
}

// --- the table ----------------------------------------------------------------------------------

void Connections::begin(const Connection& connection) {
  const Number number = next_++;
  all_.emplace(number, connection);
  learn_local(number, connection.local);
  learn_remote(number, connection.remote);
}

void Connections::end(Number number) {
  const Connection& connection = all_.at(number);
  const auto forget = [&](std::map<Key, Number>& index, CommId id) {
    const auto found = index.find({connection.path.destination, id});
    if (found != index.end() && found->second == number) index.erase(found);
  };
  forget(local_, connection.local);
  forget(remote_, connection.remote);
  all_.erase(number);
}

void Connections::learn_local(Number number, CommId id) {
  if (id == CommId{}) return;
  Connection& connection = all_.at(number);
  connection.local = id;
  local_.insert_or_assign({connection.path.destination, id}, number);
}

void Connections::learn_remote(Number number, CommId id) {
  if (id == CommId{}) return;
  Connection& connection = all_.at(number);
  connection.remote = id;
  remote_.insert_or_assign({connection.path.destination, id}, number);
}

std::optional<Connections::Number> Connections::by_local(const Path& path, CommId id) const {
  const auto found = local_.find({path.destination, id});
  if (found == local_.end()) return std::nullopt;
  return found->second;
}

std::optional<Connections::Number> Connections::by_remote(const Path& path, CommId id) const {
  const auto found = remote_.find({path.destination, id});
  if (found == remote_.end()) return std::nullopt;
  return found->second;
}

}  // namespace anyrdma::sim

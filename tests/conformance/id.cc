#include <cerrno>
#include <cstring>
#include <utility>

#include "tests/conformance/event_text.h"
#include "tests/conformance/stage.h"

namespace anyrdma::conformance {
namespace {

int in_ms(Duration duration) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

/// Null: none.
const void* data_of(const std::string& text) {
  return text.empty() ? nullptr : text.data();
}

std::span<const std::uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string data_text(const std::string& data) {
  return data.empty() ? ""
                      : "data=" + std::to_string(data.size()) + " " + bytes_text(as_bytes(data));
}

}  // namespace

Id::Id(Party& party, std::string name, rdma_cm_id* id)
    : party_(party), name_(std::move(name)), id_(id), number_(party.stage().take_number()) {}

Id::~Id() {
  clear();
}

const Calls& Id::calls() const {
  return party_.calls();
}

void Id::destroy_objects() {
  if (ah_ != nullptr) (void)calls().verbs.destroy_ah(std::exchange(ah_, nullptr));
  region_.reset();
  for (const Place group : groups_) {
    (void)calls().cm.leave_multicast(id_, party_.stage().address(group).get());
  }
  if (id_->qp != nullptr) calls().cm.destroy_qp(id_);
  if (id_->srq != nullptr) calls().cm.destroy_srq(id_);
}

void Id::clear() {
  if (id_ == nullptr) return;
  destroy_objects();
  (void)calls().cm.destroy_id(std::exchange(id_, nullptr));
}

void Id::learn(const rdma_cm_event& event) {
  const bool names_peer =
      event.event == RDMA_CM_EVENT_MULTICAST_JOIN ||
      (event.event == RDMA_CM_EVENT_ESTABLISHED && id_ != nullptr && id_->qp_type == IBV_QPT_UD);
  if (names_peer) ud_ = event.param.ud;
}

void Id::note(const std::string& what) {
  party_.stage().add(party_.side(), name_ + " " + what);
}

void Id::note_call(const std::string& call, const std::string& result) {
  party_.stage().add(party_.side(), name_ + "." + call + ": " + result);
}

void Id::note_blocking(const std::string& call, const std::string& result) {
  std::string text = result;
  if (id_ != nullptr && id_->event != nullptr) {
    text += ", " + describe_event(party_.stage(), party_, *id_->event);
  }
  note_call(call, text);
}

// --- addresses ----------------------------------------------------------------------------------

void Id::bind(Place local) {
  const Address address = party_.stage().address(local);
  perform("bind(" + party_.stage().place_text(local) + ")",
          [&](const Calls::Cm& cm) { return cm.bind_addr(id_, address.get()); });
}

void Id::resolve_addr(Place to, Duration timeout, std::optional<Place> source) {
  Stage& stage = party_.stage();
  const Address destination = stage.address(to);
  const Address from = stage.address(source.value_or(kAny));
  std::string text = stage.place_text(to);
  if (source) text += " from " + stage.place_text(*source);
  if (timeout != 2s) text += " within " + duration_text(timeout);
  perform_blocking("resolve_addr(" + text + ")", [&](const Calls::Cm& cm) {
    return cm.resolve_addr(id_, source ? from.get() : nullptr, destination.get(), in_ms(timeout));
  });
}

void Id::resolve_route(Duration timeout) {
  const std::string text = timeout == 2s ? "" : "within " + duration_text(timeout);
  perform_blocking("resolve_route(" + text + ")",
                   [&](const Calls::Cm& cm) { return cm.resolve_route(id_, in_ms(timeout)); });
}

void Id::listen(int backlog) {
  perform("listen(" + std::to_string(backlog) + ")",
          [&](const Calls::Cm& cm) { return cm.listen(id_, backlog); });
}

void Id::note_addresses() {
  if (id_ == nullptr) return note("no id");
  Stage& stage = party_.stage();
  note("is " + stage.place_text(*::rdma_get_local_addr(id_)) + ", peer " +
       stage.place_text(*::rdma_get_peer_addr(id_)));
}

void Id::note_path() {
  if (id_ == nullptr) return note("no id");
  std::string text = "has " + std::to_string(id_->route.num_paths) + " paths";
  if (const ibv_sa_path_rec* const path = id_->route.path_rec; path != nullptr) {
    text += ", mtu " + std::to_string(path->mtu_selector) + "/" + std::to_string(path->mtu) +
            ", rate " + std::to_string(path->rate_selector) + "/" + std::to_string(path->rate) +
            ", packet life " + std::to_string(path->packet_life_time_selector) + "/" +
            std::to_string(path->packet_life_time) + ", preference " +
            std::to_string(path->preference);
  }
  note(text);
}

// --- connections --------------------------------------------------------------------------------

std::uint32_t Id::qp_num() const {
  return id_ != nullptr && id_->qp != nullptr ? id_->qp->qp_num : number_;
}

rdma_conn_param Id::raw(const Param& param) const {
  rdma_conn_param raw{};
  raw.private_data = param.data.empty() ? nullptr : param.data.data();
  raw.private_data_len = static_cast<std::uint8_t>(param.data.size());
  raw.responder_resources = static_cast<std::uint8_t>(param.resources);
  raw.initiator_depth = static_cast<std::uint8_t>(param.depth);
  raw.flow_control = static_cast<std::uint8_t>(param.flow);
  raw.retry_count = static_cast<std::uint8_t>(param.retry);
  raw.rnr_retry_count = static_cast<std::uint8_t>(param.rnr);
  raw.srq = static_cast<std::uint8_t>(param.srq);
  raw.qp_num = param.as != nullptr ? param.as->qp_num() : qp_num();
  return raw;
}

void Id::connect(const std::optional<Param>& param) {
  rdma_conn_param given = param ? raw(*param) : rdma_conn_param{};
  perform_blocking("connect(" + (param ? param_text(*param) : "null") + ")",
                   [&](const Calls::Cm& cm) { return cm.connect(id_, param ? &given : nullptr); });
}

void Id::accept(const std::optional<Param>& param) {
  rdma_conn_param given = param ? raw(*param) : rdma_conn_param{};
  perform_blocking("accept(" + (param ? param_text(*param) : "null") + ")",
                   [&](const Calls::Cm& cm) { return cm.accept(id_, param ? &given : nullptr); });
}

void Id::reject(const std::string& data) {
  perform("reject(" + data_text(data) + ")", [&](const Calls::Cm& cm) {
    return cm.reject(id_, data_of(data), static_cast<std::uint8_t>(data.size()));
  });
}

void Id::reject_ece(const std::string& data) {
  perform("reject_ece(" + data_text(data) + ")", [&](const Calls::Cm& cm) {
    return cm.reject_ece(id_, data_of(data), static_cast<std::uint8_t>(data.size()));
  });
}

void Id::disconnect() {
  perform_blocking("disconnect()", [&](const Calls::Cm& cm) { return cm.disconnect(id_); });
}

void Id::establish() {
  perform("establish()", [&](const Calls::Cm& cm) { return cm.establish(id_); });
}

void Id::notify(ibv_event_type event) {
  std::string text = std::to_string(event);
  if (event == IBV_EVENT_COMM_EST) text = "COMM_EST";
  if (event == IBV_EVENT_PATH_MIG) text = "PATH_MIG";
  perform("notify(" + text + ")", [&](const Calls::Cm& cm) { return cm.notify(id_, event); });
}

void Id::destroy() {
  if (id_ == nullptr) return note_call("destroy()", "no id");
  destroy_objects();
  party_.forget(*this);
  rdma_cm_id* const gone = std::exchange(id_, nullptr);
  note_call("destroy()", answer([&](const Calls::Cm& cm) { return cm.destroy_id(gone); }));
}

// --- the rest -----------------------------------------------------------------------------------

void Id::join(Place group, unsigned flags, const char* how) {
  const Address address = party_.stage().address(group);
  groups_.push_back(group);
  perform_blocking(
      "join(" + party_.stage().place_text(group) + how + ")", [&](const Calls::Cm& cm) {
        if (flags == RDMA_MC_JOIN_FLAG_FULLMEMBER)
          return cm.join_multicast(id_, address.get(), &party_);
        rdma_cm_join_mc_attr_ex attr{};
        attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
        attr.join_flags = flags;
        attr.addr = address.get();
        return cm.join_multicast_ex(id_, &attr, &party_);
      });
}

void Id::join(Place group) {
  join(group, RDMA_MC_JOIN_FLAG_FULLMEMBER, "");
}

void Id::join_to_send(Place group) {
  join(group, RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER, " to send");
}

void Id::leave(Place group) {
  const Address address = party_.stage().address(group);
  perform("leave(" + party_.stage().place_text(group) + ")",
          [&](const Calls::Cm& cm) { return cm.leave_multicast(id_, address.get()); });
}

void Id::set_option(int option, int value, std::size_t size) {
  std::string name = std::to_string(option);
  const bool is_int = option == RDMA_OPTION_ID_REUSEADDR || option == RDMA_OPTION_ID_AFONLY;
  if (option == RDMA_OPTION_ID_TOS) name = "TOS";
  if (option == RDMA_OPTION_ID_REUSEADDR) name = "REUSEADDR";
  if (option == RDMA_OPTION_ID_AFONLY) name = "AFONLY";
  if (option == RDMA_OPTION_ID_ACK_TIMEOUT) name = "ACK_TIMEOUT";
  std::array<std::uint8_t, 16> bytes{};
  std::memcpy(bytes.data(), &value, sizeof value);  // little-endian: the first byte is the value's
  const std::size_t length = size != 0 ? size : is_int ? sizeof value : 1;
  std::string text = name + "=" + std::to_string(value);
  if (size != 0) text += " in " + std::to_string(size) + " bytes";
  perform("set_option(" + text + ")", [&](const Calls::Cm& cm) {
    return cm.set_option(id_, RDMA_OPTION_ID, option, bytes.data(), length);
  });
}

void Id::set_option_of(int level, int option, std::size_t size) {
  std::vector<std::uint8_t> value(size);
  perform("set_option(level " + std::to_string(level) + " option " + std::to_string(option) + ", " +
              std::to_string(size) + " bytes)",
          [&](const Calls::Cm& cm) {
            return cm.set_option(id_, level, option, value.data(), value.size());
          });
}

void Id::set_local_ece(std::uint32_t vendor, std::uint32_t options) {
  ibv_ece ece{.vendor_id = vendor, .options = options, .comp_mask = 0};
  perform("set_local_ece(" + std::to_string(vendor) + ", " + std::to_string(options) + ")",
          [&](const Calls::Cm& cm) { return cm.set_local_ece(id_, &ece); });
}

void Id::note_remote_ece() {
  if (id_ == nullptr) return note("no id");
  ibv_ece ece{};
  const std::string result =
      answer([&](const Calls::Cm& cm) { return cm.get_remote_ece(id_, &ece); });
  note_call("remote_ece()", result != "ok" ? result
                                           : "vendor " + std::to_string(ece.vendor_id) +
                                                 " options " + std::to_string(ece.options));
}

void Id::migrate(int channel) {
  rdma_event_channel* const to = party_.channel(channel);
  perform("migrate(channel " + std::to_string(channel) + ")",
          [&](const Calls::Cm& cm) { return cm.migrate_id(id_, to); });
}

void Id::make_synchronous() {
  perform("make_synchronous()", [&](const Calls::Cm& cm) { return cm.migrate_id(id_, nullptr); });
}

Id& Id::get_request() {
  if (id_ == nullptr) {
    note_call("get_request()", "no id");
    return party_.add(nullptr);
  }
  rdma_cm_id* made = nullptr;
  const std::string result =
      answer([&](const Calls::Cm& cm) { return cm.get_request(id_, &made); });
  if (result != "ok") {
    note_blocking("get_request()", result);
    return party_.add(nullptr);
  }
  Id& request = party_.add(made);
  note_call("get_request()", request.name());
  request.note_blocking("request", "ok");
  return request;
}

void Id::init_qp_attr(ibv_qp_state state) {
  if (id_ == nullptr) return note("no id");
  ibv_qp_attr attr{};
  attr.qp_state = state;
  int mask = 0;
  std::string text =
      answer([&](const Calls::Cm& cm) { return cm.init_qp_attr(id_, &attr, &mask); });
  if (text == "ok") {
    text += " mask=" + std::to_string(mask) + " access=" + std::to_string(attr.qp_access_flags);
  }
  note_call("init_qp_attr(" + qp_state_text(state) + ")", text);
}

}  // namespace anyrdma::conformance

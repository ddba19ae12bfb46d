#include <cerrno>
#include <cstring>
#include <utility>

#include "tests/conformance/event_text.h"
#include "tests/conformance/stage.h"
#include "verbs/provider.h"

namespace anyrdma::conformance {
namespace {

std::chrono::milliseconds in_ms(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration);
}

std::span<const std::uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string data_text(const std::string& data) {
  return data.empty() ? ""
                      : "data=" + std::to_string(data.size()) + " " + bytes_text(as_bytes(data));
}

}  // namespace

Id::Id(Party& party, std::string name, std::unique_ptr<cm::Id> id)
    : party_(party),
      name_(std::move(name)),
      id_(std::move(id)),
      number_(party.stage().take_number()) {}

Id::~Id() {
  clear();
}

void Id::destroy_objects() {
  if (ah_ != nullptr) {
    (void)verbs::provider_of(ah_->context).destroy_ah(std::exchange(ah_, nullptr));
  }
  region_ = {};
  for (const Place group : groups_) {
    (void)id_->leave_multicast(party_.stage().address(group).get());
  }
  if (id_->qp() != nullptr) (void)id_->destroy_qp();
  if (id_->raw()->srq != nullptr) (void)id_->destroy_srq();
}

void Id::clear() {
  if (id_ == nullptr) return;
  destroy_objects();
  id_.reset();
}

void Id::learn(const cm::Event& event) {
  const bool names_peer = event.type() == RDMA_CM_EVENT_MULTICAST_JOIN ||
                          (event.type() == RDMA_CM_EVENT_ESTABLISHED && id_ != nullptr &&
                           id_->raw()->qp_type == IBV_QPT_UD);
  if (names_peer) ud_ = event.ud();
}

void Id::note(const std::string& what) {
  party_.stage().add(party_.side(), name_ + " " + what);
}

void Id::note_call(const std::string& call, const std::string& result) {
  party_.stage().add(party_.side(), name_ + "." + call + ": " + result);
}

void Id::note_blocking(const std::string& call, const std::string& result) {
  std::string text = result;
  if (id_ != nullptr && id_->is_synchronous() && id_->raw()->event != nullptr) {
    text += ", " + describe_event(party_.stage(), party_, *id_->raw()->event);
  }
  note_call(call, text);
}

// --- addresses ----------------------------------------------------------------------------------

void Id::bind(Place local) {
  const Address address = party_.stage().address(local);
  perform("bind(" + party_.stage().place_text(local) + ")",
          [&] { return id_->bind(address.get()); });
}

void Id::resolve_addr(Place to, Duration timeout, std::optional<Place> source) {
  Stage& stage = party_.stage();
  const Address destination = stage.address(to);
  const Address from = stage.address(source.value_or(kAny));
  std::string text = stage.place_text(to);
  if (source) text += " from " + stage.place_text(*source);
  if (timeout != 2s) text += " within " + duration_text(timeout);
  perform_blocking("resolve_addr(" + text + ")", [&] {
    return id_->resolve_addr(source ? from.get() : nullptr, destination.get(), in_ms(timeout));
  });
}

void Id::resolve_route(Duration timeout) {
  const std::string text = timeout == 2s ? "" : "within " + duration_text(timeout);
  perform_blocking("resolve_route(" + text + ")",
                   [&] { return id_->resolve_route(in_ms(timeout)); });
}

void Id::listen(int backlog) {
  perform("listen(" + std::to_string(backlog) + ")", [&] { return id_->listen(backlog); });
}

void Id::note_addresses() {
  if (id_ == nullptr) return note("no id");
  Stage& stage = party_.stage();
  note("is " + stage.place_text(id_->local_address()) + ", peer " +
       stage.place_text(id_->peer_address()));
}

// --- connections --------------------------------------------------------------------------------

std::uint32_t Id::qp_num() const {
  return id_ != nullptr && id_->qp() != nullptr ? id_->qp()->qp_num : number_;
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
  const rdma_conn_param given = param ? raw(*param) : rdma_conn_param{};
  perform_blocking("connect(" + (param ? param_text(*param) : "null") + ")",
                   [&] { return id_->connect(param ? &given : nullptr); });
}

void Id::accept(const std::optional<Param>& param) {
  const rdma_conn_param given = param ? raw(*param) : rdma_conn_param{};
  perform_blocking("accept(" + (param ? param_text(*param) : "null") + ")",
                   [&] { return id_->accept(param ? &given : nullptr); });
}

void Id::reject(const std::string& data) {
  perform("reject(" + data_text(data) + ")", [&] { return id_->reject(as_bytes(data)); });
}

void Id::reject_ece(const std::string& data) {
  perform("reject_ece(" + data_text(data) + ")", [&] { return id_->reject_ece(as_bytes(data)); });
}

void Id::disconnect() {
  perform_blocking("disconnect()", [&] { return id_->disconnect(); });
}

void Id::establish() {
  perform("establish()", [&] { return id_->establish(); });
}

void Id::notify(ibv_event_type event) {
  std::string text = std::to_string(event);
  if (event == IBV_EVENT_COMM_EST) text = "COMM_EST";
  if (event == IBV_EVENT_PATH_MIG) text = "PATH_MIG";
  perform("notify(" + text + ")", [&] { return id_->notify(event); });
}

void Id::destroy() {
  if (id_ == nullptr) return note_call("destroy()", "no id");
  destroy_objects();
  party_.forget(*this);
  note_call("destroy()", result_text(cm::Id::destroy(std::move(id_))));
}

// --- the rest -----------------------------------------------------------------------------------

void Id::join(Place group, transport::JoinState state) {
  const Address address = party_.stage().address(group);
  const bool sends_only = state == transport::JoinState::kSendOnlyFullMember;
  groups_.push_back(group);
  perform_blocking(
      "join(" + party_.stage().place_text(group) + (sends_only ? " to send" : "") + ")",
      [&] { return id_->join_multicast(address.get(), &party_, state); });
}

void Id::leave(Place group) {
  const Address address = party_.stage().address(group);
  perform("leave(" + party_.stage().place_text(group) + ")",
          [&] { return id_->leave_multicast(address.get()); });
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
  perform("set_option(" + text + ")",
          [&] { return id_->set_option(RDMA_OPTION_ID, option, std::span(bytes).first(length)); });
}

void Id::set_option_of(int level, int option, std::size_t size) {
  const std::vector<std::uint8_t> value(size);
  perform("set_option(level " + std::to_string(level) + " option " + std::to_string(option) + ", " +
              std::to_string(size) + " bytes)",
          [&] { return id_->set_option(level, option, value); });
}

void Id::set_local_ece(std::uint32_t vendor, std::uint32_t options) {
  const ibv_ece ece{.vendor_id = vendor, .options = options, .comp_mask = 0};
  perform("set_local_ece(" + std::to_string(vendor) + ", " + std::to_string(options) + ")",
          [&] { return id_->set_local_ece(ece); });
}

void Id::note_remote_ece() {
  if (id_ == nullptr) return note("no id");
  const auto ece = id_->remote_ece();
  note_call("remote_ece()", ece ? "vendor " + std::to_string(ece->vendor_id) + " options " +
                                      std::to_string(ece->options)
                                : result_text(ece));
}

void Id::migrate(int channel) {
  cm::EventChannel& to = party_.channel(channel);
  perform("migrate(channel " + std::to_string(channel) + ")", [&] { return id_->migrate(to); });
}

void Id::make_synchronous() {
  perform("make_synchronous()", [&] { return id_->make_synchronous(); });
}

Id& Id::get_request() {
  if (id_ == nullptr) {
    note_call("get_request()", "no id");
    return party_.add(nullptr);
  }
  auto made = id_->get_request();
  if (!made) {
    note_blocking("get_request()", result_text(made));
    return party_.add(nullptr);
  }
  Id& request = party_.add(std::move(*made));
  note_call("get_request()", request.name());
  request.note_blocking("request", "ok");
  return request;
}

void Id::init_qp_attr(ibv_qp_state state) {
  if (id_ == nullptr) return note("no id");
  const auto answer = id_->init_qp_attr(state);
  std::string text = result_text(answer);
  if (answer) {
    text += " mask=" + std::to_string(answer->mask) +
            " access=" + std::to_string(answer->attr.qp_access_flags);
  }
  note_call("init_qp_attr(" + qp_state_text(state) + ")", text);
}

}  // namespace anyrdma::conformance

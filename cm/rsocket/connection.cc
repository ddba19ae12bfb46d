#include "cm/rsocket/connection.h"

#include <endian.h>
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace anyrdma::rsocket {
namespace {

constexpr std::uint64_t kReceive = std::uint64_t{1} << 63;
constexpr int kPolledAtOnce = 16;

verbs::Result<ibv_mr*> registered(ibv_pd* pd, const Pages& pages, int access) {
  ibv_mr* const region = ibv_reg_mr(pd, pages.bytes().data(), pages.bytes().size(), access);
  if (region == nullptr) return verbs::errno_code(errno);
  return region;
}

verbs::Result<std::unique_ptr<Pages>> mapped(std::size_t size) {
  auto pages = Pages::map(size);
  if (!pages) return pages.error();
  return std::make_unique<Pages>(std::move(*pages));
}

}  // namespace

verbs::Result<std::unique_ptr<Connection>> Connection::create(rdma_cm_id* id,
                                                              const Settings& settings) {
  std::unique_ptr<Connection> connection(new Connection(id, settings));
  if (const auto made = connection->make_queues(); !made) return made.error();
  if (const auto made = connection->register_memory(); !made) return made.error();
  for (std::uint32_t i = 0; i < connection->receives(); ++i) {
    if (!connection->post_receive()) return verbs::errno_code(ENOMEM);
  }
  return connection;
}

Connection::Connection(rdma_cm_id* id, const Settings& settings)
    : id_(id), settings_(settings), flow_(settings.sizes), mappings_(settings.mappings) {}

Connection::~Connection() {
  if (id_->qp != nullptr) rdma_destroy_qp(id_);
  if (cq_ != nullptr) {
    (void)take_notifications();
    (void)ibv_destroy_cq(cq_);
  }
  if (channel_ != nullptr) (void)ibv_destroy_comp_channel(channel_);
  for (ibv_mr* region : {send_region_, receive_region_, target_region_}) {
    if (region != nullptr) (void)ibv_dereg_mr(region);
  }
}

std::uint32_t Connection::receives() const {
  return settings_.sizes.receive_queue + kControlReceives;
}

verbs::Result<void> Connection::make_queues() {
  channel_ = ibv_create_comp_channel(id_->verbs);
  if (channel_ == nullptr) return verbs::errno_code(errno);
  if (::fcntl(channel_->fd, F_SETFL, O_NONBLOCK) != 0) return verbs::errno_code(errno);
  const std::uint32_t entries = receives() + settings_.sizes.send_queue;
  cq_ = ibv_create_cq(id_->verbs, static_cast<int>(entries), nullptr, channel_, 0);
  if (cq_ == nullptr) return verbs::errno_code(errno);
  ibv_qp_init_attr attr{};
  attr.qp_type = IBV_QPT_RC;
  attr.send_cq = attr.recv_cq = cq_;
  attr.sq_sig_all = 1;
  attr.cap = {.max_send_wr = settings_.sizes.send_queue,
              .max_recv_wr = receives(),
              .max_send_sge = 2,
              .max_recv_sge = 1,
              .max_inline_data = settings_.inline_data};
  if (rdma_create_qp(id_, nullptr, &attr) != 0) return verbs::errno_code(errno);
  inline_data_ = attr.cap.max_inline_data;
  return {};
}

verbs::Result<void> Connection::register_memory() {
  const std::size_t controls = std::size_t{kControlSlots} * kTargetSize;
  const std::size_t tables = kTargets * kTargetSize + settings_.mappings * kMappingSize;
  const std::size_t sizes[] = {settings_.sizes.send_buffer + controls,
                               settings_.sizes.receive_buffer, tables};
  std::unique_ptr<Pages>* const memories[] = {&send_memory_, &receive_memory_, &target_memory_};
  ibv_mr** const regions[] = {&send_region_, &receive_region_, &target_region_};
  const int accesses[] = {0, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
                          IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE};
  for (std::size_t i = 0; i < std::size(sizes); ++i) {
    auto memory = mapped(sizes[i]);
    if (!memory) return memory.error();
    *memories[i] = std::move(*memory);
    const auto region = registered(id_->pd, **memories[i], accesses[i]);
    if (!region) return region.error();
    *regions[i] = *region;
  }
  return {};
}

ConnectData Connection::own_data() const {
  const auto address = [](const Pages& pages) {
    return reinterpret_cast<std::uintptr_t>(pages.bytes().data());
  };
  return {.order = BYTE_ORDER == BIG_ENDIAN ? Order::kBig : Order::kLittle,
          .maps = true,
          .credits = static_cast<std::uint16_t>(settings_.sizes.receive_queue),
          .mappings = settings_.mappings,
          .targets = {.address = address(*target_memory_),
                      .key = target_region_->rkey,
                      .length = kTargets},
          .first = {.address = address(*receive_memory_),
                    .key = receive_region_->rkey,
                    .length = settings_.sizes.receive_buffer / 2}};
}

void Connection::open() {
  open_ = true;
  grant();
}

bool Connection::post_receive() {
  ibv_recv_wr request{};
  request.wr_id = kReceive;
  ibv_recv_wr* bad = nullptr;
  return ibv_post_recv(id_->qp, &request, &bad) == 0;
}

bool Connection::post(ibv_sge* memory, Message message, std::uint64_t address, std::uint32_t key) {
  ibv_send_wr request{};
  request.wr_id = put_message(message);
  request.sg_list = memory;
  request.num_sge = memory == nullptr ? 0 : 1;
  request.opcode = message.kind == Kind::kWrite ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_WRITE_WITH_IMM;
  request.imm_data = htobe32(put_message(message));
  request.wr.rdma.remote_addr = address;
  request.wr.rdma.rkey = key;
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(id_->qp, &request, &bad);
  if (error != 0) break_with(EIO);
  return error == 0;
}

std::size_t Connection::post_copy(std::span<const std::byte> data, const Flow::Transfer& transfer) {
  std::byte* const copy = send_memory_->bytes().data() + transfer.from.offset;
  std::memcpy(copy, data.data(), transfer.from.length);
  ibv_sge memory{.addr = reinterpret_cast<std::uintptr_t>(copy),
                 .length = transfer.from.length,
                 .lkey = send_region_->lkey};
  (void)post(&memory, transfer.message, transfer.address, transfer.key);
  return transfer.from.length;
}

std::size_t Connection::send(std::span<const std::byte> data) {
  return post_copy(data, flow_.take(data.size()));
}

std::size_t Connection::write(std::span<const std::byte> data, const Target& target) {
  Flow::Transfer transfer = flow_.take_write(std::min<std::size_t>(data.size(), target.length));
  transfer.address = target.address;
  transfer.key = target.key;
  return post_copy(data, transfer);
}

// These use no credit, although rdma-core counts one: its receiver does not give that one back.
bool Connection::send_mappings() {
  while (mappings_.is_due() && flow_.has_slot() && ends_.connected()) {
    Mappings::Update update = mappings_.next_update();
    flow_.take_slot();
    (void)post(&update.entry, {.kind = Kind::kMapping, .value = update.index}, update.address,
               update.key);
  }
  return !mappings_.is_due();
}

void Connection::send_control(Control control) {
  flow_.take_control();
  (void)post(nullptr, {.kind = Kind::kControl, .value = static_cast<std::uint32_t>(control)}, 0, 0);
}

std::span<const std::byte> Connection::peek(std::size_t skipped, std::size_t wanted) const {
  const Flow::Part part = flow_.peek(skipped, wanted);
  return receive_memory_->bytes().subspan(part.offset, part.length);
}

void Connection::consume(std::size_t length) {
  flow_.consume(length);
  grant();
}

void Connection::grant() {
  while (open_ && ends_.connected()) {
    const auto update = flow_.next_update();
    if (!update) return;
    if (!update->grant) {
      (void)post(nullptr, update->message, 0, 0);
      continue;
    }
    const Flow::Update::Grant& granted = *update->grant;
    // At most kControlSlots control messages are outstanding, so the oldest of these is sent.
    const std::size_t slot = grants_++ % kControlSlots;
    const auto entry = send_memory_->bytes()
                           .subspan(settings_.sizes.send_buffer + slot * kTargetSize)
                           .first<kTargetSize>();
    const std::byte* const buffer =
        receive_memory_->bytes().data() + granted.of_receive_buffer.offset;
    put_target({.address = reinterpret_cast<std::uintptr_t>(buffer),
                .key = receive_region_->rkey,
                .length = granted.of_receive_buffer.length},
               flow_.peer_order(), entry);
    ibv_sge memory{.addr = reinterpret_cast<std::uintptr_t>(entry.data()),
                   .length = kTargetSize,
                   .lkey = send_region_->lkey};
    (void)post(&memory, update->message, granted.address, granted.key);
  }
}

bool Connection::process() {
  bool any = false;
  std::array<ibv_wc, kPolledAtOnce> completions;
  for (;;) {
    const int count = ibv_poll_cq(cq_, kPolledAtOnce, completions.data());
    if (count < 0) break_with(EIO);
    if (count <= 0) break;
    any = true;
    for (int i = 0; i < count; ++i) {
      const ibv_wc& completion = completions[static_cast<std::size_t>(i)];
      if ((completion.wr_id & kReceive) == 0) {
        on_completed(completion);
      } else if (completion.status == IBV_WC_SUCCESS) {
        on_received(completion);
        if (ends_.connected() && !post_receive()) break_with(EIO);
      }
    }
  }
  grant();
  return any;
}

std::span<std::byte, kTargetSize> Connection::target_entry(std::uint32_t index) const {
  return target_memory_->bytes().subspan(index * kTargetSize).first<kTargetSize>();
}

std::span<std::byte, kMappingSize> Connection::mapping_entry(std::uint32_t index) const {
  return target_memory_->bytes()
      .subspan(kTargets * kTargetSize + index * kMappingSize)
      .first<kMappingSize>();
}

void Connection::on_received(const ibv_wc& completion) {
  if (!ends_.connected()) return;
  const auto message = get_message(be32toh(completion.imm_data));
  if (completion.opcode != IBV_WC_RECV_RDMA_WITH_IMM || !message) return break_with(EPROTO);
  const Order own = BYTE_ORDER == BIG_ENDIAN ? Order::kBig : Order::kLittle;
  switch (message->kind) {
    case Kind::kData:
      if (!flow_.on_data(message->value)) break_with(EPROTO);
      break;
    case Kind::kCredit:
      flow_.on_credit(message->value);
      // An entry was written with it, not only a number of credits. Another entry may be written
      // at this moment, so the table alone does not show that.
      if (completion.byte_len >= kTargetSize) {
        const Target target = get_target(target_entry(flow_.next_target()), own);
        if (!flow_.on_target(target)) break_with(EPROTO);
      }
      break;
    case Kind::kControl:
      on_control(message->value);
      break;
    case Kind::kMapping:
      if (message->value >= settings_.mappings ||
          !mappings_.on_mapped(message->value, get_mapping(mapping_entry(message->value), own))) {
        break_with(EPROTO);
      }
      break;
    case Kind::kWrite:
      break;
  }
}

void Connection::on_control(std::uint32_t value) {
  switch (static_cast<Control>(value)) {
    case Control::kShutdown:
      ends_.readable = false;
      if (!ends_.writable) ends_.disconnected = true;
      break;
    case Control::kDisconnect:
      ends_.readable = ends_.writable = false;
      ends_.disconnected = ends_.peer_gone = true;
      break;
    case Control::kKeepAlive:
      break;
  }
}

void Connection::on_completed(const ibv_wc& completion) {
  const auto sent = static_cast<std::uint32_t>(completion.wr_id);
  const std::uint32_t value = sent & kLargestValue;
  switch (static_cast<Kind>(sent >> 29)) {
    case Kind::kData:
    case Kind::kWrite:
      flow_.on_sent(value);
      break;
    case Kind::kMapping:
      mappings_.on_updated(value);
      flow_.on_slot_free();
      break;
    case Kind::kCredit:
      flow_.on_control_sent();
      break;
    case Kind::kControl:
      flow_.on_control_sent();
      if (static_cast<Control>(value) == Control::kDisconnect) {
        ends_.readable = ends_.writable = false;
        ends_.disconnected = true;
      }
      break;
  }
  if (completion.status == IBV_WC_SUCCESS) return;
  break_with(completion.status == IBV_WC_RETRY_EXC_ERR ? ETIMEDOUT : ECONNRESET);
}

void Connection::break_with(int error) {
  if (!ends_.connected()) return;
  ends_.error = error;
  ends_.readable = ends_.writable = false;
}

void Connection::on_disconnected() {
  (void)process();
  ends_.peer_gone = true;
  if (!ends_.connected()) return;
  ends_.readable = ends_.writable = false;
  ends_.disconnected = true;
}

bool Connection::arm() {
  if (armed_) return false;
  if (ibv_req_notify_cq(cq_, 0) != 0) break_with(EIO);
  armed_ = true;
  return process();
}

bool Connection::take_notifications() {
  if (!armed_) return false;
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  if (ibv_get_cq_event(channel_, &cq, &context) != 0) return false;
  ibv_ack_cq_events(cq_, 1);
  armed_ = false;  // one request gives one notification
  return true;
}

}  // namespace anyrdma::rsocket

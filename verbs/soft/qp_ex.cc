#include "verbs/soft/qp_ex.h"

#include <cerrno>
#include <memory>
#include <string>

#include "verbs/misuse.h"
#include "verbs/soft/post_each.h"
#include "verbs/soft/queue_pair.h"

namespace anyrdma::verbs::soft {

// --- collecting ---------------------------------------------------------------------------------

bool SendBuilder::start(Runtime& runtime) {
  if (!bracket.enter(runtime)) {
    spoil();
    return false;
  }
  requests_.clear();
  pieces_.clear();
  bytes_.clear();
  spoiled_ = false;
  return true;
}

void SendBuilder::begin(const ibv_send_wr& request) {
  requests_.push_back({request, pieces_.size()});
}

void SendBuilder::add_piece(const ibv_sge& piece) {
  pieces_.push_back(piece);
  ++last().num_sge;
}

// All inline data of a request is one piece, whose address is its place among the bytes until
// link().
void SendBuilder::add_inline(const void* data, std::size_t length) {
  if (length > 0xffff'ffff) return spoil();
  if ((last().send_flags & IBV_SEND_INLINE) == 0) {
    last().send_flags |= IBV_SEND_INLINE;
    add_piece({.addr = bytes_.size(), .length = 0, .lkey = 0});
  }
  const auto* const from = static_cast<const std::byte*>(data);
  bytes_.insert(bytes_.end(), from, from + length);
  pieces_.back().length += static_cast<std::uint32_t>(length);
}

// The vectors have stopped growing: now addresses can be taken.
void SendBuilder::link() {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    auto& [wr, first] = requests_[i];
    wr.next = i + 1 < requests_.size() ? &requests_[i + 1].wr : nullptr;
    wr.sg_list = wr.num_sge > 0 ? &pieces_[first] : nullptr;
    if ((wr.send_flags & IBV_SEND_INLINE) != 0 && wr.num_sge > 0)
      wr.sg_list->addr += reinterpret_cast<std::uintptr_t>(bytes_.data());
  }
}

int SendBuilder::post(SoftQp& qp) {
  if (spoiled_) return EINVAL;
  if (requests_.empty()) return 0;
  link();
  ibv_send_wr* const first = &requests_.front().wr;
  ibv_send_wr* bad = nullptr;
  {
    const Core& core = qp.core;
    CriticalSection section(core.runtime);
    if (const int error = qp.check_sends(*first); error != 0) return error;
    if (core.gate == nullptr && core.observer == nullptr && core.races == nullptr) {
      const int error =
          post_each(first, &bad, [&qp](const ibv_send_wr& each) { return qp.post_send(each); });
      qp.schedule();
      return error;
    }
  }
  // Observers of posted requests see it.
  return qp.context->ops.post_send(&qp, first, &bad);
}

namespace {

SoftQp& soft(ibv_qp_ex* qp) {
  return static_cast<SoftQp&>(*static_cast<ExtensibleQp*>(&qp->qp_base));
}

SendBuilder& builder(ibv_qp_ex* qp) {
  return *soft(qp).builder;
}

// --- operations ---------------------------------------------------------------------------------

ibv_send_wr& begin(ibv_qp_ex* qp, ibv_wr_opcode opcode) {
  ibv_send_wr request{};
  request.wr_id = qp->wr_id;
  // Inline is what wr_set_inline_data makes it.
  request.send_flags = qp->wr_flags & ~unsigned{IBV_SEND_INLINE};
  request.opcode = opcode;
  builder(qp).begin(request);
  return builder(qp).last();
}

ibv_send_wr& begin_remote(ibv_qp_ex* qp, ibv_wr_opcode opcode, std::uint32_t key,
                          std::uint64_t address) {
  ibv_send_wr& request = begin(qp, opcode);
  request.wr.rdma.remote_addr = address;
  request.wr.rdma.rkey = key;
  return request;
}

void rdma_write(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address) {
  begin_remote(qp, IBV_WR_RDMA_WRITE, key, address);
}

void rdma_write_imm(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address, __be32 immediate) {
  begin_remote(qp, IBV_WR_RDMA_WRITE_WITH_IMM, key, address).imm_data = immediate;
}

void rdma_read(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address) {
  begin_remote(qp, IBV_WR_RDMA_READ, key, address);
}

void send(ibv_qp_ex* qp) {
  begin(qp, IBV_WR_SEND);
}

void send_imm(ibv_qp_ex* qp, __be32 immediate) {
  begin(qp, IBV_WR_SEND_WITH_IMM).imm_data = immediate;
}

void send_inv(ibv_qp_ex* qp, std::uint32_t key) {
  begin(qp, IBV_WR_SEND_WITH_INV).invalidate_rkey = key;
}

void local_inv(ibv_qp_ex* qp, std::uint32_t key) {
  begin(qp, IBV_WR_LOCAL_INV).invalidate_rkey = key;
}

void bind_mw(ibv_qp_ex* qp, ibv_mw* window, std::uint32_t key, const ibv_mw_bind_info* info) {
  if (window == nullptr || info == nullptr) return builder(qp).spoil();
  begin(qp, IBV_WR_BIND_MW).bind_mw = {.mw = window, .rkey = key, .bind_info = *info};
}

void atomic_cmp_swp(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address, std::uint64_t compare,
                    std::uint64_t swap) {
  begin(qp, IBV_WR_ATOMIC_CMP_AND_SWP).wr.atomic = {
      .remote_addr = address, .compare_add = compare, .swap = swap, .rkey = key};
}

void atomic_fetch_add(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address, std::uint64_t add) {
  begin(qp, IBV_WR_ATOMIC_FETCH_AND_ADD).wr.atomic = {
      .remote_addr = address, .compare_add = add, .swap = 0, .rkey = key};
}

// The eight bytes are taken at once.
void atomic_write(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address, const void* value) {
  if (value == nullptr) return builder(qp).spoil();
  begin_remote(qp, IBV_WR_ATOMIC_WRITE, key, address);
  builder(qp).add_inline(value, sizeof(std::uint64_t));
}

// --- what follows an operation ------------------------------------------------------------------

// False, and the bracket is spoilt: nothing was begun that this could belong to.
bool follows(ibv_qp_ex* qp, bool sensible = true) {
  if (sensible && builder(qp).begun()) return true;
  builder(qp).spoil();
  return false;
}

void set_ud_addr(ibv_qp_ex* qp, ibv_ah* ah, std::uint32_t number, std::uint32_t key) {
  if (!follows(qp, ah != nullptr)) return;
  builder(qp).last().wr.ud = {.ah = ah, .remote_qpn = number, .remote_qkey = key};
}

void set_xrc_srqn(ibv_qp_ex* qp, std::uint32_t number) {
  if (follows(qp)) builder(qp).last().qp_type.xrc.remote_srqn = number;
}

void set_sge(ibv_qp_ex* qp, std::uint32_t key, std::uint64_t address, std::uint32_t length) {
  if (follows(qp)) builder(qp).add_piece({.addr = address, .length = length, .lkey = key});
}

void set_sge_list(ibv_qp_ex* qp, std::size_t count, const ibv_sge* list) {
  if (!follows(qp, list != nullptr || count == 0)) return;
  for (std::size_t i = 0; i < count; ++i) builder(qp).add_piece(list[i]);
}

void set_inline_data(ibv_qp_ex* qp, void* data, std::size_t length) {
  if (follows(qp, data != nullptr || length == 0)) builder(qp).add_inline(data, length);
}

void set_inline_data_list(ibv_qp_ex* qp, std::size_t count, const ibv_data_buf* list) {
  if (!follows(qp, list != nullptr || count == 0)) return;
  for (std::size_t i = 0; i < count; ++i) builder(qp).add_inline(list[i].addr, list[i].length);
}

// --- the bracket --------------------------------------------------------------------------------

void start(ibv_qp_ex* qp) {
  Runtime& runtime = soft(qp).core.runtime;
  if (builder(qp).start(runtime)) return;
  report_misuse(runtime,
                {"ibv_wr_start", "queue pair " + std::to_string(soft(qp).qp_num),
                 "was started by this thread already, without ibv_wr_complete or ibv_wr_abort"});
}

int complete(ibv_qp_ex* qp) {
  SendBuilder& it = builder(qp);
  const int error = it.post(soft(qp));
  it.bracket.leave();
  return error;
}

void abort_all(ibv_qp_ex* qp) {
  builder(qp).bracket.leave();
}

constexpr std::uint64_t kOfDatagrams = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
constexpr std::uint64_t kOfUnreliable = kOfDatagrams | IBV_QP_EX_WITH_RDMA_WRITE |
                                        IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
                                        IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW;
constexpr std::uint64_t kOfReliable = kOfUnreliable | IBV_QP_EX_WITH_RDMA_READ |
                                      IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
                                      IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
                                      IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_ATOMIC_WRITE;
constexpr std::uint64_t kKnownOperations = kOfReliable | IBV_QP_EX_WITH_TSO;

std::uint64_t operations_of(ibv_qp_type type) {
  switch (static_cast<int>(type)) {
    case IBV_QPT_RC:
    case IBV_QPT_XRC_SEND:
      return kOfReliable;
    case IBV_QPT_UC:
      return kOfUnreliable;
    case IBV_QPT_UD:
      return kOfDatagrams;
  }
  return 0;
}

}  // namespace

int check_send_operations(ibv_qp_type type, std::uint64_t operations) {
  if ((operations & ~kKnownOperations) != 0) return EINVAL;
  return (operations & ~operations_of(type)) != 0 ? EOPNOTSUPP : 0;
}

void give_send_functions(SoftQp& qp, std::uint64_t operations) {
  const auto asked = [operations](std::uint64_t operation) {
    return (operations & operation) != 0;
  };
  ibv_qp_ex it{};
  if (asked(IBV_QP_EX_WITH_RDMA_WRITE)) it.wr_rdma_write = rdma_write;
  if (asked(IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)) it.wr_rdma_write_imm = rdma_write_imm;
  if (asked(IBV_QP_EX_WITH_SEND)) it.wr_send = send;
  if (asked(IBV_QP_EX_WITH_SEND_WITH_IMM)) it.wr_send_imm = send_imm;
  if (asked(IBV_QP_EX_WITH_RDMA_READ)) it.wr_rdma_read = rdma_read;
  if (asked(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)) it.wr_atomic_cmp_swp = atomic_cmp_swp;
  if (asked(IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)) it.wr_atomic_fetch_add = atomic_fetch_add;
  if (asked(IBV_QP_EX_WITH_LOCAL_INV)) it.wr_local_inv = local_inv;
  if (asked(IBV_QP_EX_WITH_BIND_MW)) it.wr_bind_mw = bind_mw;
  if (asked(IBV_QP_EX_WITH_SEND_WITH_INV)) it.wr_send_inv = send_inv;
  if (asked(IBV_QP_EX_WITH_ATOMIC_WRITE)) it.wr_atomic_write = atomic_write;
  it.wr_set_sge = set_sge;
  it.wr_set_sge_list = set_sge_list;
  it.wr_set_inline_data = set_inline_data;
  it.wr_set_inline_data_list = set_inline_data_list;
  if (qp.qp_type == IBV_QPT_UD) it.wr_set_ud_addr = set_ud_addr;
  if (qp.qp_type == IBV_QPT_XRC_SEND) it.wr_set_xrc_srqn = set_xrc_srqn;
  it.wr_start = start;
  it.wr_complete = complete;
  it.wr_abort = abort_all;
  qp.extend(it);
  qp.builder = std::make_unique<SendBuilder>();
}

}  // namespace anyrdma::verbs::soft

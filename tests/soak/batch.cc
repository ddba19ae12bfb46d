#include <algorithm>
#include <array>

#include "tests/soak/step.h"

namespace anyrdma::soak {
namespace {

constexpr std::size_t kMargin =
    64;  // before and after what an operation may touch; more than a GRH

constexpr std::array kReliable{
    IBV_WR_SEND,       IBV_WR_SEND_WITH_IMM,        IBV_WR_RDMA_WRITE,
    IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,  IBV_WR_RDMA_READ,
    IBV_WR_RDMA_READ,  IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP};
constexpr std::size_t kDatagramOpcodes = 2;  // the first so many
constexpr std::size_t kUnreliableOpcodes = 5;

Service draw_service(Dice& dice) {
  const std::size_t side = dice.below(5);
  return side == 0 ? Service::kDatagram : side == 1 ? Service::kUnreliable : Service::kReliable;
}

Operation draw_operation(Dice& dice, Service service, std::size_t slot, std::size_t size,
                         std::size_t mtu) {
  const std::size_t opcodes = service == Service::kReliable     ? kReliable.size()
                              : service == Service::kUnreliable ? kUnreliableOpcodes
                                                                : kDatagramOpcodes;
  Operation operation{};
  operation.opcode = kReliable[dice.below(opcodes)];
  std::size_t longest = size - 4 * kMargin;
  if (service == Service::kDatagram) longest = std::min(longest, mtu);
  operation.length = dice.one_in(3) ? dice.below(longest + 1) : dice.length_to(longest);
  operation.local = slot * size + kMargin + dice.below(kMargin);
  operation.remote = slot * size + kMargin + dice.below(kMargin);
  operation.slack = dice.below(kMargin);
  operation.immediate = static_cast<std::uint32_t>(dice.next());
  operation.compare = dice.next();
  operation.swap = dice.next();
  if (operation.is_atomic()) {
    operation.length = 8;
    operation.local &= ~std::size_t{7};
    operation.remote &= ~std::size_t{7};
  }
  const bool may_be_inline = operation.opcode != IBV_WR_RDMA_READ && !operation.is_atomic() &&
                             operation.length <= kInlineMax;
  if (may_be_inline && dice.one_in(2)) operation.flags |= IBV_SEND_INLINE;
  if (service == Service::kReliable && dice.one_in(4)) operation.flags |= IBV_SEND_FENCE;
  if (operation.takes_a_receive() && dice.one_in(4)) operation.flags |= IBV_SEND_SOLICITED;
  if (dice.one_in(2)) operation.flags |= IBV_SEND_SIGNALED;
  return operation;
}

}  // namespace

bool Operation::is_send() const {
  return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM;
}

bool Operation::takes_a_receive() const {
  return is_send() || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

bool Operation::is_atomic() const {
  return opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
}

Batch draw_batch(Dice dice, std::size_t memory, std::size_t mtu) {
  Batch batch{};
  batch.initiator = dice.one_in(2) ? Role::kServer : Role::kClient;
  batch.service = draw_service(dice);
  batch.source_key = dice.next();
  batch.target_key = dice.next();
  batch.at_once = dice.one_in(2);
  const std::size_t count = 1 + dice.below(kDepth);
  for (std::size_t i = 0; i < count; ++i) {
    batch.operations.push_back(draw_operation(dice, batch.service, i, memory / kDepth, mtu));
  }
  // Half of the comparisons succeed.
  for (Operation& operation : batch.operations) {
    if (operation.opcode != IBV_WR_ATOMIC_CMP_AND_SWP || dice.one_in(2)) continue;
    operation.compare = scatter(batch.target_key ^ (operation.remote / 8));
  }
  Operation& last = batch.operations.back();
  last.flags |= IBV_SEND_SIGNALED;
  // So that the target knows when nothing more can come: completions of this service tell nothing.
  if (batch.service == Service::kUnreliable) last.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  return batch;
}

}  // namespace anyrdma::soak

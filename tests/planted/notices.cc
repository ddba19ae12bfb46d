#include "tests/planted/notices.h"

#include <cstddef>

namespace anyrdma::planted {
namespace {

using sim::testing::End;

constexpr std::uint32_t kKey = 0x1234;
/// Each may come twice.
constexpr std::uint64_t kReceives = 2 * kNotices;
/// In front of a datagram that is received there is room for its header.
constexpr std::size_t kHeaderWords = sizeof(ibv_grh) / sizeof(std::uint64_t);

}  // namespace

void open_end(End& end) {
  end.make_qp(IBV_QPT_UD);
  ibv_qp_attr attr{};
  attr.port_num = 1;
  attr.qkey = kKey;
  end.modify(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, attr);
  end.modify(IBV_QPS_RTR, 0, attr);
  end.modify(IBV_QPS_RTS, IBV_QP_SQ_PSN, attr);
}

void open_board(End& end) {
  open_end(end);
  for (std::uint64_t part = 0; part < kReceives; ++part) end.post_receive(part);
}

Way way_to(const End& board, End& from) {
  ibv_ah_attr there{};
  there.port_num = 1;
  there.is_global = 1;
  there.grh.dgid = board.hca().gids().front();
  return {.ah = from.hca().create_ah(from.pd, there).value(), .qpn = board.qp->qp_num};
}

void send_notice(End& from, const Way& way, std::uint64_t number) {
  std::uint64_t& place = from.words[number % kNotices];
  place = number;
  from.post(IBV_WR_SEND, number, sizeof place, [&](ibv_send_wr& request) {
    request.sg_list->addr = reinterpret_cast<std::uintptr_t>(&place);
    request.wr.ud = {.ah = way.ah, .remote_qpn = way.qpn, .remote_qkey = kKey};
  });
}

void read_notices(End& end, Board& board) {
  for (const ibv_wc& came : end.poll()) {
    if (came.status != IBV_WC_SUCCESS) continue;
    const std::uint64_t number = end.words[came.wr_id * End::kMessageWords + kHeaderWords];
    if (number > board.shown()) board.show(number);
    end.post_receive(came.wr_id);
  }
}

}  // namespace anyrdma::planted

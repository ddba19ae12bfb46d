// Who sends without acknowledgements to a process that does not take it in waits: nothing is lost
// between processes.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "transport/fabric/rendezvous/testing/scratch.h"
#include "transport/fabric/testing/end.h"
#include "transport/realtime/testing/child.h"

namespace anyrdma::transport::fabric {
namespace {

using realtime::testing::Child;
using testing::End;
using testing::EndAddress;
using testing::EndOptions;
using testing::Scratch;

// More packets than anybody keeps for a peer.
constexpr int kMessages = 40;

struct Board {
  EndAddress addresses[2];
};

TEST(FlowControl, AStoppedProcessReceivesEveryMessageOfAnUnreliableConnectionLater) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer cannot follow threads of a child";
#endif
  const Scratch scratch;
  void* const at =
      ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const board = static_cast<Board*>(at);
  EndOptions unreliable;
  unreliable.type = IBV_QPT_UC;
  Child receiver([&](const Child::Line& line) {
    End end(scratch.config(), unreliable);
    board->addresses[1] = end.address();
    line.send('a');
    (void)line.receive();
    end.connect(board->addresses[0]);
    for (int i = 0; i <= kMessages; ++i) end.post_receive(0, 0);
    line.send('r');
    for (int i = 0; i <= kMessages; ++i)
      if (end.next_completion() != IBV_WC_SUCCESS) return 1;
    return 0;
  });
  ASSERT_EQ(receiver.receive(), 'a');
  End sender(scratch.config(), unreliable);
  board->addresses[0] = sender.address();
  receiver.send('g');
  ASSERT_EQ(receiver.receive(), 'r');
  sender.connect(board->addresses[1]);
  // The processes know each other before one of them stops.
  ASSERT_EQ(sender.run(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 1, 0), IBV_WC_SUCCESS);

  receiver.stop();
  for (int i = 0; i < kMessages; ++i)
    ASSERT_EQ(sender.post(IBV_WR_RDMA_WRITE_WITH_IMM, 0, End::kBytes, 0), 0);
  receiver.go_on();

  for (int i = 0; i < kMessages; ++i) EXPECT_EQ(sender.next_completion(), IBV_WC_SUCCESS);
  EXPECT_EQ(receiver.wait(), 0);
  ::munmap(at, sizeof(Board));
}

}  // namespace
}  // namespace anyrdma::transport::fabric

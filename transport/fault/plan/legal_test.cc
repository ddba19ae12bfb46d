// Which errors a plan may ask for.
#include "transport/fault/plan/legal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "transport/fault/plan/fault_json.h"
#include "transport/fault/plan/fault_plan.h"
#include "transport/fault/plan/matching.h"
#include "transport/fault/plan/scalars.h"

namespace anyrdma::fault {
namespace {

std::string reason_of(std::string_view text) {
  const auto plan = FaultPlan::parse(text);
  return plan ? "" : plan.error().reason;
}

TEST(LegalErrors, EachRowIsAPlanInBothForms) {
  for (const LegalErrno& row : legal_errnos()) {
    const FaultPlan plan{{{OnCall{"h", 0, std::string(row.call), 1}, FailCall{{row.error}}}}};
    EXPECT_EQ(FaultPlan::parse(plan.to_string()).value(), plan) << row.call;
    EXPECT_EQ(parse_json(to_json(plan)).value(), plan) << row.call;
    EXPECT_FALSE(row.source.empty());
  }
  for (const LegalStatus& row : legal_statuses()) {
    const FaultPlan plan{{{OnCompletion{"h", {}, row.opcode, 1}, CompleteWork{row.status}}}};
    EXPECT_EQ(FaultPlan::parse(plan.to_string()).value(), plan) << word_of(row.status);
    EXPECT_EQ(parse_json(to_json(plan)).value(), plan) << word_of(row.status);
    EXPECT_FALSE(row.source.empty());
  }
}

TEST(LegalErrors, NoRowIsThereTwiceAndEveryCallThatCanFailHasOne) {
  std::set<std::pair<std::string_view, int>> rows;
  for (const LegalErrno& row : legal_errnos()) {
    EXPECT_TRUE(rows.insert({row.call, row.error}).second) << row.call;
  }
  for (const std::string_view call : kCallNames) {
    const bool can_fail = std::any_of(rows.begin(), rows.end(),
                                      [call](const auto& row) { return row.first == call; });
    EXPECT_EQ(can_fail, call != "destroy") << call;
  }
}

TEST(LegalErrors, WhatMakesObjectsCanRunOutOfMemory) {
  for (const std::string_view call : kCallNames) {
    if (!makes_object(call)) continue;
    EXPECT_EQ(reason_of("on h call " + std::string(call) + " 1: fail ENOMEM"), "") << call;
  }
}

TEST(LegalErrors, WithoutAcknowledgementsNothingFailsForWantOfThem) {
  for (const ibv_wc_status status : {IBV_WC_LOC_PROT_ERR, IBV_WC_RETRY_EXC_ERR}) {
    const Fault fault{OnCompletion{"h", {}, IBV_WC_SEND, 1}, CompleteWork{status}};
    verbs::PostedWork work{.type = IBV_QPT_RC, .length = 1};
    EXPECT_TRUE(names_work(fault, work));
    work.type = IBV_QPT_UC;
    EXPECT_EQ(names_work(fault, work), status == IBV_WC_LOC_PROT_ERR);
  }
}

TEST(LegalErrors, OthersAreRefusedWithTheReason) {
  EXPECT_EQ(reason_of("on h call disconnect 1: fail ENOMEM"),
            "'disconnect' never fails with ENOMEM, only with EINVAL");
  EXPECT_EQ(reason_of("on h call destroy 1: fail EINVAL"), "'destroy' never fails");
  EXPECT_EQ(reason_of("on h call connect 1: fail ENOFUN"), "no such errno 'ENOFUN'");
  EXPECT_EQ(reason_of("on h call any_allocation 1: fail EFAULT"),
            "'any_allocation' never fails with EFAULT, only with ENOMEM");
  EXPECT_EQ(reason_of("on h#1 call alloc_pd 1: fail ENOMEM"), "'alloc_pd' is a call on no id");
  EXPECT_EQ(reason_of("on h request 1: fail ENOMEM"), "'fail' happens to a call only");
  EXPECT_EQ(reason_of("on h call connect 1: complete RETRY_EXC_ERR"),
            "'complete' happens to a completion only");
  EXPECT_EQ(reason_of("on h completion RECV 1: complete RETRY_EXC_ERR"),
            "'RECV' cannot be made to complete with RETRY_EXC_ERR");
  EXPECT_EQ(reason_of("on h completion SEND 1: complete BAD_RESP_ERR"),
            "'SEND' cannot be made to complete with BAD_RESP_ERR");
  EXPECT_EQ(reason_of("on h completion SEND 1: complete REM_OP_ERR"),
            "'SEND' cannot be made to complete with REM_OP_ERR: let the peer's RECV complete with "
            "LOC_PROT_ERR");
  EXPECT_EQ(reason_of("on h completion SEND 1: complete WR_FLUSH_ERR"),
            "'SEND' cannot be made to complete with WR_FLUSH_ERR: it follows a qp-error");
  EXPECT_EQ(reason_of("on h completion ATOMIC 1: complete RETRY_EXC_ERR"),
            "no such opcode 'ATOMIC'");
  EXPECT_EQ(reason_of("on h completion SEND 1: complete BAD"), "no such status 'BAD'");
}

TEST(LegalErrors, StandInThePage) {
  std::ifstream page("docs/legality.md");
  const std::string text{std::istreambuf_iterator<char>(page), std::istreambuf_iterator<char>()};

  for (const std::string& table : {errno_table(), status_table()}) {
    EXPECT_NE(text.find(table), std::string::npos) << "docs/legality.md must hold:\n" << table;
  }
}

TEST(LegalErrors, ObjectsHaveNames) {
  EXPECT_EQ(reason_of("at 1s: qp-error h#qp2 QP_FATAL"), "");
  EXPECT_EQ(reason_of("at 1s: qp-error h#qp0x1a QP_REQ_ERR"), "");
  EXPECT_EQ(reason_of("at 1s: qp-error h QP_FATAL"), "'h' lacks its #qp");
  EXPECT_EQ(reason_of("at 1s: qp-error *#qp1 QP_FATAL"),
            "an object needs its host; write HOST#NAME");
  EXPECT_EQ(reason_of("at 1s: qp-error h#qp0 QP_FATAL"),
            "'qp0' is no qp: qp2 is the second made there, qp0x11 the one of that number");
  EXPECT_EQ(reason_of("at 1s: qp-error h#qp0x1000000 QP_FATAL"),
            "'qp0x1000000' is no qp: qp2 is the second made there, qp0x11 the one of that number");
  EXPECT_EQ(reason_of("at 1s: cq-overrun h#cq0x1"),
            "'cq0x1' is no cq: cq2 is the second made there");
  EXPECT_EQ(reason_of("at 1s: qp-error h#qp1 PORT_ERR"), "no such event 'PORT_ERR'");
  EXPECT_EQ(reason_of("at 1s: slow-consumer h"), "'slow-consumer' lacks its delay");
}

}  // namespace
}  // namespace anyrdma::fault

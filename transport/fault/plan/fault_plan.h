// A fault plan: a list of faults, and its text form, whose grammar and examples follow here. In the
// grammar, [ ] means optional and { } repeated. fault_json.h has the JSON form.
//
//   plan    = { line "\n" }        empty lines and those that begin with '#' are ignored
//   line    = [ "maybe " ] trigger ": " action [ lasting ]
//             maybe: the run passes even if the fault does not happen
//   lasting = " for " TIME [ " to " TIME ]    crash server for 300ms: the server then restarts;
//             with two times, a random time between them is drawn
//   trigger = "at " TIME                                            at 1.5s
//           | "between " TIME " and " TIME            between 100ms and 2s: a random instant
//           | "on " HOST "->" HOST " " MESSAGE " " WHICH            on client->server REQ 1
//           | "on " HOST "->" HOST " packet " WHICH                 on client->server packet 0.5%
//           | "on " HOST " request " WHICH                          on server request 2
//           | "on " HOST [ "#" ID ] " queued " EVENT " " WHICH      on server queued ESTABLISHED 1
//           | "on " HOST [ "#" ID ] " fetched " EVENT " " WHICH     on client#3 fetched REJECTED
//           all
//           | "on " HOST [ "#" ID ] " call " CALL " " WHICH         on client call connect 2
//           | "on " HOST " resolving " WHICH                        on client resolving 1
//           | "on " HOST " routing " WHICH                          on client routing 1
//           | "on " HOST [ "#" ID ] " state " STATE " " WHICH       on client#3 state CONNECT 1
//           | "on " HOST [ "#" QP ] " completion " OPCODE " " WHICH
//                                                         on server#qp1 completion SEND 3
//   action  = "lose" | "duplicate" | "corrupt" | "delay " TIME | "reorder"
//                                                                   a message or packet
//           | "alter " FIELD " " NUMBER                     a message: alter path_mtu 6
//           | "mra " EXPONENT                               a request: mra 24
//           | "unrouted " ERRNO                             what a route is looked for to
//           | ( "cut-rail " | "mend-rail " ) HOST " " INTERFACE     cut-rail client eth1
//           | "reject " REASON [ " " HEX ] | "overflow" | "ignore"  a request
//           | "stale"                                               likewise
//           | "unresolved " ERRNO                                   what is being resolved
//           | "hold " TIME                                          an event that is queued
//           | "remove " HOST " " DEVICE                             remove server anyrdma0
//           | "return " HOST " " DEVICE [ " new-guid" ]             return server anyrdma0
//           | ( "port-down " | "port-up " ) HOST " " DEVICE [ "/" PORT ]
//           | "flap " HOST " " DEVICE [ "/" PORT ] " " TIME " every " TIME
//           | "slow-rail " HOST " " INTERFACE " " TIME
//           | "device-event " HOST " " DEVICE " " EVENT      device-event server anyrdma0
//           PKEY_CHANGE
//           | "kill " HOST [ "/" PROGRAM [ "#" N ] ]         kill server, kill server/rping#2
//           | "lose-group " HOST " " ADDRESS                 lose-group server 239.1.2.3
//           | "srq-error " HOST "#srq" N                     srq-error server#srq1
//           | ( "crash " | "restart " ) HOST                        crash server
//           | ( "pause " | "resume " ) HOST [ "/" PROGRAM [ "#" N ] [ "/" THREAD ] ]
//                                   pause server, pause server/rping, pause server/rping/3 for 50ms
//           | "drift " HOST " " PPM                          drift client -300
//           | ( "add-address " | "drop-address " ) HOST " " INTERFACE " " ADDRESS
//                                                   add-address server eth0 10.0.0.9/24
//           | ( "fail-over " | "fail-back " ) HOST " " INTERFACE    fail-over server eth0
//           | ( "confirm-neighbour " | "forget-neighbour " ) HOST " " ADDRESS
//                                                   forget-neighbour client 10.0.0.1
//           | ( "cut " | "clog " | "mend " ) HOST ARROW HOST                  cut client<->server
//           | "fail " ERRNO                                         a call: fail ENOMEM
//           | "complete " STATUS                            a completion: complete RETRY_EXC_ERR
//           | "qp-error " HOST "#" QP " " ASYNC-EVENT               qp-error server#qp1 QP_FATAL
//           | "cq-overrun " HOST "#cq" N                            cq-overrun server#cq1
//           | "slow-consumer " HOST " " TIME                        slow-consumer client 5ms
//           | "slow " HOST ARROW HOST " " TIME                      slow server->* 5ms
//
// TIME is a decimal number with ns, us, ms or s. HOST beside an arrow or in "on" may be `*`, which
// means any host. QP is "qp" and a number: qp2 is the second queue pair that was created, qp0x11
// the one with that queue pair number. ARROW is -> or, for both directions, <->. WHICH is a number
// counted from 1, or "all", or a percentage. A percentage is the probability of each occurrence,
// drawn from the run's seed.
#pragma once

#include <boost/system/result.hpp>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/fault/plan/fault.h"

namespace anyrdma::fault {

/// The error that makes a fault plan invalid, with its line.
struct PlanError {
  std::size_t line = 0;  ///< number of the line, counted from 1
  std::string reason;

  /// Returns the error as text: "line 3: no such message 'REX'".
  [[nodiscard]] std::string to_string() const;
};

/// Throws an exception with the error. PlanResult::value() calls it if there is no value.
[[noreturn]] void throw_exception_from_error(const PlanError& error,
                                             const boost::source_location& location);

template <class T>
using PlanResult = boost::system::result<T, PlanError>;

struct FaultPlan {
  std::vector<Fault> faults;
  bool operator==(const FaultPlan&) const = default;

  /// Adds a fault to the plan. A trigger and an action that cannot be combined do not compile.
  /// Example:
  ///   FaultPlan().on(OnRequest{"server", 2}, RejectRequest{28}).on(AtTime{1s}, ...)
  template <class When, class What>
  requires kFits<When, What> FaultPlan& on(When trigger, What action) {
    faults.push_back({std::move(trigger), std::move(action)});
    return *this;
  }
  /// Adds a fault that is marked "maybe": the run also passes if the fault does not happen.
  template <class When, class What>
  requires kFits<When, What> FaultPlan& maybe(When trigger, What action) {
    faults.push_back({std::move(trigger), std::move(action), true});
    return *this;
  }

  [[nodiscard]] static PlanResult<FaultPlan> parse(std::string_view text);
  /// Returns the plan as text, one line for each fault. FaultPlan::parse reads the result.
  [[nodiscard]] std::string to_string() const;
};

/// Returns why a fault is invalid, whatever hosts and devices there are. Empty: the fault is valid.
[[nodiscard]] std::string problem_with(const Fault& fault);

}  // namespace anyrdma::fault

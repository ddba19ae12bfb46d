#include <cstring>
#include <sstream>
#include <string>

#include "cm/state_table.h"
#include "transport/event_name.h"

namespace anyrdma::cm {
namespace {

std::string_view event_name(std::size_t type) {
  return transport::short_event_name(static_cast<rdma_cm_event_type>(type));
}

/// "-> ADDR_BOUND, else IDLE": where an allowed call leads.
std::string outcome(const OperationRow& row) {
  if (row.verdict == Verdict::kRefuse) return strerrorname_np(row.error);
  if (row.success == row.from && row.failure == row.from) return "ok";
  std::string text = "-> " + std::string(short_name(row.success));
  if (row.failure != row.success) text += ", else " + std::string(short_name(row.failure));
  return text;
}

std::string outcome(const UpcallRow& row) {
  if (row.delivery == Delivery::kDrop) return "dropped";
  if (row.next == row.from) return "ok";
  return "-> " + std::string(short_name(row.next));
}

/// One table of the page: a line per state, a column per call or event in [first, last).
template <class Row, class Name>
void add_table(std::ostream& out, std::size_t first, std::size_t last, Row row, Name name) {
  out << "| state |";
  for (std::size_t column = first; column < last; ++column) out << ' ' << name(column) << " |";
  out << "\n|---|";
  for (std::size_t column = first; column < last; ++column) out << "---|";
  out << '\n';
  for (std::size_t state = 0; state < kStateCount; ++state) {
    out << "| " << short_name(static_cast<State>(state)) << " |";
    for (std::size_t column = first; column < last; ++column) {
      out << ' ' << outcome(row(column, static_cast<State>(state))) << " |";
    }
    out << '\n';
  }
  out << '\n';
}

const OperationRow& operation_row(std::size_t operation, State state) {
  return row_of(static_cast<Operation>(operation), state);
}
const UpcallRow& upcall_row(std::size_t type, State state) {
  return row_of(static_cast<rdma_cm_event_type>(type), state);
}
std::string_view operation_name(std::size_t operation) {
  return to_string(static_cast<Operation>(operation));
}

constexpr std::size_t kColumns = 5;

template <class Row, class Name>
void add_tables(std::ostream& out, std::size_t count, Row row, Name name) {
  for (std::size_t first = 0; first < count; first += kColumns) {
    add_table(out, first, first + kColumns < count ? first + kColumns : count, row, name);
  }
}

constexpr std::string_view kIntroduction =
    R"(# What an id may do, and what it hears

Generated from `cm/operation_table.h` and `cm/upcall_table.h` by `bazel run //cm:render_states`; a
test compares. States and rules are the kernel's (`rdma_cm_state`).

## Calls

`ok`: allowed, the state stays. `-> A, else B`: allowed; A after success, B when the call then fails
at once. An errno: refused without effect. Arguments, the device and the connection protocol may
still refuse what the table allows.

)";

constexpr std::string_view kEvents = R"(## Events

`ok`: delivered, the state stays. `-> A`: delivered, and the state becomes A. `dropped`: too late or
too early; the application never hears of it. An incoming id hears nothing before its accept
succeeded, but its state follows all the same.

)";

}  // namespace

std::string state_tables_as_text() {
  std::ostringstream out;
  for (const OperationRow& row : operation_table::kRows) {
    out << to_string(row.operation) << " in " << short_name(row.from) << ": " << outcome(row)
        << '\n';
  }
  for (const UpcallRow& row : upcall_table::kRows) {
    out << event_name(static_cast<std::size_t>(row.event)) << " in " << short_name(row.from) << ": "
        << outcome(row) << '\n';
  }
  return out.str();
}

std::string state_tables_as_markdown() {
  std::ostringstream out;
  out << kIntroduction;
  add_tables(out, kOperationCount, operation_row, operation_name);
  out << kEvents;
  add_tables(out, kEventTypeCount, upcall_row, event_name);
  std::string page = out.str();
  page.pop_back();  // one newline at the end, not two
  return page;
}

}  // namespace anyrdma::cm

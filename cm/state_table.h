// The rdma_cm_id state machine as data: calls in operation_table.h, events in upcall_table.h.
#pragma once

#include <string>
#include <string_view>

#include "cm/operation_table.h"
#include "cm/upcall_table.h"

namespace anyrdma::cm {

/// "IDLE": the kernel's spelling without its prefix.
[[nodiscard]] inline std::string_view short_name(State state) {
  return to_string(state).substr(std::string_view("RDMA_CM_").size());
}

/// Every cell of both tables, one per line; the golden file of the test.
[[nodiscard]] std::string state_tables_as_text();
/// Both tables as a page for readers (docs/id-states.md).
[[nodiscard]] std::string state_tables_as_markdown();

}  // namespace anyrdma::cm

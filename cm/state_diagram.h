// Pictures of the rdma_cm_id state machine, drawn from its tables, for the pages in docs/.
#pragma once

#include <string>
#include <string_view>

namespace anyrdma::cm {

/// A page with its diagrams as the tables have them now. A diagram stands below a line
/// `<!-- diagram: bind_addr | ADDR_RESOLVED -->`, which names the calls and events to draw, as a
/// Mermaid block; without one it is inserted. Names that the tables do not have appear in the
/// diagram as such, so that a comparison fails.
[[nodiscard]] std::string with_diagrams(std::string_view page);

}  // namespace anyrdma::cm

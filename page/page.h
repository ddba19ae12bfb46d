// The page of a run: one HTML file that needs nothing else, to be opened from a disk.
#pragma once

#include <istream>
#include <ostream>
#include <vector>

#include "page/packed_run.h"

namespace anyrdma::page {

/// Writes the page of one run from JSON lines (docs/page.md). Returns an error; empty: success.
/// After an error nothing was written.
[[nodiscard]] Complaint write_page(std::istream& lines, std::ostream& html);

/// Writes the page of two runs side by side, with their first difference.
[[nodiscard]] Complaint write_comparison(std::istream& left, std::istream& right,
                                         std::ostream& html);

/// Writes the page of one or two runs that are already packed.
void write_page(const std::vector<PackedRun>& runs, std::ostream& html);

}  // namespace anyrdma::page

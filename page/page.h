// The page of a run: one HTML file that needs nothing else, to be opened from a disk.
#pragma once

#include <istream>
#include <ostream>
#include <vector>

#include "page/packed_run.h"

namespace anyrdma::page {

/// Writes the page of one run, read as JSON lines: docs/page.md says which.
/// Nothing has been written if there is a complaint; an empty one means that all went well.
[[nodiscard]] Complaint write_page(std::istream& lines, std::ostream& html);

/// Writes the page of two runs side by side, with their first difference.
[[nodiscard]] Complaint write_comparison(std::istream& left, std::istream& right,
                                         std::ostream& html);

/// Makes the page of one run, or of two, that are already packed.
void write_page(const std::vector<PackedRun>& runs, std::ostream& html);

}  // namespace anyrdma::page

// Writes the page of a run: one HTML file that needs no other file and no server.
#pragma once

#include <istream>
#include <ostream>
#include <vector>

#include "page/packed_run.h"

namespace anyrdma::page {

/// Writes the page of one run from JSON lines (docs/page.md). Returns the error as text; empty:
/// success. After an error `html` is unchanged.
[[nodiscard]] Complaint write_page(std::istream& lines, std::ostream& html);

/// Writes the page that shows two runs beside each other, with the first difference between them.
[[nodiscard]] Complaint write_comparison(std::istream& left, std::istream& right,
                                         std::ostream& html);

/// Writes the page of one run or of two runs that are already packed (PackedRun).
void write_page(const std::vector<PackedRun>& runs, std::ostream& html);

}  // namespace anyrdma::page

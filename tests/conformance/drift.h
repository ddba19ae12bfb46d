// The drift matrix: which scenario shows the same where, as a page.
#pragma once

#include <string>

#include "tests/conformance/deviations.h"
#include "tests/conformance/golden.h"

namespace anyrdma::conformance {

/// docs/drift.md.
[[nodiscard]] std::string drift_page(const Goldens& goldens, const Goldens& iwarp,
                                     const Deviations& deviations);

/// What does not fit together: scenarios without a record, records without a scenario, differences
/// of what a backend does not perform, facts that are none. A line each.
[[nodiscard]] Lines misfits(const Goldens& goldens, const Deviations& deviations);

}  // namespace anyrdma::conformance

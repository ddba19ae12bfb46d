// What of the scenarios is asked of iWARP, and what it shows otherwise than RoCE.
#pragma once

#include <string>
#include <string_view>

#include "tests/conformance/golden.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {

/// The kind of place: Debian's librdmacm on software iWARP, a device for each party.
inline constexpr std::string_view kIwarp = "linux-siw";
/// Its records, in tests/conformance.
inline constexpr std::string_view kIwarpRecords = "records_iwarp";
/// In place of what it did not show each time.
inline constexpr std::string_view kUnsteady = "not the same each time";

/// Whether iWARP has all that it is about: connections, which nobody makes but the connection
/// manager.
[[nodiscard]] bool iwarp_can_have(const Scenario& scenario);

/// Of docs/drift.md: `goldens` is what RoCE showed.
[[nodiscard]] std::string iwarp_tables(const Goldens& goldens, const Goldens& iwarp);

/// Scenarios without a record, records without a scenario. A line each.
[[nodiscard]] Lines iwarp_misfits(const Goldens& iwarp);

}  // namespace anyrdma::conformance

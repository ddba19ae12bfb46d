// A core file of one stopped process, as the kernel would write it. Source: core(5), elf(5).
#pragma once

#include <filesystem>
#include <system_error>

#include "sim/debug/core/notes.h"

namespace anyrdma::sim::debug {

/// Writes the file, or empties an existing one first. Pages that only contain zeros become holes.
/// The process's threads must have stopped. On an error, no file is left.
[[nodiscard]] std::error_code write_core(const std::filesystem::path& path,
                                         const CoreProcess& process);

}  // namespace anyrdma::sim::debug

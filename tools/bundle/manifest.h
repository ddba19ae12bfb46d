// What is in a bundle (an archive with all that a replay needs), as text: `bundle.txt` in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "verbs/why_not.h"

namespace anyrdma::tools {

/// A file of the machine on which the bundle was made.
struct BundledFile {
  std::string path;    ///< as the scenario has it; of a library: the whole path
  std::string id;      ///< file_id() of it
  std::string copy{};  ///< its name in the bundle; empty: it is not in there
};

/// As text, one item a line:
///   anyrdma bundle 1                         the version of the format
///   written by anyrdma 0.1.0
///   scenario scenario/pp.txt                 its name in the bundle
///   trial seed 7; schedule/2 random
///   option buffered                          of the replay: buffered or strict
///   hash 421ab696609f35a1                    the trace hash of the run
///   program ID COPY PATH                     PATH is what the scenario says, to the end of the
///   line input ID COPY PATH                       the file that programs read as their stdin
///   library ID PATH                          code that programs had mapped
struct Manifest {
  std::string writer{};
  std::string scenario{};
  std::string trial{};
  bool buffered = false;
  bool strict = false;
  std::uint64_t hash = 0;
  std::vector<BundledFile> programs{};
  std::vector<BundledFile> inputs{};  ///< one at most
  std::vector<BundledFile> libraries{};

  [[nodiscard]] std::string to_text() const;
  /// The error is a sentence that names the line.
  [[nodiscard]] static verbs::OrWhyNot<Manifest> parse(std::string_view text);
};

/// Returns "build-id:6e6f..." of an ELF file that has a build id, else "content:..." with a hash of
/// its bytes. Empty: the file cannot be read.
[[nodiscard]] std::string file_id(const std::string& path);

}  // namespace anyrdma::tools

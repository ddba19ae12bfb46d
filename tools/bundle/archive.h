// Tar archives of regular files, written and read as streams. Source: pax(1), "ustar Interchange
// Format". `tar -xf` unpacks what is written here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <istream>
#include <string>
#include <string_view>

#include "verbs/why_not.h"

namespace anyrdma::tools {

/// The limits of an archive that is read. A larger one is refused.
inline constexpr std::uint64_t kArchiveBytesMax = std::uint64_t{8} << 30;
inline constexpr std::size_t kArchiveFilesMax = 4096;
/// The longest name of a file, in bytes.
inline constexpr std::size_t kArchiveNameMax = 100;

/// Whether a name stays in the directory into which it is unpacked: relative, without "..", without
/// control characters, and not too long.
[[nodiscard]] bool is_archive_name(std::string_view name);

class ArchiveWriter {
 public:
  /// Creates the file, or empties an existing one.
  explicit ArchiveWriter(const std::filesystem::path& path);
  /// Precondition: is_archive_name(name).
  void add(const std::string& name, std::string_view content, bool executable = false);
  /// Adds the content of a file. Returns a sentence if it cannot be read; empty: it was added.
  [[nodiscard]] std::string add_file(const std::string& name, const std::filesystem::path& file);
  /// Writes the end. Returns whether all has been written.
  [[nodiscard]] bool finish();

 private:
  void begin(const std::string& name, std::uint64_t bytes, bool executable);
  void pad(std::uint64_t bytes);

  std::ofstream out_;
};

/// A file of an archive that is read.
struct ArchivedFile {
  std::string name;
  std::uint64_t bytes = 0;
  bool executable = false;
};

/// Takes the files of an archive: `begin` a file, then `content` in pieces. Both return false to
/// end the reading.
struct ArchiveTaker {
  std::function<bool(const ArchivedFile&)> begin;
  std::function<bool(std::string_view)> content;
};

/// Reads an archive of regular files and directories, of which it leaves out the latter. The error
/// is a sentence without the archive's name; a taker that ends the reading is an error, too.
[[nodiscard]] verbs::OrWhyNot<std::size_t> read_archive(std::istream& in,
                                                        const ArchiveTaker& taker);

/// Unpacks an archive into an empty directory. Returns why it cannot, a sentence; empty: it was
/// unpacked.
[[nodiscard]] std::string unpack_archive(const std::filesystem::path& archive,
                                         const std::filesystem::path& directory);

/// Whether a file begins as an archive does.
[[nodiscard]] bool is_archive(const std::filesystem::path& path);

}  // namespace anyrdma::tools

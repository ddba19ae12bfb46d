#include "tools/bundle/archive.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <vector>

#include "base/text.h"

namespace anyrdma::tools {
namespace {

constexpr std::size_t kBlock = 512;
using Block = std::array<char, kBlock>;

/// A field of a header.
struct Field {
  std::size_t at = 0;
  std::size_t bytes = 0;
};
constexpr Field kName{0, 100};
constexpr Field kMode{100, 8};
constexpr Field kOwner{108, 8};
constexpr Field kGroup{116, 8};
constexpr Field kSize{124, 12};
constexpr Field kTime{136, 12};
constexpr Field kSum{148, 8};
constexpr Field kKind{156, 1};
constexpr Field kMagic{257, 8};
constexpr Field kPrefix{345, 155};
constexpr std::string_view kUstar("ustar\00000", 8);
constexpr std::string_view kGnu("ustar  \0", 8);
constexpr unsigned kExecutable = 0111;

std::string_view field_of(const Block& block, Field field) {
  return {block.data() + field.at, field.bytes};
}

std::string text_of(const Block& block, Field field) {
  const std::string_view all = field_of(block, field);
  return std::string(all.substr(0, all.find('\0')));
}

void put(Block& block, Field field, std::string_view text) {
  std::ranges::copy(text.substr(0, field.bytes),
                    block.begin() + static_cast<std::ptrdiff_t>(field.at));
}

void put_number(Block& block, Field field, std::uint64_t number) {
  std::string digits(field.bytes - 1, '0');
  for (std::size_t i = digits.size(); i-- != 0; number /= 8)
    digits[i] = static_cast<char>('0' + number % 8);
  put(block, field, digits);
}

std::optional<std::uint64_t> number_of(const Block& block, Field field) {
  std::string text = text_of(block, field);
  text.erase(0, text.find_first_not_of(' '));
  text.erase(text.find_last_not_of(' ') + 1);
  if (text.empty() || text.find_first_not_of("01234567") != std::string::npos) return std::nullopt;
  std::uint64_t number = 0;
  for (const char digit : text) number = number * 8 + static_cast<std::uint64_t>(digit - '0');
  return number;
}

/// The sum of all bytes, with blanks for the sum itself.
std::uint64_t sum_of(const Block& block) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool own = i >= kSum.at && i < kSum.at + kSum.bytes;
    sum += own ? ' ' : static_cast<unsigned char>(block[i]);
  }
  return sum;
}

bool is_end(const Block& block) {
  return std::ranges::all_of(block, [](char each) { return each == 0; });
}

bool is_header(const Block& block) {
  const std::string_view magic = field_of(block, kMagic);
  return (magic == kUstar || magic == kGnu) && number_of(block, kSum) == sum_of(block);
}

std::uint64_t padding_of(std::uint64_t bytes) {
  return (kBlock - bytes % kBlock) % kBlock;
}

enum class Next : std::uint8_t { kFile, kDirectory, kEnd };

/// The head of the next file.
verbs::OrWhyNot<Next> read_head(std::istream& in, ArchivedFile& file) {
  Block block;
  if (!in.read(block.data(), kBlock)) return verbs::WhyNot{"it ends early. Copy it again."};
  if (is_end(block)) return Next::kEnd;
  if (!is_header(block))
    return verbs::WhyNot{"it is no tar archive, or was damaged. Copy it again."};
  const auto bytes = number_of(block, kSize);
  const char kind = field_of(block, kKind).front();
  file = {.name = text_of(block, kName), .bytes = bytes.value_or(0)};
  if (const std::string prefix = text_of(block, kPrefix); !prefix.empty())
    file.name = prefix + "/" + file.name;
  while (file.name.starts_with("./")) file.name.erase(0, 2);
  if (kind == '5') return Next::kDirectory;
  if (!bytes || (kind != '0' && kind != '\0'))
    return verbs::WhyNot{"'" + file.name + "' in it is no plain file. Use an archive of --bundle."};
  if (!is_archive_name(file.name))
    return verbs::WhyNot{"the name '" + file.name +
                         "' in it leads out of the archive. Use an archive of --bundle."};
  file.executable = (number_of(block, kMode).value_or(0) & kExecutable) != 0;
  return Next::kFile;
}

}  // namespace

bool is_archive_name(std::string_view name) {
  if (name.empty() || name.size() > kArchiveNameMax || name.front() == '/') return false;
  if (std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    return false;
  while (true) {
    const std::size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

ArchiveWriter::ArchiveWriter(const std::filesystem::path& path)
    : out_(path, std::ios::binary | std::ios::trunc) {}

void ArchiveWriter::begin(const std::string& name, std::uint64_t bytes, bool executable) {
  Block block{};
  put(block, kName, name);
  put_number(block, kMode, executable ? 0755 : 0644);
  put_number(block, kOwner, 0);
  put_number(block, kGroup, 0);
  put_number(block, kSize, bytes);
  put_number(block, kTime, 0);
  put(block, kKind, "0");
  put(block, kMagic, kUstar);
  put_number(block, {kSum.at, kSum.bytes - 1}, sum_of(block));
  out_.write(block.data(), kBlock);
}

void ArchiveWriter::pad(std::uint64_t bytes) {
  const Block zeros{};
  out_.write(zeros.data(), static_cast<std::streamsize>(padding_of(bytes)));
}

void ArchiveWriter::add(const std::string& name, std::string_view content, bool executable) {
  begin(name, content.size(), executable);
  out_.write(content.data(), static_cast<std::streamsize>(content.size()));
  pad(content.size());
}

std::string ArchiveWriter::add_file(const std::string& name, const std::filesystem::path& file) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  std::ifstream in(file, std::ios::binary);
  if (error || !in) return "'" + file.string() + "' cannot be read. Check the path.";
  const auto rights = std::filesystem::status(file, error).permissions();
  begin(name, bytes, (rights & std::filesystem::perms::owner_exec) != std::filesystem::perms::none);
  std::vector<char> piece(1 << 20);
  std::uint64_t left = bytes;
  while (left != 0) {
    const auto size = static_cast<std::streamsize>(std::min<std::uint64_t>(piece.size(), left));
    if (!in.read(piece.data(), size)) return "'" + file.string() + "' has become shorter.";
    out_.write(piece.data(), size);
    left -= static_cast<std::uint64_t>(size);
  }
  pad(bytes);
  return {};
}

bool ArchiveWriter::finish() {
  const Block zeros{};
  for (int i = 0; i < 2; ++i) out_.write(zeros.data(), kBlock);
  return static_cast<bool>(out_.flush());
}

verbs::OrWhyNot<std::size_t> read_archive(std::istream& in, const ArchiveTaker& taker) {
  const verbs::WhyNot stopped{"it cannot be unpacked."};
  const verbs::WhyNot early{"it ends early. Copy it again."};
  std::uint64_t total = 0;
  for (std::size_t files = 0;;) {
    ArchivedFile file;
    const auto next = read_head(in, file);
    if (!next) return next.error();
    if (*next == Next::kEnd) return files;
    if (*next == Next::kDirectory) continue;
    total += file.bytes;
    if (++files > kArchiveFilesMax || file.bytes > kArchiveBytesMax || total > kArchiveBytesMax)
      return verbs::WhyNot{"it is larger than any archive of --bundle. Use one of these."};
    if (!taker.begin(file)) return stopped;
    std::array<char, 65536> piece;
    for (std::uint64_t left = file.bytes; left != 0;) {
      const auto size = static_cast<std::streamsize>(std::min<std::uint64_t>(piece.size(), left));
      if (!in.read(piece.data(), size)) return early;
      if (!taker.content({piece.data(), static_cast<std::size_t>(size)})) return stopped;
      left -= static_cast<std::uint64_t>(size);
    }
    const auto padding = static_cast<std::streamsize>(padding_of(file.bytes));
    if (!in.read(piece.data(), padding)) return early;
  }
}

std::string unpack_archive(const std::filesystem::path& archive,
                           const std::filesystem::path& directory) {
  std::ifstream in(archive, std::ios::binary);
  if (!in) return "the archive '" + archive.string() + "' cannot be read. Check the path.";
  std::string problem;
  std::ofstream out;
  const auto close = [&] {
    if (!out.is_open()) return true;
    out.close();
    return !out.fail();
  };
  const auto read = read_archive(
      in, {.begin =
               [&](const ArchivedFile& file) {
                 if (!close()) return false;
                 const std::filesystem::path path = directory / file.name;
                 std::error_code error;
                 std::filesystem::create_directories(path.parent_path(), error);
                 if (std::filesystem::exists(path, error)) {
                   problem = "'" + file.name + "' is in it twice. Use an archive of --bundle.";
                   return false;
                 }
                 out.open(path, std::ios::binary | std::ios::trunc);
                 if (file.executable)
                   std::filesystem::permissions(path, std::filesystem::perms::owner_all, error);
                 return static_cast<bool>(out);
               },
           .content =
               [&](std::string_view bytes) {
                 return static_cast<bool>(
                     out.write(bytes.data(), static_cast<std::streamsize>(bytes.size())));
               }});
  if (read && close()) return {};
  if (problem.empty())
    problem = read ? "there is not enough space to unpack it." : read.error().sentence;
  return "the archive '" + archive.string() + "' is not usable: " + problem;
}

bool is_archive(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream in(path, std::ios::binary);
  Block block;
  if (!in.read(block.data(), kBlock)) return false;
  const std::string_view magic = field_of(block, kMagic);
  return magic == kUstar || magic == kGnu;
}

}  // namespace anyrdma::tools

#include "transport/fabric/memory_map.h"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <charconv>
#include <string>

#include "transport/realtime/descriptor.h"

namespace anyrdma::transport::fabric {
namespace {

/// Takes a hexadecimal (or decimal) number and the character behind it off the front.
bool take(std::string_view& text, std::uint64_t& number, char end, int base = 16) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  if (text.empty()) return end == ' ';  // no name follows, nor a space
  if (text.front() != end) return false;
  text.remove_prefix(1);
  return true;
}

std::string read_all(const char* path) {
  const realtime::Descriptor fd(::open(path, O_RDONLY | O_CLOEXEC));
  std::string text;
  if (!fd) return text;
  constexpr std::size_t kStep = 1 << 16;
  while (true) {
    const std::size_t size = text.size();
    text.resize(size + kStep);
    const ssize_t got = ::read(fd.get(), text.data() + size, kStep);
    text.resize(size + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got <= 0) return text;
  }
}

}  // namespace

bool parse_mapping(std::string_view line, Mapping& mapping) {
  Mapping read;
  if (!take(line, read.begin, '-') || !take(line, read.end, ' ')) return false;
  if (line.size() < 5 || line[4] != ' ') return false;
  read.read = line[0] == 'r';
  read.write = line[1] == 'w';
  read.execute = line[2] == 'x';
  read.shared = line[3] == 's';
  line.remove_prefix(5);
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  if (!take(line, read.offset, ' ') || !take(line, major, ':') || !take(line, minor, ' '))
    return false;
  if (!take(line, read.inode, ' ', 10)) return false;
  read.device = ::makedev(static_cast<unsigned>(major), static_cast<unsigned>(minor));
  const std::size_t name = line.find_first_not_of(' ');
  if (name != std::string_view::npos) {
    line.remove_prefix(name);
    read.named = line != "[heap]" && !line.starts_with("[anon:");
  }
  mapping = read;
  return true;
}

std::vector<Mapping> mappings_in(std::uint64_t begin, std::uint64_t end) {
  const std::string text = read_all("/proc/self/maps");
  std::vector<Mapping> found;
  std::string_view rest(text);
  while (!rest.empty()) {
    const std::size_t line = rest.find('\n');
    Mapping mapping;
    if (parse_mapping(rest.substr(0, line), mapping) && mapping.end > begin && mapping.begin < end)
      found.push_back(mapping);
    if (line == std::string_view::npos) break;
    rest.remove_prefix(line + 1);
  }
  return found;
}

}  // namespace anyrdma::transport::fabric

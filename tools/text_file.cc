#include "tools/text_file.h"

#include <fstream>
#include <utility>

namespace anyrdma::tools {

verbs::OrWhyNot<std::string> read_text_file(const std::string& what, const std::string& path) {
  const std::string name = what + " '" + path + "'";
  std::ifstream file(path, std::ios::binary);
  if (!file) return verbs::WhyNot{name + " cannot be read. Check the path."};
  std::string text;
  for (char bytes[1 << 16]; file;) {
    file.read(bytes, sizeof bytes);
    text.append(bytes, static_cast<std::size_t>(file.gcount()));
    if (text.size() > kTextFileMax)
      return verbs::WhyNot{name + " has more than 16 MiB, the largest size. Check the path."};
  }
  if (file.bad()) return verbs::WhyNot{name + " cannot be read. Check the path."};
  return {boost::system::in_place_value, std::move(text)};
}

}  // namespace anyrdma::tools

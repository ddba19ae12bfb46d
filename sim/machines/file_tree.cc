#include "sim/machines/file_tree.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace anyrdma::sim {

bool write_tree(const std::string& directory, const std::map<std::string, std::string>& files) {
  std::error_code error;
  for (const auto& [path, content] : files) {
    const std::filesystem::path file = directory + path;
    std::filesystem::create_directories(file.parent_path(), error);
    if (path.ends_with('/')) continue;
    if (path.starts_with("/dev/")) {
      std::filesystem::create_symlink("/dev/null", file, error);
      if (error) return false;
      continue;
    }
    std::ofstream out(file);
    if (!content.empty()) out << content << '\n';
    out.close();
    if (!out) return false;
  }
  return true;
}

}  // namespace anyrdma::sim

#include "transport/fabric/rendezvous/testing/scratch.h"

#include <cstdlib>
#include <filesystem>

#include "verbs/assert.h"

namespace anyrdma::transport::fabric::testing {

Scratch::Scratch() {
  std::string pattern = (std::filesystem::temp_directory_path() / "anyrdma-test-XXXXXX").string();
  CM_ASSERT(::mkdtemp(pattern.data()) != nullptr);
  config_.name = "test";
  config_.directory = pattern;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(config_.directory, ignored);
}

std::string Scratch::place() const {
  return config_.directory + "/anyrdma-" + std::to_string(config_.uid);
}

std::string Scratch::file(const std::string& name) const {
  return place() + "/" + name;
}

bool Scratch::exists() const {
  return !std::filesystem::is_empty(config_.directory);
}

}  // namespace anyrdma::transport::fabric::testing

#include "transport/fabric/error.h"

#include <cerrno>
#include <cstring>

namespace anyrdma::transport::fabric {
namespace {

struct Row {
  FabricErrc error;
  int number;
  const char* message;
};

constexpr Row kRows[] = {
    {FabricErrc::kBadName, EINVAL, "not a name for a fabric"},
    {FabricErrc::kWrongUser, EPERM, "not the effective user"},
    {FabricErrc::kNoDirectory, ENOENT, "no such directory"},
    {FabricErrc::kNotWritable, EACCES, "cannot create or open the registry"},
    {FabricErrc::kNotOurs, EPERM, "the registry is not ours alone"},
    {FabricErrc::kOtherVersion, EPROTO, "the registry is in use by another version"},
    {FabricErrc::kNoSpace, ENOSPC, "no space left for the registry"},
    {FabricErrc::kTooManyProcesses, EAGAIN, "too many processes"},
    {FabricErrc::kNoSocket, EACCES, "Unix sockets are refused"},
    {FabricErrc::kNoResources, EMFILE, "out of descriptors, memory or threads"},
};

const Row* row_of(int value) {
  for (const Row& row : kRows)
    if (static_cast<int>(row.error) == value) return &row;
  return nullptr;
}

class FabricCategory final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "anyrdma-fabric"; }
  std::string message(int value) const override {
    const Row* row = row_of(value);
    return row != nullptr ? row->message : "unknown fabric error";
  }
  boost::system::error_condition default_error_condition(int value) const noexcept override {
    const Row* row = row_of(value);
    if (row == nullptr) return {value, *this};
    return {row->number, boost::system::generic_category()};
  }
};

std::string sentence(FabricErrc error, const FabricConfig& config) {
  const std::string file = registry_path(config);
  switch (error) {
    case FabricErrc::kBadName:
      return "'" + config.name +
             "' cannot name a fabric: use 1 to 64 letters, digits, '.', '_' or '-', and no '.' in "
             "front.";
    case FabricErrc::kWrongUser:
      return "A fabric of user " + std::to_string(config.uid) +
             " can only be joined by a process of that user: run the program as that user.";
    case FabricErrc::kNoDirectory:
      return "The directory " + config.directory +
             " for the rendezvous file does not exist: mount it (a tmpfs) or choose another "
             "directory.";
    case FabricErrc::kNotWritable:
      return "The rendezvous file " + file +
             " cannot be created or opened: make the directory writable for this user or choose "
             "another directory.";
    case FabricErrc::kNotOurs:
      return "The rendezvous file " + file +
             " is not a plain file that belongs to this user alone: remove it, or choose another "
             "fabric name.";
    case FabricErrc::kOtherVersion:
      return "The rendezvous file " + file +
             " is in use by processes of another version of anyrdma: end them, or choose another "
             "fabric name.";
    case FabricErrc::kNoSpace:
      return "No space is left in " + config.directory +
             " for the rendezvous file: free some, or choose another directory.";
    case FabricErrc::kTooManyProcesses:
      return "The fabric '" + config.name +
             "' already has as many processes as it can hold: end some, or choose another fabric "
             "name.";
    case FabricErrc::kNoSocket:
      return "The system refuses Unix sockets, over which processes exchange packets: allow "
             "AF_UNIX SOCK_SEQPACKET sockets in this sandbox.";
    case FabricErrc::kNoResources:
      return "No descriptors, memory or threads are left to join the fabric: raise the limits "
             "(ulimit -n, ulimit -u).";
  }
  return "unknown fabric error";
}

}  // namespace

const boost::system::error_category& fabric_category() {
  static const FabricCategory category;
  return category;
}

int errno_of(const boost::system::error_code& error) {
  return error.default_error_condition().value();
}

std::string registry_path(const FabricConfig& config) {
  return config.directory + "/anyrdma-" + std::to_string(config.uid) + "-" + config.name;
}

std::string explain(const boost::system::error_code& error, const FabricConfig& config) {
  if (error.category() == fabric_category())
    return sentence(static_cast<FabricErrc>(error.value()), config);
  return "The fabric '" + config.name + "' cannot be joined: " + error.message() + ".";
}

}  // namespace anyrdma::transport::fabric

#include "transport/fabric/rendezvous/error.h"

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
    {FabricErrc::kNoSpace, ENOSPC, "no space or inode left for the registry"},
    {FabricErrc::kTooManyProcesses, EAGAIN, "too many processes"},
    {FabricErrc::kNoSocket, EACCES, "Unix sockets are refused"},
    {FabricErrc::kNoResources, EMFILE, "out of descriptors, memory or threads"},
    {FabricErrc::kNamesTaken, EPERM, "strangers have taken all names"},
    {FabricErrc::kFileLimit, EFBIG, "the limit of file sizes is too low"},
    {FabricErrc::kUnsuitable, EOPNOTSUPP, "the file system cannot lock or reserve"},
    {FabricErrc::kBadDevices, EINVAL, "not a number of devices"},
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

/// Where the place for the rendezvous could be.
std::string where(const FabricConfig& config) {
  if (!config.directory.empty()) return config.directory;
  return "/run/user/" + std::to_string(config.uid) + ", /dev/shm or /tmp";
}

std::string sentence(FabricErrc error, const FabricConfig& config) {
  switch (error) {
    case FabricErrc::kBadName:
      return "'" + config.name +
             "' cannot name a fabric: use 1 to 64 letters, digits, '.', '_' or '-', and no '.' in "
             "front.";
    case FabricErrc::kWrongUser:
      return "A fabric of user " + std::to_string(config.uid) +
             " can only be joined by a process of that user: run the program as that user.";
    case FabricErrc::kNoDirectory:
      return "There is no directory " + where(config) +
             " in which processes could meet: make one, or name another one in ANYRDMA_DIR.";
    case FabricErrc::kNotWritable:
      return "This user may not write in " + where(config) +
             ", where processes would meet: allow it, or name another directory in ANYRDMA_DIR.";
    case FabricErrc::kNotOurs:
      return "In the directory anyrdma-" + std::to_string(config.uid) + " in " + where(config) +
             ", '" + config.name +
             "' is no plain file of this user alone: remove it, or choose another fabric name.";
    case FabricErrc::kOtherVersion:
      return "Processes of another version of anyrdma are in the fabric '" + config.name +
             "': end them, or choose another fabric name.";
    case FabricErrc::kNoSpace:
      return "No space or no inode is left in " + where(config) +
             ", where processes would meet: free 64 KiB and some files, or name another directory "
             "in ANYRDMA_DIR.";
    case FabricErrc::kTooManyProcesses:
      return "The fabric '" + config.name +
             "' already has 1024 processes, as many as it can hold: end some, or choose another "
             "fabric name.";
    case FabricErrc::kNoSocket:
      return "The system refuses Unix sockets, over which processes exchange packets: allow "
             "AF_UNIX SOCK_SEQPACKET sockets in this sandbox, or name a directory whose file "
             "system knows sockets in ANYRDMA_DIR.";
    case FabricErrc::kNoResources:
      return "No descriptors, memory or threads are left to join the fabric: raise the limits "
             "(ulimit -n, ulimit -u).";
    case FabricErrc::kNamesTaken:
      return "Other users have taken all names (anyrdma-" + std::to_string(config.uid) +
             ".N) of the directory in " + where(config) +
             " in which processes would meet: have them removed, or name another directory in "
             "ANYRDMA_DIR.";
    case FabricErrc::kFileLimit:
      return "The file through which processes meet would be larger than a file may be: raise "
             "the limit (ulimit -f) to 64 KiB or more.";
    case FabricErrc::kUnsuitable:
      return "The file system of " + where(config) +
             " cannot lock files or promise them space: name a directory in memory (tmpfs) in "
             "ANYRDMA_DIR.";
    case FabricErrc::kBadDevices:
      return "A fabric cannot have " + std::to_string(config.devices) + " devices: use 1 to " +
             std::to_string(kRailsMax) + ".";
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

std::string explain(const boost::system::error_code& error, const FabricConfig& config) {
  if (error.category() == fabric_category())
    return sentence(static_cast<FabricErrc>(error.value()), config);
  return "The fabric '" + config.name + "' cannot be joined: " + error.message() + ".";
}

}  // namespace anyrdma::transport::fabric

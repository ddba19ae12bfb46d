#include "transport/open/real.h"

#include <cerrno>
#include <iterator>
#include <string>
#include <utility>

#include "transport/fabric/fabric.h"

namespace anyrdma::transport {
namespace {

class OpenedFabric final : public Opened {
 public:
  explicit OpenedFabric(std::unique_ptr<fabric::Fabric> fabric) : fabric_(std::move(fabric)) {}
  Transport& transport() override { return fabric_->transport(); }
  const char* name() const override { return "fabric"; }
  bool forked() const override { return fabric_->forked(); }
  void retire() override { fabric_->retire(); }

 private:
  std::unique_ptr<fabric::Fabric> fabric_;
};

OpenResult open_fabric(const OpenOptions& options) {
  auto opened = fabric::Fabric::open(options.fabric);
  if (!opened) {
    return OpenError{verbs::errno_code(fabric::errno_of(opened.error())),
                     fabric::explain(opened.error(), options.fabric)};
  }
  return std::unique_ptr<Opened>(std::make_unique<OpenedFabric>(std::move(*opened)));
}

struct Row {
  const char* name;
  OpenResult (*open)(const OpenOptions&);  ///< null: not in real time
};

constexpr Row kRows[] = {
    {"fabric", open_fabric},
    {"sim", nullptr},
};

const Row* row_of(std::string_view name) {
  for (const Row& row : kRows)
    if (name == row.name) return &row;
  return nullptr;
}

std::string known_names() {
  std::string names;
  for (const Row& row : kRows) {
    if (&row != kRows) names += &row == std::end(kRows) - 1 ? " or " : ", ";
    names += row.name;
  }
  return names;
}

}  // namespace

std::string why_not_real(std::string_view name) {
  const Row* const row = row_of(name);
  if (row == nullptr)
    return "There is no transport '" + std::string(name) + "': choose " + known_names() + ".";
  if (row->open != nullptr) return {};
  return "The simulator lives in one thread, of a program that was built with it: choose fabric, "
         "or see docs/sim.md.";
}

OpenResult open_real(std::string_view name, const OpenOptions& options) {
  if (auto why = why_not_real(name); !why.empty()) {
    return OpenError{verbs::errno_code(EINVAL), std::move(why)};
  }
  return row_of(name)->open(options);
}

}  // namespace anyrdma::transport

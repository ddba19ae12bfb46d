#include "sim/process.h"

#include <utility>

#include "verbs/misuse.h"

namespace anyrdma::sim {

Process::Process(std::string name, transport::soft::SoftTransport& transport, bool loud)
    : name_(std::move(name)), transport_(transport), loud_(loud) {}

Process::~Process() {
  const std::string left = belongings_ == nullptr ? std::string() : belongings_->left();
  if (loud_ && !left.empty()) {
    verbs::report_misuse(transport_.runtime(), {"exit", name_, "left behind: " + left});
  }
  belongings_.reset();
  transport_.end_process(this);
}

}  // namespace anyrdma::sim

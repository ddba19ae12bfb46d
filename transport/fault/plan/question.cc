#include "transport/fault/plan/question.h"

namespace anyrdma::fault {
namespace {

struct Word {
  std::string_view text;
  bool Oversight::*member;
};

constexpr std::array kWords{
    Word{"events", &Oversight::events}, Word{"calls", &Oversight::calls},
    Word{"gate", &Oversight::gate},     Word{"requests", &Oversight::requests},
    Word{"takes", &Oversight::takes},
};

}  // namespace

std::string Oversight::to_string() const {
  std::string text = "device";
  for (const Word& word : kWords) {
    if (this->*word.member) text.append(",").append(word.text);
  }
  return text;
}

Oversight Oversight::parse(std::string_view text) {
  Oversight oversight;
  while (!text.empty()) {
    const std::size_t end = text.find(',');
    for (const Word& word : kWords) {
      if (text.substr(0, end) == word.text) oversight.*word.member = true;
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return oversight;
}

}  // namespace anyrdma::fault

// Several lambdas as one, for std::visit.
#pragma once

namespace anyrdma::verbs {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;  // clang 14 does not deduce aggregates

}  // namespace anyrdma::verbs

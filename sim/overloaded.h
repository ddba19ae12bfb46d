// Several lambdas as one, for std::visit.
#pragma once

namespace anyrdma::sim {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace anyrdma::sim

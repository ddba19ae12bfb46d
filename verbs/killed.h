// A program that is killed inside a call.
#pragma once

namespace anyrdma::verbs {

/// Unwinds it, from where it waits to where it began. Whoever keeps exceptions from passing lets
/// this one pass; nobody but who runs the program ends it.
struct Killed {};

}  // namespace anyrdma::verbs

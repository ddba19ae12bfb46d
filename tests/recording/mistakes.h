// Programs with a mistake each, of the kinds that people look for: what a recording shows of them,
// and how fast its page leads to them.
#pragma once

#include "sim/testing/program.h"
#include "sim/world.h"

namespace anyrdma::tests {

/// Two hosts of a world, and programs on them. Programs that still wait end with it.
class Mistakes {
 public:
  explicit Mistakes(sim::World& world);
  ~Mistakes();
  Mistakes(const Mistakes&) = delete;
  Mistakes& operator=(const Mistakes&) = delete;

  /// A hang: the server destroys an id without giving back the event that told it to.
  void forgets_to_acknowledge();
  /// A lost message: the client's farewell never comes, and the server waits for it.
  void never_hears_of_the_end();
  /// A lost event: the server waits for ESTABLISHED on the channel that the id has left.
  void waits_at_the_wrong_channel();
  /// Wrong data: the client reads before the server has written. What it has read is expected to
  /// be the answer.
  void reads_too_early();
  /// Illegal order: the server posts its receive after it has let the client send.
  void receives_too_late();

 private:
  struct Side {
    std::unique_ptr<cm::Id> id;
    std::unique_ptr<sim::testing::Pipe> pipe;  ///< destroyed before its id
  };
  [[nodiscard]] Side accept();
  [[nodiscard]] Side connect();
  void serve(std::function<void()> body);
  void ask(std::function<void()> body);

  sim::World& world_;
  sim::testing::Program server_;
  sim::testing::Program client_;
};

}  // namespace anyrdma::tests

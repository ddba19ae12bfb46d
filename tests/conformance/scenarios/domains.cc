// Domains of threads, and the parent domains that tell of them: whatever is made with a parent
// belongs to the protection domain behind it.
#include <cerrno>

#include "tests/conformance/endpoint.h"
#include "tests/conformance/scenario.h"

namespace anyrdma::conformance {
namespace {

ibv_td* make_thread_domain(Endpoint& owner) {
  ibv_td_init_attr attr{};
  ibv_td* const made = ibv_alloc_td(owner.context(), &attr);
  owner.note_call("alloc_td()", made != nullptr ? 0 : errno);
  return made;
}

}  // namespace

SCENARIO(domains, of_threads) {
  Endpoint alone(server, {});
  if (!alone.is_made()) return;
  ibv_td* const threads = make_thread_domain(alone);
  if (threads != nullptr) alone.note_call("dealloc_td()", ibv_dealloc_td(threads));
}

SCENARIO(domains, have_parents) {
  Endpoint alone(server, {.parent = true});
  alone.note_made();
}

SCENARIO(domains, end_after_their_parents, .needs = {Ability::kParentDomains}) {
  Endpoint alone(server, {});
  if (!alone.is_made()) return;
  ibv_td* const threads = make_thread_domain(alone);
  const Calls::Verbs& verbs = alone.calls().verbs;
  Owned<ibv_pd> own(verbs.alloc_pd(alone.context()), verbs.dealloc_pd);
  if (!own || threads == nullptr) return alone.note("has no domains");
  ibv_parent_domain_init_attr attr{};
  attr.pd = own.get();
  attr.td = threads;
  Owned<ibv_pd> parent(ibv_alloc_parent_domain(alone.context(), &attr), verbs.dealloc_pd);
  alone.note_call("alloc_parent_domain()", parent ? 0 : errno);
  alone.note_call("dealloc_td()", ibv_dealloc_td(threads));
  alone.note_call("dealloc_pd() of what it protects with", own.destroy());
  alone.note_call("dealloc_pd() of the parent", parent.destroy());
  alone.note_call("dealloc_pd() of what it protects with", own.destroy());
  alone.note_call("dealloc_td()", ibv_dealloc_td(threads));
}

SCENARIO(domains, have_parents_of_some_domain_and_none_themselves,
         .needs = {Ability::kParentDomains}) {
  Endpoint alone(server, {});
  if (!alone.is_made()) return;
  ibv_parent_domain_init_attr attr{};
  const auto make = [&](const char* of) {
    errno = 0;
    Owned<ibv_pd> made(ibv_alloc_parent_domain(alone.context(), &attr),
                       alone.calls().verbs.dealloc_pd);
    alone.note_call(std::string("alloc_parent_domain() of ") + of, made ? 0 : errno);
    return made;
  };
  (void)make("nothing");
  attr.pd = alone.pd();
  const Owned<ibv_pd> parent = make("a domain");
  attr.pd = parent.get();
  (void)make("a parent");
}

SCENARIO(domains, protect_what_their_parents_made, .needs = {Ability::kParentDomains}) {
  Link link(stage, {.parent = true});
  link.active.memory().fill('a');
  link.passive.post_recv(64);
  link.active.post({.length = 8});
  link.active.take_send();
  link.passive.take_recv();
  link.active.post({.opcode = IBV_WR_RDMA_WRITE, .length = 8, .peer = &link.passive, .at = 64});
  link.active.take_send();
  link.passive.note_memory(80);
}

SCENARIO(domains, do_not_open_others_to_their_parents, .needs = {Ability::kParentDomains}) {
  Link link(stage, {.parent = true});
  const Endpoint stranger(client, {});
  link.passive.post_recv();
  link.active.post({.length = 8, .from = &stranger});
  link.active.take_send();
}

}  // namespace anyrdma::conformance

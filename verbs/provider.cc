#include "verbs/provider.h"

#include <cstddef>
#include <cstdint>

#include "verbs/assert.h"

namespace anyrdma::verbs {
namespace {

/// Only its address counts.
const char kOurs = 0;
Provider* system_provider = nullptr;

verbs_ex_private* mark() {
  return reinterpret_cast<verbs_ex_private*>(reinterpret_cast<std::uintptr_t>(&kOurs));
}

}  // namespace

ProvidedContext::ProvidedContext() {
  vctx.priv = mark();
}

ProvidedContext& ProvidedContext::from(const ibv_context* context) {
  // verbs_context ends with the ibv_context (rdma-core's container_of convention).
  constexpr std::size_t kOffset =
      offsetof(ProvidedContext, vctx) + offsetof(verbs_context, context);
  const auto address = reinterpret_cast<std::uintptr_t>(context) - kOffset;
  return *reinterpret_cast<ProvidedContext*>(address);
}

Provider& provider_of(const ibv_context* context) {
  constexpr std::size_t kOffset = offsetof(verbs_context, context) - offsetof(verbs_context, priv);
  const auto address = reinterpret_cast<std::uintptr_t>(context) - kOffset;
  // Every context is part of a verbs_context: since rdma-core 17 the system's are, too.
  const bool ours = *reinterpret_cast<verbs_ex_private* const*>(address) == mark();
  Provider* const provider = ours ? ProvidedContext::from(context).provider : system_provider;
  CM_ASSERT(provider != nullptr);
  return *provider;
}

void speak_for_system_contexts(Provider* provider) {
  system_provider = provider;
}

}  // namespace anyrdma::verbs

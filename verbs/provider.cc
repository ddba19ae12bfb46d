#include "verbs/provider.h"

#include <cstddef>
#include <cstdint>

#include "verbs/assert.h"

namespace anyrdma::verbs {

ProvidedContext& ProvidedContext::from(const ibv_context* context) {
  // verbs_context ends with the ibv_context (rdma-core's container_of convention).
  constexpr std::size_t kOffset =
      offsetof(ProvidedContext, vctx) + offsetof(verbs_context, context);
  const auto address = reinterpret_cast<std::uintptr_t>(context) - kOffset;
  return *reinterpret_cast<ProvidedContext*>(address);
}

Provider& provider_of(const ibv_context* context) {
  Provider* provider = ProvidedContext::from(context).provider;
  CM_ASSERT(provider != nullptr);
  return *provider;
}

}  // namespace anyrdma::verbs

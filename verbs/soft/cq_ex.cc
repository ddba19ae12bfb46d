// Extended completion queues: polling one completion at a time, field by field, and what a
// completion queue can be asked for when it is made.
#include <cerrno>
#include <chrono>
#include <string>

#include "verbs/misuse.h"
#include "verbs/soft/context.h"
#include "verbs/soft/soft_hca.h"

namespace anyrdma::verbs::soft {
namespace {

// Without virtual LANs, flows and tags of flows their fields are 0. There is no matching of tags.
constexpr std::uint64_t kFields =
    IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP |
    IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL | IBV_WC_EX_WITH_DLID_PATH_BITS |
    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_CVLAN | IBV_WC_EX_WITH_FLOW_TAG |
    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
constexpr std::uint64_t kTimestamps =
    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;

SoftCq& soft(ibv_cq_ex* cq) {
  return *static_cast<SoftCq*>(ibv_cq_ex_to_cq(cq));
}

const ibv_wc& current(ibv_cq_ex* cq) {
  return soft(cq).polling->completion;
}

// --- from start_poll to end_poll ----------------------------------------------------------------

int take(ibv_cq_ex* cq) {
  PollBracket& polling = *soft(cq).polling;
  if (cq->context->ops.poll_cq(ibv_cq_ex_to_cq(cq), 1, &polling.completion) != 1) return ENOENT;
  cq->status = polling.completion.status;
  cq->wr_id = polling.completion.wr_id;
  return 0;
}

int start_poll(ibv_cq_ex* cq, ibv_poll_cq_attr* attr) {
  if (attr != nullptr && attr->comp_mask != 0) return EINVAL;
  PollBracket& polling = *soft(cq).polling;
  Runtime& runtime = SoftContext::from(cq->context).core().runtime;
  if (!polling.bracket.enter(runtime)) {
    report_misuse(runtime, {"ibv_start_poll", "completion queue " + std::to_string(soft(cq).made),
                            "was started by this thread already, without ibv_end_poll"});
    return EINVAL;
  }
  const int error = take(cq);
  if (error != 0) polling.bracket.leave();  // end_poll is only for those who have started
  return error;
}

void end_poll(ibv_cq_ex* cq) {
  soft(cq).polling->bracket.leave();
}

// --- fields -------------------------------------------------------------------------------------

std::uint64_t read_timestamp(ibv_cq_ex* cq) {
  return static_cast<std::uint64_t>(soft(cq).polling->completed.time_since_epoch().count());
}

std::uint64_t read_wall_clock(ibv_cq_ex* cq) {
  Runtime& runtime = SoftContext::from(cq->context).core().runtime;
  return static_cast<std::uint64_t>(runtime.wall_clock(soft(cq).polling->completed).count());
}

// Those that a completion has whatever was asked for, and those of `fields`. The others stay null.
ibv_cq_ex functions_for(std::uint64_t fields) {
  const auto asked = [fields](std::uint64_t field) { return (fields & field) != 0; };
  ibv_cq_ex it{};
  it.start_poll = start_poll;
  it.next_poll = take;
  it.end_poll = end_poll;
  it.read_opcode = [](ibv_cq_ex* cq) { return current(cq).opcode; };
  it.read_vendor_err = [](ibv_cq_ex* cq) { return current(cq).vendor_err; };
  it.read_wc_flags = [](ibv_cq_ex* cq) { return current(cq).wc_flags; };
  if (asked(IBV_WC_EX_WITH_BYTE_LEN))
    it.read_byte_len = [](ibv_cq_ex* cq) { return current(cq).byte_len; };
  if (asked(IBV_WC_EX_WITH_IMM))
    it.read_imm_data = [](ibv_cq_ex* cq) -> __be32 { return current(cq).imm_data; };
  if (asked(IBV_WC_EX_WITH_QP_NUM))
    it.read_qp_num = [](ibv_cq_ex* cq) { return current(cq).qp_num; };
  if (asked(IBV_WC_EX_WITH_SRC_QP))
    it.read_src_qp = [](ibv_cq_ex* cq) { return current(cq).src_qp; };
  if (asked(IBV_WC_EX_WITH_SLID))
    it.read_slid = [](ibv_cq_ex* cq) { return std::uint32_t{current(cq).slid}; };
  if (asked(IBV_WC_EX_WITH_SL)) it.read_sl = [](ibv_cq_ex* cq) { return current(cq).sl; };
  if (asked(IBV_WC_EX_WITH_DLID_PATH_BITS))
    it.read_dlid_path_bits = [](ibv_cq_ex* cq) { return current(cq).dlid_path_bits; };
  if (asked(IBV_WC_EX_WITH_CVLAN)) it.read_cvlan = [](ibv_cq_ex*) { return std::uint16_t{0}; };
  if (asked(IBV_WC_EX_WITH_FLOW_TAG)) it.read_flow_tag = [](ibv_cq_ex*) { return 0u; };
  if (asked(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)) it.read_completion_ts = read_timestamp;
  if (asked(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK))
    it.read_completion_wallclock_ns = read_wall_clock;
  return it;
}

// --- making and changing ------------------------------------------------------------------------

int check(const ibv_context* context, const ibv_cq_init_attr_ex& init) {
  constexpr std::uint32_t kMask = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
  constexpr std::uint32_t kFlags =
      IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
  if ((init.comp_mask & ~kMask) != 0) return EINVAL;
  if ((init.wc_flags & ~kFields) != 0) return EOPNOTSUPP;
  if ((init.comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 && (init.flags & ~kFlags) != 0)
    return EOPNOTSUPP;
  if ((init.comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) != 0) {
    // It would take its memory from there, so it must be a parent domain.
    if (init.parent_domain == nullptr) return EINVAL;
    const Core& core = SoftContext::from(context).core();
    CriticalSection section(core.runtime);
    const auto domain = core.handles.find<SoftPd>(context, *init.parent_domain);
    if (!domain) return domain.error().value();
    if ((*domain)->protection == nullptr) return EINVAL;
  }
  return init.cqe > 0x7fff'ffff || init.comp_vector > 0x7fff'ffff ? EINVAL : 0;
}

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* init) {
  int error = init == nullptr ? EINVAL : check(context, *init);
  if (error == 0) {
    const auto made =
        provider_of(context).create_cq(context, static_cast<int>(init->cqe), init->cq_context,
                                       init->channel, static_cast<int>(init->comp_vector));
    if (made) {
      const bool flags = (init->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0;
      const auto set = [&](unsigned flag) { return flags && (init->flags & flag) != 0; };
      auto& cq = *static_cast<SoftCq*>(*made);
      cq.extend(functions_for(init->wc_flags));
      cq.polling = std::make_unique<PollBracket>(set(IBV_CREATE_CQ_ATTR_SINGLE_THREADED));
      cq.set_options({.timestamps = (init->wc_flags & kTimestamps) != 0,
                      .overwrites = set(IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)});
      return reinterpret_cast<ibv_cq_ex*>(static_cast<ibv_cq*>(&cq));
    }
    error = made.error().value();
  }
  errno = error;
  return nullptr;
}

constexpr std::uint16_t kModerationCountMax = 0xffff;
constexpr std::uint16_t kModerationPeriodMax = 0xfff;  // microseconds, as on mlx5

int modify_cq(ibv_cq* cq, ibv_modify_cq_attr* attr) {
  if (cq == nullptr || attr == nullptr) return EINVAL;
  const Core& core = SoftContext::from(cq->context).core();
  CriticalSection section(core.runtime);
  if (const int error = core.refusal("modify_cq"); error != 0) return error;
  const auto found = core.handles.find<SoftCq>(*cq);
  if (!found) return found.error().value();
  if ((attr->attr_mask & ~std::uint32_t{IBV_CQ_ATTR_MODERATE}) != 0) return EINVAL;
  if (attr->attr_mask == 0) return 0;
  const auto [count, period] = attr->moderate;
  if (period > kModerationPeriodMax) return EINVAL;
  (*found)->set_moderation({count, std::chrono::microseconds(period)});
  return 0;
}

}  // namespace

Result<void> SoftHca::resize_cq(ibv_cq* cq, int cqe) {
  CriticalSection section(core_.runtime);
  if (const int error = core_.refusal("resize_cq"); error != 0) return errno_code(error);
  const auto found = core_.handles.find<SoftCq>(*cq);
  if (!found) return found.error();
  if (cqe < 1 || static_cast<std::uint32_t>(cqe) > core_.config.max_cqe) return errno_code(EINVAL);
  if (!(*found)->resize(cqe)) return errno_code(EINVAL);
  return {};
}

void describe_moderation(ibv_device_attr_ex& attr) {
  attr.cq_mod_caps = {.max_cq_count = kModerationCountMax, .max_cq_period = kModerationPeriodMax};
}

void install_cq_operations(verbs_context& context) {
  context.create_cq_ex = create_cq_ex;
  context.modify_cq = modify_cq;
}

}  // namespace anyrdma::verbs::soft

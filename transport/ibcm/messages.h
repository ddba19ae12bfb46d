// Builds the CM messages of a connection from the connection's state.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "transport/ibcm/connection.h"
#include "transport/ibcm/wire/drep.h"
#include "transport/ibcm/wire/dreq.h"
#include "transport/ibcm/wire/mra.h"
#include "transport/ibcm/wire/rej.h"
#include "transport/ibcm/wire/rep.h"
#include "transport/ibcm/wire/req.h"
#include "transport/ibcm/wire/rtu.h"
#include "transport/ibcm/wire/sidr_rep.h"
#include "transport/ibcm/wire/sidr_req.h"

namespace anyrdma::ibcm {

/// Returns the transaction id of an exchange that this side begins. The upper half is the number of
/// the MAD agent, the lower half the local comm id with its bytes reversed, as on Linux on a
/// little-endian machine (cm_form_tid).
[[nodiscard]] std::uint64_t own_transaction_id(const Connection& connection);

/// Makes the REQ that begins the connection. Precondition: the connection has its ids, path and
/// timeouts.
[[nodiscard]] wire::Req make_req(const Connection& connection, const ReqParameters& parameters,
                                 const AgentConfig& config);
[[nodiscard]] wire::Rep make_rep(const Connection& connection, const RepParameters& parameters,
                                 Guid ca_guid);
[[nodiscard]] wire::Rtu make_rtu(const Connection& connection);
[[nodiscard]] wire::Mra make_mra(const Connection& connection, wire::AnsweredMessage message,
                                 std::uint8_t service_timeout);
/// Makes a REJ. Its ids and the rejected message depend on the connection's state, so call it
/// before the state changes (cm_format_rej).
[[nodiscard]] wire::Rej make_rej(const Connection& connection, std::uint16_t reason);
[[nodiscard]] wire::Dreq make_dreq(const Connection& connection);
[[nodiscard]] wire::Drep make_drep(const Connection& connection);
[[nodiscard]] wire::SidrReq make_sidr_req(const Connection& connection,
                                          const SidrReqParameters& parameters);
[[nodiscard]] wire::SidrRep make_sidr_rep(const Connection& connection,
                                          const SidrRepParameters& parameters);

/// Makes a REJ or DREP as an answer to a message that belongs to no connection (cm_issue_rej,
/// cm_issue_drep).
[[nodiscard]] wire::Rej make_stateless_rej(const wire::Req& req, std::uint16_t reason);
[[nodiscard]] wire::Rej make_stateless_rej(const wire::Rep& rep, std::uint16_t reason);
[[nodiscard]] wire::Drep make_stateless_drep(const wire::Dreq& dreq);
[[nodiscard]] wire::SidrRep make_stateless_sidr_rep(const wire::SidrReq& request,
                                                    std::uint8_t status);

/// Returns the parameters of a received REQ for the user. `from` is the path on which the REQ came.
[[nodiscard]] ReqParameters parameters_of(const wire::Req& req, const Path& from);
[[nodiscard]] RepParameters parameters_of(const wire::Rep& rep);
[[nodiscard]] SidrRepParameters parameters_of(const wire::SidrRep& reply);

/// Converts a GUID to the eight bytes of the additional reject information. guid_of() does the
/// reverse.
[[nodiscard]] std::array<std::uint8_t, 8> bytes_of(Guid guid);
[[nodiscard]] Guid guid_of(std::span<const std::uint8_t> bytes);

}  // namespace anyrdma::ibcm

#include "transport/ibcm/fuzz/fuzz_codecs.h"

#include <algorithm>
#include <array>
#include <span>

#include "transport/ibcm/wire/apr.h"
#include "transport/ibcm/wire/drep.h"
#include "transport/ibcm/wire/dreq.h"
#include "transport/ibcm/wire/lap.h"
#include "transport/ibcm/wire/mra.h"
#include "transport/ibcm/wire/rej.h"
#include "transport/ibcm/wire/rep.h"
#include "transport/ibcm/wire/req.h"
#include "transport/ibcm/wire/rtu.h"
#include "transport/ibcm/wire/sidr_rep.h"
#include "transport/ibcm/wire/sidr_req.h"
#include "verbs/assert.h"

namespace anyrdma::ibcm::fuzz {
namespace {

using verbs::Result;
using wire::Attribute;
using Mad = std::array<std::uint8_t, wire::kMadSize>;

constexpr std::array kMessages{Attribute::kReq,  Attribute::kMra,     Attribute::kRej,
                               Attribute::kRep,  Attribute::kRtu,     Attribute::kDreq,
                               Attribute::kDrep, Attribute::kSidrReq, Attribute::kSidrRep,
                               Attribute::kLap,  Attribute::kApr};

// What was read and written once must be read and written again the same way: reserved bits are
// gone after the first time, nothing else may change.
template <class Message>
void round_trip(const Result<Message>& first) {
  if (!first) {
    CM_ASSERT(first.error().category() == wire::decode_category());
    return;
  }
  Mad written;
  first->serialize(written);
  const Result<Message> second = Message::parse(written);
  CM_ASSERT(second.has_value());
  Mad again;
  again.fill(0xff);
  second->serialize(again);
  CM_ASSERT(written == again);
}

void round_trip_header(const Mad& mad) {
  const Result<wire::MadHeader> header = wire::MadHeader::parse(mad);
  if (!header) return;
  Mad written;
  header->serialize(written);
  CM_ASSERT(wire::MadHeader::parse(written).value() == *header);
}

void round_trip_as(Attribute attribute, const Mad& mad) {
  switch (attribute) {
    case Attribute::kReq:
      return round_trip(wire::Req::parse(mad));
    case Attribute::kMra:
      return round_trip(wire::Mra::parse(mad));
    case Attribute::kRej:
      return round_trip(wire::Rej::parse(mad));
    case Attribute::kRep:
      return round_trip(wire::Rep::parse(mad));
    case Attribute::kRtu:
      return round_trip(wire::Rtu::parse(mad));
    case Attribute::kDreq:
      return round_trip(wire::Dreq::parse(mad));
    case Attribute::kDrep:
      return round_trip(wire::Drep::parse(mad));
    case Attribute::kSidrReq:
      return round_trip(wire::SidrReq::parse(mad));
    case Attribute::kSidrRep:
      return round_trip(wire::SidrRep::parse(mad));
    case Attribute::kLap:
      return round_trip(wire::Lap::parse(mad));
    case Attribute::kApr:
      return round_trip(wire::Apr::parse(mad));
  }
}

}  // namespace

int fuzz_codecs(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint8_t kRightHeader = 0x80;
  if (size == 0) return 0;
  const std::uint8_t choice = data[0];
  const auto bytes = std::span(data, size).subspan(1);
  CM_ASSERT(wire::as_mad(bytes).has_value() == (bytes.size() == wire::kMadSize));

  Mad mad{};
  std::ranges::copy(bytes.first(std::min(bytes.size(), mad.size())), mad.begin());
  const std::size_t which = (choice & ~kRightHeader) % (kMessages.size() + 1);
  if (which == kMessages.size()) {
    round_trip_header(mad);
    return 0;
  }
  if ((choice & kRightHeader) != 0) {
    Mad header;
    wire::MadHeader{1, kMessages[which]}.serialize(header);
    std::copy_n(header.begin(), wire::kMadHeaderSize, mad.begin());
  }
  round_trip_as(kMessages[which], mad);
  return 0;
}

}  // namespace anyrdma::ibcm::fuzz

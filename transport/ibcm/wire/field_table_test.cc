#include "transport/ibcm/wire/field_table.h"

#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

#include "transport/ibcm/wire/captured_frames.h"
#include "transport/ibcm/wire/rej.h"
#include "transport/ibcm/wire/req.h"

namespace anyrdma::ibcm::wire::testing {
namespace {

constexpr Attribute kAll[] = {Attribute::kReq,  Attribute::kMra,     Attribute::kRej,
                              Attribute::kRep,  Attribute::kRtu,     Attribute::kDreq,
                              Attribute::kDrep, Attribute::kSidrReq, Attribute::kSidrRep,
                              Attribute::kLap,  Attribute::kApr};

TEST(FieldTable, NamesEveryFieldOnce) {
  for (const Attribute message : kAll) {
    std::set<std::string_view> names;
    for (const auto& fields : {header_fields(), fields_of(message)}) {
      for (const NamedField& each : fields) {
        EXPECT_TRUE(names.insert(each.name).second) << each.name;
        for (const char c : each.name)
          EXPECT_TRUE(c == '_' || std::islower(c) != 0 || std::isdigit(c) != 0) << each.name;
      }
    }
    EXPECT_GT(names.size(), header_fields().size());
  }
}

TEST(FieldTable, KnowsNoOtherNamesAndMessages) {
  EXPECT_FALSE(find_field(Attribute::kRtu, "path_mtu"));
  EXPECT_TRUE(fields_of(Attribute{0x20}).empty());
  EXPECT_EQ(find_field(Attribute::kRtu, "private_data")->byte, 32u);
  EXPECT_EQ(find_field(Attribute::kRtu, "mad_method")->byte, 3u);
}

TEST(FieldTable, WhatIsWrittenIsWhatIsParsed) {
  Mad mad = mad_of(kReqFrame);
  put_field(mad, *find_field(Attribute::kReq, "path_mtu"), 2);
  put_field(mad, *find_field(Attribute::kReq, "local_qpn"), 0x123456);
  put_field(mad, *find_field(Attribute::kReq, "primary_flow_label"), 0xabcde);
  put_field(mad, *find_field(Attribute::kReq, "primary_local_gid"), 7);

  const auto req = Req::parse(mad);

  ASSERT_TRUE(req);
  EXPECT_EQ(req->path_mtu, 2);
  EXPECT_EQ(value(req->local_qpn), 0x123456u);
  EXPECT_EQ(req->primary.flow_label, 0xabcdeu);
  EXPECT_EQ(req->primary.local_gid, (Gid{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7}));
}

TEST(FieldTable, NeighboursAreLeftAlone) {
  for (const Attribute message : kAll) {
    for (const NamedField& each : fields_of(message)) {
      const Field field = *find_field(message, each.name);
      Mad mad{};
      put_field(mad, field, ~std::uint64_t{0});
      for (unsigned bit = 0; bit < kMadSize * 8; ++bit) {
        const unsigned end = field.first_bit() + field.width;
        const bool inside = bit < end && bit + 64 >= end && bit >= field.first_bit();
        EXPECT_EQ((mad[bit / 8] & (0x80u >> bit % 8)) != 0, inside) << each.name << " bit " << bit;
      }
    }
  }
}

}  // namespace
}  // namespace anyrdma::ibcm::wire::testing

// What a terminal is shown of text that others wrote.
#include "base/printable.h"

#include <gtest/gtest.h>

namespace anyrdma {
namespace {

TEST(Printable, OrdinaryTextStaysAsItIs) {
  for (const char* const text :
       {"", "plain", "tab\tand\nnewline", "\xc3\xa4 \xe2\x82\xac", "\xf0\x9f\x98\x80"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable(std::string_view("a\0b\rc\x7f"
                                       "d\b",
                                       8)),
            "a\\x00b\\x0dc\\x7fd\\x08");
}

TEST(Printable, SecondSetOfControlCharactersIsEscapedAsByteAndAsCharacter) {
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");
  EXPECT_EQ(printable("\xc2\x80\xc2\x9f\xc2\xa1"), "\\u0080\\u009f\xc2\xa1");
}

TEST(Printable, CharactersThatReorderTextAreEscaped) {
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\u202e");
  EXPECT_EQ(printable("\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\xaa"), "\\u200e\\u200f\\u202a");
  EXPECT_EQ(printable("\xe2\x81\xa6\xe2\x81\xa9\xd8\x9c"), "\\u2066\\u2069\\u061c");
  EXPECT_EQ(printable("\xe2\x80\xa8\xe2\x80\xa9"), "\\u2028\\u2029") << "separators of lines";
}

TEST(Printable, BytesThatAreNoTextAreEscaped) {
  EXPECT_EQ(printable("\xff \xc3"), "\\xff \\xc3");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b") << "longer than it has to be";
}

TEST(Printable, ALineHasNoTabAndNoEnd) {
  EXPECT_EQ(printable_line("a\tb\nc"), "a\\x09b\\x0ac");
}

TEST(Printable, AWordThatIsLongerThanAnyPathIsShortened) {
  const std::string path(4096, 'p');
  EXPECT_EQ(with_short_words("'" + path.substr(2) + "' is long"),
            "'" + path.substr(2) + "' is long");
  EXPECT_EQ(with_short_words("no " + std::string(10'000'000, 'x') + " here\nor there"),
            "no " + std::string(100, 'x') + "... (10000000 bytes) here\nor there");
}

}  // namespace
}  // namespace anyrdma

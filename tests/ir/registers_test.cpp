// Corner cases of the register file: the kernel's own measurements (A and B of
// its list of quirks), on lowered rows.
#include <catch2/catch.hpp>

#include "tests/ir/lowered.h"
#include "tests/support/model_builder.h"

namespace nftjit::ir {
namespace {

using namespace nftjit::testing;

using nft::BitwiseOp;
using nft::CmpOp;
using nft::PayloadBase;

constexpr const char* kUdpPacket = "4500002100010000401166c90a0000020a000001045708ae000d9afa68656c6c6f";
constexpr const char *kA = "a0a1a2a3 a4a5a6a7 a8a9aaab acadaeaf", *kB = "b0b1b2b3 b4b5b6b7 b8b9babb bcbdbebf",
                     *kC = "c0c1c2c3 c4c5c6c7 c8c9cacb cccdcecf", *kD = "d0d1d2d3 d4d5d6d7 d8d9dadb dcdddedf";

std::string File(const std::string& r1, const std::string& r2 = kB, const std::string& r3 = kC,
                 const std::string& r4 = kD) {
  return r1 + " " + r2 + " " + r3 + " " + r4;
}

TEST_CASE("stores of less than a word zero the rest of it", "[ir][registers]") {
  // A1, A2, A3, and immediates and map data.
  REQUIRE(RegistersAfter({Load(PayloadBase::kNetwork, 9, 1, R1)}, kUdpPacket) ==
          File("11000000 a4a5a6a7 a8a9aaab acadaeaf"));
  REQUIRE(RegistersAfter({Load(PayloadBase::kNetwork, 12, 5, R1)}, kUdpPacket) ==
          File("0a000002 0a000000 a8a9aaab acadaeaf"));
  std::string packet;
  for (int i = 0; i < 64; ++i) packet += "0123456789abcdef"[i / 16], packet += "0123456789abcdef"[i % 16];
  REQUIRE(RegistersAfter({Load(PayloadBase::kNetwork, 0, 64, R1)}, packet) ==
          "00010203 04050607 08090a0b 0c0d0e0f 10111213 14151617 18191a1b "
          "1c1d1e1f 20212223 24252627 28292a2b 2c2d2e2f "
          "30313233 34353637 38393a3b 3c3d3e3f");
  REQUIRE(RegistersAfter({Set(R32(10), "112233")}) == File("a0a1a2a3 a4a5a6a7 11223300 acadaeaf"));
  REQUIRE(RegistersAfter({Map(101, R1, R2)}) == File(kA, "01020304 05060000 b8b9babb bcbdbebf"));
}

TEST_CASE("register numbers name words", "[ir][registers]") {
  REQUIRE(RegistersAfter({Set(R32(8), "01020304"), Set(R32(12), "05060708"), Set(R32(23), "090a0b0c")}) ==
          File("01020304 a4a5a6a7 a8a9aaab acadaeaf", "05060708 b4b5b6b7 b8b9babb bcbdbebf", kC,
               "d0d1d2d3 d4d5d6d7 d8d9dadb 090a0b0c"));
}

TEST_CASE("compares look at their bytes alone, as strings", "[ir][registers]") {
  // A8, A9, A10.
  REQUIRE(LoweredRows({Set(R1, "aabbccdd"), Eq(R1, "aabbcc"), Compare(R1, CmpOp::kLte, "aabbcc"),
                       InRange(R1, nft::RangeOp::kEq, "aabbcc", "aabbcc")}) ==
          "%0 = const aabbcc\ntest %0 == aabbcc\n%1 = const aabbcc\ntest %1 <= "
          "aabbcc\n"
          "%2 = const aabbcc\ntest %2 in aabbcc-aabbcc\n");
  REQUIRE(
      LoweredRows({Set(R1, "01000000"), Compare(R1, CmpOp::kLt, "00000002"), Compare(R1, CmpOp::kGt, "00000002")}) ==
      "%0 = const 01000000\ntest %0 < 00000002\n%1 = const 01000000\ntest "
      "%1 > 00000002\n");
  REQUIRE(LoweredRows({Load(PayloadBase::kNetwork, 12, 4, R1), Compare(R1, CmpOp::kGte, "0a00")}) ==
          "guard room.network 16\n%0 = load network+12, 4\n%1 = slice %0+0, "
          "2\ntest %1 >= 0a00\n");
}

TEST_CASE("what was never stored is stale", "[ir][registers]") {
  // Five bytes stored, eight compared: accepted, and the word was zeroed (A6).
  // A byteorder that writes less than it marks is the one way to see what was
  // there before.
  REQUIRE(LoweredRows({Load(PayloadBase::kNetwork, 12, 5, R1), Eq(R1, "0a0000020a000000")}) ==
          "guard room.network 17\n%0 = load network+12, 5\n%1 = zext %0, "
          "8\ntest %1 == 0a0000020a000000\n");
  REQUIRE(LoweredRows({Load(PayloadBase::kNetwork, 12, 4, R1), Swap(R1, R2, 3, 2), Eq(R2, "00000000")}) ==
          "guard room.network 16\n%0 = load network+12, 4\n%1 = slice %0+0, "
          "2\n%2 = swap %1, 2\n"
          "%3 = stale 2\n%4 = concat %2, %3\ntest %4 == 00000000\n");
  REQUIRE(LoweredRows({Load(PayloadBase::kNetwork, 12, 4, R1), Swap(R1, R2, 1, 2), Eq(R2, "00000000")}) ==
          "guard room.network 16\n%0 = load network+12, 4\n%1 = stale 4\ntest "
          "%1 == 00000000\n");
}

TEST_CASE("a value read before a store keeps its bytes", "[ir][registers]") {
  REQUIRE(LoweredRows({Load(PayloadBase::kNetwork, 12, 4, R1), MaskXor(R1, R2, "ffffffff", "00000000"),
                       Load(PayloadBase::kNetwork, 16, 4, R1), Eq(R2, "0a000002"), Eq(R1, "0a000001")}) ==
          "guard room.network 16\n%0 = load network+12, 4\nguard room.network "
          "20\n%1 = load network+16, 4\n"
          "test %0 == 0a000002\ntest %1 == 0a000001\n");
}

TEST_CASE("bitwise works on whole words", "[ir][registers]") {
  // B1: the byte behind the mask is cleared. B7: an or, xor with a constant
  // keeps it, an and clears it.
  REQUIRE(RegistersAfter({MaskXor(R1, R2, "ff00ff", "00000f")}) == File(kA, "a000ad00 b4b5b6b7 b8b9babb bcbdbebf"));
  REQUIRE(RegistersAfter({MaskXor(R1, R2, "ffffff", "000000")}) == File(kA, "a0a1a200 b4b5b6b7 b8b9babb bcbdbebf"));
  REQUIRE(RegistersAfter({MaskXor(R1, R1, "ffffff", "000000")}) == File("a0a1a200 a4a5a6a7 a8a9aaab acadaeaf"));
  REQUIRE(RegistersAfter({BitwiseConstant(R1, R2, BitwiseOp::kXor, "0f0f0f")}) ==
          File(kA, "afaeada3 b4b5b6b7 b8b9babb bcbdbebf"));
  REQUIRE(RegistersAfter({BitwiseConstant(R1, R1, BitwiseOp::kXor, "0f0f0f")}) ==
          File("afaeada3 a4a5a6a7 a8a9aaab acadaeaf"));
  REQUIRE(RegistersAfter({BitwiseConstant(R1, R2, BitwiseOp::kOr, "0f")}) ==
          File(kA, "afa1a2a3 b4b5b6b7 b8b9babb bcbdbebf"));
  REQUIRE(RegistersAfter({BitwiseConstant(R1, R2, BitwiseOp::kAnd, "f0f0f0")}) ==
          File(kA, "a0a0a000 b4b5b6b7 b8b9babb bcbdbebf"));
  // B8: two registers are combined word by word.
  REQUIRE(RegistersAfter({BitwiseRegister(R1, R3, R2, 5, BitwiseOp::kXor)}) ==
          File(kA, "60606060 60606060 b8b9babb bcbdbebf"));
  REQUIRE(RegistersAfter({BitwiseRegister(R1, R3, R2, 1, BitwiseOp::kAnd)}) ==
          File(kA, "80818283 b4b5b6b7 b8b9babb bcbdbebf"));
  REQUIRE(RegistersAfter({BitwiseRegister(R1, R3, R1, 4, BitwiseOp::kOr)}) ==
          File("e0e1e2e3 a4a5a6a7 a8a9aaab acadaeaf"));
}

TEST_CASE("shifts move bits through whole words", "[ir][registers]") {
  // B2, B3, B4.
  REQUIRE(RegistersAfter({Shift(R1, R2, 2, BitwiseOp::kLshift, 4)}) == File(kA, "001a2a3a b4b5b6b7 b8b9babb bcbdbebf"));
  REQUIRE(RegistersAfter({Shift(R1, R2, 8, BitwiseOp::kLshift, 4)}) == File(kA, "0a1a2a3a 405a6a7a b8b9babb bcbdbebf"));
  REQUIRE(RegistersAfter({Shift(R1, R2, 8, BitwiseOp::kRshift, 4)}) == File(kA, "1a2a3a0a 5a6a7a0a b8b9babb bcbdbebf"));
  // B5: over all 16 words in place.
  const std::string all = RegistersAfter({Shift(R1, R1, 64, BitwiseOp::kLshift, 4)});
  REQUIRE(all.starts_with("0a1a2a3a 4a5a6a7a 8a9aaaba"));
  REQUIRE(all.ends_with("c0ddedfd"));
}

TEST_CASE("byteorder writes whole elements and nothing else", "[ir][registers]") {
  // B12 to B14.
  REQUIRE(RegistersAfter({Swap(R1, R2, 2, 2)}) == File(kA, "a1a0b2b3 b4b5b6b7 b8b9babb bcbdbebf"));
  REQUIRE(RegistersAfter({Swap(R1, R1, 2, 2)}) == File("a1a0a2a3 a4a5a6a7 a8a9aaab acadaeaf"));
  REQUIRE(RegistersAfter({Swap(R1, R2, 16, 2)}) == File(kA, "a1a0a3a2 a5a4a7a6 a9a8abaa adacafae"));
  REQUIRE(RegistersAfter({Swap(R1, R2, 6, 4)}) == File(kA, "a3a2a1a0 b4b5b6b7 b8b9babb bcbdbebf"));
  REQUIRE(RegistersAfter({Swap(R1, R2, 3, 2)}) == File(kA, "a1a0b2b3 b4b5b6b7 b8b9babb bcbdbebf"));
  REQUIRE(RegistersAfter({Swap(R1, R2, 1, 2)}) == File(kA));
  REQUIRE(RegistersAfter({Swap(R1, R2, 8, 8)}) == File(kA, "a7a6a5a4 a3a2a1a0 b8b9babb bcbdbebf"));
}

TEST_CASE("byteorder of eight bytes reads its elements four bytes apart", "[ir][registers]") {
  // B15 to B17.
  REQUIRE(RegistersAfter({Swap(R1, R2, 16, 8)}) == File(kA, "a7a6a5a4 a3a2a1a0 abaaa9a8 a7a6a5a4"));
  REQUIRE(RegistersAfter({Swap(R1, R1, 16, 8)}) == File("a7a6a5a4 a3a2a1a0 abaaa9a8 a0a1a2a3"));
  REQUIRE(RegistersAfter({Swap(R1, R3, 24, 8)}) ==
          File(kA, kB, "a7a6a5a4 a3a2a1a0 abaaa9a8 a7a6a5a4", "afaeadac abaaa9a8 d8d9dadb dcdddedf"));
}

}  // namespace
}  // namespace nftjit::ir

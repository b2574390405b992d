// A and B: registers, constants, bitwise, byteorder.
#include <catch2/catch.hpp>
#include <cerrno>

#include "tests/quirks/quirk.h"

namespace nftjit::testing {
namespace {

using nft::BitwiseOp;

TEST_CASE("A1 a one-byte load zeroes the rest of its word and nothing else") {
  Quirk quirk;
  quirk.Holds({Load(Base::kNetwork, 9, 1, R1)}, R1, "11000000a4a5a6a7a8a9aaabacadaeaf");
  quirk.Run(PacketPU());
}

TEST_CASE("A2 a five-byte load zeroes the rest of its last word only") {
  Quirk quirk;
  quirk.Holds({Load(Base::kNetwork, 12, 5, R1)}, R1, "0a0000020a000000a8a9aaabacadaeaf");
  quirk.Run(PacketPU());
}

TEST_CASE("A3 a load may fill the whole register file, and no more") {
  Quirk quirk;
  quirk.Matches({Load(Base::kNetwork, 0, 64, R1), Eq(R1, "45")});
  quirk.Matches({Load(Base::kNetwork, 0, 48, R2), Eq(R4, "61")});
  quirk.Run(Stack(Ipv4()) / Udp() / Raw(Bytes(100, 0x61)));
  const auto payload = [](uint32_t reg, uint32_t len) {
    return RawRule().Expression("payload").U32(1, reg).U32(2, 1).U32(3, 0).U32(4, len);
  };
  payload(1, 64).Gives(0);
  payload(1, 65).Gives(ERANGE);
  payload(2, 48).Gives(0);
  payload(2, 49).Gives(ERANGE);
}

TEST_CASE("A4 registers and lengths that do not exist") {
  const auto payload = [](uint32_t reg, uint32_t len) {
    return RawRule().Expression("payload").U32(1, reg).U32(2, 1).U32(3, 0).U32(4, len);
  };
  payload(5, 4).Gives(ERANGE);
  payload(24, 4).Gives(ERANGE);
  payload(0, 4).Gives(EINVAL);
  payload(1, 0).Gives(EINVAL);
}

TEST_CASE("A5 32-bit registers at the start of a 128-bit one go by its number") {
  const auto dumped = [](uint32_t number) { return nft::Register::FromNetlink(number)->ToNetlink(); };
  CHECK(dumped(8) == 1);
  CHECK(dumped(9) == 9);
  CHECK(dumped(12) == 2);
  CHECK(dumped(4) == 4);
  CHECK(dumped(20) == 4);
}

TEST_CASE("A6 loads of words that nothing was stored in are refused") {
  const auto immediate = [](std::string_view hex) { return RawRule().Expression("immediate").U32(1, 1).Value(2, hex); };
  RawRule().Expression("cmp").U32(1, 1).U32(2, 0).Value(3, "00000000").Gives(ENODATA);
  immediate("00000000").Expression("cmp").U32(1, 1).U32(2, 0).Value(3, "0000000000000000").Gives(ENODATA);
  immediate("0000000000").Expression("cmp").U32(1, 1).U32(2, 0).Value(3, "0000000000000000").Gives(0);
}

TEST_CASE("A7 constants have 1 to 16 bytes") {
  const std::string sixteen(32, '0'), seventeen(34, '0');
  const auto immediate = [](uint32_t reg, std::string_view hex) {
    return RawRule().Expression("immediate").U32(1, reg).Value(2, hex);
  };
  immediate(1, sixteen).Gives(0);
  immediate(1, seventeen).Gives(EOVERFLOW);
  immediate(21, sixteen).Gives(ERANGE);
  immediate(1, sixteen).Expression("cmp").U32(1, 1).U32(2, 0).Value(3, "").Gives(EINVAL);
  immediate(1, sixteen).Expression("cmp").U32(1, 1).U32(2, 0).Value(3, seventeen).Gives(EOVERFLOW);
}

TEST_CASE("A8 a compare of three bytes ignores the fourth") {
  Quirk quirk;
  quirk.Matches({Set(R1, "aabbccdd"), Eq(R1, "aabbcc")});
  quirk.Matches({Set(R1, "aabbccdd"), Compare(R1, CmpOp::kLte, "aabbcc")});
  quirk.Matches({Set(R1, "aabbccdd"), InRange(R1, RangeOp::kEq, "aabbcc", "aabbcc")});
  quirk.Run(PacketPU());
}

TEST_CASE("A9 order is that of byte strings, not of integers") {
  Quirk quirk;
  quirk.Breaks({Set(R1, "01000000"), Compare(R1, CmpOp::kLt, "00000002")});
  quirk.Matches({Set(R1, "01000000"), Compare(R1, CmpOp::kGt, "00000002")});
  quirk.Run(PacketPU());
}

TEST_CASE("A10 a range with reversed bounds holds nothing") {
  Quirk quirk;
  quirk.Breaks({Set(R1, "0500"), InRange(R1, RangeOp::kEq, "0a00", "0100")});
  quirk.Matches({Set(R1, "0500"), InRange(R1, RangeOp::kNeq, "0a00", "0100")});
  quirk.Run(PacketPU());
}

TEST_CASE("B1 mask and xor of three bytes clear the fourth") {
  Quirk quirk;
  quirk.Holds({MaskXor(R1, R2, "ff00ff", "00000f")}, R2, "a000ad00b4b5b6b7b8b9babbbcbdbebf");
  quirk.Run(PacketPU());
}

TEST_CASE("B2 a shift of two bytes shifts the whole native word") {
  Quirk quirk;
  quirk.Holds({Shift(R1, R2, 2, BitwiseOp::kLshift, 4)}, R2, "001a2a3ab4b5b6b7b8b9babbbcbdbebf");
  quirk.Run(PacketPU());
}

TEST_CASE("B3 a left shift carries from word to word") {
  Quirk quirk;
  quirk.Holds({Shift(R1, R2, 8, BitwiseOp::kLshift, 4)}, R2, "0a1a2a3a405a6a7ab8b9babbbcbdbebf");
  quirk.Run(PacketPU());
}

TEST_CASE("B4 a right shift carries from word to word") {
  Quirk quirk;
  quirk.Holds({Shift(R1, R2, 8, BitwiseOp::kRshift, 4)}, R2, "1a2a3a0a5a6a7a0ab8b9babbbcbdbebf");
  quirk.Run(PacketPU());
}

TEST_CASE("B5 a shift may go over all sixteen words in place") {
  Quirk quirk;
  const nft::Expression shift = Shift(R1, R1, 64, BitwiseOp::kLshift, 4);
  quirk.Holds({shift}, R1, "0a1a2a3a4a5a6a7a8a9aaabacbdaeafa");
  quirk.Holds({shift}, R4, "0d1d2d3d4d5d6d7d8d9dadbdc0ddedfd");
  quirk.Run(PacketPU());
}

TEST_CASE("B6 shift counts are 1 to 31") {
  const auto shift = [](std::string_view count) {
    return RawRule()
        .Expression("immediate")
        .U32(1, 1)
        .Value(2, "a0a1a2a3")
        .Expression("bitwise")
        .U32(1, 1)
        .U32(2, 1)
        .U32(3, 4)
        .U32(6, 1)
        .Value(7, count);
  };
  shift("00000000").Gives(EINVAL);
  shift("01000000").Gives(0);
  shift("1f000000").Gives(0);
  shift("20000000").Gives(EINVAL);
}

TEST_CASE("B7 xor with a constant keeps the bytes after it") {
  Quirk quirk;
  quirk.Holds({BitwiseConstant(R1, R2, BitwiseOp::kXor, "0f0f0f")}, R2, "afaeada3b4b5b6b7b8b9babbbcbdbebf");
  quirk.Run(PacketPU());
}

TEST_CASE("B8 xor with a register works on whole words") {
  Quirk quirk;
  quirk.Holds({BitwiseRegister(R1, R3, R2, 5, BitwiseOp::kXor)}, R2, "6060606060606060b8b9babbbcbdbebf");
  quirk.Run(PacketPU());
}

TEST_CASE("B9 and, or, xor take a constant or a register") {
  const auto fill = [] { return RawRule().Expression("immediate").U32(1, 1).Value(2, "a0a1a2a3"); };
  const auto bitwise = [&](uint32_t op) {
    return fill().Expression("bitwise").U32(1, 1).U32(2, 1).U32(3, 4).U32(6, op);
  };
  bitwise(3).Value(7, "00000000").U32(8, 1).Gives(EINVAL);
  bitwise(3).Gives(EINVAL);
  bitwise(3).Value(7, "00000000").Gives(0);
  bitwise(6).Value(7, "00000000").Gives(EOPNOTSUPP);
}

TEST_CASE("B10 source and destination are the same or apart") {
  const auto mask = [](uint32_t from, uint32_t to, uint32_t len) {
    const std::string ff(len * 2, 'f');
    return RawRule()
        .Expression("immediate")
        .U32(1, 1)
        .Value(2, std::string(32, '0'))
        .Expression("bitwise")
        .U32(1, from)
        .U32(2, to)
        .U32(3, len)
        .Value(4, ff)
        .Value(5, ff);
  };
  mask(8, 9, 8).Gives(EINVAL);
  mask(9, 8, 8).Gives(EINVAL);
  mask(8, 9, 4).Gives(0);
}

TEST_CASE("B11 and, or, xor use all sixteen bytes of their constant") {
  Quirk quirk;
  quirk.Holds({BitwiseConstant(R1, R2, BitwiseOp::kXor, "ffffffffffffffffffffffffffffffff")}, R2,
              "5f5e5d5c5b5a59585756555453525150");
  quirk.Run(PacketPU());
}

TEST_CASE("B12 a swap of two bytes keeps the upper half of the word") {
  Quirk quirk;
  quirk.Holds({Swap(R1, R2, 2, 2)}, R2, "a1a0b2b3b4b5b6b7b8b9babbbcbdbebf");
  quirk.Run(PacketPU());
}

TEST_CASE("B13 a swap of size 2 over 16 bytes swaps every element") {
  Quirk quirk;
  quirk.Holds({Swap(R1, R2, 16, 2)}, R2, "a1a0a3a2a5a4a7a6a9a8abaaadacafae");
  quirk.Run(PacketPU());
}

TEST_CASE("B14 a swap leaves bytes alone that are no whole element") {
  Quirk quirk;
  quirk.Holds({Swap(R1, R2, 6, 4)}, R2, "a3a2a1a0b4b5b6b7b8b9babbbcbdbebf");
  quirk.Holds({Swap(R1, R2, 3, 2)}, R2, "a1a0b2b3b4b5b6b7b8b9babbbcbdbebf");
  quirk.Holds({Swap(R1, R2, 1, 2)}, R2, "b0b1b2b3b4b5b6b7b8b9babbbcbdbebf");
  quirk.Run(PacketPU());
}

TEST_CASE("B15 the second element of an 8-byte swap is read four bytes further") {
  Quirk quirk;
  quirk.Holds({Swap(R1, R2, 16, 8)}, R2, "a7a6a5a4a3a2a1a0abaaa9a8a7a6a5a4");
  quirk.Run(PacketPU());
}

TEST_CASE("B16 an 8-byte swap of 16 bytes in place reads what it has written") {
  Quirk quirk;
  quirk.Holds({Swap(R1, R1, 16, 8)}, R1, "a7a6a5a4a3a2a1a0abaaa9a8a0a1a2a3");
  quirk.Run(PacketPU());
}

TEST_CASE("B17 an 8-byte swap of 24 bytes") {
  Quirk quirk;
  quirk.Holds({Swap(R1, R3, 24, 8)}, R3, "a7a6a5a4a3a2a1a0abaaa9a8a7a6a5a4");
  quirk.Holds({Swap(R1, R3, 24, 8)}, R4, "afaeadacabaaa9a8d8d9dadbdcdddedf");
  quirk.Run(PacketPU());
}

TEST_CASE("B18 byteorder has sizes 2, 4 and 8, ops 0 and 1, and no partial overlap") {
  const auto swap = [](uint32_t from, uint32_t to, uint32_t op, uint32_t len, uint32_t size) {
    return RawRule()
        .Expression("immediate")
        .U32(1, 1)
        .Value(2, std::string(32, '0'))
        .Expression("byteorder")
        .U32(1, from)
        .U32(2, to)
        .U32(3, op)
        .U32(4, len)
        .U32(5, size);
  };
  swap(1, 1, 0, 4, 4).Gives(0);
  swap(1, 1, 0, 4, 1).Gives(EINVAL);
  swap(1, 1, 2, 4, 4).Gives(EINVAL);
  swap(8, 9, 0, 8, 8).Gives(EINVAL);
}

}  // namespace
}  // namespace nftjit::testing

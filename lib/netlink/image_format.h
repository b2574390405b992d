// Internal to lib/netlink: the layout of images, shared by their writer and their reader.
//
//   offset  size
//        0     8  kMagic
//        8     4  kByteOrderMark, in the writer's byte order like every integer outside attributes
//       12     4  kImageVersion
//       16     8  bytes of all records
//       24        records, each {u32 bytes of its attributes, u8 kind, u8 family, u16 0}, attributes padded to 4
//      end     4  CRC-32C of everything before
//
// Records: what was given out, interfaces and files first; then per table the table, its chains, objects, flowtables
// and sets, then the elements and rules, which refer to those by name.
#ifndef NFTJIT_LIB_NETLINK_IMAGE_FORMAT_H_
#define NFTJIT_LIB_NETLINK_IMAGE_FORMAT_H_

#include <cstdint>
#include <string_view>

namespace nftjit::netlink {

inline constexpr std::string_view kMagic = "\x89nfb\r\n\x1a\n";
inline constexpr uint32_t kByteOrderMark = 0x01020304;
inline constexpr uint32_t kImageVersion = 2;
inline constexpr size_t kImageHeaderSize = 24;
inline constexpr size_t kRecordHeaderSize = 8;
inline constexpr size_t kChecksumSize = 4;

enum class RecordKind : uint8_t {
  kInterface = 1,  // Of private attributes only.
  kFile = 2,       // A source file's name; numbered from 0 in their order.
  kTable = 3,
  kChain = 4,
  kObject = 5,
  kFlowtable = 6,
  kSet = 7,
  kElements = 8,
  kRule = 9,
  kIssued = 10,  // What was given out last; of private attributes only, the first record.
};

// Attributes of our own, above all that the kernel could ever number.
enum PrivateAttribute : uint16_t {
  kImageName = 0x3f00,
  kImageIndex,
  kImageRegistration,
  kImageFile,
  kImageLine,
  kImageColumn,
  kImageLastHandle,
  kImageGeneration,
  kImageTable,
  kImageBindingChain,
  kImageMadeWithSize,  // Of a set, where its size does not tell.
};

uint32_t Crc32c(std::string_view bytes);

}  // namespace nftjit::netlink

#endif  // NFTJIT_LIB_NETLINK_IMAGE_FORMAT_H_

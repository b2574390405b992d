// Rulesets to images.
#include <absl/container/flat_hash_map.h>

#include <array>

#include "lib/netlink/codec.h"
#include "lib/netlink/image.h"
#include "lib/netlink/image_format.h"
#include "lib/netlink/table_index.h"

namespace nftjit::netlink {
namespace {

// A list of elements is cut where the next might not fit an attribute.
constexpr size_t kElementsBytes = 40'000;

template <class T>
void AppendNative(T value, std::string* out) {
  std::array<uint8_t, sizeof(T)> bytes;
  StoreNative(bytes.data(), value);
  out->append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

class Writer {
 public:
  std::string Write(const nft::Ruleset& ruleset) {
    image_.append(kMagic);
    AppendNative(kByteOrderMark, &image_);
    AppendNative(kImageVersion, &image_);
    AppendNative(uint64_t{0}, &image_);
    Record(RecordKind::kIssued, nft::Family::kUnspec, [&](AttributeWriter& out) {
      out.U32(kImageGeneration, ruleset.issued.generation);
      out.U64(kImageTable, ruleset.issued.table);
      out.U64(kImageRegistration, ruleset.issued.registration);
      out.U64(kImageBindingChain, ruleset.issued.binding_chain);
    });
    for (const nft::Interface& interface : ruleset.interfaces) {
      Record(RecordKind::kInterface, nft::Family::kUnspec, [&](AttributeWriter& out) {
        out.String(kImageName, interface.name);
        out.U32(kImageIndex, interface.index);
      });
    }
    WriteFiles(ruleset);
    for (const nft::Table& table : ruleset.tables) WriteTable(table);
    StoreNative(reinterpret_cast<uint8_t*>(image_.data()) + 16, uint64_t{image_.size() - kImageHeaderSize});
    AppendNative(Crc32c(image_), &image_);
    return std::move(image_);
  }

 private:
  template <class Encode>
  void Record(RecordKind kind, nft::Family family, Encode&& encode) {
    const size_t start = image_.size();
    image_.resize(start + kRecordHeaderSize);
    AttributeWriter out(&image_);
    encode(out);
    auto* header = reinterpret_cast<uint8_t*>(image_.data()) + start;
    StoreNative(header, static_cast<uint32_t>(image_.size() - start - kRecordHeaderSize));
    header[4] = static_cast<uint8_t>(kind);
    header[5] = static_cast<uint8_t>(family);
  }

  void WriteFiles(const nft::Ruleset& ruleset) {
    for (const nft::Table& table : ruleset.tables) {
      for (const nft::Chain& chain : table.chains) {
        for (const nft::Rule& rule : chain.rules) {
          const auto number = static_cast<uint32_t>(files_.size());
          if (rule.where.file.empty() || !files_.emplace(rule.where.file, number).second) continue;
          Record(RecordKind::kFile, nft::Family::kUnspec,
                 [&](AttributeWriter& out) { out.String(kImageName, rule.where.file); });
        }
      }
    }
  }

  void WriteTable(const nft::Table& table) {
    const TableIndex names(table, KernelFeatures(), /*exact=*/true);
    Record(RecordKind::kTable, table.family, [&](AttributeWriter& out) {
      EncodeTable(table, 0, out);
      out.U64(kImageLastHandle, table.last_handle);
    });
    for (const nft::Chain& chain : table.chains) {
      Record(RecordKind::kChain, table.family, [&](AttributeWriter& out) {
        EncodeChain(table.name, chain, 0, out);
        if (chain.base) out.U64(kImageRegistration, chain.base->registration);
      });
    }
    for (const nft::Object& object : table.objects) {
      Record(RecordKind::kObject, table.family,
             [&](AttributeWriter& out) { EncodeObject(table.name, object, 0, names, out); });
    }
    for (const nft::Flowtable& flowtable : table.flowtables) {
      Record(RecordKind::kFlowtable, table.family,
             [&](AttributeWriter& out) { EncodeFlowtable(table.name, flowtable, 0, out); });
    }
    for (const nft::Set& set : table.sets) {
      Record(RecordKind::kSet, table.family, [&](AttributeWriter& out) {
        EncodeSet(table.name, set, names, out, static_cast<uint32_t>(set.handle));
        if (set.made_with_size != set.size.has_value()) out.U32(kImageMadeWithSize, set.made_with_size ? 1 : 0);
      });
    }
    for (const nft::Set& set : table.sets) WriteElements(table, set, names);
    for (const nft::Chain& chain : table.chains) WriteRules(table, chain, names);
  }

  void WriteElements(const nft::Table& table, const nft::Set& set, const TableIndex& names) {
    for (size_t next = 0; next < set.elements.size();) {
      Record(RecordKind::kElements, table.family, [&](AttributeWriter& out) {
        out.String(kElementsTable, table.name);
        out.String(kElementsSet, set.name);
        const size_t list = out.BeginNest(kElementsList);
        do {
          EncodeElement(set.elements[next++], set, names, out);
        } while (next < set.elements.size() && out.size() - list < kElementsBytes);
        out.EndNest(list);
      });
    }
  }

  void WriteRules(const nft::Table& table, const nft::Chain& chain, const TableIndex& names) {
    for (const nft::Rule& rule : chain.rules) {
      Record(RecordKind::kRule, table.family, [&](AttributeWriter& out) {
        EncodeRule(table.name, chain.name, rule, 0, names, out);
        if (!rule.where.file.empty()) out.U32(kImageFile, files_.at(rule.where.file));
        if (rule.where.line != 0) out.U32(kImageLine, rule.where.line);
        if (rule.where.column != 0) out.U32(kImageColumn, rule.where.column);
      });
    }
  }

  std::string image_;
  absl::flat_hash_map<std::string, uint32_t> files_;
};

constexpr std::array<uint32_t, 256> kCrcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78 : 0);
    table[i] = crc;
  }
  return table;
}();

}  // namespace

uint32_t Crc32c(std::string_view bytes) {
  uint32_t crc = ~uint32_t{0};
  for (const char byte : bytes) crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<uint8_t>(byte)) & 0xff];
  return ~crc;
}

std::string WriteImage(const nft::Ruleset& ruleset) { return Writer().Write(ruleset); }

}  // namespace nftjit::netlink

// Images to rulesets, every record checked as a message of a client is.
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <optional>
#include <type_traits>

#include "lib/netlink/codec.h"
#include "lib/netlink/image.h"
#include "lib/netlink/image_format.h"
#include "lib/netlink/table_index.h"
#include "lib/nft/validate.h"
#include "lib/support/source.h"

namespace nftjit::netlink {
namespace {

// Attributes that only images have; the codec passes over them.
struct Extras {
  std::string_view name;
  uint32_t index = 0;
  std::optional<uint32_t> file;
  uint32_t line = 0, column = 0;
  nft::Handle last_handle = 0;
  std::optional<bool> made_with_size;
  nft::Issued issued;  // Of a base chain: its registration alone.
};

Extras FindExtras(ByteSpan attributes) {
  Extras extras;
  for (AttributeCursor at(attributes, 0); at.Next();) {
    switch (at.attribute().type()) {
      case kImageName:
        extras.name = at.attribute().String();
        break;
      case kImageIndex:
        extras.index = at.attribute().U32();
        break;
      case kImageRegistration:
        extras.issued.registration = at.attribute().U64();
        break;
      case kImageFile:
        extras.file = at.attribute().U32();
        break;
      case kImageLine:
        extras.line = at.attribute().U32();
        break;
      case kImageColumn:
        extras.column = at.attribute().U32();
        break;
      case kImageLastHandle:
        extras.last_handle = at.attribute().U64();
        break;
      case kImageMadeWithSize:
        extras.made_with_size = at.attribute().U32() != 0;
        break;
      case kImageGeneration:
        extras.issued.generation = at.attribute().U32();
        break;
      case kImageTable:
        extras.issued.table = at.attribute().U64();
        break;
      case kImageBindingChain:
        extras.issued.binding_chain = at.attribute().U64();
        break;
      default:
        break;
    }
  }
  return extras;
}

// The context of declarations, which refer to nothing, and of what refers to them once `index` is there.
class StoredContext final : public ResolveContext {
 public:
  explicit StoredContext(nft::Family family) : family_(family) {}
  std::optional<TableIndex> index;

  [[nodiscard]] nft::Family family() const override { return family_; }
  [[nodiscard]] const nft::Chain* ChainByName(std::string_view name) const override {
    return index ? index->ChainByName(name) : nullptr;
  }
  [[nodiscard]] const nft::Chain* ChainById(uint32_t) const override { return nullptr; }
  [[nodiscard]] const nft::Set* SetByName(std::string_view name) const override {
    return index ? index->SetByName(name) : nullptr;
  }
  [[nodiscard]] const nft::Set* SetById(uint32_t) const override { return nullptr; }
  [[nodiscard]] const nft::Object* ObjectByName(std::string_view name, nft::ObjectType type) const override {
    return index ? index->ObjectByName(name, type) : nullptr;
  }
  [[nodiscard]] const nft::Flowtable* FlowtableByName(std::string_view name) const override {
    return index ? index->FlowtableByName(name) : nullptr;
  }
  [[nodiscard]] const nft::Set* SetByHandle(nft::Handle handle) const override {
    return index ? index->SetByHandle(handle) : nullptr;
  }
  [[nodiscard]] bool stored() const override { return true; }

 private:
  nft::Family family_;
};

class Reader {
 public:
  // With `by_place` errors name what stands in the ruleset's source, not where it stands in the image.
  Reader(std::string_view bytes, std::string_view file_name, bool by_place = false)
      : bytes_(bytes), file_name_(file_name), by_place_(by_place) {}

  absl::StatusOr<nft::Ruleset> Read() {
    if (absl::Status status = CheckFrame(); !status.ok()) return status;
    while (at_ < end_) {
      if (absl::Status status = ReadRecord(); !status.ok()) return status;
    }
    if (absl::Status status = FinishTable(); !status.ok()) return status;
    return std::move(ruleset_);
  }

 private:
  [[nodiscard]] absl::Status Error(size_t offset, std::string_view what) const {
    if (by_place_) {
      SourcePos where{.file = std::string(file_name_), .line = extras_.line, .column = extras_.column};
      return ErrorAt(where, absl::StatusCode::kInvalidArgument, what);
    }
    std::string text = "offset " + std::to_string(offset) + ": ";
    text += what;
    return ErrorAt({.file = std::string(file_name_)}, absl::StatusCode::kInvalidArgument, text);
  }

  [[nodiscard]] const uint8_t* At(size_t offset) const {
    return reinterpret_cast<const uint8_t*>(bytes_.data()) + offset;
  }

  absl::Status CheckFrame() {
    if (!LooksLikeImage(bytes_)) return Error(0, "not a ruleset image (it does not begin with its magic bytes)");
    if (bytes_.size() < kImageHeaderSize + kChecksumSize) return Error(bytes_.size(), "the image is truncated");
    if (LoadNative<uint32_t>(At(8)) != kByteOrderMark) {
      return Error(8, "the image was written by a machine of another byte order");
    }
    const auto version = LoadNative<uint32_t>(At(12));
    if (version != kImageVersion) {
      return Error(12, "version " + std::to_string(version) + " of the format is not known (" +
                           std::to_string(kImageVersion) + " is)");
    }
    const auto length = LoadNative<uint64_t>(At(16));
    if (length != bytes_.size() - kImageHeaderSize - kChecksumSize) {
      return Error(16, "the image holds " + std::to_string(bytes_.size() - kImageHeaderSize - kChecksumSize) +
                           " bytes of records, its header says " + std::to_string(length));
    }
    end_ = kImageHeaderSize + static_cast<size_t>(length);
    if (Crc32c(bytes_.substr(0, end_)) != LoadNative<uint32_t>(At(end_))) {
      return Error(end_, "the image is damaged (its checksum differs)");
    }
    return absl::OkStatus();
  }

  // The record as a message whose offsets are those of its attributes less the difference of the headers.
  absl::Status ReadRecord() {
    if (end_ - at_ < kRecordHeaderSize) return Error(at_, "a record's header is truncated");
    const size_t size = LoadNative<uint32_t>(At(at_));
    const auto kind = static_cast<RecordKind>(*At(at_ + 4));
    family_ = static_cast<nft::Family>(*At(at_ + 5));
    if (size % 4 != 0 || size > end_ - at_ - kRecordHeaderSize) return Error(at_, "a record is longer than the image");
    record_ = at_;
    attributes_ = ByteSpan(At(at_ + kRecordHeaderSize), size);
    at_ += kRecordHeaderSize + size;
    extras_ = FindExtras(attributes_);
    switch (kind) {
      case RecordKind::kIssued:
        ruleset_.issued = extras_.issued;
        return absl::OkStatus();
      case RecordKind::kInterface:
        ruleset_.interfaces.push_back({std::string(extras_.name), extras_.index});
        return absl::OkStatus();
      case RecordKind::kFile:
        files_.emplace_back(extras_.name);
        return absl::OkStatus();
      case RecordKind::kTable:
        return ReadTable();
      case RecordKind::kChain:
      case RecordKind::kObject:
      case RecordKind::kFlowtable:
      case RecordKind::kSet:
        return ReadDeclaration(kind);
      case RecordKind::kElements:
      case RecordKind::kRule:
        return ReadReferring(kind);
    }
    return Error(at_ - size - kRecordHeaderSize, "a record is of no known kind");
  }

  // An error of the codec, at its place in the file.
  absl::Status CodecError(const NetlinkError& error) const {
    const size_t inside =
        error.offset == 0 ? 0 : error.offset - kMessageHeaderSize - kFamilyHeaderSize + kRecordHeaderSize;
    return Error(record_ + inside, error.message);
  }

  template <size_t Max>
  using Parse = netlink::Result<AttributeTable<Max>> (*)(ByteSpan);
  // The codec's parsers want a message's headers before the attributes.
  template <size_t Max>
  netlink::Result<AttributeTable<Max>> Attributes(Parse<Max> parse) {
    message_.assign(kMessageHeaderSize + kFamilyHeaderSize, '\0');
    message_.append(reinterpret_cast<const char*>(attributes_.data()), attributes_.size());
    return parse({reinterpret_cast<const uint8_t*>(message_.data()), message_.size()});
  }

  absl::Status ReadTable() {
    if (absl::Status status = FinishTable(); !status.ok()) return status;
    if (nft::Name(family_) == "unspec") return Error(record_, "a table is of no known family");
    const auto attributes = Attributes<kTableMax>(ParseTableMessage);
    if (!attributes.ok()) return CodecError(attributes.error());
    auto table = DecodeTable(*attributes, family_);
    if (!table.ok()) return CodecError(table.error());
    table->handle = (*attributes)[kTableHandle].U64();
    table->last_handle = extras_.last_handle;
    table->owner = (*attributes)[kTableOwner].U32();
    for (const nft::Table& other : ruleset_.tables) {
      if (other.family == family_ && other.name == table->name) return Error(record_, "a table of this name exists");
    }
    ruleset_.tables.push_back(*std::move(table));
    context_.emplace(family_);
    handles_.clear();
    names_.clear();
    return absl::OkStatus();
  }

  absl::Status FinishTable() {
    context_.reset();
    if (ruleset_.tables.empty()) return absl::OkStatus();
    const std::optional<nft::Violation> violation = nft::Validate(ruleset_.tables.back());
    if (!violation) return absl::OkStatus();
    extras_.line = violation->where.line;
    extras_.column = violation->where.column;
    return Error(record_, violation->message);
  }

  absl::Status ReadDeclaration(RecordKind kind) {
    if (!context_ || context_->index) return Error(record_, "a declaration stands outside its table's");
    nft::Table& table = ruleset_.tables.back();
    switch (kind) {
      case RecordKind::kChain: {
        const auto attributes = Attributes<kChainMax>(ParseChainMessage);
        if (!attributes.ok()) return CodecError(attributes.error());
        auto chain = DecodeChain(*attributes, family());
        if (chain.ok() && chain->base) chain->base->registration = extras_.issued.registration;
        return Keep(std::move(chain), (*attributes)[kChainHandle], table.chains);
      }
      case RecordKind::kObject: {
        const auto attributes = Attributes<kObjectMax>(ParseObjectMessage);
        if (!attributes.ok()) return CodecError(attributes.error());
        return Keep(DecodeObject(*attributes, *context_), (*attributes)[kObjectHandle], table.objects);
      }
      case RecordKind::kFlowtable: {
        const auto attributes = Attributes<kFlowtableMax>(ParseFlowtableMessage);
        if (!attributes.ok()) return CodecError(attributes.error());
        return Keep(DecodeFlowtable(*attributes, family()), (*attributes)[kFlowtableHandle], table.flowtables);
      }
      default: {
        const auto attributes = Attributes<kSetMax>(ParseSetMessage);
        if (!attributes.ok()) return CodecError(attributes.error());
        auto set = DecodeSet(*attributes, *context_);
        if (set.ok()) set->made_with_size = extras_.made_with_size.value_or(set->made_with_size);
        return Keep(std::move(set), (*attributes)[kSetHandle], table.sets);
      }
    }
  }

  template <class Item>
  absl::Status Keep(netlink::Result<Item> item, const Attribute& handle, std::vector<Item>& items) {
    if (!item.ok()) return CodecError(item.error());
    item->handle = handle.U64();
    if (item->handle == 0 || !handles_.insert(item->handle).second)
      return Error(record_, "a handle is 0 or used twice");
    if constexpr (!std::is_same_v<Item, nft::Rule>) {
      if (!names_.insert(NameSpace(*item) + item->name).second) return Error(record_, "a name is used twice");
    }
    items.push_back(*std::move(item));
    return absl::OkStatus();
  }

  // Objects of different types may share a name, like things of different kinds.
  static std::string NameSpace(const nft::Chain&) { return "chain "; }
  static std::string NameSpace(const nft::Set&) { return "set "; }
  static std::string NameSpace(const nft::Flowtable&) { return "flowtable "; }
  static std::string NameSpace(const nft::Object& object) {
    return "object " + std::to_string(static_cast<int>(object.type)) + " ";
  }

  absl::Status ReadReferring(RecordKind kind) {
    if (!context_) return Error(record_, "elements or a rule stand outside of a table");
    nft::Table& table = ruleset_.tables.back();
    // From here on nothing is declared any more, so the index stays right.
    if (!context_->index) context_->index.emplace(table);
    return kind == RecordKind::kRule ? ReadRule(table) : ReadElements(table);
  }

  absl::Status ReadElements(nft::Table& table) {
    const auto attributes = Attributes<kElementsMax>(ParseElementsMessage);
    if (!attributes.ok()) return CodecError(attributes.error());
    const nft::Set* set = context_->SetByName((*attributes)[kElementsSet].String());
    if (set == nullptr) return Error(record_, "elements of a set that does not exist");
    std::vector<nft::Element>& elements = table.sets[static_cast<size_t>(set - table.sets.data())].elements;
    for (AttributeCursor item((*attributes)[kElementsList]); item.Next();) {
      auto element = DecodeElement(item.attribute(), *set, *context_);
      if (!element.ok()) return CodecError(element.error());
      elements.push_back(*std::move(element));
    }
    return absl::OkStatus();
  }

  absl::Status ReadRule(nft::Table& table) {
    const auto attributes = Attributes<kRuleMax>(ParseRuleMessage);
    if (!attributes.ok()) return CodecError(attributes.error());
    const nft::Chain* chain = context_->ChainByName((*attributes)[kRuleChain].String());
    if (chain == nullptr) return Error(record_, "a rule of a chain that does not exist");
    auto rule = DecodeRule(*attributes, *context_);
    if (rule.ok() && extras_.file) {
      if (*extras_.file >= files_.size()) return Error(record_, "a rule of a source file that does not exist");
      rule->where.file = files_[*extras_.file];
    }
    if (rule.ok()) {
      rule->where.line = extras_.line;
      rule->where.column = extras_.column;
    }
    return Keep(std::move(rule), (*attributes)[kRuleHandle],
                table.chains[static_cast<size_t>(chain - table.chains.data())].rules);
  }

  [[nodiscard]] nft::Family family() const { return context_->family(); }

  std::string_view bytes_;
  std::string_view file_name_;
  bool by_place_;
  size_t at_ = kImageHeaderSize;
  size_t end_ = 0;
  // The record being read.
  size_t record_ = 0;
  nft::Family family_ = nft::Family::kUnspec;
  ByteSpan attributes_;
  Extras extras_;
  std::string message_;

  nft::Ruleset ruleset_;
  std::vector<std::string> files_;
  // Of the last table.
  std::optional<StoredContext> context_;
  absl::flat_hash_set<nft::Handle> handles_;
  absl::flat_hash_set<std::string> names_;
};

}  // namespace

bool LooksLikeImage(std::string_view bytes) { return bytes.substr(0, kMagic.size()) == kMagic; }

absl::StatusOr<nft::Ruleset> ReadImage(std::string_view bytes, std::string_view file_name) {
  return Reader(bytes, file_name).Read();
}

absl::StatusOr<nft::Ruleset> Normalise(const nft::Ruleset& ruleset, std::string_view file_name) {
  const std::string image = WriteImage(ruleset);
  return Reader(image, file_name, true).Read();
}

}  // namespace nftjit::netlink

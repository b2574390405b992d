// The rules of a listing, completed: constants from words, by the types of the registers that they meet.
#include <absl/strings/str_cat.h>

#include "lib/nft/listing_reader.h"

namespace nftjit::nft {
namespace {

class RuleResolver {
 public:
  RuleResolver(std::vector<RawExpression>& raw, ListingBuilder& builder, RawTable& table, ListingDialect dialect,
               bool in_memory_order, size_t* misfits)
      : raw_(raw),
        builder_(builder),
        table_(table),
        family_(table.table.family),
        dialect_(dialect),
        in_memory_order_(in_memory_order),
        misfits_(misfits),
        values_(family_) {
    rule_.reserve(raw.size());
    for (const RawExpression& expression : raw) rule_.push_back(expression.expression);
  }

  absl::Status Run() {
    for (at_ = 0; at_ < rule_.size(); ++at_) {
      data_.clear();
      operand_ = OperandType(values_, rule_, at_, family_);
      if (in_memory_order_) operand_.order = ByteOrder::kMemory;
      if (!std::holds_alternative<Cmp>(rule_[at_].body)) operand_.beginnings = Beginnings::kNever;
      if (absl::Status status = std::visit(*this, rule_[at_].body); !status.ok()) return status;
      if (const auto* immediate = std::get_if<Immediate>(&rule_[at_].body)) {
        operand_.len = static_cast<uint8_t>(immediate->data.size());
      }
      values_.Apply(rule_[at_], operand_, data_);
      NoteLosses(rule_[at_]);
      raw_[at_].expression = rule_[at_];
    }
    return absl::OkStatus();
  }

  absl::Status operator()(Immediate& e) { return e.dreg.is_verdict() ? absl::OkStatus() : Constant(0, e.data); }
  absl::Status operator()(Cmp& e) {
    if (absl::Status status = CheckLoaded(e.sreg); !status.ok()) return status;
    return Constant(0, e.data);
  }
  absl::Status operator()(Range& e) {
    if (absl::Status status = CheckLoaded(e.sreg); !status.ok()) return status;
    if (absl::Status status = Constant(0, e.from); !status.ok()) return status;
    if (absl::Status status = Constant(1, e.to); !status.ok()) return status;
    // A padded bound may look shorter than the other: the type's length is that of both.
    const size_t longer = std::max(e.from.size(), e.to.size());
    e.from.resize(longer);
    e.to.resize(longer);
    return absl::OkStatus();
  }
  absl::Status operator()(Bitwise& e) {
    if (absl::Status status = CheckLoaded(e.sreg); !status.ok()) return status;
    const uint8_t source_len = values_.At(e.sreg).value_or(ValueType{}).len;
    e.len = source_len == 0 ? 4 : source_len;
    if (e.sreg2) return CheckLoaded(*e.sreg2);
    if (e.op == BitwiseOp::kLshift || e.op == BitwiseOp::kRshift) return Constant(0, e.data);
    if (e.op == BitwiseOp::kMaskXor) {
      if (absl::Status status = Constant(0, e.mask); !status.ok()) return status;
      if (absl::Status status = Constant(1, e.xor_bits); !status.ok()) return status;
      const size_t longer = std::max(e.mask.size(), e.xor_bits.size());
      e.mask.resize(longer);
      e.xor_bits.resize(longer);
      e.len = static_cast<uint8_t>(longer);
      return absl::OkStatus();
    }
    if (absl::Status status = Constant(0, e.data); !status.ok()) return status;
    e.len = static_cast<uint8_t>(e.data.size());
    return absl::OkStatus();
  }
  absl::Status operator()(Byteorder& e) { return CheckLoaded(e.sreg); }
  absl::Status operator()(Lookup& e) {
    if (absl::Status status = CheckLoaded(e.sreg); !status.ok()) return status;
    RawSet& set = *table_.set_by_handle.at(e.set);
    NoteKey(set, e.sreg);
    if (!e.dreg) return absl::OkStatus();
    if (!set.declared) set.set.flags |= kSetMap;
    if (e.dreg->is_verdict()) {
      set.gives_verdicts = true;
      return absl::OkStatus();
    }
    data_ = DataTypes(set, *e.dreg);
    if (set.shape.data.empty()) set.shape.data = InOrder(data_);
    return absl::OkStatus();
  }
  absl::Status operator()(Dynset& e) {
    if (absl::Status status = CheckLoaded(e.sreg_key); !status.ok()) return status;
    RawSet& set = *table_.set_by_handle.at(e.set);
    NoteKey(set, e.sreg_key);
    if (!e.sreg_data) return absl::OkStatus();
    if (absl::Status status = CheckLoaded(*e.sreg_data); !status.ok()) return status;
    if (!set.declared) set.set.flags |= kSetMap;
    if (set.shape.data.empty()) {
      set.shape.data = InOrder(values_.From(*e.sreg_data, set.data_words().value_or(16)));
    }
    return absl::OkStatus();
  }
  absl::Status operator()(ObjectMapRef& e) {
    if (absl::Status status = CheckLoaded(e.sreg); !status.ok()) return status;
    RawSet& set = *table_.set_by_handle.at(e.set);
    if (!set.declared) set.set.flags |= kSetObject;
    NoteKey(set, e.sreg);
    return absl::OkStatus();
  }
  absl::Status operator()(auto&) { return absl::OkStatus(); }

 private:
  [[nodiscard]] absl::Status Error(const SourcePos& where, std::string_view what) const {
    return ErrorAt(where, absl::StatusCode::kInvalidArgument, what);
  }
  void Lose(const std::string& what) {
    builder_.Lose(raw_[at_].where, absl::StrCat("the listing does not print ", what));
  }

  absl::Status CheckLoaded(Register reg) {
    if (values_.IsLoaded(reg)) return absl::OkStatus();
    return Error(raw_[at_].where, absl::StrCat("register ", reg.ToNetlink(),
                                               " is read, and no line of the rule before this one loads it"));
  }

  absl::Status Constant(size_t index, Bytes16& bytes) {
    const RawValue& value = raw_[at_].constants[index];
    std::string lost;
    const std::array<ValueType, 1> types = {operand_};
    const absl::StatusOr<std::string> decoded = DecodeValue(value, types, dialect_, &lost);
    if (!decoded.ok()) return decoded.status();
    if (decoded->size() > 16) {
      return Error(value.where, absl::StrCat("expected at most 16 bytes, found ", decoded->size()));
    }
    if (!lost.empty() && index == 0) Lose(lost);
    if (dialect_ == ListingDialect::kCurrent && operand_.len != 0 && operand_.len < decoded->size()) ++*misfits_;
    bytes = Bytes16(ByteSpan(reinterpret_cast<const uint8_t*>(decoded->data()), decoded->size()));
    return absl::OkStatus();
  }

  // The types as the elements of this text are written.
  [[nodiscard]] std::vector<ValueType> InOrder(std::vector<ValueType> types) const {
    if (in_memory_order_) {
      for (ValueType& type : types) type.order = ByteOrder::kMemory;
    }
    return types;
  }

  // The registers from `reg` on are the key, as many as the elements of the set have words.
  void NoteKey(RawSet& set, Register reg) {
    if (!set.shape.key.empty()) return;
    const std::optional<size_t> words = set.key_words();
    set.shape.key = InOrder(values_.From(reg, words.value_or(16)));
    if (words) return;
    // Without elements: all that was loaded one behind the other, which may be too much.
    set.key_is_certain = set.shape.key.size() < 2;
    if (!set.set.is(kSetConcat) && !set.key_is_certain && dialect_ == ListingDialect::kCurrent) set.shape.key.resize(1);
  }

  std::vector<ValueType> DataTypes(const RawSet& set, Register dreg) {
    const std::span<const Expression> rest = std::span<const Expression>(rule_).subspan(at_ + 1);
    std::vector<ValueType> types;
    if (const std::optional<size_t> words = set.data_words()) {
      types = WantedTypes(rest, dreg, *words, family_);
    } else {
      types.push_back(WantedType(rest, dreg, family_));
      if (types[0].len == 0) types[0].len = 4;
    }
    if (dialect_ == ListingDialect::kCurrent && set.first_data() != nullptr) TakeLengths(*set.first_data(), types);
    return types;
  }
  // The current dialect shows lengths: they are right where a reader says nothing, or something else.
  static void TakeLengths(const RawValue& data, std::vector<ValueType>& types) {
    const std::vector<size_t> fields =
        data.field_words.empty() ? std::vector<size_t>{data.words.size()} : data.field_words;
    if (fields.size() != types.size()) return;
    size_t word = 0;
    for (size_t i = 0; i < fields.size(); ++i) {
      size_t digits = 0;
      for (size_t n = 0; n < fields[i]; ++n) digits += data.words[word++].size();
      types[i].len = static_cast<uint8_t>(digits / 2);
    }
  }

  // What the text of an expression leaves out, whatever its constants are.
  void NoteLosses(Expression& expression) {
    if (std::holds_alternative<Osf>(expression.body)) return Lose("ttl and flags of osf; 0 is assumed");
    if (std::holds_alternative<Tunnel>(expression.body)) return Lose("the mode of tunnel; none is assumed");
    if (auto* synproxy = std::get_if<Synproxy>(&expression.body)) {
      constexpr uint32_t kMss = 1, kWscale = 2;
      synproxy->flags = kMss | kWscale;
      return Lose("the flags of synproxy; neither sack-perm nor timestamp is assumed");
    }
    constexpr uint32_t kCgroup = 3;
    if (const auto* socket = std::get_if<Socket>(&expression.body); socket != nullptr && socket->key == kCgroup) {
      return Lose("the level of socket cgroupv2; 0 is assumed");
    }
    if (const auto* hash = std::get_if<Hash>(&expression.body);
        hash != nullptr && hash->sreg && hash->seed.value_or(1) == 0) {
      return Lose("whether jhash has a seed; 0 is assumed");
    }
    if (const auto* match = std::get_if<CompatMatch>(&expression.body)) {
      return Lose(absl::StrCat("the options of the xtables match ", match->name, "; none are assumed"));
    }
    if (const auto* target = std::get_if<CompatTarget>(&expression.body)) {
      return Lose(absl::StrCat("the options of the xtables target ", target->name, "; none are assumed"));
    }
    if (auto* exthdr = std::get_if<ExthdrLoad>(&expression.body)) return ChooseChunkOrOption(*exthdr);
  }

  // SCTP chunks and DCCP options print alike. Either is found in packets of its protocol only, which nft tests before.
  void ChooseChunkOrOption(ExthdrLoad& exthdr) {
    if (exthdr.op != ExthdrOp::kSctp) return;
    constexpr uint8_t kDccpProtocol = 33, kSctpProtocol = 132;
    Register l4proto;
    std::optional<uint8_t> protocol;
    for (size_t i = 0; i < at_; ++i) {
      if (const auto* load = std::get_if<MetaLoad>(&rule_[i].body); load && load->key == MetaKey::kL4proto) {
        l4proto = load->dreg;
      } else if (const auto* cmp = std::get_if<Cmp>(&rule_[i].body);
                 cmp && cmp->sreg == l4proto && cmp->op == CmpOp::kEq && !cmp->data.empty()) {
        protocol = cmp->data[0];
        l4proto = Register();
      }
    }
    if (protocol == kSctpProtocol) return;
    if (protocol == kDccpProtocol) {
      exthdr.op = ExthdrOp::kDccp;
      return;
    }
    Lose("whether exthdr looks for a chunk of SCTP or an option of DCCP; SCTP is assumed");
  }

  std::vector<RawExpression>& raw_;
  ListingBuilder& builder_;
  RawTable& table_;
  Family family_;
  ListingDialect dialect_;
  bool in_memory_order_;
  size_t* misfits_;
  ValueTypes values_;
  std::vector<Expression> rule_;
  size_t at_ = 0;
  ValueType operand_;            // Of the constants of the expression at `at_`.
  std::vector<ValueType> data_;  // What it stores from a map.
};

}  // namespace

absl::Status ResolveRule(std::vector<RawExpression>& rule, ListingBuilder& builder, RawTable& table,
                         ListingDialect dialect, bool in_memory_order, size_t* misfits) {
  return RuleResolver(rule, builder, table, dialect, in_memory_order, misfits).Run();
}

}  // namespace nftjit::nft

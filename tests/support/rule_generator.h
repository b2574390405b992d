// One random rule: private to the generator (generate.h is its interface).
#ifndef NFTJIT_TESTS_SUPPORT_RULE_GENERATOR_H_
#define NFTJIT_TESTS_SUPPORT_RULE_GENERATOR_H_

#include <array>
#include <vector>

#include "lib/nft/ruleset.h"
#include "tests/support/generate.h"

namespace nftjit::testing {

// What the registers would hold if the rule ran on the packet that it is written for. Only a guess: a wrong one makes
// a rule that does not match, nothing else.
struct RegisterGuess {
  static constexpr uint8_t kWords = 16;
  std::array<uint8_t, 64> bytes{};
  uint32_t written = 0;  // One bit a word, as the kernel's verifier keeps it.

  static uint8_t WordsOf(size_t len) { return static_cast<uint8_t>((len + 3) / 4); }
  static uint32_t Mask(uint8_t word, size_t len) { return ((1U << WordsOf(len)) - 1) << word; }
  [[nodiscard]] bool Covers(uint8_t word, size_t len) const { return (~written & Mask(word, len)) == 0; }
  // Stores bytes, zeroes the rest of the last word.
  void Store(uint8_t word, const Bytes& value);
};

// A value in the register file.
struct RegisterValue {
  uint8_t word = 0;
  uint8_t len = 0;
};

// What all rules of a table share.
struct TableContext {
  nft::Table* table;
  const GenerateOptions* options;
  const std::vector<CraftedPacket>* packets;
  uint32_t hooks = 0;  // Bits: the hook numbers of the table's base chains.
  uint64_t* next_handle;
};

class RuleGenerator {
 public:
  // `targets`: chains that the rule may jump to.
  RuleGenerator(Random& random, const TableContext& context, std::vector<nft::Handle> targets);
  nft::Rule Generate();
  // No test and no verdict: all registers filled, then loads and computations.
  nft::Rule GenerateValues();

 private:
  // generate_values.cpp
  RegisterValue LoadSomething();
  RegisterValue LoadPayload();
  RegisterValue LoadMeta();
  RegisterValue LoadExthdr();
  RegisterValue LoadCt();
  RegisterValue LoadConstant();
  RegisterValue PayloadInto(uint8_t word, uint8_t max_len);
  RegisterValue Transform(RegisterValue value);
  RegisterValue TransformConstant(RegisterValue value);
  RegisterValue TransformShift(RegisterValue value);
  RegisterValue TransformRegister(RegisterValue value);
  RegisterValue TransformSwap(RegisterValue value);
  uint8_t PlaceFor(size_t len);
  uint8_t DestinationFor(RegisterValue source, size_t len);

  // generate_tests.cpp
  void AddTest(RegisterValue value);
  void AddCompare(RegisterValue value);
  void AddRange(RegisterValue value);
  void AddLookup(RegisterValue value, const std::vector<uint8_t>& fields);
  void AddConcatenatedLookup();
  Bytes NearConstant(const Bytes& value, uint32_t exact_percent);

  // generate_sets.cpp
  enum class SetUse : uint8_t { kPlain, kMap, kVerdictMap };
  nft::Set& MakeSet(const Bytes& key, const std::vector<uint8_t>& fields, SetUse use);
  void FillExact(nft::Set& set, const Bytes& key, SetUse use);
  void FillIntervals(nft::Set& set, const Bytes& key, SetUse use);
  void FillRanges(nft::Set& set, const Bytes& key, SetUse use);
  void GiveData(nft::Element& element, const nft::Set& set, SetUse use);
  nft::Verdict SomeVerdict();

  // rule_generator.cpp
  void AddUnit();
  void AddAction();
  void AddEnd();
  void AddMetaStore();
  void MaybeCount(uint32_t percent);
  bool HooksWithin(uint32_t allowed) const { return (context_.hooks & ~allowed) == 0; }
  [[nodiscard]] bool IsL3() const;
  void Emit(nft::ExpressionBody body) { rule_.expressions.push_back(nft::Expression{std::move(body), nullptr}); }
  [[nodiscard]] Bytes BytesOf(RegisterValue value) const;
  [[nodiscard]] nft::Family family() const { return context_.table->family; }

  Random& random_;
  const TableContext& context_;
  std::vector<nft::Handle> targets_;
  const CraftedPacket* packet_;
  RegisterGuess registers_;
  nft::Rule rule_;
};

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_SUPPORT_RULE_GENERATOR_H_

#include "machine.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <utility>

namespace nftjit::testing {
namespace {

constexpr uint64_t kStart_ns = 1'000'000'000'000, kStep_ns = 1'000'000;
constexpr uint32_t kLogCapacity = 64;

}  // namespace

std::string ToString(const Observed& observed) {
  return absl::StrCat("outcome ", observed.outcome, " rule ", static_cast<int32_t>(observed.rule), " reject ",
                      absl::Hex(observed.reject), " mark ", absl::Hex(observed.mark), " priority ",
                      absl::Hex(observed.priority), " secmark ", absl::Hex(observed.secmark), " pkttype ",
                      observed.pkttype);
}

Machine::Machine(const ir::Program& program, std::unique_ptr<const CompiledProgram> code)
    : code_(std::move(code)),
      counters_(std::max<size_t>(program.counters.size(), 1)),
      limits_(new LimitState[program.limits.size()]),
      limit_count_(program.limits.size()),
      records_(kLogCapacity) {
  for (size_t i = 0; i < limit_count_; ++i) limits_[i].Start(program.limits[i], kStart_ns);
  for (const ir::SetInfo& set : program.sets) {
    sets_.push_back(SetTable::Build(set, kStart_ns));
    set_pointers_.push_back(sets_.back().get());
  }
  log_.records = records_.data();
  log_.mask = kLogCapacity - 1;
  frame_.counters = counters_.data();
  frame_.sets = set_pointers_.data();
  frame_.limits = limits_.get();
  frame_.effects = &log_;
  frame_.random = &random_;
  frame_.now_ns = kStart_ns;
  frame_.cpu = 3;
}

Observed Machine::Run(ir::ChainId chain, const HookPoint& point, Packet& packet) {
  frame_.now_ns += kStep_ns;
  frame_.wall_ns = frame_.now_ns * 7;
  // What the engine is not told must not matter, nor what it left behind.
  std::memset(frame_.scratch, 0xa5, sizeof frame_.scratch);
  REQUIRE(EnterChain(point, packet, frame_) == EnterResult::kRun);
  frame_.rule = kNoRule;
  frame_.reject = 0;
  const ChainEntry entry = code_->Entry(chain);
  const Outcome outcome = entry.run(entry.code, &frame_);
  return {outcome, frame_.rule, frame_.reject, packet.mark, packet.priority, packet.secmark, packet.pkttype};
}

std::string Machine::State() const {
  std::string text;
  for (const CounterSlot& counter : counters_) absl::StrAppend(&text, counter.packets, "/", counter.bytes, " ");
  for (size_t i = 0; i < limit_count_; ++i) absl::StrAppend(&text, "limit ", limits_[i].empty_at.load(), " ");
  absl::StrAppend(&text, "logs ", log_.written);
  for (uint64_t i = 0; i < std::min<uint64_t>(log_.written, kLogCapacity); ++i) {
    absl::StrAppend(&text, " ", records_[i].log);
  }
  return text;
}

}  // namespace nftjit::testing

#include "benchmarks/switch_interpreter.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace nftjit::bench {

SwitchInterpreter::SwitchInterpreter(const nft::Chain& chain) {
  for (const nft::Rule& rule : chain.rules) {
    const size_t first = code_.size();
    for (const nft::Expression& expression : rule.expressions) {
      Instruction made{};
      if (const auto* load = std::get_if<nft::PayloadLoad>(&expression.body)) {
        made.op = load->base == nft::PayloadBase::kNetwork ? Op::kLoadNetwork : Op::kLoadTransport;
        made.reg = static_cast<uint8_t>(load->dreg.word() * 4);
        made.len = load->len;
        made.offset = load->offset;
      } else if (const auto* meta = std::get_if<nft::MetaLoad>(&expression.body);
                 meta != nullptr && meta->key == nft::MetaKey::kL4proto) {
        made.op = Op::kMetaL4proto;
        made.reg = static_cast<uint8_t>(meta->dreg.word() * 4);
      } else if (const auto* bitwise = std::get_if<nft::Bitwise>(&expression.body)) {
        made.op = Op::kAnd;
        made.reg = static_cast<uint8_t>(bitwise->dreg.word() * 4);
        made.len = bitwise->len;
        std::memcpy(made.data, bitwise->mask.data(), bitwise->mask.size());
      } else if (const auto* cmp = std::get_if<nft::Cmp>(&expression.body);
                 cmp != nullptr && cmp->op <= nft::CmpOp::kNeq) {
        made.op = cmp->op == nft::CmpOp::kEq ? Op::kCmpEq : Op::kCmpNeq;
        made.reg = static_cast<uint8_t>(cmp->sreg.word() * 4);
        made.len = static_cast<uint8_t>(cmp->data.size());
        std::memcpy(made.data, cmp->data.data(), cmp->data.size());
      } else if (std::holds_alternative<nft::Counter>(expression.body)) {
        made.op = Op::kCount;
        made.offset = static_cast<uint16_t>(counters_.size());
        counters_.resize(counters_.size() + 2);
      } else if (const auto* immediate = std::get_if<nft::Immediate>(&expression.body)) {
        made.op = immediate->verdict.code == nft::VerdictCode::kDrop ? Op::kDrop : Op::kAccept;
      } else {
        std::fprintf(stderr, "switch interpreter: '%s' is not one of its expressions\n",
                     std::string(nft::Name(expression.body)).c_str());
        std::abort();
      }
      code_.push_back(made);
    }
    Instruction next{};
    next.op = Op::kNextRule;
    code_.push_back(next);
    for (size_t i = first; i < code_.size(); ++i) code_[i].skip = static_cast<uint32_t>(code_.size() - i);
  }
}

bool SwitchInterpreter::Run(const uint8_t* packet, uint32_t length) {
  alignas(16) uint8_t registers[64];
  const uint32_t transport = (packet[0] & 15U) * 4;
  const Instruction* end = code_.data() + code_.size();
  for (const Instruction* at = code_.data(); at != end;) {
    switch (at->op) {
      case Op::kLoadNetwork:
      case Op::kLoadTransport: {
        const uint32_t from = at->offset + (at->op == Op::kLoadTransport ? transport : 0);
        if (from + at->len > length) {
          at += at->skip;
          continue;
        }
        std::memset(registers + at->reg, 0, 4);
        switch (at->len) {
          case 1:
            registers[at->reg] = packet[from];
            break;
          case 2:
            std::memcpy(registers + at->reg, packet + from, 2);
            break;
          case 4:
            std::memcpy(registers + at->reg, packet + from, 4);
            break;
          default:
            std::memcpy(registers + at->reg, packet + from, at->len);
            break;
        }
        break;
      }
      case Op::kMetaL4proto:
        std::memset(registers + at->reg, 0, 4);
        registers[at->reg] = packet[9];
        break;
      case Op::kAnd:
        for (size_t i = 0; i < at->len; i += 4) {
          StoreNative(registers + at->reg + i,
                      LoadNative<uint32_t>(registers + at->reg + i) & LoadNative<uint32_t>(at->data + i));
        }
        break;
      case Op::kCmpEq:
      case Op::kCmpNeq: {
        bool equal = false;
        switch (at->len) {
          case 1:
            equal = registers[at->reg] == at->data[0];
            break;
          case 2:
            equal = std::memcmp(registers + at->reg, at->data, 2) == 0;
            break;
          case 4:
            equal = std::memcmp(registers + at->reg, at->data, 4) == 0;
            break;
          default:
            equal = std::memcmp(registers + at->reg, at->data, at->len) == 0;
            break;
        }
        if (equal != (at->op == Op::kCmpEq)) {
          at += at->skip;
          continue;
        }
        break;
      }
      case Op::kCount:
        ++counters_[at->offset];
        counters_[at->offset + 1U] += length;
        break;
      case Op::kDrop:
        return false;
      case Op::kAccept:
        return true;
      case Op::kNextRule:
        break;
    }
    ++at;
  }
  return true;
}

}  // namespace nftjit::bench

#include "log/chain.h"

#include <string>

namespace clawmark {
namespace {

void append_number(std::string& input, std::uint64_t number, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    input.push_back(static_cast<char>(number >> shift & 0xFF));
  }
}

void append_hash(std::string& input, const Hash256& hash) {
  input.append(reinterpret_cast<const char*>(hash.bytes.data()), hash.bytes.size());
}

// Rule 1, of stores made before schema 3: previous, seq, type, payload hash.
Hash256 chain_by_rule_1(const Hash256& previous, std::int64_t seq, std::string_view type,
                        const Hash256& payload_hash) {
  std::string input;
  input.reserve(2 * 32 + 8 + type.size());
  append_hash(input, previous);
  append_number(input, static_cast<std::uint64_t>(seq), 8);
  input.append(type);
  append_hash(input, payload_hash);
  return sha256(input);
}

}  // namespace

Hash256 chain_by_rule_2(const Hash256& previous, const Sealed& e, const Hash256& payload_hash) {
  std::string input;
  input.reserve(384);
  append_hash(input, previous);
  append_hash(input, payload_hash);
  for (const std::int64_t number :
       {e.seq, e.origin_seq, e.version, e.occurred.value, e.recorded.value}) {
    append_number(input, static_cast<std::uint64_t>(number), 8);
  }
  for (const std::string_view text :
       {e.origin, e.type, e.agent, e.session_key, e.lane, e.sender, e.dedupe_key}) {
    append_number(input, text.size(), 4);
    input.append(text);
  }
  return sha256(input);
}

Hash256 next_chain(const Hash256& previous, const Sealed& event, const Hash256& payload_hash,
                   std::int64_t rule_2_from) {
  return event.seq < rule_2_from ? chain_by_rule_1(previous, event.seq, event.type, payload_hash)
                                 : chain_by_rule_2(previous, event, payload_hash);
}

}  // namespace clawmark

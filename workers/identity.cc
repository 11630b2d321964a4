#include "workers/identity.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/utf8.h"

namespace clawmark {
namespace {

constexpr std::int64_t kInsertionSlackMs = 2000;  // a row is inserted after its message was said

void append_be64(std::string& out, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>((value >> shift) & 0xFF));
  }
}

std::uint64_t read_be64(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes.substr(0, 8)) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

std::span<const std::uint8_t> as_blob(const std::string& bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

std::string_view bytes_of(const Hash256& hash) {
  return {reinterpret_cast<const char*>(hash.bytes.data()), hash.bytes.size()};
}

// A content key: role and text (16 bytes), time (8), origin (1), session key (8), class and tools
// (8), and where the host told it, what it tells equal messages apart by (8).
constexpr std::size_t kTimeAt = 16, kOriginAt = 24, kKeyAt = 25, kExactAt = 33, kDistinctAt = 41,
                      kContentBytes = 49;

// What a content key says before its time.
std::string content_stem(std::string_view role, const Hash256& hash) {
  std::string input(role);
  input.push_back('\x1f');
  input.append(bytes_of(hash));
  return std::string(bytes_of(sha256(input)).substr(0, kTimeAt));
}

std::string content_head(std::string_view stem, std::int64_t ms) {
  std::string out(stem);
  append_be64(out, static_cast<std::uint64_t>(ms) ^ (1ULL << 63));  // order of signed times
  return out;
}

std::uint64_t exact_hash(const Entry& entry) {
  std::uint64_t hash = fnv1a(entry.entry_class);
  for (const auto& tool : entry.tools) hash = fnv1a(tool.call_id, hash ^ 0x1f);
  return hash;
}

std::uint64_t distinct_hash(const Entry& entry) {
  return entry.distinct_by.empty() ? 0 : fnv1a(entry.distinct_by);
}

std::uint64_t key_hash(std::string_view session_key) {
  return session_key.empty() ? 0 : fnv1a(session_key);
}

std::int64_t floor_to(std::int64_t ms, std::int64_t step) {
  if (step <= 1) return ms;
  const std::int64_t rest = ms % step;
  return ms - (rest < 0 ? rest + step : rest);
}

std::string hex16(const Hash256& hash) {
  return to_hex(hash).substr(0, 16);
}

// The end of a range scan over keys that begin with `prefix`, which ends in ':'.
std::string prefix_end(std::string_view prefix) {
  std::string end(prefix);
  end.back() = static_cast<char>(end.back() + 1);
  return end;
}

bool hash_matches(const Entry& entry, const Hash256& hash) {
  return entry.hash == hash || std::find(entry.other_hashes.begin(), entry.other_hashes.end(),
                                         hash) != entry.other_hashes.end();
}

}  // namespace

std::string plain_role(std::string_view role) {
  if (role == "user" || role == "assistant" || role == "system") return std::string(role);
  if (role == "toolResult" || role == "tool" || role == "tool_result") return "tool";
  return "other";
}

TimeMs time_said(const Entry& entry) {
  return entry.message_time.value != 0 ? entry.message_time : entry.time;
}

bool is_uuid(std::string_view id) {
  if (id.size() != 36) return false;
  for (std::size_t i = 0; i < id.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const char c = id[i];
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (dash ? c != '-' : !hex) return false;
  }
  return true;
}

std::string message_key_prefix(const Met& met) {
  std::string key = "msg:" + met.agent + ":";
  if (!met.entry->entry_id.empty()) return key + met.entry->entry_id + ":";
  const std::string& family = met.session_key.empty() ? met.session_id : met.session_key;
  std::string input = family + '\x1f' + met.role + '\x1f';
  input.append(bytes_of(met.entry->hash));
  return key + "content-" + hex16(sha256(input)) + ":" + std::to_string(met.said.value) + ":";
}

std::string message_key(const Met& met, std::int64_t occurrence) {
  const std::string prefix = message_key_prefix(met);
  const std::string& id = met.entry->entry_id;
  if (id.empty()) return prefix + std::to_string(occurrence);
  if (is_uuid(id)) return prefix.substr(0, prefix.size() - 1);
  return prefix + std::to_string(met.said.value) + ":" + met.role + ":" + hex16(met.entry->hash);
}

Result<std::int64_t> Identity::count_prefix(std::string_view prefix) {
  CLAWMARK_ASSIGN(const auto count,
                  db_.query_int("SELECT count(*) FROM events WHERE dedupe_key >= ?"
                                " AND dedupe_key < ?",
                                prefix, prefix_end(prefix)));
  return count.value_or(0);
}

Result<std::optional<KnownMessage>> Identity::known(Seq message) {
  CLAWMARK_ASSIGN(auto* query,
                  db_.cached("SELECT payload ->> '$.entry_id', payload ->> '$.session_id',"
                             " session_key, payload ->> '$.role', payload ->> '$.noise',"
                             " payload ->> '$.class', payload ->> '$.sha256', occurred_ms"
                             " FROM events WHERE seq = ? AND type = 'message.observed'"));
  CLAWMARK_ASSIGN(const bool row, query->with(message.value).step());
  std::optional<KnownMessage> out;
  if (row) {
    out = KnownMessage{message,          query->string(0), query->string(1), query->string(2),
                       query->string(3), query->string(4), query->string(5), {},
                       query->time(7)};
    if (const auto hash = hash_from_hex(query->text(6))) out->hash = *hash;
  }
  query->reset();
  if (out && out->role.empty()) CLAWMARK_TRY(known_by_tombstone(*out));
  return out;
}

Result<std::optional<Seq>> Identity::recognise(const Met& met) {
  const std::string& id = met.entry->entry_id;
  std::optional<Seq> found;
  if (is_uuid(id)) {
    CLAWMARK_ASSIGN(const auto seq, db_.query_int("SELECT seq FROM events WHERE dedupe_key = ?",
                                                  "msg:" + met.agent + ":" + id));
    if (seq) return std::optional<Seq>{Seq{*seq}};
  } else if (!id.empty()) {
    CLAWMARK_ASSIGN(found, by_short_id(met));
    if (found) return found;
  }
  if (!id.empty()) {
    CLAWMARK_ASSIGN(found, by_alias(met));
    if (found) return found;
  }
  if (met.coarse()) return coarse_by_content(met);
  CLAWMARK_ASSIGN(found, by_exact_content(met));
  if (found) return found;
  CLAWMARK_ASSIGN(const bool coarse, any_coarse());
  if (coarse) return precise_by_coarse(met);
  return std::optional<Seq>{};
}

Result<std::optional<Seq>> Identity::by_short_id(const Met& met) {
  const std::string prefix = "msg:" + met.agent + ":" + met.entry->entry_id + ":";
  CLAWMARK_ASSIGN(auto* query, db_.cached("SELECT seq, dedupe_key FROM events"
                                          " WHERE dedupe_key >= ? AND dedupe_key < ?"
                                          " ORDER BY seq"));
  query->with(prefix, prefix_end(prefix));
  std::optional<Seq> found;
  std::vector<Seq> doubtful;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    const std::string_view rest = query->text(1).substr(prefix.size());  // time:role:hash
    const auto first = rest.find(':');
    const auto second = rest.rfind(':');
    if (first == std::string_view::npos || second <= first) continue;
    if (rest.substr(first + 1, second - first - 1) != met.role) continue;
    std::int64_t said = 0;
    std::from_chars(rest.data(), rest.data() + first, said);
    bool same_text = rest.substr(second + 1) == hex16(met.entry->hash);
    for (const auto& hash : met.entry->other_hashes) {
      same_text = same_text || rest.substr(second + 1) == hex16(hash);
    }
    // One of the two carriers may count in whole seconds; in a key that shows as no milliseconds.
    const std::int64_t step =
        std::max<std::int64_t>(met.entry->time_step_ms, said % 1000 == 0 ? 1000 : 1);
    const bool same_time = floor_to(said, step) == floor_to(met.said.value, step);
    if (same_text && same_time) {
      found = Seq{query->integer(0)};
      break;
    }
    if (same_time || (same_text && (step > 1 || met.guessed)))
      doubtful.push_back({query->integer(0)});
  }
  query->reset();
  if (found) return found;
  // Rewritten text, or a time of storing: only within the same session.
  for (const Seq candidate : doubtful) {
    CLAWMARK_ASSIGN(const auto other, known(candidate));
    if (!other) continue;
    const bool same_key = !met.session_key.empty() && met.session_key == other->session_key;
    if (met.session_id == other->session_id || same_key) return std::optional<Seq>{candidate};
  }
  return found;
}

Result<std::optional<Seq>> Identity::by_alias(const Met& met) {
  CLAWMARK_ASSIGN(const bool sighted, any_sighted(met.agent));
  if (!sighted) return std::optional<Seq>{};
  const std::string prefix = "sight:" + met.agent + ":" + met.entry->entry_id + ":";
  CLAWMARK_ASSIGN(const auto message,
                  db_.query_int("SELECT payload ->> '$.message' FROM events WHERE dedupe_key >= ?"
                                " AND dedupe_key < ? ORDER BY dedupe_key LIMIT 1",
                                prefix, prefix_end(prefix)));
  if (!message) return std::optional<Seq>{};
  if (!is_uuid(met.entry->entry_id)) {
    CLAWMARK_ASSIGN(const auto other, known({*message}));
    if (!other || other->role != met.role) return std::optional<Seq>{};
    if (!hash_matches(*met.entry, other->hash) && other->occurred != met.said) {
      return std::optional<Seq>{};
    }
  }
  return std::optional<Seq>{Seq{*message}};
}

// Asked for one text several times in a row.
const std::string& Identity::stem_of(std::string_view role, const Hash256& hash) {
  if (stem_.empty() || stem_role_ != role || stem_hash_ != hash) {
    stem_ = content_stem(role, hash);
    stem_role_ = role;
    stem_hash_ = hash;
  }
  return stem_;
}

Result<std::vector<Identity::Candidate>> Identity::candidates(const Met& met, const Hash256& hash,
                                                              std::int64_t from_ms,
                                                              std::int64_t to_ms) {
  const std::string& stem = stem_of(met.role, hash);
  const std::string from = content_head(stem, from_ms), to = content_head(stem, to_ms);
  CLAWMARK_ASSIGN(auto* query,
                  db_.cached("SELECT content, message, session_id FROM message_contents"
                             " WHERE agent = ? AND content >= ? AND content < ?"
                             " ORDER BY content, message"));
  query->with(met.agent, as_blob(from), as_blob(to));
  std::vector<Candidate> out;
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    const auto blob = query->blob(0);
    const std::string_view content(reinterpret_cast<const char*>(blob.data()), blob.size());
    if (content.size() != kContentBytes && content.size() != kDistinctAt) continue;
    Candidate c;
    c.message = {query->integer(1)};
    c.session_id = query->text(2);
    c.said = {static_cast<std::int64_t>(read_be64(content.substr(kTimeAt)) ^ (1ULL << 63))};
    c.origin = content[kOriginAt];
    c.key_hash = read_be64(content.substr(kKeyAt));
    c.exact_hash = read_be64(content.substr(kExactAt));
    c.distinct_hash = read_be64(content.substr(kDistinctAt));
    c.text_hash = hash;
    out.push_back(std::move(c));
  }
  query->reset();
  return out;
}

bool Identity::same_session(const Met& met, const Candidate& candidate) const {
  if (!met.session_id.empty() && met.session_id == candidate.session_id) return true;
  const std::uint64_t key = key_hash(met.session_key);
  return key != 0 && key == candidate.key_hash;
}

Result<std::optional<Seq>> Identity::by_exact_content(const Met& met) {
  const std::int64_t ms = met.said.value;
  if (ms == 0) return std::optional<Seq>{};
  CLAWMARK_ASSIGN(const auto found, candidates(met, met.entry->hash, ms, ms + 1));
  const std::uint64_t exact = exact_hash(*met.entry);
  const std::uint64_t distinct = distinct_hash(*met.entry);
  for (const auto& c : found) {
    // Channels count in whole seconds, and tools answer at once: equal words at one time may be
    // two messages, and the host says which.
    const bool told_apart = distinct != 0 && c.distinct_hash != 0 && distinct != c.distinct_hash;
    if (c.origin == 'p' && c.exact_hash == exact && !told_apart && same_session(met, c)) {
      return std::optional<Seq>{c.message};
    }
  }
  return std::optional<Seq>{};
}

// Rows of one second without a text are told apart by the tools that they call.
bool Identity::calls_others(const Met& met, const Candidate& candidate) {
  return candidate.origin != 'p' && !met.entry->tools.empty() &&
         candidate.exact_hash != exact_hash(*met.entry);
}

// A row with whole seconds, or with the time at which it was stored.
Result<std::optional<Seq>> Identity::coarse_by_content(const Met& met) {
  std::vector<Hash256> hashes = {met.entry->hash};
  hashes.insert(hashes.end(), met.entry->other_hashes.begin(), met.entry->other_hashes.end());
  const std::int64_t second = floor_to(met.said.value, met.entry->time_step_ms);
  const std::int64_t second_end = second + met.entry->time_step_ms;
  const bool by_order = met.entry->entry_id.empty();
  std::optional<Seq> claimed;
  std::optional<Seq> earliest;
  for (const auto& hash : hashes) {
    const std::int64_t from = by_order ? std::numeric_limits<std::int64_t>::min() : second;
    const std::int64_t to = std::max(second_end, by_order ? met.said.value + kInsertionSlackMs : 0);
    CLAWMARK_ASSIGN(const auto found, candidates(met, hash, from, to));
    for (const auto& c : found) {
      const bool in_second = c.said.value >= second && c.said.value < second_end;
      const bool keyless = met.session_key.empty() || c.key_hash == 0;
      if (!same_session(met, c) && !(in_second && keyless)) continue;
      if (calls_others(met, c)) continue;
      CLAWMARK_ASSIGN(const bool same_row, has_place(c.message, met));
      if (same_row) return std::optional<Seq>{c.message};
      if (!in_second && c.origin != 'p') continue;
      CLAWMARK_ASSIGN(const bool taken, has_locator(c.message, met.carrier));
      if (in_second && !taken) return std::optional<Seq>{c.message};
      if (in_second && !claimed) claimed = c.message;
      if (!in_second && !taken && !earliest) earliest = c.message;
    }
  }
  return claimed ? claimed : earliest;
}

// A precise entry whose message a coarse carrier may have shown first.
Result<std::optional<Seq>> Identity::precise_by_coarse(const Met& met) {
  const std::int64_t second = floor_to(met.said.value, 1000);
  CLAWMARK_ASSIGN(const auto found, candidates(met, met.entry->hash, second,
                                               std::numeric_limits<std::int64_t>::max()));
  std::optional<Seq> stored_later;
  for (const auto& c : found) {
    if (c.origin == 'p') continue;
    const bool in_second = c.said.value < second + 1000;
    const bool keyless = met.session_key.empty() || c.key_hash == 0;
    if (!same_session(met, c) && !(in_second && keyless)) continue;
    if (in_second) return std::optional<Seq>{c.message};
    if (c.origin == 'u' && !stored_later) stored_later = c.message;
  }
  return stored_later;
}

Result<bool> Identity::has_locator(Seq message, std::string_view carrier) {
  CLAWMARK_ASSIGN(const auto row, db_.query_int("SELECT 1 FROM locators WHERE message = ?"
                                                " AND carrier = ? LIMIT 1",
                                                message.value, carrier));
  return row.has_value();
}

Result<bool> Identity::has_place(Seq message, const Met& met) {
  CLAWMARK_ASSIGN(const auto row,
                  db_.query_int("SELECT 1 FROM locators WHERE message = ? AND carrier = ?"
                                " AND stream = ? AND place = ?",
                                message.value, met.carrier, met.stream, met.entry->place));
  return row.has_value();
}

Result<bool> Identity::any_coarse() {
  if (any_coarse_) return *any_coarse_;
  CLAWMARK_ASSIGN(const auto row,
                  db_.query_int("SELECT 1 FROM source_positions WHERE carrier IN ('lcm', 'import')"
                                " LIMIT 1"));
  any_coarse_ = row.has_value();
  return *any_coarse_;
}

Result<bool> Identity::any_sighted(const std::string& agent) {
  if (sighted_agent_ == agent && any_sighted_) return *any_sighted_;
  const std::string prefix = "sight:" + agent + ":";
  CLAWMARK_ASSIGN(const auto row, db_.query_int("SELECT 1 FROM events WHERE dedupe_key >= ?"
                                                " AND dedupe_key < ? LIMIT 1",
                                                prefix, prefix_end(prefix)));
  sighted_agent_ = agent;
  any_sighted_ = row.has_value();
  return *any_sighted_;
}

Result<std::optional<Seq>> Identity::find_id(std::string_view agent, std::string_view entry_id,
                                             std::string_view session_id) {
  if (entry_id.empty()) return std::optional<Seq>{};
  const std::string key = "msg:" + std::string(agent) + ":" + std::string(entry_id);
  if (is_uuid(entry_id)) {
    CLAWMARK_ASSIGN(const auto seq,
                    db_.query_int("SELECT seq FROM events WHERE dedupe_key = ?", key));
    if (seq) return std::optional<Seq>{Seq{*seq}};
  } else {
    CLAWMARK_ASSIGN(const auto seq,
                    db_.query_int("SELECT seq FROM events WHERE dedupe_key >= ?"
                                  " AND dedupe_key < ? ORDER BY"
                                  " payload ->> '$.session_id' = ? DESC, seq DESC LIMIT 1",
                                  key + ":", key + ";", session_id));
    if (seq) return std::optional<Seq>{Seq{*seq}};
  }
  const std::string sight = "sight:" + std::string(agent) + ":" + std::string(entry_id) + ":";
  CLAWMARK_ASSIGN(const auto message,
                  db_.query_int("SELECT payload ->> '$.message' FROM events WHERE dedupe_key >= ?"
                                " AND dedupe_key < ? ORDER BY dedupe_key LIMIT 1",
                                sight, prefix_end(sight)));
  if (message) return std::optional<Seq>{Seq{*message}};
  return std::optional<Seq>{};
}

Status Identity::remember(const Met& met, Seq message) {
  std::string content = content_head(stem_of(met.role, met.entry->hash), met.said.value);
  content.push_back(!met.coarse() ? 'p' : met.entry->entry_id.empty() ? 'u' : 'c');
  append_be64(content, key_hash(met.session_key));
  append_be64(content, exact_hash(*met.entry));
  if (!met.entry->distinct_by.empty()) append_be64(content, distinct_hash(*met.entry));
  return db_.run(
      "INSERT OR IGNORE INTO message_contents(agent, content, message, session_id,"
      " occurred_ms) VALUES (?, ?, ?, ?, ?)",
      met.agent, as_blob(content), message.value, met.session_id, met.said);
}

Status Identity::claim(const Met& met, Seq message) {
  CLAWMARK_ASSIGN(const auto other, known(message));
  if (!other) return Ok{};
  const std::string& stem = stem_of(other->role, other->hash);
  const std::string from = content_head(stem, other->occurred.value);
  const std::string to = content_head(stem, other->occurred.value + 1);
  CLAWMARK_TRY(
      db_.run("DELETE FROM message_contents WHERE agent = ? AND content >= ?"
              " AND content < ? AND message = ? AND substr(content, 25, 1) <> x'70'",
              met.agent, as_blob(from), as_blob(to), message.value));
  return remember(met, message);
}

}  // namespace clawmark

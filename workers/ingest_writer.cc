#include "workers/ingest_writer.h"

#include <algorithm>

#include "base/guard.h"
#include "base/limits.h"
#include "base/utf8.h"

namespace clawmark {
namespace {

constexpr std::size_t kTreesKept = 64;
constexpr std::size_t kTreeEntriesKept = 200'000;  // about 100 bytes each
constexpr std::string_view kOwnCall = "own_call";

Scope scope_for(const Met& met, const Entry& entry) {
  Scope scope;
  scope.agent = met.agent;
  scope.session_key = met.session_key;
  scope.lane = parse_session_key(met.session_key).lane;
  scope.sender = sender_of(entry, met.role, met.session_key);
  return scope;
}

// Whether an epoch of this carrier is read from the first entry on; one of LCM may begin in the
// middle.
bool begins_anew(std::string_view carrier) {
  return carrier != "lcm";
}

json::array tools_json(const Entry& entry) {
  json::array tools;
  for (const auto& tool : entry.tools) {
    if (tools.size() >= kToolCallsMax) break;
    tools.push_back(json::object{{"call_id", tool.call_id}, {"name", tool.name}});
  }
  return tools;
}

}  // namespace

std::string sender_of(const Entry& entry, std::string_view role, std::string_view session_key) {
  if (role != "user") return {};
  const SessionKey key = parse_session_key(session_key);
  const std::string_view channel = entry.channel.empty() ? key.channel : entry.channel;
  if (std::string id = person_id(channel, entry.sender_id); !id.empty()) return id;
  if (key.lane == Lane::kDirect && !key.channel.empty()) {
    const std::string_view peer = std::string_view(key.peer).substr(0, key.peer.find(":thread:"));
    return person_id(key.channel, peer);
  }
  return key.owner_surface ? "owner" : "";
}

StreamTree& IngestWriter::tree_of(const std::string& key) {
  const auto known = trees_.find(key);
  if (known != trees_.end()) return known->second;
  std::size_t entries = 0;
  for (const auto& [name, tree] : trees_) entries += tree.nearest.size();
  while (!tree_order_.empty() && (entries > kTreeEntriesKept || tree_order_.size() >= kTreesKept)) {
    const auto oldest = trees_.find(tree_order_.front());
    entries -= oldest->second.nearest.size();
    trees_.erase(oldest);
    tree_order_.pop_front();
  }
  tree_order_.push_back(key);
  return trees_[key];
}

Met IngestWriter::meet(const StreamRef& stream, const Entry& entry) const {
  Met met;
  met.entry = &entry;
  met.agent = stream.agent;
  met.carrier = stream.carrier;
  met.stream = stream.info.key;
  met.session_id = entry.session_id.empty() ? stream.info.session_id : entry.session_id;
  met.session_key = entry.session_key.empty() ? stream.info.session_key : entry.session_key;
  met.role = plain_role(entry.role);
  met.said = time_said(entry);
  met.guessed = met.said.value == 0;
  if (met.guessed) met.said = {near_.value + 1};
  return met;
}

Result<BatchCounts> IngestWriter::write(Transaction& txn, const StreamRef& stream,
                                        const StreamPosition& from, const StreamBatch& batch,
                                        TimeMs now) {
  BatchCounts counts;
  identity_.emplace(txn.db());
  StreamTree& tree = tree_of(stream.position_key);
  if (from.position.empty() || batch.epoch) tree = StreamTree{};
  if (from.position.empty() || batch.epoch) tree.from_start = true;
  if (batch.epoch) {
    NewEvent event{event_type::kSourceEpoch, 1, {}, {}, now, {}};
    event.scope.agent = stream.agent;
    event.dedupe_key = "epoch:" + stream.carrier + ":" + stream.position_key + ":" +
                       std::to_string(batch.epoch->epoch);
    event.payload = {{"carrier", stream.carrier},
                     {"stream", stream.position_key},
                     {"epoch", batch.epoch->epoch},
                     {"reason", batch.epoch->reason}};
    CLAWMARK_TRY(log_.append(txn, event));
    if (begins_anew(stream.carrier)) {
      CLAWMARK_TRY(BodyStore::doubt_locators(txn, stream.agent, stream.carrier, stream.info.key));
    }
  }
  if (stream.info.deleted) CLAWMARK_TRY(write_deleted(txn, stream, now));
  CLAWMARK_ASSIGN(near_, time_before(txn.db(), stream, from, batch, now));
  for (const Entry& entry : batch.entries) {
    CLAWMARK_TRY(write_entry(txn, stream, entry, tree, now, counts));
  }
  // What a stream that stopped has not shown again may stand behind.
  if (batch.at_end && !batch.stopped && begins_anew(stream.carrier)) {
    CLAWMARK_TRY(BodyStore::sweep_locators(txn, stream.carrier, stream.info.key, now));
  }
  if (batch.inactive) CLAWMARK_TRY(write_branch(txn, stream, *batch.inactive, tree, now));
  counts.skipped = batch.skipped_total;
  CLAWMARK_TRY(note_skipped(txn, stream, from, batch, now));
  CLAWMARK_TRY(write_position(txn, stream, batch, counts, now));
  return counts;
}

Status IngestWriter::write_entry(Transaction& txn, const StreamRef& stream, const Entry& entry,
                                 StreamTree& tree, TimeMs, BatchCounts& counts) {
  ++counts.entries;
  if (const TimeMs said = time_said(entry); said.value != 0) near_ = said;
  switch (entry.kind) {
    case EntryKind::kMessage:
      return write_message(txn, stream, entry, tree, counts);
    case EntryKind::kReset:
    case EntryKind::kCompaction:
      CLAWMARK_TRY(write_mark(txn, stream, entry, counts));
      break;
    case EntryKind::kLeaf:
      break;
    case EntryKind::kOther:
      if (!entry.alias_of.empty()) return write_alias(txn, stream, entry, counts);
      break;
  }
  if (!entry.entry_id.empty()) {
    // The active path goes on from a leaf's target.
    const std::string& above = entry.kind == EntryKind::kLeaf && !entry.target_id.empty()
                                   ? entry.target_id
                                   : entry.parent_id;
    CLAWMARK_ASSIGN(const auto nearest, resolve(*identity_, stream, tree, above));
    tree.nearest[entry.entry_id] = nearest;
  }
  return Ok{};
}

Result<std::int64_t> IngestWriter::resolve(Identity& identity, const StreamRef& stream,
                                           const StreamTree& tree, const std::string& entry_id) {
  if (entry_id.empty()) return std::int64_t{0};
  const auto known = tree.nearest.find(entry_id);
  if (known != tree.nearest.end()) return known->second;
  if (tree.from_start) return std::int64_t{0};
  CLAWMARK_ASSIGN(const auto seq, identity.find_id(stream.agent, entry_id, stream.info.session_id));
  return seq ? seq->value : std::int64_t{0};
}

Status IngestWriter::write_message(Transaction& txn, const StreamRef& stream, const Entry& entry,
                                   StreamTree& tree, BatchCounts& counts) {
  const Met met = meet(stream, entry);
  near_ = met.said;
  counts.newest = std::max(counts.newest, met.said);
  if (met.session_key.empty()) ++counts.keyless;
  CLAWMARK_ASSIGN(const auto found, identity_->recognise(met));
  CLAWMARK_ASSIGN(const auto parent, resolve(*identity_, stream, tree, entry.parent_id));
  CLAWMARK_ASSIGN(const std::string noise, noise_of(*identity_, met, tree, parent));
  Seq message;
  if (found) {
    message = *found;
    CLAWMARK_TRY(sight(txn, met, message, counts));
  } else {
    CLAWMARK_ASSIGN(message, observe(txn, met, entry, parent, noise));
    CLAWMARK_TRY(identity_->remember(met, message));
    ++counts.messages;
    if (entry.time_off || time_said(entry).value == 0) ++counts.times_righted;
  }
  if (!entry.entry_id.empty()) tree.nearest[entry.entry_id] = message.value;
  return keep_text(txn, met, message, found.has_value());
}

// Answers to our own prompts are as little a person's word as the prompts.
Result<std::string> IngestWriter::noise_of(Identity& identity, const Met& met, StreamTree& tree,
                                           std::int64_t parent) {
  const Entry& entry = *met.entry;
  if (met.role == "user") {
    const bool own = entry.noise == kOwnCall || entry.text.starts_with(kOwnCallMark);
    tree.own_call = own;
    tree.own_call_known = true;
    return own ? std::string(kOwnCall) : entry.noise;
  }
  if (!tree.own_call_known && parent != 0 && !tree.from_start) {
    CLAWMARK_ASSIGN(const auto above, identity.known({parent}));
    tree.own_call = above && above->noise == kOwnCall;
    tree.own_call_known = true;
  }
  return tree.own_call ? std::string(kOwnCall) : entry.noise;
}

Result<Seq> IngestWriter::observe(Transaction& txn, const Met& met, const Entry& entry,
                                  std::int64_t parent, const std::string& noise) {
  NewEvent event;
  event.type = event_type::kMessageObserved;
  event.scope = scope_for(met, entry);
  event.occurred = met.said;
  std::int64_t occurrence = 0;
  if (entry.entry_id.empty()) {
    CLAWMARK_ASSIGN(occurrence, identity_->count_prefix(message_key_prefix(met)));
  }
  event.dedupe_key = message_key(met, occurrence);
  event.payload = {{"entry_id", entry.entry_id},
                   {"session_id", met.session_id},
                   {"session_key", met.session_key},
                   {"role", met.role},
                   {"class", entry.entry_class.empty() ? "chat" : entry.entry_class},
                   {"noise", noise},
                   {"speaker", std::string(prefix_code_points(entry.sender_name, 200))},
                   {"sender_is_owner", entry.sender_is_owner},
                   {"bytes", entry.bytes},
                   {"sha256", to_hex(entry.hash)},
                   {"chars", count_code_points(entry.text)},
                   {"tools", tools_json(entry)},
                   {"carrier", met.carrier},
                   {"position", entry.order}};
  if (parent != 0) event.payload["parent"] = parent;
  CLAWMARK_ASSIGN(const Appended appended, log_.append(txn, event));
  if (appended.fresh == 1) return appended.head;
  CLAWMARK_ASSIGN(const auto seq, EventLog::find(txn.db(), event.dedupe_key));
  if (seq) return *seq;
  return make_error(ErrorKind::kFatal, "ingest", "lost_message", "an appended event is not there");
}

// The message was known: another session, or another entry id, is worth an event.
Status IngestWriter::sight(Transaction& txn, const Met& met, Seq message, BatchCounts& counts) {
  CLAWMARK_ASSIGN(const auto first, identity_->known(message));
  if (!first) return Ok{};
  const Entry& entry = *met.entry;
  const bool alias = !entry.entry_id.empty() && entry.entry_id != first->entry_id;
  // LCM writes the run of today over that of an old message: no further session, but the same chat.
  const bool same_chat = met.coarse() && met.session_key == first->session_key;
  const bool elsewhere = met.session_id != first->session_id && !same_chat;
  if (met.coarse()) {
    CLAWMARK_ASSIGN(const auto place,
                    txn.db().query_text("SELECT place FROM locators WHERE message = ?"
                                        " AND carrier = ? AND stream = ?",
                                        message.value, met.carrier, met.stream));
    if (place && *place != entry.place) ++counts.duplicates;
  }
  // Which conversation it belongs to was not known when it was first seen.
  const bool keyed = first->session_key.empty() && !met.session_key.empty();
  if (!alias && !elsewhere && !keyed) return Ok{};
  NewEvent event;
  event.type = event_type::kMessageSighted;
  event.scope = scope_for(met, entry);
  event.occurred = first->occurred;
  event.dedupe_key = "sight:" + met.agent + ":" + entry.entry_id + ":" + met.session_id;
  if (keyed) event.dedupe_key += ":keyed-" + std::to_string(message.value);
  event.payload = {{"message", message.value},
                   {"entry_id", entry.entry_id},
                   {"session_id", met.session_id},
                   {"session_key", met.session_key},
                   {"carrier", met.carrier}};
  if (alias) event.payload["alias"] = true;
  if (keyed) event.payload["keyed"] = true;
  CLAWMARK_ASSIGN(const Appended appended, log_.append(txn, event));
  counts.sightings += static_cast<std::int64_t>(appended.fresh);
  identity_->sighted();
  if (alias && !met.coarse()) return identity_->claim(met, message);
  return Ok{};
}

// A second copy that the carrier itself recognised.
Status IngestWriter::write_alias(Transaction& txn, const StreamRef& stream, const Entry& entry,
                                 BatchCounts& counts) {
  ++counts.duplicates;
  if (entry.entry_id.empty() || entry.entry_id == entry.alias_of) return Ok{};
  Met met = meet(stream, entry);
  CLAWMARK_ASSIGN(auto message, identity_->find_id(met.agent, entry.alias_of, met.session_id));
  if (!message) {
    CLAWMARK_ASSIGN(const auto placed,
                    txn.db().query_int("SELECT message FROM locators WHERE carrier = ?"
                                       " AND stream = ? AND place = ?",
                                       met.carrier, met.stream, entry.alias_of));
    if (placed) message = Seq{*placed};
  }
  if (!message) return Ok{};
  --counts.duplicates;  // sight() counts it
  CLAWMARK_TRY(sight(txn, met, *message, counts));
  return Ok{};
}

Status IngestWriter::write_mark(Transaction& txn, const StreamRef& stream, const Entry& entry,
                                BatchCounts& counts) {
  if (entry.entry_id.empty()) return Ok{};
  const Met met = meet(stream, entry);
  NewEvent event;
  event.type = event_type::kSessionMarked;
  event.scope = scope_for(met, entry);
  event.occurred = met.said;
  event.dedupe_key = "mark:" + met.agent + ":" + entry.entry_id;
  const bool reset = entry.kind == EntryKind::kReset;
  event.payload = {{"session_id", met.session_id},
                   {"entry_id", entry.entry_id},
                   {"kind", reset ? "reset" : "compaction"}};
  if (!entry.reason.empty()) event.payload["reason"] = entry.reason;
  CLAWMARK_ASSIGN(const Appended appended, log_.append(txn, event));
  counts.marks += static_cast<std::int64_t>(appended.fresh);
  return Ok{};
}

Status IngestWriter::write_branch(Transaction& txn, const StreamRef& stream,
                                  const std::vector<std::string>& inactive, const StreamTree& tree,
                                  TimeMs now) {
  std::vector<std::int64_t> messages;
  for (const std::string& id : inactive) {
    const auto known = tree.nearest.find(id);
    if (known != tree.nearest.end() && known->second != 0) {
      messages.push_back(known->second);
      continue;
    }
    CLAWMARK_ASSIGN(const auto seq, identity_->find_id(stream.agent, id, stream.info.session_id));
    if (seq) messages.push_back(seq->value);
  }
  std::sort(messages.begin(), messages.end());
  messages.erase(std::unique(messages.begin(), messages.end()), messages.end());
  const std::string prefix =
      "branch:" + stream.agent + ":" + stream.carrier + ":" + stream.info.session_id + ":";
  CLAWMARK_ASSIGN(const auto revisions, identity_->count_prefix(prefix));
  std::vector<std::int64_t> before;
  if (revisions > 0) {
    CLAWMARK_ASSIGN(const auto seq,
                    EventLog::find(txn.db(), prefix + std::to_string(revisions - 1)));
    if (seq) {
      CLAWMARK_ASSIGN(const auto event, EventLog::get(txn.db(), *seq));
      const auto* list = event ? find_array(event->payload, "inactive") : nullptr;
      if (list != nullptr) {
        for (const auto& item : *list) {
          if (item.is_int64()) before.push_back(item.get_int64());
        }
      }
    }
  }
  if (messages == before) return Ok{};
  NewEvent event;
  event.type = event_type::kSessionBranch;
  event.scope.agent = stream.agent;
  event.scope.session_key = stream.info.session_key;
  event.scope.lane = parse_session_key(stream.info.session_key).lane;
  event.occurred = now;
  event.dedupe_key = prefix + std::to_string(revisions);
  json::array list(messages.begin(), messages.end());
  event.payload = {{"session_id", stream.info.session_id},
                   {"carrier", stream.carrier},
                   {"revision", revisions},
                   {"inactive", std::move(list)}};
  CLAWMARK_TRY(log_.append(txn, event));
  return Ok{};
}

Status IngestWriter::write_deleted(Transaction& txn, const StreamRef& stream, TimeMs now) {
  NewEvent event;
  event.type = event_type::kSessionDeleted;
  event.scope.agent = stream.agent;
  event.scope.session_key = stream.info.session_key;
  event.scope.lane = parse_session_key(stream.info.session_key).lane;
  event.occurred = now;
  event.dedupe_key = "deleted:" + stream.agent + ":" + stream.info.session_id;
  event.payload = {{"session_id", stream.info.session_id},
                   {"evidence", stream.info.deleted_evidence}};
  CLAWMARK_TRY(log_.append(txn, event));
  return Ok{};
}

Status IngestWriter::write_position(Transaction& txn, const StreamRef& stream,
                                    const StreamBatch& batch, const BatchCounts& counts,
                                    TimeMs now) {
  std::string note;
  if (counts.keyless > 0) {
    note = kKeylessNote;
  } else if (!batch.skipped.empty()) {
    note = "skipped line " + std::to_string(batch.skipped.back().line) + ": " +
           batch.skipped.back().reason;
  }
  return txn.db().run(
      "INSERT INTO source_positions(carrier, stream, epoch, position, anchor, newest_ms, seen_ms,"
      " skipped, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(carrier, stream) DO UPDATE"
      " SET epoch = excluded.epoch, position = excluded.position, anchor = excluded.anchor,"
      " newest_ms = max(newest_ms, excluded.newest_ms), seen_ms = excluded.seen_ms,"
      " skipped = skipped + excluded.skipped,"
      " note = CASE WHEN excluded.note <> '' THEN excluded.note WHEN note = ?10 AND ?11 THEN ''"
      " ELSE note END",
      stream.carrier, stream.position_key, batch.next.epoch, batch.next.position, batch.next.anchor,
      counts.newest, now, counts.skipped, note, kKeylessNote,
      std::int64_t{!stream.info.session_key.empty()});
}

Result<bool> IngestWriter::needs_rewalk(Database& db, const StreamRef& stream,
                                        const StreamPosition& from, const StreamBatch& batch) {
  if (from.position.empty() || batch.epoch) return false;
  const StreamTree& tree = tree_of(stream.position_key);
  if (tree.from_start) return false;
  Identity identity(db);
  std::unordered_map<std::string_view, bool> here;
  for (const Entry& entry : batch.entries) {
    if (!entry.parent_id.empty() && !here.contains(entry.parent_id) &&
        !tree.nearest.contains(entry.parent_id)) {
      CLAWMARK_ASSIGN(const auto seq,
                      identity.find_id(stream.agent, entry.parent_id, stream.info.session_id));
      if (!seq) return true;
    }
    if (!entry.entry_id.empty()) here[entry.entry_id] = true;
  }
  return false;
}

Status IngestWriter::rewalk(Database& db, const StreamRef& stream, std::span<const Entry> entries) {
  StreamTree& tree = tree_of(stream.position_key);
  Identity identity(db);
  for (const Entry& entry : entries) {
    if (entry.entry_id.empty()) continue;
    if (entry.kind == EntryKind::kMessage) {
      CLAWMARK_ASSIGN(const auto seq,
                      identity.find_id(stream.agent, entry.entry_id, stream.info.session_id));
      if (seq) tree.nearest[entry.entry_id] = seq->value;
      if (plain_role(entry.role) == "user") {
        tree.own_call = entry.noise == kOwnCall || entry.text.starts_with(kOwnCallMark);
        tree.own_call_known = true;
      }
      continue;
    }
    const std::string& above = entry.kind == EntryKind::kLeaf && !entry.target_id.empty()
                                   ? entry.target_id
                                   : entry.parent_id;
    CLAWMARK_ASSIGN(const auto nearest, resolve(identity, stream, tree, above));
    tree.nearest[entry.entry_id] = nearest;
  }
  return Ok{};
}

void IngestWriter::forget(const StreamRef& stream) {
  trees_.erase(stream.position_key);
  std::erase(tree_order_, stream.position_key);
}

void IngestWriter::rewalked(const StreamRef& stream) {
  tree_of(stream.position_key).from_start = true;
}

}  // namespace clawmark

#include "workers/foreign_import.h"

#include <algorithm>

#include "base/secrets.h"
#include "base/utf8.h"
#include "models/fact_key.h"
#include "projections/facts.h"
#include "workers/ingest_writer.h"

namespace clawmark {
namespace {

constexpr std::string_view kCarrier = "import";

class Importer {
 public:
  Importer(Store& store, Transaction& txn, std::string_view kind, const ForeignTarget& target,
           TimeMs now)
      : store_(store),
        txn_(txn),
        kind_(kind),
        target_(target),
        now_(now),
        bodies_(Retention::kVerbatim, nullptr),
        writer_(store.log(), bodies_) {}

  Status take(const StreamInfo& info, std::vector<Entry> entries) {
    StreamRef stream;
    stream.info = info;
    if (stream.info.session_key.empty()) stream.info.session_key = target_.session_key;
    stream.agent = stream.info.agent.empty() ? target_.agent : stream.info.agent;
    stream.carrier = kCarrier;
    stream.position_key = stream.agent + "/" + std::string(kind_) + ":" + info.key;
    StreamBatch batch;
    counts_.messages += std::count_if(entries.begin(), entries.end(), [](const Entry& entry) {
      return entry.kind == EntryKind::kMessage;
    });
    batch.entries = std::move(entries);
    batch.next.position = "{}";
    // The stream is not said to be at its end: its earlier batches are still there.
    batch.at_end = false;
    CLAWMARK_ASSIGN(const BatchCounts done, writer_.write(txn_, stream, {}, batch, now_));
    counts_.new_messages += done.messages;
    return Ok{};
  }

  Status take_facts(const ForeignMemory& memory) {
    counts_.deleted = memory.deleted;
    counts_.left_out = memory.left_out;
    std::vector<Entry> notes;
    StreamInfo stream;
    stream.key = stream.session_id = "facts";
    for (const ForeignFact& fact : memory.facts) {
      ++counts_.facts;
      std::size_t secrets = 0;
      const std::string value = redact_secrets(fact.value, secrets);
      const bool bad = !check_fact_key(fact.key).ok() || !check_fact_value(value).ok() ||
                       names_secret(fact.key) || key_holds_secret(fact.key) || secrets > 0;
      if (bad) {
        ++counts_.refused;
      } else if (fact.stated) {
        CLAWMARK_TRY(state(fact, value));
      } else {
        notes.push_back(note_of(fact, value, notes.size()));
      }
    }
    return notes.empty() ? Status(Ok{}) : take(stream, std::move(notes));
  }
  ForeignCounts& counts() { return counts_; }

 private:
  Status state(const ForeignFact& fact, const std::string& value) {
    NewEvent event;
    event.type = event_type::kFactStated;
    event.scope.agent = target_.agent;
    event.occurred = fact.updated.value == 0 ? now_ : fact.updated;
    event.payload = {{"key", fact.key}, {"value", value},   {"holder", target_.holder},
                     {"subject", ""},   {"source", "user"}, {"confidence", 1.0},
                     {"by", "import"},  {"from", kind_}};
    event.dedupe_key = "stated:" + derived_uuid(std::string(kind_) + "\n" + target_.agent + "\n" +
                                                target_.holder + "\n" + fact.key + "\n" + value +
                                                "\n" + std::to_string(event.occurred.value));
    CLAWMARK_ASSIGN(const Appended appended, store_.log().append(txn_, event));
    counts_.new_facts += static_cast<std::int64_t>(appended.fresh);
    return Ok{};
  }

  // What a model concluded there, without the words that it rests on: no fact here, but a note that
  // is found.
  static Entry note_of(const ForeignFact& fact, const std::string& value, std::size_t order) {
    Entry entry;
    entry.kind = EntryKind::kMessage;
    entry.session_id = "facts";
    entry.role = "assistant";
    entry.entry_class = "chat";
    entry.text = fact.key + ": " + value;
    entry.bytes = static_cast<std::int64_t>(entry.text.size());
    entry.hash = sha256(entry.text);
    entry.time = fact.updated;
    entry.order = static_cast<std::int64_t>(order);
    entry.entry_id = derived_uuid("fact\n" + entry.text);
    entry.place = entry.entry_id;
    return entry;
  }

  Store& store_;
  Transaction& txn_;
  std::string_view kind_;
  const ForeignTarget& target_;
  TimeMs now_;
  BodyStore bodies_;
  IngestWriter writer_;
  ForeignCounts counts_;
};

}  // namespace

Result<ForeignCounts> import_foreign(Store& store, std::string_view kind, const std::string& path,
                                     const ForeignTarget& target, const Clock& clock, bool keep) {
  CLAWMARK_ASSIGN(auto txn, Transaction::begin(store.db(), Durability::kFull));
  Importer importer(store, txn, kind, target, clock.now());
  CLAWMARK_ASSIGN(const ForeignMemory memory,
                  read_foreign_memory(kind, path, clock,
                                      [&](const StreamInfo& stream, std::vector<Entry> entries) {
                                        return importer.take(stream, std::move(entries));
                                      }));
  CLAWMARK_TRY(importer.take_facts(memory));
  if (keep) CLAWMARK_TRY(txn.commit());
  return std::move(importer.counts());
}

}  // namespace clawmark

// Where the text of a message that was met will be found again: its place in the carrier, and a
// copy when the retention asks for one. Which lines could not be read; what stands for a time that
// is wrong.

#include "base/secrets.h"
#include "sources/shown_time.h"
#include "workers/ingest_writer.h"

namespace clawmark {

Status IngestWriter::keep_text(Transaction& txn, const Met& met, Seq message, bool known) {
  const Entry& entry = *met.entry;
  if (known) {
    CLAWMARK_ASSIGN(const bool changed, was_changed(txn, met, message));
    if (changed) return Ok{};
  }
  CLAWMARK_TRY(BodyStore::put_locator(txn, message, {met.carrier, met.stream, entry.place}));
  // A text with a secret in it is never copied; the host's own store may still give it.
  const bool whole = static_cast<std::int64_t>(entry.text.size()) == entry.bytes;
  if (!bodies_.keeps(met.carrier) || !whole || holds_secret(entry.text)) return Ok{};
  CLAWMARK_ASSIGN(
      const bool forgotten,
      identity_->is_forgotten(message, met, sender_of(entry, met.role, met.session_key)));
  if (forgotten) return Ok{};
  return bodies_.put(txn, entry.hash, entry.text);
}

// Whether a stream that was rewritten shows a message with another text than before (shortened, or
// redacted at the host): then its old place stays in doubt, and is swept.
Result<bool> IngestWriter::was_changed(Transaction& txn, const Met& met, Seq message) {
  if (met.coarse()) return false;  // holds other forms of the text, and is asked by hash
  CLAWMARK_ASSIGN(const auto place,
                  txn.db().query_text("SELECT place FROM locators WHERE message = ?"
                                      " AND carrier = ? AND stream = ?",
                                      message.value, met.carrier, met.stream));
  if (!place || !place->empty()) return false;
  CLAWMARK_ASSIGN(const auto first, identity_->known(message));
  return first && first->hash != met.entry->hash;
}

// What an entry without a usable time falls back to: one millisecond after the entry before it. For
// the first of a batch that is the newest of the stream so far, else just before the next usable
// time, else what the carrier says of the stream, else now.
Result<TimeMs> IngestWriter::time_before(Database& db, const StreamRef& stream,
                                         const StreamPosition& from, const StreamBatch& batch,
                                         TimeMs now) {
  if (!from.position.empty() && !batch.epoch) {
    CLAWMARK_ASSIGN(const auto newest,
                    db.query_int("SELECT newest_ms FROM source_positions WHERE carrier = ?"
                                 " AND stream = ? AND newest_ms > 0",
                                 stream.carrier, stream.position_key));
    if (newest) return TimeMs{*newest};
  }
  std::int64_t before = 1;
  for (const Entry& entry : batch.entries) {
    if (const TimeMs said = time_said(entry); said.value != 0) return TimeMs{said.value - before};
    ++before;
  }
  const TimeMs told = shown_time(stream.info.newest.value).time;
  return told.value != 0 ? told : now;
}

// The newest of each stream by place; source_positions counts all. What is read from the start is
// counted anew. Of a stream that cannot be read on one row says so, until it is read to its end.
Status IngestWriter::note_skipped(Transaction& txn, const StreamRef& stream,
                                  const StreamPosition& from, const StreamBatch& batch,
                                  TimeMs now) {
  if (batch.epoch || from.position.empty()) {
    CLAWMARK_TRY(
        txn.db().run("DELETE FROM skipped_lines WHERE carrier = ? AND stream = ?"
                     " AND line <> ?",
                     stream.carrier, stream.position_key, kRestOfStream));
    CLAWMARK_TRY(
        txn.db().run("UPDATE source_positions SET skipped = 0 WHERE carrier = ? AND stream = ?",
                     stream.carrier, stream.position_key));
  }
  if (batch.at_end) {
    CLAWMARK_TRY(
        txn.db().run("DELETE FROM skipped_lines WHERE carrier = ? AND stream = ? AND line = ?",
                     stream.carrier, stream.position_key, kRestOfStream));
  }
  std::vector<SkippedLine> lines = batch.skipped;
  if (batch.stopped) lines.push_back(*batch.stopped);
  for (const SkippedLine& line : lines) {
    CLAWMARK_TRY(txn.db().run(
        "INSERT OR REPLACE INTO skipped_lines(carrier, stream, line, file, byte, reason, seen_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        stream.carrier, stream.position_key, line.line, line.file, line.byte, line.reason, now));
  }
  if (batch.skipped.empty()) return Ok{};
  return txn.db().run(
      "DELETE FROM skipped_lines WHERE carrier = ?1 AND stream = ?2 AND line <> ?4 AND line NOT IN"
      " (SELECT line FROM skipped_lines WHERE carrier = ?1 AND stream = ?2 ORDER BY line DESC"
      " LIMIT ?3)",
      stream.carrier, stream.position_key, kSkippedKept, kRestOfStream);
}

}  // namespace clawmark

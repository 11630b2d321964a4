// Streams that cannot be read on while their carrier is well: a damaged archive, a file that is not
// ours to read. They are told by name, and tried again when they change and now and then.

#include <algorithm>

#include "base/limits.h"
#include "workers/ingest.h"

namespace clawmark {

// What earlier processes met: so that what has become well since is told no more.
Status IngestPort::recall_stops() {
  std::map<std::string, Stop> stops;
  CLAWMARK_ASSIGN(auto* query, store_.db().cached("SELECT carrier, stream, reason, file, byte FROM"
                                                  " skipped_lines WHERE line = ?"));
  query->with(kRestOfStream);
  for (;;) {
    CLAWMARK_ASSIGN(const bool row, query->step());
    if (!row) break;
    stops[query->string(1)] = {
        query->string(0),
        {kRestOfStream, query->string(2), query->string(3), query->integer(4)},
        {}};
  }
  query->reset();
  stops_ = std::move(stops);
  return Ok{};
}

// Whether the end of a read tells otherwise than what is known of the stream.
bool IngestPort::stop_changed(const StreamRef& stream, const StreamBatch& batch, TimeMs now) {
  if (!batch.at_end) return false;
  const auto known = stops_->find(stream.position_key);
  if (known == stops_->end()) return batch.stopped.has_value();
  known->second.tried = now;
  const SkippedLine& before = known->second.what;
  return !batch.stopped || batch.stopped->reason != before.reason ||
         batch.stopped->file != before.file || batch.stopped->byte != before.byte;
}

void IngestPort::stop_written(const StreamRef& stream, const StreamBatch& batch, TimeMs now) {
  if (!batch.at_end) return;
  if (batch.stopped) {
    (*stops_)[stream.position_key] = {stream.carrier, *batch.stopped, now};
  } else {
    stops_->erase(stream.position_key);
  }
}

// What was repaired in place need not look changed: its length is the same, or only its owner is
// another.
bool IngestPort::retry_due(const std::string& position_key, TimeMs now) const {
  const auto stop = stops_->find(position_key);
  if (stop == stops_->end()) return false;
  const TimeMs tried = stop->second.tried;
  return now.value - tried.value >= kRetryStopMs || now < tried;
}

bool IngestPort::any_retry_due(const Carrier& carrier, TimeMs now) const {
  return std::any_of(stops_->begin(), stops_->end(), [&](const auto& stop) {
    return carrier.listed.contains(stop.first) && retry_due(stop.first, now);
  });
}

// A stream that its carrier no longer has is no longer in the way.
Status IngestPort::forget_gone_stops(Carrier& carrier) {
  const std::string suffix = path_suffix(carrier.path);
  for (auto stop = stops_->begin(); stop != stops_->end();) {
    const bool own = stop->second.carrier == carrier.carrier && stop->first.ends_with(suffix);
    if (!own || carrier.listed.contains(stop->first)) {
      ++stop;
      continue;
    }
    CLAWMARK_TRY(
        store_.db().run("DELETE FROM skipped_lines WHERE carrier = ? AND stream = ? AND line = ?",
                        carrier.carrier, stop->first, kRestOfStream));
    carrier.counters_changed = true;
    stop = stops_->erase(stop);
  }
  return Ok{};
}

std::vector<std::string> IngestPort::stop_notes(const Carrier& carrier) const {
  std::vector<std::string> notes;
  const std::string suffix = path_suffix(carrier.path);
  for (const auto& [key, stop] : *stops_) {
    if (stop.carrier != carrier.carrier || !key.ends_with(suffix)) continue;
    notes.push_back(stop.what.file + " cannot be read to its end (" + stop.what.reason + ")");
  }
  return notes;
}

}  // namespace clawmark

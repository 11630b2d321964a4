#include "tests/support/transcript_writer.h"

#include <algorithm>
#include <filesystem>

#include "base/hash.h"
#include "base/json.h"
#include "tests/support/fixtures.h"

namespace clawmark::support {
namespace fs = std::filesystem;

std::string transcript_text(const Conversation& conversation, Era era) {
  std::string out = header_json(conversation, era) + "\n";
  for (const auto& item : conversation.items) out += item_json(conversation, item, era) + "\n";
  return out;
}

TranscriptWriter::TranscriptWriter(std::string state_dir, std::string agent, Era era)
    : agent_folder_(std::move(state_dir) + "/agents/" + agent),
      folder_(agent_folder_ + "/sessions"),
      era_(era) {
  fs::create_directories(folder_);
}

std::string TranscriptWriter::path(const std::string& session_id) const {
  return folder_ + "/" + session_id + ".jsonl";
}

std::string TranscriptWriter::write(const Conversation& conversation) {
  // The sessions before it under its key stay known as its family.
  for (const auto& [id, talk] : live_) {
    auto& family = families_[conversation.session_key];
    const bool before =
        talk.session_key == conversation.session_key && id != conversation.session_id;
    if (before && std::find(family.begin(), family.end(), id) == family.end()) family.push_back(id);
  }
  std::erase_if(families_, [](const auto& entry) { return entry.second.empty(); });
  live_[conversation.session_id] = conversation;
  write_index();  // first, as the host does: a session is known before its first line is written
  write_text(path(conversation.session_id), transcript_text(conversation, era_));
  return path(conversation.session_id);
}

void TranscriptWriter::append(const Conversation& conversation, std::size_t first) {
  std::string lines;
  for (std::size_t i = first; i < conversation.items.size(); ++i) {
    lines += item_json(conversation, conversation.items[i], era_) + "\n";
  }
  append_text(path(conversation.session_id), lines);
  live_[conversation.session_id] = conversation;
}

void TranscriptWriter::append_raw(const std::string& session_id, std::string_view bytes) {
  append_text(path(session_id), bytes);
}

void TranscriptWriter::rewrite(const Conversation& conversation) {
  const std::string target = path(conversation.session_id);
  write_text(target + ".tmp", transcript_text(conversation, era_));
  fs::rename(target + ".tmp", target);
  live_[conversation.session_id] = conversation;
}

std::string TranscriptWriter::reset(const std::string& session_id, std::int64_t ms) {
  const std::string target = path(session_id) + ".reset." + file_stamp(ms);
  fs::rename(path(session_id), target);
  if (const auto found = live_.find(session_id); found != live_.end()) {
    families_[found->second.session_key].push_back(session_id);
    reset_ms_[found->second.session_key] = ms;
    live_.erase(found);
  }
  write_index();
  return target;
}

std::string TranscriptWriter::remove(const std::string& session_id, std::int64_t ms) {
  const std::string target = path(session_id) + ".deleted." + file_stamp(ms);
  fs::rename(path(session_id), target);
  live_.erase(session_id);
  write_index();
  return target;
}

void TranscriptWriter::write_index() {
  // One session per key, the newest: a key names its current session, and those before it as its
  // family.
  struct Current {
    std::string session_id;
    std::int64_t updated = 0;
    const Conversation* talk = nullptr;
  };
  std::map<std::string, Current> keys;
  for (const auto& [key, ms] : reset_ms_) {
    keys[key] = {Ids(fnv1a(key + std::to_string(ms))).uuid(), ms, nullptr};
  }
  for (const auto& [id, talk] : live_) {
    const std::int64_t at = talk.items.empty() ? talk.start_ms : talk.items.back().entry_ms;
    auto& current = keys[talk.session_key];
    if (current.updated <= at) current = {id, at, &talk};
  }
  json::object index;
  for (const auto& [key, current] : keys) {
    json::object entry{{"sessionId", current.session_id},
                       {"updatedAt", current.updated},
                       {"sessionFile", path(current.session_id)}};
    if (const auto* talk = current.talk) {
      if (!talk->chat_type.empty()) entry["chatType"] = talk->chat_type;
      if (!talk->channel.empty()) entry["channel"] = talk->channel;
    }
    if (const auto family = families_.find(key); family != families_.end()) {
      json::array ids;
      for (const auto& id : family->second) ids.emplace_back(id);
      ids.emplace_back(current.session_id);
      entry["usageFamilyKey"] = key;
      entry["usageFamilySessionIds"] = std::move(ids);
    }
    index[key] = std::move(entry);
  }
  write_text(folder_ + "/sessions.json.tmp", to_text(index));
  fs::rename(folder_ + "/sessions.json.tmp", folder_ + "/sessions.json");
}

void TranscriptWriter::migrate(AgentDbWriter& database, std::int64_t ms) {
  const std::string archive = agent_folder_ + "/session-sqlite-import-archive/";
  fs::create_directories(archive);
  for (const auto& [id, talk] : live_) {
    database.write(talk, Era::kFiles3);
    std::string name = talk.session_key;
    for (char& c : name) {
      if (c == ':') c = '_';
    }
    fs::rename(path(id), archive + name + "." + id + ".jsonl.imported-" + std::to_string(ms++));
  }
  fs::rename(folder_ + "/sessions.json",
             archive + "legacy-store.sessions.json.imported-" + std::to_string(ms));
  live_.clear();
}

}  // namespace clawmark::support

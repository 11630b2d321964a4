#include "base/config_table.h"

namespace clawmark {
namespace {

constexpr double kDay = 86'400'000;

const ConfigField kFields[] = {
    {{"db_path", "CLAWMARK_DB_PATH", "path", "<data folder>/clawmark.db",
      "The store: one SQLite file. The data folder is $XDG_DATA_HOME/clawmark, else "
      "~/.local/share/clawmark."},
     &Config::db_path},
    {{"socket", "CLAWMARK_SOCKET", "path", "<data folder>/clawmark.sock",
      "The Unix socket on which the daemon answers (mode 0600)."},
     &Config::socket},
    {{"state_dir", "CLAWMARK_STATE_DIR", "path", "$OPENCLAW_STATE_DIR, else ~/.openclaw",
      "OpenClaw's state folder. It is only ever read."},
     &Config::state_dir},
    {{"source", "CLAWMARK_SOURCE", "enum auto|lcm|transcripts|agent-db", "auto",
      "Which carriers of the history to read; auto reads all that exist, each message once."},
     &Config::source},
    {{"transcripts_dir", "CLAWMARK_TRANSCRIPTS_DIR", "path", "",
      "A further folder with *.jsonl transcripts, beside those of the state folder."},
     &Config::transcripts_dir},
    {{"lcm_db_path", "CLAWMARK_LCM_DB_PATH", "path", "",
      "The LCM database; empty: looked for in the state folder."},
     &Config::lcm_db_path},
    {{"retention", "CLAWMARK_RETENTION", "enum auto|reference|verbatim", "auto",
      "auto keeps texts of transcript files, which the host rewrites; reference none; verbatim "
      "all."},
     &Config::retention},
    {{"timezone", "CLAWMARK_TIMEZONE", "zone", "TZ, else /etc/localtime, else UTC",
      "IANA time zone of dates that people read and say, such as Europe/Zurich."},
     &Config::timezone},
    {{"toolsets", "CLAWMARK_TOOLSETS", "list", "clawmark", "Families of tools that are served."},
     &Config::toolsets},
    {{"ignore_sessions", "CLAWMARK_IGNORE_SESSIONS", "list", "",
      "Globs over session keys that are never read."},
     &Config::ignore_sessions},
    {{"inject_sessions", "CLAWMARK_INJECT_SESSIONS", "list", "",
      "Globs over session keys of kinds that get no memory by default (cron, sub-agents) but "
      "shall."},
     &Config::inject_sessions},
    {{"encoder_file", "CLAWMARK_ENCODER_FILE", "path", "",
      "Sentence encoder that the built-in embedder works beside (models/data/make_sentence_encoder "
      "makes it); empty: none."},
     &Config::encoder_file},
    {{"embedding_url", "CLAWMARK_EMBEDDING_URL", "url", "",
      "Base URL of an OpenAI-compatible embeddings endpoint; empty: the built-in embedder."},
     &Config::embedding_url},
    {{"embedding_model", "CLAWMARK_EMBEDDING_MODEL", "string", "",
      "Model to ask there; required with embedding_url."},
     &Config::embedding_model},
    {{"embedding_dim", "CLAWMARK_EMBEDDING_DIM", "int", "0",
      "Length of its vectors; 0: whatever the probe finds."},
     &Config::embedding_dim,
     0,
     65536},
    {{"embedding_api_key", "CLAWMARK_EMBEDDING_API_KEY", "secret", "$CLAWMARK_API_KEY",
      "Sent as Authorization: Bearer; never logged."},
     &Config::embedding_api_key},
    {{"extract_url", "CLAWMARK_EXTRACT_URL", "url", "",
      "Base URL of an OpenAI-compatible chat endpoint; empty: the built-in extractor."},
     &Config::extract_url},
    {{"extract_model", "CLAWMARK_EXTRACT_MODEL", "string", "",
      "Model to ask there; required with extract_url."},
     &Config::extract_model},
    {{"extract_api_key", "CLAWMARK_EXTRACT_API_KEY", "secret", "$CLAWMARK_API_KEY",
      "Sent as Authorization: Bearer; never logged."},
     &Config::extract_api_key},
    {{"rerank_url", "CLAWMARK_RERANK_URL", "url", "",
      "A reranking endpoint for recalled messages; empty: none."},
     &Config::rerank_url},
    {{"ca_file", "CLAWMARK_CA_FILE", "path", "", "PEM file of further certificate authorities."},
     &Config::ca_file},
    {{"verify_tls", "CLAWMARK_VERIFY_TLS", "bool", "true",
      "Check certificates and names of endpoints."},
     &Config::verify_tls},
    {{"embed_timeout_ms", "CLAWMARK_EMBED_TIMEOUT_MS", "int", "15000",
      "Deadline of one embedding request, in milliseconds."},
     &Config::embed_timeout_ms,
     100,
     kDay},
    {{"extract_timeout_ms", "CLAWMARK_EXTRACT_TIMEOUT_MS", "int", "120000",
      "Deadline of one extraction request, in milliseconds."},
     &Config::extract_timeout_ms,
     100,
     kDay},
    {{"daily_tokens_max", "CLAWMARK_DAILY_TOKENS", "int", "0",
      "Tokens that background work may use per UTC day; 0: no cap."},
     &Config::daily_tokens_max,
     0,
     1e15},
    {{"daily_usd_max", "CLAWMARK_DAILY_USD", "number", "0",
      "US dollars that background work may cost per UTC day; 0: no cap."},
     &Config::daily_usd_max,
     0,
     1e6},
    {{"confidence_threshold", "CLAWMARK_CONFIDENCE_THRESHOLD", "number", "0.8",
      "Extracted facts below it are kept but not injected."},
     &Config::confidence_threshold,
     0,
     1},
    {{"recall_limit", "CLAWMARK_RECALL_LIMIT", "int", "6",
      "Excerpts of past messages per turn, at most; 0 turns recall off."},
     &Config::recall_limit,
     0,
     50},
    {{"idle_hours", "CLAWMARK_IDLE_HOURS", "number", "3",
      "A conversation this long without a message is extracted to its end."},
     &Config::idle_hours,
     0.01,
     8760},
    {{"extract_every_messages", "CLAWMARK_EXTRACT_EVERY_MESSAGES", "int", "30",
      "New messages of a conversation that make a window for extraction."},
     &Config::extract_every_messages,
     1,
     500},
    {{"recall_threshold", "CLAWMARK_RECALL_THRESHOLD", "number", "0.35",
      "Calibrated score below which nothing is recalled."},
     &Config::recall_threshold,
     0,
     1},
    {{"facts_chars", "CLAWMARK_FACTS_CHARS", "int", "6000",
      "Characters of facts in one prompt, at most."},
     &Config::facts_chars,
     0,
     6000},
    {{"block_chars", "CLAWMARK_BLOCK_CHARS", "int", "12000",
      "Characters of facts and recall together, at most."},
     &Config::block_chars,
     0,
     12000},
    {{"log_level", "CLAWMARK_LOG_LEVEL", "enum error|warning|notice|info|debug", "notice",
      "What is written to standard error."},
     &Config::log_level},
};

}  // namespace

std::span<const ConfigField> config_fields() {
  return kFields;
}

std::span<const ConfigKey> config_keys() {
  static const std::vector<ConfigKey> keys = [] {
    std::vector<ConfigKey> out;
    for (const auto& field : kFields) out.push_back(field.key);
    return out;
  }();
  return keys;
}

}  // namespace clawmark

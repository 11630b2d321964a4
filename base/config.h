#pragma once
// Configuration: one table of keys (config_keys) from which help, docs, completions and the checks
// are made. Order of precedence: flag, environment, file, default. File: JSON with comments,
// default $XDG_CONFIG_HOME/clawmark/config.json, else ~/.config/clawmark/config.json.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace clawmark {

struct Config {
  std::string db_path;             // CLAWMARK_DB_PATH, default <data dir>/clawmark.db
  std::string socket;              // CLAWMARK_SOCKET, default clawmark.sock beside the store
  std::string state_dir;           // CLAWMARK_STATE_DIR, else OPENCLAW_STATE_DIR, else ~/.openclaw
  std::string source = "auto";     // CLAWMARK_SOURCE: auto|lcm|transcripts|agent-db
  std::string transcripts_dir;     // CLAWMARK_TRANSCRIPTS_DIR
  std::string lcm_db_path;         // CLAWMARK_LCM_DB_PATH
  std::string retention = "auto";  // CLAWMARK_RETENTION: auto|reference|verbatim
  std::string timezone;  // CLAWMARK_TIMEZONE, IANA; default TZ or /etc/localtime, else UTC
  std::vector<std::string> toolsets = {"clawmark"};  // CLAWMARK_TOOLSETS
  std::vector<std::string> ignore_sessions;          // globs over session keys: never read
  std::vector<std::string>
      inject_sessions;  // globs: lanes that are closed by default but allowed here
  std::vector<std::string> share_sessions;  // "FROM > TO", globs over session keys of one agent

  std::string encoder_file;     // CLAWMARK_ENCODER_FILE; empty: no sentence encoder
  std::string embedding_url;    // CLAWMARK_EMBEDDING_URL; empty: built in
  std::string embedding_model;  // CLAWMARK_EMBEDDING_MODEL
  int embedding_dim = 0;  // CLAWMARK_EMBEDDING_DIM; 0: as probed (the original's default was 1024)
  std::string embedding_api_key;  // CLAWMARK_EMBEDDING_API_KEY, else CLAWMARK_API_KEY
  std::string extract_url;        // CLAWMARK_EXTRACT_URL; empty: built in
  std::string extract_model;      // CLAWMARK_EXTRACT_MODEL
  std::string extract_api_key;    // CLAWMARK_EXTRACT_API_KEY, else CLAWMARK_API_KEY
  std::string rerank_url;         // CLAWMARK_RERANK_URL
  std::string ca_file;            // CLAWMARK_CA_FILE
  bool verify_tls = true;         // CLAWMARK_VERIFY_TLS
  std::int64_t embed_timeout_ms = 15'000;
  std::int64_t extract_timeout_ms = 120'000;
  std::int64_t daily_tokens_max = 0;  // CLAWMARK_DAILY_TOKENS; 0: no cap
  double daily_usd_max = 0;           // CLAWMARK_DAILY_USD; 0: no cap

  double confidence_threshold = 0.8;  // CLAWMARK_CONFIDENCE_THRESHOLD, 0..1
  int recall_limit = 6;               // CLAWMARK_RECALL_LIMIT, 0..50
  double idle_hours = 3;              // CLAWMARK_IDLE_HOURS, > 0
  int extract_every_messages = 30;    // a window is ready at this many messages, or when idle
  // The world model (docs/world-model.md), by the names that WorldClaw has.
  std::int64_t large_file_tokens = 25'000;       // WC_LARGE_FILE_TOKEN_THRESHOLD
  double decay_half_life_days = 14;              // WC_DECAY_HALF_LIFE_DAYS
  std::int64_t leaf_chunk_tokens = 20'000;       // WC_LEAF_CHUNK_TOKENS
  std::int64_t leaf_target_tokens = 1'400;       // WC_LEAF_TARGET_TOKENS
  std::int64_t condensed_target_tokens = 2'200;  // WC_CONDENSED_TARGET_TOKENS
  std::int64_t max_expand_tokens = 4'000;        // WC_MAX_EXPAND_TOKENS
  int wc_fresh_tail_count = 32;                  // WC_FRESH_TAIL_COUNT, as context engine
  double wc_context_threshold = 0.75;            // WC_CONTEXT_THRESHOLD, likewise
  std::string summary_url;                       // WC_OPENAI_BASE_URL; empty: extract_url
  std::string summary_model;                     // WC_SUMMARY_MODEL; empty: extract_model
  std::string summary_api_key;                   // WC_API_KEY; empty: extract_api_key
  std::string summary_provider;                  // WC_SUMMARY_PROVIDER: known, not used
  std::string wc_database_path;                  // WC_DATABASE_PATH: known, not used
  std::string wc_large_file_storage_dir;         // WC_LARGE_FILE_STORAGE_DIR: known, not used

  double recall_threshold = 0.35;  // calibrated score below which nothing is recalled
  int facts_chars = 6000;
  int state_chars = 600;  // CLAWMARK_STATE_CHARS, 0..2000
  int block_chars = 12000;

  // History outside the context (docs/history.md), by the names that recursive-claw has.
  std::string rc_mode = "tools";      // RC_MODE: tools|repl, in the note about what is left out
  int rc_fresh_tail = 20;             // RC_FRESH_TAIL, as context engine
  std::string rc_database_path;       // RC_DATABASE_PATH: known, not read
  std::string rc_provider;            // RC_PROVIDER; empty: the first that has a key
  std::string rc_model;               // RC_MODEL; empty: a cheap one of the provider
  std::string rc_url;                 // RC_URL; empty: the provider's
  std::string rc_api_key;             // RC_API_KEY, else the provider's own variable
  double rc_budget_per_query = 0.05;  // RC_BUDGET_PER_QUERY, US dollars
  double rc_budget_per_turn = 0.10;   // RC_BUDGET_PER_TURN, US dollars
  int rc_max_concurrent = 4;          // RC_MAX_CONCURRENT
  int rc_max_depth = 1;               // RC_MAX_DEPTH: known, questions never nest
  std::int64_t rc_query_timeout_ms = 30'000;  // RC_QUERY_TIMEOUT_MS

  std::string log_level = "notice";  // CLAWMARK_LOG_LEVEL: error|warning|notice|info|debug

  // What is wrong with it. Empty: complete. Each entry names key, value and remedy; the service
  // then stays up inert.
  std::vector<std::string> problems;
  // What is set and means nothing here, and why. Said once; nothing is wrong with it.
  std::vector<std::string> notes;
  std::map<std::string, std::string>
      origins;  // key → "flag", "environment", "file PATH", "default"
};

struct ConfigKey {
  std::string_view name;         // "recall_limit"
  std::string_view environment;  // "CLAWMARK_RECALL_LIMIT"; empty: none
  std::string_view
      type;  // "string", "path", "int", "number", "bool", "enum a|b", "list", "url", "secret"
  std::string_view fallback;  // as text, for the documentation
  std::string_view help;
};
std::span<const ConfigKey> config_keys();

struct ConfigInputs {
  std::string file;  // empty: the default place, may be missing
  std::map<std::string, std::string>
      environment;                           // as given; system_environment() for the real one
  std::map<std::string, std::string> flags;  // key → text
};
std::map<std::string, std::string> system_environment();
// Never fails: what is wrong is listed in `problems`, and the default stands in its place.
Config load_config(const ConfigInputs& inputs);
// Key → value as text, secrets as "(set)" or "(not set)", URLs without credentials.
std::vector<std::pair<std::string, std::string>> show_config(const Config& config);

}  // namespace clawmark

#pragma once
// The tables of the search index. Inside projections/ only.

#include <string_view>

namespace clawmark {

// state of search_docs: indexed; masked (rewound); pending (deleted, its words still inside);
// removed (deleted, out); gone (no text).
constexpr std::string_view kSearchDdl = R"sql(
CREATE VIRTUAL TABLE IF NOT EXISTS search_fts__g# USING fts5(
  body, content='', columnsize=0, tokenize='clawmark');
CREATE TABLE IF NOT EXISTS search_docs__g#(
  message INTEGER PRIMARY KEY, state TEXT NOT NULL, text_hash BLOB NOT NULL,
  place INTEGER NOT NULL, day INTEGER NOT NULL, speaker TEXT NOT NULL, cues INTEGER NOT NULL,
  tokens INTEGER NOT NULL) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS search_docs__g#_place ON search_docs__g#(place);
CREATE TABLE IF NOT EXISTS search_talks__g#(
  talk INTEGER PRIMARY KEY, agent TEXT NOT NULL, session_id TEXT NOT NULL, turns INTEGER NOT NULL,
  user_texts INTEGER NOT NULL DEFAULT 0, user_tokens INTEGER NOT NULL DEFAULT 0,
  agent_texts INTEGER NOT NULL DEFAULT 0, agent_tokens INTEGER NOT NULL DEFAULT 0,
  UNIQUE(agent, session_id)) STRICT;
CREATE INDEX IF NOT EXISTS search_docs__g#_state ON search_docs__g#(state) WHERE state <> 'indexed';
CREATE TABLE IF NOT EXISTS search_hidden__g#(message INTEGER PRIMARY KEY) STRICT;
CREATE TABLE IF NOT EXISTS search_terms__g#(
  term TEXT PRIMARY KEY, rows INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS search_stats__g#(
  id INTEGER PRIMARY KEY CHECK (id = 1), rows INTEGER NOT NULL, tokens INTEGER NOT NULL) STRICT;
)sql";

constexpr std::string_view kSearchDrop =
    "DROP TABLE IF EXISTS search_docs__g#; DROP TABLE IF EXISTS search_hidden__g#;"
    "DROP TABLE IF EXISTS search_terms__g#; DROP TABLE IF EXISTS search_stats__g#;"
    "DROP TABLE IF EXISTS search_talks__g#;";
constexpr std::string_view kSearchDropFts = "DROP TABLE IF EXISTS search_fts__g#;";

}  // namespace clawmark

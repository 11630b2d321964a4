#pragma once
// Builds OpenClaw state folders and LCM databases in the shape in which the host really leaves them
// (OpenClaw 2026.3 to 2026.9, LCM 0.15.3), from facts: a Conversation is written by any of three
// writers.
//
//   TempDir dir;
//   Conversation talk = make_conversation({.seed = 7, .messages = 40});
//   AgentDbWriter db(dir.path(), "main");
//   db.write(talk);                       // agents/main/agent/openclaw-agent.sqlite
//   TranscriptWriter files(dir.path(), "main", Era::kFiles3);
//   files.write(talk);                    // agents/main/sessions/<session>.jsonl and sessions.json
//   LcmWriter lcm(dir.path() + "/lcm.db");
//   lcm.write(talk);
//
// Failures of the set-up itself throw std::runtime_error: a builder that cannot write is a broken
// test.

#include "tests/support/agent_db_writer.h"
#include "tests/support/conversation.h"
#include "tests/support/fixtures.h"
#include "tests/support/lcm_writer.h"
#include "tests/support/transcript_writer.h"

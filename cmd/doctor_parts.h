#pragma once
// Parts of doctor_checks.h: each check answers for itself, so that they can run side by side.

#include <string>
#include <vector>

#include "cmd/doctor_checks.h"

namespace clawmark {

Check check_ok(const char* name, std::string message);
Check check_warn(const char* name, std::string message, std::string remedy);
Check check_bad(const char* name, std::string message, std::string remedy);

// "models": the embedder and the extractor answer; one small request each where an endpoint is
// configured.
void check_embedding(const Config& config, std::vector<Check>& out);
void check_extraction(const Config& config, std::vector<Check>& out);
// "disk": room for the store to grow, and for a purge or a migration, which copy it.
std::vector<Check> check_disk(const Config& config);
// "projections": tables of the live generations are there and of this program's fold; nothing is
// left of a rebuild that was killed.
std::vector<Check> check_projections(const Config& config);
// "index": every message that may be recalled is in the search index or said why not, vectors stand
// for messages that are there, and the full-text index is sound.
std::vector<Check> check_index(const Config& config);
// "file": SQLite's own check of its pages.
std::vector<Check> check_pages(const Config& config);
// "digests": every projection is the fold of the log, and the indexes fit the log and themselves.
std::vector<Check> check_digests(const Config& config);
// "vault", "vectors": texts are what their hash says, those that are kept are there, and every
// message that was embedded has its vectors. Reads every text.
std::vector<Check> check_vault(const Config& config);
// "skipped": lines and rows that could not be read, all by number and the newest by name. "texts":
// messages whose text neither a carrier nor the vault gives any more.
std::vector<Check> check_readable(const Config& config);
// "forgotten": what was forgotten is out of the log, or will be within the hour.
std::vector<Check> check_forgotten(const Config& config);

}  // namespace clawmark

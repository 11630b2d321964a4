#include "log/body_store.h"
#include "projections/projection.h"
#include "projections/rebuild.h"
#include "projections/search.h"
#include "schema/schema.h"
#include "tests/fuzz/targets.h"

namespace clawmark::fuzz {
namespace {

// An index with the tables of a store and nothing in it is enough: what is looked for is a query
// that SQLite takes for syntax.
struct Index {
  Index() : bodies(Retention::kReference, nullptr) {
    projections = {
        make_messages_projection(),
        make_search_projection(bodies, [](std::string_view raw) { return std::string(raw); })};
    bool made = true;
    for (const Migration& migration : migrations())
      made &= db.exec(std::string(migration.sql)).ok();
    Projection* const list[] = {projections[0].get(), projections[1].get()};
    made &= ensure_projections(db, list).ok();
    require(made, "the index is made");
  }
  Database db = Database::open_memory().value();
  BodyStore bodies;
  std::array<std::unique_ptr<Projection>, 2> projections;
};

}  // namespace

void fuzz_query(std::string_view data) {
  static Index index;
  const ManualClock clock;
  for (const bool advanced : {false, true}) {
    LexicalQuery query;
    query.text = std::string(data.substr(0, 8000));
    query.agent = "main";
    query.audiences = {"agent", "person:owner"};
    query.advanced = advanced;
    query.clock = &clock;
    const auto answer = lexical_search(index.db, query);
    require(answer.ok(), "no text is an error of the search");
    require(answer->degraded.empty(), "no text breaks the index query");
  }
  for (const auto& token : search_tokens(data)) require(!token.empty(), "tokens are not empty");
}

}  // namespace clawmark::fuzz

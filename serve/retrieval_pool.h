#pragma once
// What one recall holds while it is under way. Inside serve/retrieval* only.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "projections/messages.h"
#include "projections/search.h"
#include "serve/retrieval.h"

namespace clawmark {

// How far a model's cosines are to be trusted.
enum class ModelKind { kBuiltin, kEncoder, kEndpoint };
inline ModelKind kind_of(const ModelId& model) {
  return model.name.starts_with("builtin") ? ModelKind::kBuiltin
         : model.name.starts_with("file-") ? ModelKind::kEncoder
                                           : ModelKind::kEndpoint;
}

struct Candidate {
  MessageRow row;
  MessageCues cues;
  double lexical = 0;  // scaled to the best
  double cosine = 0;
  double before = 0, after = 0;  // cosine of what it answers, and of the nearest answer to it
  double fused = 0;
  double calibrated = 0;
  bool outdated = false;  // evidence only for what holds no longer, or an answer to such
  std::string text;       // presentable, the part that matters
  TokenSet tokens;
};

// Neighbouring candidates of one session, best first.
struct Retrieval::Cluster {
  std::vector<std::size_t> members;
  double fused = 0;
};

// What the vectors say.
struct VectorFound {
  Vector query;  // empty: they were not asked
  ModelKind kind = ModelKind::kBuiltin;
  double unrelated = 0;  // cosine up to which a hit says nothing
  std::vector<std::pair<Seq, double>> near;
  std::vector<std::string> degraded;
};

// One recall under way.
struct Retrieval::Pool {
  Pool(const RecallQuery& asked, RecallAnswer& into, QueryTerms words)
      : query(asked), answer(into), terms(std::move(words)) {}

  const RecallQuery& query;
  RecallAnswer& answer;
  QueryTerms terms;
  VectorFound vectors;
  std::vector<std::pair<Seq, double>> lexical;
  std::vector<FoundMessage> found;  // of each of these
  std::vector<Candidate> candidates;
  std::vector<Cluster> clusters;
  std::size_t read = 0, chosen = 0;  // of the clusters: texts read, looked at
  std::vector<Seq> held;             // messages of the request whose texts are not read yet
  std::vector<TokenSet> held_tokens, shown_tokens;

  void degrade(std::string what) {
    if (std::find(answer.degraded.begin(), answer.degraded.end(), what) == answer.degraded.end()) {
      answer.degraded.push_back(std::move(what));
    }
  }
};

}  // namespace clawmark

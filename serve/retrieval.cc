#include "serve/retrieval.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/limits.h"
#include "base/logging.h"
#include "base/read_snapshot.h"
#include "base/utf8.h"
#include "projections/facts.h"
#include "projections/messages.h"
#include "projections/rarity.h"
#include "projections/search.h"
#include "serve/quote.h"
#include "serve/retrieval_pool.h"
#include "sources/text_cleaner.h"

namespace clawmark {
namespace {

constexpr std::size_t kLexicalHits = 120, kVectorHits = 60;
constexpr std::int64_t kLexicalMs = 50;   // of the lexical leg alone; a patient caller's eighth
constexpr std::int64_t kEmbedMs = 60;     // of the query's embedding alone
constexpr double kAlike = 0.8;            // token Jaccard of near-copies
constexpr std::size_t kWindowTexts = 60;  // newest messages of the request whose texts are compared
constexpr double kBeside = 0.8, kBesideLexical = 0.5;
constexpr std::size_t kOneThing = 300;  // characters of a message that says little but its facts
constexpr std::size_t kRerankChars = 1200;  // of each text that a reranking endpoint sees
constexpr std::size_t kRememberedMax = 20'000;
constexpr std::size_t kRawBytesMax = 96u << 10;  // of one text, before cleaning
constexpr std::size_t kFocusBytes = 8u << 10;    // of one text, for words and excerpt

}  // namespace

std::optional<TokenSet> TokenMemory::find(Seq message) {
  const std::lock_guard lock(mutex_);
  const auto at = sets_.find(message.value);
  if (at == sets_.end()) return std::nullopt;
  return at->second;
}

void TokenMemory::keep(Seq message, TokenSet tokens) {
  const std::lock_guard lock(mutex_);
  if (sets_.size() >= kRememberedMax) sets_.clear();
  sets_[message.value] = std::move(tokens);
}

Retrieval::Retrieval(const Clock& clock, BodyReader& bodies, QueryEmbedder* embedder,
                     IndexKeeper* index, const QueryReranker* reranker)
    : clock_(clock), bodies_(bodies), embedder_(embedder), index_(index), reranker_(reranker) {}

std::int64_t Retrieval::left_ms(const RecallQuery& query) const {
  return std::max<std::int64_t>(0, query.deadline_steady_ms - clock_.steady_ms());
}

RecallAnswer Retrieval::recall(Database& db, const Sight& sight, const RecallQuery& query) {
  RecallAnswer answer;
  answer.query = std::string(prefix_code_points(clean_text(query.text), kPromptMax));
  if (query.limit == 0 || sight.audiences.empty()) return answer;
  if (query.window && is_small_talk(answer.query)) return answer;
  // A prompt of small words asks nothing; who searches for one means it.
  QueryTerms terms = query.window ? QueryTerms(answer.query) : QueryTerms::literal(answer.query);
  Pool pool(query, answer, std::move(terms));
  if (pool.terms.empty()) return answer;
  if (!find_candidates(db, sight, pool)) return answer;
  rank(pool);
  if (query.window && !mark_outdated(db, pool).ok()) pool.degrade("facts");
  // Most often the first ones are enough; a better judge of the order has to see all.
  read_texts(db, pool, reranker_ == nullptr ? query.limit : pool.clusters.size());
  rerank(pool);
  choose(pool);
  if (answer.items.size() < query.limit) {
    read_texts(db, pool, pool.clusters.size());
    choose(pool);
  }
  return answer;
}

bool Retrieval::find_candidates(Database& db, const Sight& sight, Pool& pool) {
  // The vectors may wait for an endpoint: the words hold their snapshot without them.
  VectorFound vectors;
  beside_.both([&] { vectors = vector_leg(sight, pool); },
               [&] {
                 const ReadSnapshot snapshot(db);
                 lexical_leg(db, sight, pool);
               });
  for (std::string& what : vectors.degraded) pool.degrade(std::move(what));
  pool.vectors = std::move(vectors);
  const ReadSnapshot snapshot(db);
  look_up_nearness(pool);
  const Status read = read_rows(db, sight, pool);
  if (read.ok()) return true;
  log_warning("recall", describe(read.error()));
  pool.degrade("messages");
  return false;
}

void Retrieval::lexical_leg(Database& db, const Sight& sight, Pool& pool) {
  LexicalQuery query;
  query.text = pool.answer.query;
  query.agent = sight.scope.agent;
  query.audiences = sight.audiences;
  query.limit = kLexicalHits;
  query.with_rows = true;
  const std::int64_t left = left_ms(pool.query);
  query.deadline_ms = std::min(std::max(kLexicalMs, left / 8), left / 2 + 1);
  query.clock = &clock_;
  query.context = true;
  query.zone = pool.query.zone;
  if (pool.query.at) {
    // Of a place in the log, what it did not know yet is left out with its row.
    if (!pool.query.at->through) query.before = {pool.query.at->time.value + 1};
  }
  auto found = lexical_search(db, query);
  db.set_progress(nullptr);
  if (!found.ok()) {
    log_warning("recall", describe(found.error()));
    return pool.degrade("lexical");
  }
  if (!found->degraded.empty()) pool.degrade("lexical");
  if (found->cut) pool.degrade("lexical_cut");
  double best = 0;
  for (const LexicalHit& hit : found->hits) best = std::max(best, hit.score);
  for (const LexicalHit& hit : found->hits) {
    pool.lexical.emplace_back(hit.message, best > 0 ? std::max(0.0, hit.score) / best : 1.0);
  }
  pool.found = std::move(found->found);
}

VectorFound Retrieval::vector_leg(const Sight& sight, const Pool& pool) const {
  VectorFound out;
  if (embedder_ == nullptr || index_ == nullptr) return out;
  if (pool.terms.words() == Words::kAll) return out;  // function words lie near everything
  const auto index = index_->index();
  const IndexState state = index_->state();
  if (!state.loaded) out.degraded.emplace_back("vectors_loading");
  if (!state.failure.empty()) out.degraded.emplace_back("vectors");
  if (!index || index->size() == 0) return out;
  QueryVector vector =
      embedder_->embed(pool.answer.query, std::min(kEmbedMs, left_ms(pool.query) / 2));
  if (!vector.degraded.empty()) {
    out.degraded.push_back(std::move(vector.degraded));
    return out;
  }
  if (vector.vector.size() != static_cast<std::size_t>(index->model().dims)) {
    out.degraded.emplace_back("vectors_other_model");
    return out;
  }
  out.kind = kind_of(index->model());
  out.query = std::move(vector.vector);
  VectorQuery query;
  query.vector = out.query;
  query.agent = sight.scope.agent;
  query.audiences = sight.audiences;
  query.limit = kVectorHits;
  for (const VectorHit& hit : index->search(query)) {
    if (hit.cosine > 0) out.near.emplace_back(hit.message, hit.cosine);
  }
  // Unrelated texts of one history look alike to some models: only what stands out from them
  // counts.
  const auto background = index->background(query);
  out.unrelated = background.rows >= 50 ? background.mean + 3 * background.deviation : 0;
  return out;
}

// How near the lexical hits are that the vector leg has not named.
void Retrieval::look_up_nearness(Pool& pool) {
  const auto index = pool.vectors.query.empty() ? nullptr : index_->index();
  if (!index) return;
  std::vector<Seq> others;
  for (const auto& [message, score] : pool.lexical) others.push_back(message);
  const auto cosines = index->cosines(pool.vectors.query, others);
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (cosines[i] > 0) pool.vectors.near.emplace_back(others[i], cosines[i]);
  }
}

Status Retrieval::read_rows(Database& db, const Sight& sight, Pool& pool) {
  std::unordered_map<std::int64_t, Candidate> by_message;
  for (const auto& [message, score] : pool.lexical) by_message[message.value].lexical = score;
  std::vector<FoundMessage> all = std::move(pool.found);
  std::vector<Seq> others;  // that the words have not found
  for (const auto& [message, cosine] : pool.vectors.near) {
    const auto [entry, fresh] = by_message.try_emplace(message.value);
    if (fresh) others.push_back(message);
    entry->second.cosine = std::max(entry->second.cosine, cosine);
  }
  CLAWMARK_ASSIGN(auto beside, found_messages(db, others));
  std::move(beside.begin(), beside.end(), std::back_inserter(all));
  const RequestWindow window = pool.query.window.value_or(RequestWindow{true, 0, {}});
  const bool holds_all = !window.known || (window.count > 0 && window.oldest.value == 0);
  std::set<std::int64_t> held;
  if (pool.query.window && !pool.query.session_id.empty() && (holds_all || window.count > 0)) {
    CLAWMARK_ASSIGN(pool.held, window_messages(db, sight.scope.agent, pool.query.session_id,
                                               holds_all ? TimeMs{0} : window.oldest));
    for (const Seq message : pool.held) held.insert(message.value);
  }
  for (auto& [row, cues] : all) {
    // The wall, once more, on what the message index says now.
    if (!row.recallable || row.agent != sight.scope.agent ||
        std::find(sight.audiences.begin(), sight.audiences.end(), row.audience) ==
            sight.audiences.end()) {
      continue;
    }
    if (held.contains(row.seq.value)) continue;
    const auto& then = pool.query.at;
    if (then && (row.occurred > then->last_said() || row.seq.value > then->last_seq())) continue;
    if (pool.query.window && pool.query.session_id.empty() && (holds_all || window.count > 0) &&
        row.session_key == sight.scope.session_key &&
        (holds_all || row.occurred >= window.oldest)) {
      continue;
    }
    Candidate candidate = std::move(by_message[row.seq.value]);
    candidate.row = std::move(row);
    candidate.cues = std::move(cues);
    pool.candidates.push_back(std::move(candidate));
  }
  look_around(pool);
  std::vector<std::string> tokens;
  for (const QueryTerm& term : pool.terms.terms()) tokens.push_back(term.token);
  auto rarity = token_rarity(db, tokens);
  if (rarity.ok()) pool.terms.set_rarity(rarity->documents, rarity->total);
  return Ok{};
}

// An answer says little by itself, and a question is near what its answer is about.
void Retrieval::look_around(Pool& pool) {
  const auto index = pool.vectors.query.empty() ? nullptr : index_->index();
  if (!index) return;
  std::vector<Seq> parents;
  for (const Candidate& c : pool.candidates) parents.push_back(c.row.parent.value_or(Seq{}));
  const auto cosines = index->cosines(pool.vectors.query, parents);
  std::unordered_map<std::int64_t, double> answers;  // the nearest, by what they answer
  for (std::size_t i = 0; i < parents.size(); ++i) {
    pool.candidates[i].before = std::max(0.0, cosines[i]);
    double& nearest = answers[parents[i].value];
    nearest = std::max(nearest, pool.candidates[i].cosine);
  }
  for (Candidate& c : pool.candidates) {
    if (const auto answer = answers.find(c.row.seq.value); answer != answers.end()) {
      c.after = answer->second;
    }
  }
}

// What people said of something that has changed since, and what was answered to it.
Status Retrieval::mark_outdated(Database& db, Pool& pool) {
  std::vector<Seq> said;  // of each that may be shown: its own, or the one that it answers
  std::vector<Candidate*> whose;
  for (const Cluster& cluster : pool.clusters) {
    for (const std::size_t member : cluster.members) {
      Candidate& candidate = pool.candidates[member];
      const bool answer = candidate.row.role == "assistant" && candidate.row.parent.has_value();
      said.push_back(answer ? *candidate.row.parent : candidate.row.seq);
      whose.push_back(&candidate);
    }
  }
  CLAWMARK_ASSIGN(const auto outdated, outdated_evidence(db, said));
  for (std::size_t i = 0; i < said.size(); ++i) {
    whose[i]->outdated = std::binary_search(outdated.begin(), outdated.end(), said[i]);
  }
  return Ok{};
}

// Texts of the next clusters, so that there are `clusters` of them, and first of all those of the
// request.
void Retrieval::read_texts(Database& db, Pool& pool, std::size_t clusters) {
  std::vector<Seq> wanted;
  std::vector<std::size_t> whose;  // candidate of each
  for (; pool.read < std::min(clusters, pool.clusters.size()); ++pool.read) {
    const Cluster& cluster = pool.clusters[pool.read];
    for (std::size_t i = 0; i < std::min<std::size_t>(2, cluster.members.size()); ++i) {
      wanted.push_back(pool.candidates[cluster.members[i]].row.seq);
      whose.push_back(cluster.members[i]);
    }
  }
  if (wanted.empty()) return;
  std::vector<Seq> unknown;  // of the request's messages, newest first
  for (auto it = pool.held.rbegin(); it != pool.held.rend(); ++it) {
    if (auto tokens = memory_.find(*it)) {
      pool.held_tokens.push_back(*std::move(tokens));
    } else if (unknown.size() < kWindowTexts) {
      unknown.push_back(*it);
    }
  }
  pool.held.clear();
  wanted.insert(wanted.end(), unknown.begin(), unknown.end());
  BodyAnswer read = bodies_.get(db, wanted, left_ms(pool.query));
  if (!read.in_time) pool.degrade("bodies_timeout");
  if (!read.failure.empty()) pool.degrade("bodies");
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Body& body = read.bodies[i];
    if (body.state == BodyState::kGone) {
      if (i < whose.size()) ++pool.answer.unreadable;
      continue;
    }
    const std::string_view raw = focus(body.text, pool.terms, kRawBytesMax);
    std::string text = presentable_text(raw);
    text = std::string(focus(text, pool.terms, kFocusBytes));
    TokenSet tokens = token_set(text, pool.terms.words());
    if (i < whose.size()) {
      pool.candidates[whose[i]].tokens = std::move(tokens);
      pool.candidates[whose[i]].text = std::move(text);
    } else {
      pool.held_tokens.push_back(tokens);
      memory_.keep(wanted[i], std::move(tokens));
    }
  }
}

namespace {

// How sure we are that a text bears on the query, 0..1: share of the query's rare words in it, or a
// nearness that stands out; either is enough, both together are more.
double calibrate(const Candidate& c, const QueryTerms& terms, double unrelated, ModelKind kind) {
  const bool builtin = kind != ModelKind::kEndpoint;
  const double words = terms.coverage(c.tokens);
  const double low = std::max(builtin ? 0.35 : 0.45, unrelated);
  const double high = std::max(low + 0.1, builtin ? 0.85 : 0.8);
  const double near = std::clamp((c.cosine - low) / (high - low), 0.0, 1.0);
  return 1 - (1 - words) * (1 - (builtin ? 0.6 : 0.9) * near);
}

// What one excerpt says: the best message, and its neighbour where both fit.
std::string excerpt_of(const std::vector<const Candidate*>& shown, const QueryTerms& terms) {
  if (shown.size() == 1) return excerpt_around(shown.front()->text, terms, kExcerptMax);
  std::string out;
  for (const Candidate* c : shown) {
    if (!out.empty()) out.append(" / ");
    const std::string name = c->row.role == "assistant" ? "you" : shorten(c->row.speaker, 40);
    out.append(name.empty() ? "user" : name).append(": ");
    const std::size_t room = kExcerptMax / shown.size();
    const std::size_t used = count_code_points(name) + 5;
    out.append(excerpt_around(c->text, terms, room > used ? room - used : 0));
  }
  return out;
}

}  // namespace

// What stands beside a sure hit and was found for it (an answer without the question's words) is
// nearly as sure.
void Retrieval::calibrate_all(const Cluster& cluster, Pool& pool) {
  double best = 0;
  for (const std::size_t i : cluster.members) {
    Candidate& c = pool.candidates[i];
    if (c.text.empty()) continue;
    c.calibrated = calibrate(c, pool.terms, pool.vectors.unrelated, pool.vectors.kind);
    best = std::max(best, c.calibrated);
  }
  for (const std::size_t i : cluster.members) {
    Candidate& c = pool.candidates[i];
    if (c.lexical >= kBesideLexical) c.calibrated = std::max(c.calibrated, kBeside * best);
  }
}

// The order of what is shown, by a better judge where there is one. Never what may be shown.
void Retrieval::rerank(Pool& pool) {
  if (reranker_ == nullptr || pool.clusters.size() < 2) return;
  std::vector<std::string> texts;
  for (const Cluster& cluster : pool.clusters) {
    const std::string& text = pool.candidates[cluster.members.front()].text;
    texts.push_back(excerpt_around(text, pool.terms, kRerankChars));
  }
  const RerankScores judged =
      reranker_->rerank(pool.answer.query, texts, left_ms(pool.query) * 2 / 3);
  if (!judged.degraded.empty()) pool.degrade(judged.degraded);
  if (judged.scores.size() != pool.clusters.size()) return;
  std::vector<std::size_t> order(pool.clusters.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return judged.scores[a] > judged.scores[b];
  });
  std::vector<Cluster> sorted;
  for (const std::size_t i : order) sorted.push_back(std::move(pool.clusters[i]));
  pool.clusters = std::move(sorted);
}

void Retrieval::choose(Pool& pool) {
  const auto is_held = [&](const TokenSet& tokens) {
    if (!pool.query.window) return false;
    if (jaccard(tokens, pool.terms.set()) > kAlike) return true;  // the prompt itself
    return std::any_of(pool.held_tokens.begin(), pool.held_tokens.end(),
                       [&](const TokenSet& held) { return jaccard(tokens, held) > kAlike; });
  };
  const auto is_shown = [&](const TokenSet& tokens) {
    return std::any_of(pool.shown_tokens.begin(), pool.shown_tokens.end(),
                       [&](const TokenSet& other) { return jaccard(tokens, other) > kAlike; });
  };
  while (pool.chosen < pool.read && pool.answer.items.size() < pool.query.limit) {
    const Cluster& cluster = pool.clusters[pool.chosen++];
    std::vector<const Candidate*> fit;
    calibrate_all(cluster, pool);
    for (const std::size_t i : cluster.members) {
      Candidate& c = pool.candidates[i];
      if (c.text.empty()) continue;
      if (c.outdated && count_code_points(c.text) <= kOneThing) continue;
      if (c.calibrated < pool.query.threshold || is_held(c.tokens) || is_shown(c.tokens)) continue;
      if (pool.query.withhold_orders && !screen_for_injection(c.text).empty()) {
        ++pool.answer.withheld;
        continue;
      }
      fit.push_back(&c);
    }
    if (fit.empty()) continue;
    const Candidate& best = *fit.front();
    RecallItem item;
    item.message = best.row.seq.value;
    for (const std::size_t i : cluster.members) {
      const auto message = pool.candidates[i].row.seq.value;
      if (message != item.message) item.messages.push_back(message);
    }
    std::sort(item.messages.begin(), item.messages.end());
    item.messages.insert(item.messages.begin(), item.message);
    item.at = best.row.occurred;
    item.role = best.row.role;
    item.speaker = best.row.speaker;
    item.session_id = best.row.session_id;
    item.session_key = best.row.session_key;
    item.score = best.calibrated;
    for (const Candidate* c : fit) pool.shown_tokens.push_back(c->tokens);
    if (fit.size() > 1 && count_code_points(best.text) > kExcerptMax / 2)
      fit.erase(fit.begin() + 1, fit.end());
    std::sort(fit.begin(), fit.end(), [](const Candidate* a, const Candidate* b) {
      return a->row.occurred != b->row.occurred ? a->row.occurred < b->row.occurred
                                                : a->row.seq < b->row.seq;
    });
    item.dialogue = fit.size() > 1;
    item.excerpt = excerpt_of(fit, pool.terms);
    pool.answer.items.push_back(std::move(item));
  }
}

}  // namespace clawmark

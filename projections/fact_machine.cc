#include "projections/fact_machine.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/utf8.h"

namespace clawmark {
namespace {

constexpr std::int64_t kFreshDays = 90;
constexpr double kDecayPerDay = 0.01;
constexpr double kTieBand = 0.1;

bool is_command(const Observation& o) {
  return o.kind == ObservationKind::kStated || o.kind == ObservationKind::kForgotten;
}

// Commands are given at the moment they are recorded. If that clock went back between two of them,
// the log's order is the true one: the later is moved up to the earlier's time.
void straighten_commands(std::vector<Observation>& observations) {
  std::vector<Observation*> commands;
  for (auto& o : observations) {
    if (is_command(o)) commands.push_back(&o);
  }
  std::sort(commands.begin(), commands.end(),
            [](const auto* a, const auto* b) { return a->seq < b->seq; });
  for (std::size_t i = 1; i < commands.size(); ++i) {
    if (commands[i]->recorded < commands[i - 1]->recorded) {
      commands[i]->said = std::max(commands[i]->said, commands[i - 1]->said);
      commands[i]->recorded = commands[i - 1]->recorded;
    }
  }
}

class Machine {
 public:
  void fold(const Observation& o) {
    switch (o.kind) {
      case ObservationKind::kStated:
        stated(o);
        break;
      case ObservationKind::kExtracted:
        extracted(o);
        break;
      case ObservationKind::kForgotten:
        forgotten(o);
        break;
      case ObservationKind::kExpired:
        expired(o);
        break;
      case ObservationKind::kReplaced:
        replaced(o);
        break;
    }
  }
  KeyState take() { return std::move(state_); }

 private:
  bool live() const { return state_.life == KeyState::Life::kLive; }

  void stated(const Observation& o) {
    if (live() && same_fact_value(state_.value, o.value)) {
      state_.source = "user";
      state_.history.back().source = "user";
      state_.value = o.value;
      reinforce(o);
      return;
    }
    replace(o, "user");
  }

  void extracted(const Observation& o) {
    if (!live()) {
      if (state_.life != KeyState::Life::kForgotten) replace(o, "extracted");
      return;
    }
    if (same_fact_value(state_.value, o.value)) {
      reinforce(o);
      return;
    }
    if (state_.source == "user") return;
    const double held =
        decayed_confidence(state_.source, state_.confidence, state_.last_observed, o.said);
    if (o.confidence < held - kTieBand - 1e-9) return;
    replace(o, "extracted");
  }

  void reinforce(const Observation& o) {
    state_.confidence = std::max(state_.confidence, o.confidence);
    state_.last_observed = std::max(state_.last_observed, o.said);
    state_.updated = state_.last_observed;
    if (o.due) state_.due = o.due;
    if (o.message != 0) state_.message = o.message;
    // The same message read again (another model, another window) is not a second statement.
    const bool fresh = o.messages.empty() ||
                       std::any_of(o.messages.begin(), o.messages.end(), [&](std::int64_t m) {
                         return std::find(counted_.begin(), counted_.end(), m) == counted_.end();
                       });
    if (fresh) ++state_.observations;
    counted_.insert(counted_.end(), o.messages.begin(), o.messages.end());
  }

  void replace(const Observation& o, const char* source) {
    close(o.said);
    const bool reborn = !live();
    state_.life = KeyState::Life::kLive;
    state_.value = o.value;
    state_.source = source;
    state_.confidence = o.confidence;
    if (reborn) state_.created = o.said;
    state_.updated = o.said;
    state_.last_observed = o.said;
    state_.due = o.due;
    state_.observations = 1;
    state_.message = o.message;
    counted_ = o.messages;
    state_.history.push_back({o.value, source, o.quote, o.said, std::nullopt, o.message});
  }

  void forgotten(const Observation& o) {
    end(o.said, KeyState::Life::kForgotten);
    state_.value.clear();
    state_.source = state_.source.empty() ? "user" : state_.source;
    state_.due.reset();
    for (auto& validity : state_.history) {
      validity.value.clear();
      validity.quote.clear();
    }
  }

  void expired(const Observation& o) {
    if (live() && state_.source == "extracted" && state_.last_observed <= o.said) {
      end(o.said, KeyState::Life::kExpired);
    }
  }

  void replaced(const Observation& o) {
    if (live() && state_.source == "extracted" && same_fact_value(state_.value, o.value)) {
      end(o.said, KeyState::Life::kReplaced);
    }
  }

  void end(TimeMs at, KeyState::Life life) {
    close(at);
    if (!live() && state_.life == KeyState::Life::kNone) state_.created = at;
    state_.life = life;
    state_.updated = std::max(state_.updated, at);
    state_.observations = 0;
    state_.message = 0;
    counted_.clear();
  }

  void close(TimeMs at) {
    if (!state_.history.empty() && !state_.history.back().to) state_.history.back().to = at;
  }

  KeyState state_;
  std::vector<std::int64_t> counted_;
};

}  // namespace

ObservationKind observation_kind(std::string_view name) {
  if (name == "stated") return ObservationKind::kStated;
  if (name == "forgotten") return ObservationKind::kForgotten;
  if (name == "expired") return ObservationKind::kExpired;
  return ObservationKind::kExtracted;
}

bool same_fact_value(std::string_view a, std::string_view b) {
  return a == b || fold_case(trim(a)) == fold_case(trim(b));
}

double decayed_confidence(std::string_view source, double confidence, TimeMs last_observed,
                          TimeMs as_of) {
  if (source == "user") return confidence;
  const std::int64_t age_ms = std::max<std::int64_t>(0, as_of.value - last_observed.value);
  const double days_over =
      static_cast<double>(age_ms) / static_cast<double>(kDayMs) - static_cast<double>(kFreshDays);
  return days_over <= 0 ? confidence : confidence * std::exp(-kDecayPerDay * days_over);
}

void sort_observations(std::vector<Observation>& observations) {
  straighten_commands(observations);
  const auto place = [](const Observation& o) {
    return std::tuple(o.said, o.kind == ObservationKind::kExpired, o.seq, o.ordinal);
  };
  std::sort(observations.begin(), observations.end(),
            [&](const Observation& a, const Observation& b) { return place(a) < place(b); });
}

std::vector<bool> buried(const std::vector<Observation>& observations) {
  std::vector<bool> out(observations.size(), false);
  bool tombstone = false;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    switch (observations[i].kind) {
      case ObservationKind::kForgotten:
        std::fill(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(i), true);
        tombstone = true;
        break;
      case ObservationKind::kStated:
        tombstone = false;
        break;
      case ObservationKind::kExtracted:
        out[i] = tombstone;
        break;
      case ObservationKind::kExpired:
      case ObservationKind::kReplaced:
        break;
    }
  }
  return out;
}

KeyState fold_key(const std::vector<Observation>& observations) {
  Machine machine;
  for (const auto& observation : observations) machine.fold(observation);
  return machine.take();
}

}  // namespace clawmark

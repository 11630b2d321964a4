#pragma once
// The names of work. A task that makes something goes by what it makes, so that "write the
// invoice" and "the invoice is done" are of one task; another one by its verb, too: "send the
// invoice" is done when that is sent.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/graph/rules.h"

namespace clawmark::graph_rules {

// "write" of "write", "wrote", "written"; empty: no verb of work.
std::string_view work_verb(std::string_view base);
std::string_view work_verb_of_past(std::string_view past);
std::string_view work_verb_of_participle(std::string_view participle);
// Of verbs that only begin an errand: "call", "buy", "pay".
bool is_errand_verb(std::string_view base);

struct TaskName {
  std::string name;   // "release notes"
  std::string alias;  // "write the release notes"; empty: no other
  std::optional<TimeMs> due;
};
// The words after "I need to": a verb of work and something definite. nullopt: too loose to be kept
// ("make some memories", "check it out").
std::optional<TaskName> task_name(const Context& context, Span span);
// The words after "Next:", "To do:": anything that can be named.
std::optional<TaskName> listed_name(const Context& context, Span span);

GraphNode& add_task(Reading& reading, std::string name, std::string_view status);
// Says how tasks stand, should any of them be known: `thing` under each verb ("send the invoice",
// "send invoice"); add_status() also says it of `thing` itself.
void add_status_of_work(Reading& reading, const std::string& thing, std::string_view status,
                        const std::vector<std::string_view>& verbs);
void add_status(Reading& reading, const std::string& thing, std::string_view status,
                const std::vector<std::string_view>& verbs);
// The work is done when the thing itself is: "write", "build".
bool is_making_verb(std::string_view base);

}  // namespace clawmark::graph_rules

#pragma once
// The names of work: "write the invoice", "wrote the invoice" and "the invoice is written" are of
// one task.

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
  std::string name;  // "write the release notes"
  std::optional<TimeMs> due;
};
// The words after "I need to": a verb of work and something definite. nullopt: too loose to be kept
// ("make some memories", "check it out").
std::optional<TaskName> task_name(const Context& context, Span span);
// The words after "Next:", "To do:": anything that can be named.
std::optional<TaskName> listed_name(const Context& context, Span span);

GraphNode& add_task(Reading& reading, std::string name, std::string_view status);
// Says how tasks stand, should any of them be known: `thing` under each verb ("write the invoice",
// "write invoice"); add_status() also says it of `thing` itself.
void add_status_of_work(Reading& reading, const std::string& thing, std::string_view status,
                        const std::vector<std::string_view>& verbs);
void add_status(Reading& reading, const std::string& thing, std::string_view status,
                const std::vector<std::string_view>& verbs);
// The verbs whose work is done when the thing itself is: "the invoice is done".
const std::vector<std::string_view>& making_verbs();

}  // namespace clawmark::graph_rules

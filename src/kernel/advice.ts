/** First words of sentences that tell a reader what to do. */
const verbs =
  'Add|Ask|Authorize|Change|Check|Choose|Confirm|Connect|Contact|Copy|Correct|Create|Delete|' +
  'Describe|Encode|End|Enter|Fix|Follow|Give|Go|Have|Leave|List|Look|Lower|Make|Name|Open|Pay|Press|' +
  'Publish|Put|Raise|Read|Register|Reload|Remix|Remove|Rename|Repeat|Reply|Report|Resume|Retry|Review|' +
  'Revoke|Search|See|Select|Send|Set|Shorten|Sign|Start|Stop|Store|Submit|Try|Turn|Unfollow|Unlink|Upload|' +
  'Use|Wait|Write'

/** A sentence, or a part after a colon, that starts with such a verb or names an operation. */
const advice = new RegExp(
  `(?:^|[.:;!?”"] |, )(?:Or |or |and |then |Then |Instead, |First )?(?:${verbs}|${verbs.toLowerCase()}|(?:GET|POST|PUT|PATCH|DELETE) )(?![\\w-])`,
)
/** A rule, which says how a value must be. */
const rule =
  /\b(must|needs?|requires?|at most|at least|exactly|one of|either|or fewer|up to|only|has to|can (?:appeal|raise|resume|change|send)|is (?:an?|one) |are (?:an?|one) |has (?:one|1) to|have (?:one|1) to)\b/

/** Checks whether the text of an error tells its reader what to do, or how a value must be. */
export const saysWhatToDo = (text: string): boolean => advice.test(text) || rule.test(text)

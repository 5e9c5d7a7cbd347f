import { isRecord } from '../../kernel/schema.ts'
import { hasVisibleText } from '../../kernel/text.ts'

interface Rejection {
  operation: string
  message: string
  /** The body of the request. */
  body: unknown
}

/** Rejections of requests that follow the schema, because no schema can express their reason. */
const outside: [operation: RegExp, message: RegExp][] = [
  // What exists, and what the item, the account or the settings of the server have.
  [/./, /^This cursor is invalid/],
  [/./, /^"after" is not in this list/],
  [/./, /^No item with this id is stored/],
  [/./, /^This account has no such response/],
  [/./, /has the type \w+, not \w+: use/],
  [/./, /^demo\/\w+ does not accept|exclude every upstream/],
  [/^PATCH /, /^"priceRemix" requires|^"remix": "price" requires/],
  [/^POST \/apps\/\{id\}\/remix/, /^"name" is for skills and frameworks/],
  [/audience$/, /have no account here|no such groups here|^Send "password" with/],
  [/\/(audience|links)$/, /^"expiresAt" must be in the future/],
  [/^POST \/apps\/\{id\}\/links/, /at most 20 share links/],
  [/^POST \/apps/, /^Explore lists public items only/],
  [/^POST \/apps\/\{id\}\/versions/, /^The newest version has no file|^The diff cannot be read/],
  [/^POST \/apps\/\{id\}\/assets/, /requests no missing assets|have the same name/],
  [
    /^POST \/runs/,
    /^"step" must be one of|^An app must be the id of one of your|^A url must be a public/,
  ],
  [/review$/, /^"version" must be at most/],
  [/^POST /, /ha(s|ve) reached the limit/],
  // Numbers of a query are in plain digits, which no schema of a number says.
  [/^GET \/jobs/, /^"wait" must be a number/],
  [/\/accounts\/projects/, /^The account has a project/],
  [/^DELETE \/videos/, /^The video is being created/],
  [/^POST \/(people\/me\/wallet\/)?topup/, /^"amount" must be \d/],
  [/^POST \/people\/me\/wallet\/topups/, /Set TOPUP_|at most six decimals/],
  // Moments after now, and addresses that are public.
  [/\/accounts\/keys/, /^expires_at must be a date-time in the future/],
  [/^POST \/me\/hooks/, /^"url" must be a public http or https address/],
  // The conversation as a whole: calls before their results, a user, any content.
  [/./, /^No message has content|^Send "messages": an array/],
  [/^POST \/chat/, /A tool message must follow a tool call|needs a user message/],
  [/^POST \/messages/, /earlier tool_use|^This tool_choice needs at least one tool/],
  [/^POST \/responses/, /needs the call_id of an earlier call/],
  // A quotient: at most 4:1.
  [/^POST \/videos/, /^aspect_ratio must be/],
  // The content of texts and files.
  [/frameworks|skills/, /^This pack breaks the rules of Agent Skills/],
  [/^POST \/apps/, /^Not published: /],
  [/^PATCH \/people\/me\/profile/, /^Choose a handle first/],
  [/^PUT \/(apps|people)/, /^This file cannot be an asset|^"image" cannot be read/],
  [/^POST \/(files|images)/, /^Unsupported file type|cannot be read|must be a valid PNG/],
]

/** Returns whether a 400 to a request that follows the schema has a reason outside of it. */
export const isOutsideSchema = ({ operation, message, body }: Rejection): boolean =>
  outside.some(([label, reason]) => label.test(operation) && reason.test(message)) ||
  // No pattern of all dialects has the classes of visible characters.
  (/plain (text|line)/.test(message) && stringsIn(body).some((text) => !hasVisibleText(text)))

/** Accepted requests that the schema rejects: a JSON file, which may be any JSON, is an asset. */
export const mayViolate = (operation: string): boolean =>
  operation === 'PUT /apps/{id}/assets/{name}'

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(stringsIn)
  return isRecord(value) ? Object.values(value).flatMap(stringsIn) : []
}

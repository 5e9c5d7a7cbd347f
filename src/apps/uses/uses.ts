import { oneOf } from '../../kernel/schema.ts'
import { pattern } from '../../kernel/text.ts'

/** The parts of `service` that an app may use. `shared` is data that all its players see. */
export const useNames = ['ai', 'store', 'shared', 'db', 'room', 'scores', 'files'] as const
export type Use = (typeof useNames)[number]
export const UseSchema = oneOf(useNames)

/** The uses by which other players could receive what a player types. */
const sharingNames = ['shared', 'db', 'room', 'scores', 'files'] as const
export type SharingUse = (typeof sharingNames)[number]
export const SharingUseSchema = oneOf(sharingNames)

/** The uses of `service`, and the interfaces of other hosts that a page names. */
export interface PageUses {
  service: Use[]
  shims: ShimName[]
  /** Those of `service` that the maker declared, because the text does not name them. */
  declared?: Use[]
  /** The page hands `service` on, so its text does not say which parts it uses. */
  isHandedOn?: boolean
  /** The page asks for credentials. Undefined for a version from before this was recorded. */
  asksCredentials?: boolean
}

/** Reads the uses of `service` in a stored column. */
export function readStoredUses(text: string): Use[] {
  const stored: PageUses | null = JSON.parse(text)
  return stored?.service ?? []
}

/** Returns the uses by which a version shares data. Nothing is known of one without a record. */
export const sharingUses = (uses: Pick<PageUses, 'service'> | null): SharingUse[] =>
  sharingNames.filter((use) => !uses || uses.service.includes(use))

/** Returns whether other players could receive what a player types. */
export const sharesData = (uses: Pick<PageUses, 'service'>): boolean => sharingUses(uses).length > 0

/** Returns whether a version gets the script of `service`. */
export const hasBridge = ({ service, isHandedOn }: PageUses): boolean =>
  service.length > 0 || isHandedOn === true

/**
 * Returns the uses that a version may begin after a player agreed, though its text does not name
 * them. Its frame has an address of files only where the version uses them.
 */
export const undeclaredUses = (uses: PageUses | null): SharingUse[] =>
  uses?.asksCredentials === false && hasBridge(uses)
    ? sharingNames.filter((use) => use !== 'files')
    : []

/** Adds what a maker declared to what was found. */
export const withDeclared = (found: PageUses, declared: readonly Use[] = []): PageUses =>
  declared.length === 0
    ? found
    : {
        ...found,
        service: useNames.filter((use) => found.service.includes(use) || declared.includes(use)),
        declared: [...declared],
      }

/** Returns whether the frame of an app gets the address of what its players upload. */
export const hasUploads = ({ service }: Pick<PageUses, 'service'>): boolean =>
  service.includes('files')

/** `service.ai`, `service?.ai`, `service["ai"]`. The seed and the challenge are of scores. */
const members =
  /\bservice\s*(?:\?\.|\.|(?:\?\.)?\[\s*["'`])\s*(ai|store|db|room|scores|files|seed|challenge)\b/g
const ofScores = /^(?:seed|challenge)$/
const global = String.raw`(?:window|self|globalThis)\s{0,9}\.\s{0,9}service\b`
/** Neither a part of it follows nor a look whether it is there. */
const bare = String.raw`(?!\s{0,9}(?:\?\.|&&|[.[(]))`
/** `const app = service`, `this.app = window.service ?? {}`, `createGame(service)`. */
const handedOn = pattern(
  '',
  String.raw`\b(?:const|let|var)\s{1,9}[\w$]{1,99}\s{0,9}=\s{0,9}service\b${bare}|`,
  String.raw`\b${global}(?<!\b(?:if|while|typeof)\s{0,3}\(?\s{0,3}!{0,2}${global})${bare}|`,
  String.raw`\w(?<!\b(?:if|while))\(\s{0,9}service\s{0,9}[,)]`,
)
/** `const { ai, store } = service` */
const parts = /\{([^{}]*)\}\s*=\s*(?:(?:window|self|globalThis)\s*\.\s*)?service\b(?!\s*[.([])/g
const partNames = /\b(ai|store|db|room|scores|files|seed|challenge)\b/g
/** `{ shared: true }`, or the last argument of `storage.set(key, value, true)`. */
const shared = /\bshared\b|\bstorage\s*\.\s*\w+\s*\([^;]{0,500}?,\s*true\s*\)/i

/** Finds what a script or a page uses of `service`, by the names in its text. */
export function findUses(text: string): PageUses {
  const shims = findShims(text)
  const found = new Set<string | undefined>(shims.flatMap((shim) => usesOfShim(shim, text)))
  for (const [, name] of text.matchAll(members)) found.add(name)
  for (const [, names = ''] of text.matchAll(parts)) {
    for (const [name] of names.matchAll(partNames)) found.add(name)
  }
  if ([...found].some((name) => name !== undefined && ofScores.test(name))) found.add('scores')
  if (found.has('store') && shared.test(text)) found.add('shared')
  return {
    service: useNames.filter((name) => found.has(name)),
    shims: shims.map(({ name }) => name),
    ...(handedOn.test(text) && { isHandedOn: true }),
  }
}

/** Joins what the files of a folder use. */
export const joinUses = (all: PageUses[]): PageUses => ({
  service: useNames.filter((name) => all.some(({ service }) => service.includes(name))),
  shims: shimNames.filter((name) => all.some(({ shims }) => shims.includes(name))),
  ...(all.some(({ isHandedOn }) => isHandedOn) && { isHandedOn: true }),
})

/** Tells whether a text names something. */
type TextTest = (text: string) => boolean

/** A script that gives pages the interface of another host (public/shims). */
interface Shim {
  name: string
  /** Tells whether a page or a script names it. */
  isNamed: TextTest
  /** The parts of `service` that it calls, or those that it calls for a text. */
  uses: readonly string[] | ((text: string) => string[])
}

const matching =
  (expression: RegExp): TextTest =>
  (text) =>
    expression.test(text)
const both =
  (...tests: TextTest[]): TextTest =>
  (text) =>
    tests.every((test) => test(text))
const either =
  (...tests: TextTest[]): TextTest =>
  (text) =>
    tests.some((test) => test(text))

const globalObject = String.raw`(?:window|self|globalThis)\s{0,9}\??\.\s{0,9}`

/**
 * Tells whether a text uses members of a global. Compilers and models also write
 * `window["puter"]["kv"]`, `const { kv } = puter`, and `(_a = window.puter) === null || _a.kv`.
 */
function member(name: string, members: string): TextTest {
  const direct = pattern(
    '',
    String.raw`\b${name}(?:["'\x60]\])?(?:\s{0,9}\??\.\s{0,9}(?:${members})\b|`,
    String.raw`\s{0,9}(?:\?\.)?\[\s{0,9}["'\x60](?:${members})["'\x60])`,
  )
  const taken = pattern(
    '',
    String.raw`\b(?:${members})\b[^{}]{0,200}\}\s{0,9}=\s{0,9}(?:${globalObject})?${name}\b`,
  )
  const passedOn = pattern(
    '',
    String.raw`(?:\b${globalObject}|\b(?:const|let|var)\s{1,9}[\w$]{1,99}\s{0,9}=\s{0,9})${name}\b`,
    String.raw`(?!\s{0,9}(?:\?\.|[.[(\w$-]))`,
  )
  const ofOther = pattern('', String.raw`\.\s{0,9}(?:${members})\b`)
  return either(matching(direct), matching(taken), both(matching(passedOn), matching(ofOther)))
}

const quote = String.raw`["'\x60]`
const quoted = (names: string): string => `${quote}(?:${names})${quote}`
const claudeMember = (names: string): TextTest =>
  matching(pattern('', String.raw`\bclaude\s{0,9}\??\.\s{0,9}(?:${names})\b`))
const useCall = String.raw`\buse\s{0,9}(?:\?\.\s{0,9})?\(\s{0,9}`
const isUseOfVariable = matching(pattern('', String.raw`${useCall}[\w$]`))

/** `claude.use`, and the members that older pages have. */
const isClaudeUse = either(
  member('claude', 'use'),
  claudeMember('db|room|sample|user|downloads|permissions|assets'),
)
/** Finds a namespace that a page names, also in a list. */
const claudeUse = (name: string): TextTest =>
  both(
    isClaudeUse,
    either(
      claudeMember(name),
      matching(pattern('', useCall + quoted(name))),
      both(isUseOfVariable, matching(pattern('', quoted(name)))),
    ),
  )

/** The parts of `service` behind the namespaces of `claude.use`. */
const claudeUses: [isNamed: TextTest, use: string][] = [
  [claudeUse('db'), 'db'],
  // The user is a player of `db`. Messages have a role of the same name.
  [either(claudeMember('user'), matching(pattern('', useCall + quoted('user')))), 'db'],
  [claudeUse('room'), 'room'],
  [claudeUse('sample'), 'ai'],
]

/** `window.storage`, and `await storage.get(…)` of a page without a variable of that name. */
const isClaudeStorage = either(
  matching(/\b(?:window|globalThis)\s*\??\.\s*storage\b/),
  both(
    matching(/\bawait\s+storage\s*\.\s*(?:get|set|list|delete)\s*\(/),
    (text) => !/\b(?:const|let|var|class|function|import)\s[^;\n=(]{0,200}\bstorage\b/.test(text),
  ),
)

const websim = (members: string): TextTest => member('websim', members)
const puter = (members: string): TextTest => member('puter', members)
const spark = (members: string): TextTest => member('spark', members)
const isWebsimSocket = matching(/\bWebsimSocket\b|@websim\/(?:websim-socket|use-query)\b/)

/** The builds "-compat" of Firebase, versions before 9, and the global that both have. */
const isFirebaseCompat = matching(
  /\/firebase-[a-z]+-compat\b|\bfirebasejs\/[0-8]\.|["'`/]firebase(?:@[\w.^~-]+)?\/compat\/|\bfirebase\s*\.\s*(?:initializeApp|firestore|auth)\s*\(/,
)

/** The interfaces of other hosts. Each script goes to the pages that name it, and to no other. */
export const shims = [
  {
    name: 'model-apis',
    isNamed: matching(
      /api\.anthropic\.com|api\.openai\.com|generativelanguage\.googleapis\.com|@anthropic-ai\/sdk|@google\/gen(?:ai|erative-ai)|[/"']openai(?:@|["'/])|@(?:ai-sdk|langchain)\/(?:anthropic|google)/,
    ),
    uses: ['ai'],
  },
  { name: 'claude-complete', isNamed: member('claude', 'complete'), uses: ['ai'] },
  {
    name: 'websim-ai',
    isNamed: either(websim('chat|imageGen|textToSpeech'), matching(/\/api\/ai_completion\b/)),
    uses: ['ai'],
  },
  {
    name: 'websim-user',
    isNamed: websim('get(?:Current)?User|getCreator|getCurrentProject'),
    uses: [],
  },
  {
    name: 'poe',
    isNamed: member(
      'Poe',
      'sendUserMessage|registerHandler|stream|call|getTriggerMessage|captureCost',
    ),
    uses: ['ai'],
  },
  {
    name: 'poe-store',
    isNamed: both(
      matching(/\bPoe\b|["'`](?:@poe\/|poe-apps-sdk\/)/),
      matching(/\bsetupStore\s*\(/),
    ),
    uses: ['db'],
  },
  {
    name: 'puter',
    isNamed: either(
      matching(/\bjs\.puter\.com\/|@heyputer\/puter\.js\b/),
      puter('ai|kv|fs|auth|print|randName'),
    ),
    uses: [],
  },
  { name: 'puter-ai', isNamed: puter('ai'), uses: ['ai'] },
  { name: 'spark-llm', isNamed: spark('llm(?:Prompt)?'), uses: ['ai'] },
  { name: 'spark-user', isNamed: spark('user'), uses: [] },
  {
    name: 'language-model',
    isNamed: matching(
      /\bLanguageModel\b(?!\s*(?:V\d|<))|\bai\s*\??\.\s*(?:languageModel|assistant|(?:can)?[cC]reateTextSession)\b/,
    ),
    uses: ['ai'],
  },
  { name: 'claude-storage', isNamed: isClaudeStorage, uses: ['store'] },
  {
    name: 'claude-files',
    isNamed: matching(/\bwindow\s*\??\.\s*fs\b/),
    uses: [],
  },
  {
    name: 'claude-use',
    isNamed: isClaudeUse,
    /** A page whose names are no texts may use any namespace. */
    uses: (text) => {
      const found = claudeUses.flatMap(([isNamed, use]) => (isNamed(text) ? [use] : []))
      const isNamed = found.length > 0 || claudeUse('downloads|assets|permissions')(text)
      return isNamed ? found : ['db', 'room']
    },
  },
  { name: 'claude-assets', isNamed: claudeUse('assets'), uses: ['files'] },
  { name: 'websim', isNamed: isWebsimSocket, uses: ['db', 'room'] },
  {
    name: 'websim-files',
    isNamed: both(either(isWebsimSocket, websim('upload')), websim('imageGen|textToSpeech|upload')),
    uses: ['files'],
  },
  {
    name: 'firebase',
    isNamed: either(
      matching(
        /\bgstatic\.com\/firebasejs\/|["'`](?:https:\/\/[^"'`\s]{1,100}\/)?firebase(?:@[\w.^~-]+)?\/(?:app|auth|firestore)\b/,
      ),
      isFirebaseCompat,
    ),
    uses: ['db'],
  },
  { name: 'firebase-compat', isNamed: isFirebaseCompat, uses: ['db'] },
  { name: 'puter-kv', isNamed: puter('kv'), uses: ['store'] },
  { name: 'puter-fs', isNamed: puter('fs'), uses: ['store'] },
  {
    name: 'chatgpt-app',
    isNamed: matching(/\b(?:window|globalThis|self)\s*\??\.\s*openai\b|["'`]openai:set_globals\b/),
    uses: ['store'],
  },
  {
    name: 'spark-kv',
    isNamed: either(spark('kv'), matching(/@github\/spark\/hooks\b/)),
    uses: ['store', 'shared'],
  },
] as const satisfies readonly Shim[]

type ShimName = (typeof shims)[number]['name']
const shimNames: ShimName[] = shims.map(({ name }) => name)

/** Finds the shims that a page or script names. */
export const findShims = (text: string): (typeof shims)[number][] =>
  shims.filter(({ isNamed }) => isNamed(text))

/** Finds the parts of `service` that a shim calls for a text. */
const usesOfShim = ({ uses }: Pick<Shim, 'uses'>, text: string): readonly string[] =>
  typeof uses === 'function' ? uses(text) : uses

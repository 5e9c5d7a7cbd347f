import { pattern } from '../../kernel/text.ts'

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

export type ShimName = (typeof shims)[number]['name']
export const shimNames: ShimName[] = shims.map(({ name }) => name)

/** Finds the shims that a page or script names. */
export const findShims = (text: string): (typeof shims)[number][] =>
  shims.filter(({ isNamed }) => isNamed(text))

/** Finds the parts of `service` that a shim calls for a text. */
export const usesOfShim = ({ uses }: Pick<Shim, 'uses'>, text: string): readonly string[] =>
  typeof uses === 'function' ? uses(text) : uses

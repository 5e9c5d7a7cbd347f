/** A script that gives pages the interface of another host (public/shims). */
interface Shim {
  name: string
  /** Names it in the text of a page or script. */
  pattern: { test(text: string): boolean }
  /** The parts of `service` that it calls. */
  uses: readonly string[]
}

/** Matches a text that has both names. */
const both = (one: RegExp, other: RegExp): Shim['pattern'] => ({
  test: (text) => one.test(text) && other.test(text),
})

/** The interfaces of other hosts. Each script goes to the pages that name it, and to no other. */
export const shims = [
  {
    name: 'model-apis',
    pattern:
      /api\.anthropic\.com|api\.openai\.com|generativelanguage\.googleapis\.com|@anthropic-ai\/sdk|@google\/gen(?:ai|erative-ai)|[/"']openai(?:@|["'/])|@(?:ai-sdk|langchain)\/(?:anthropic|google)/,
    uses: ['ai'],
  },
  {
    name: 'claude-complete',
    pattern: /\bclaude\s*\??\.\s*(?:complete\b|use\s*(?:\?\.\s*)?\(\s*["'`]sample)/,
    uses: ['ai'],
  },
  {
    name: 'websim-ai',
    pattern: /\bwebsim\s*\??\.\s*(?:chat|imageGen|textToSpeech)\b|\/api\/ai_completion\b/,
    uses: ['ai'],
  },
  {
    name: 'websim-user',
    pattern: /\bwebsim\s*\??\.\s*get(?:(?:Current)?User|Creator|CurrentProject)\b/,
    uses: [],
  },
  {
    name: 'poe',
    pattern: /\bPoe\s*\??\.\s*(?:sendUserMessage|registerHandler|stream|call)\b/,
    uses: ['ai'],
  },
  {
    name: 'poe-store',
    pattern: both(/\bPoe\b|["'`](?:@poe\/|poe-apps-sdk\/)/, /\bsetupStore\s*\(/),
    uses: ['db'],
  },
  {
    name: 'puter',
    pattern: /\bjs\.puter\.com\/|\bputer\s*\??\.\s*(?:ai|kv|auth|print)\b/,
    uses: [],
  },
  { name: 'puter-ai', pattern: /\bputer\s*\??\.\s*ai\b/, uses: ['ai'] },
  { name: 'spark-llm', pattern: /\bspark\s*\??\.\s*llm(?:Prompt)?\b/, uses: ['ai'] },
  { name: 'spark-user', pattern: /\bspark\s*\??\.\s*user\b/, uses: [] },
  {
    name: 'language-model',
    pattern:
      /\bLanguageModel\s*\??\.|\bai\s*\??\.\s*(?:languageModel|assistant|(?:can)?[cC]reateTextSession)\b/,
    uses: ['ai'],
  },
  { name: 'claude-storage', pattern: /\bwindow\s*\??\.\s*storage\b/, uses: ['store'] },
  {
    name: 'claude-files',
    pattern: /\bwindow\s*\.\s*fs\s*\.\s*readFile\b/,
    uses: [],
  },
  {
    name: 'claude-use',
    pattern: /\bclaude\s*\??\.\s*use\s*(?:\?\.\s*)?\(/,
    uses: ['db', 'room'],
  },
  {
    name: 'claude-assets',
    pattern: /\bclaude\s*\??\.\s*use\s*(?:\?\.\s*)?\(\s*["'`]assets\b/,
    uses: ['files'],
  },
  { name: 'websim', pattern: /\bWebsimSocket\b/, uses: ['db', 'room'] },
  {
    name: 'websim-files',
    pattern: both(
      /\bWebsimSocket\b|\bwebsim\s*\??\.\s*upload\b/,
      /\bwebsim\s*\??\.\s*(?:imageGen|textToSpeech|upload)\b/,
    ),
    uses: ['files'],
  },
  {
    name: 'firebase',
    pattern:
      /\bgstatic\.com\/firebasejs\/|["'`](?:https:\/\/[^"'`\s]{1,100}\/)?firebase(?:@[\w.^~-]+)?\/(?:app|auth|firestore)\b/,
    uses: ['db'],
  },
  { name: 'puter-kv', pattern: /\bputer\s*\??\.\s*kv\b/, uses: ['store'] },
  {
    name: 'chatgpt-app',
    pattern: /\b(?:window|globalThis|self)\s*\??\.\s*openai\b|["'`]openai:set_globals\b/,
    uses: ['store'],
  },
  { name: 'spark-kv', pattern: /\bspark\s*\??\.\s*kv\b/, uses: ['store', 'shared'] },
] as const satisfies readonly Shim[]

export type ShimName = (typeof shims)[number]['name']
export const shimNames: ShimName[] = shims.map(({ name }) => name)

/** Finds the shims that a page or script names. */
export const findShims = (text: string): (typeof shims)[number][] =>
  shims.filter(({ pattern }) => pattern.test(text))

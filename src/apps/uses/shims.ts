/** A script that gives pages the interface of another host (public/shims). */
interface Shim {
  name: string
  /** Names it in the text of a page or script. */
  pattern: RegExp
  /** The parts of `service` that it calls. */
  uses: readonly string[]
}

/** The interfaces of other hosts. Each script goes to the pages that name it, and to no other. */
export const shims = [
  { name: 'claude-storage', pattern: /\bwindow\s*\.\s*storage\b/, uses: ['store'] },
  { name: 'claude-use', pattern: /\bclaude\s*\.\s*use\s*\(/, uses: ['db', 'room'] },
  { name: 'websim', pattern: /\bWebsimSocket\b/, uses: ['db', 'room'] },
  { name: 'puter-kv', pattern: /\bputer\s*\.\s*kv\b/, uses: ['store'] },
  { name: 'spark-kv', pattern: /\bspark\s*\.\s*kv\b/, uses: ['store', 'shared'] },
] as const satisfies readonly Shim[]

/** Finds the shims that a page or script names. */
export const findShims = (text: string): (typeof shims)[number][] =>
  shims.filter(({ pattern }) => pattern.test(text))

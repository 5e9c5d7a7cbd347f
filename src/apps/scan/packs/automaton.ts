/** A term to find, and the bits of the classes that it belongs to. */
export interface Term {
  text: string
  classes: number
}

/** A term that was found in a text. */
export interface Hit {
  classes: number
  at: number
  end: number
}

/** Finds all terms of a list in one pass over a text in lower case. */
export interface Automaton {
  find(text: string): Hit[]
  /** Returns the bits of all classes that occur. Reads text of any case and line breaks. */
  classesOf(text: string): number
}

interface Node {
  next: Map<number, Node>
  fail: Node | undefined
  terms: Pattern[]
  index: number
}

interface Pattern {
  classes: number
  length: number
  hasSpace: boolean
  /** The term must start, or end, at a boundary of words. */
  isStart: boolean
  isEnd: boolean
}

const isWord = (code: number): boolean =>
  (code >= 97 && code <= 122) ||
  (code >= 48 && code <= 57) ||
  code === 95 ||
  (code >= 65 && code <= 90) ||
  (code >= 0xc0 && code < 0x600)

/**
 * Compiles terms to an automaton (Aho and Corasick, 1975). Terms match whole words; a `*` at an end
 * of a term drops that bound.
 */
export function compile(terms: readonly Term[]): Automaton {
  const alphabet = new Uint16Array(65_536)
  const symbols = letters(terms, alphabet)
  const nodes = trie(terms)
  const step = new Uint16Array(nodes.length * symbols)
  const outputs = nodes.map((node) => node.terms)
  for (const node of nodes) {
    const base = node.index * symbols
    if (node.fail) step.copyWithin(base, node.fail.index * symbols, (node.fail.index + 1) * symbols)
    for (const [code, { index }] of node.next) step[base + (alphabet[code] ?? 0)] = index
  }
  const hasOutput = Uint8Array.from(outputs, (found) => (found.length > 0 ? 1 : 0))
  const matchAll = (
    text: string,
    found: (pattern: Pattern, at: number, end: number) => void,
  ): void => {
    let state = 0
    let before = 0
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (isSpace(code) && before === 32) continue
      before = isSpace(code) ? 32 : code
      state = step[state * symbols + (alphabet[before] ?? 0)] ?? 0
      if (hasOutput[state] === 1)
        for (const pattern of outputs[state] ?? []) {
          const at = startOf(text, pattern, i + 1)
          if (isWhole(text, pattern, at, i + 1)) found(pattern, at, i + 1)
        }
    }
  }
  return {
    find: (text) => {
      const hits: Hit[] = []
      matchAll(text, ({ classes }, at, end) => hits.push({ classes, at, end }))
      return hits.sort((a, b) => a.at - b.at || b.end - a.end)
    },
    classesOf: (text) => {
      let classes = 0
      matchAll(text, (pattern) => {
        classes |= pattern.classes
      })
      return classes
    },
  }
}

/** Returns the start of a term that ends at `end`. A run of spaces counts as one character. */
function startOf(text: string, { length, hasSpace }: Pattern, end: number): number {
  if (!hasSpace) return end - length
  let at = end
  for (let left = length; left > 0 && at > 0; left--) {
    at--
    if (isSpace(text.charCodeAt(at))) while (isSpace(text.charCodeAt(at - 1))) at--
  }
  return at
}

const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13)

/** Returns whether a term is a whole word. */
function isWhole(text: string, { isStart, isEnd }: Pattern, at: number, end: number): boolean {
  if (isEnd && end < text.length && isWord(text.charCodeAt(end))) return false
  return !isStart || at === 0 || !isWord(text.charCodeAt(at - 1))
}

/** Numbers the characters of the terms. Both cases of a letter have one number. */
function letters(terms: readonly Term[], alphabet: Uint16Array): number {
  let count = 1
  for (const { text } of terms)
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (alphabet[code] !== 0) continue
      alphabet[code] = count
      const [upper = ''] = text.charAt(i).toUpperCase()
      alphabet[upper.charCodeAt(0)] = count++
    }
  alphabet[0x2019] = alphabet[0x27] ?? 0
  return count
}

function trie(terms: readonly Term[]): Node[] {
  const root: Node = { next: new Map(), fail: undefined, terms: [], index: 0 }
  const nodes = [root]
  for (const { text, classes } of terms) {
    const word = text.replace(/^\*|\*$/g, '')
    let node = root
    for (let i = 0; i < word.length; i++) {
      const code = word.charCodeAt(i)
      let next = node.next.get(code)
      if (!next) {
        next = { next: new Map(), fail: undefined, terms: [], index: 0 }
        node.next.set(code, next)
      }
      node = next
    }
    const isStart = !text.startsWith('*') && isWord(word.charCodeAt(0))
    const isEnd = !text.endsWith('*') && isWord(word.charCodeAt(word.length - 1))
    node.terms.push({ classes, length: word.length, hasSpace: word.includes(' '), isStart, isEnd })
  }
  for (let i = 0; i < nodes.length; i++) link(nodes, nodes[i] ?? root, root)
  return nodes
}

/** Numbers the children of a node in breadth, and links each to its longest suffix. */
function link(nodes: Node[], node: Node, root: Node): void {
  for (const [code, child] of node.next) {
    child.index = nodes.length
    nodes.push(child)
    let suffix = node.fail
    while (suffix && !suffix.next.has(code)) suffix = suffix.fail
    child.fail = suffix?.next.get(code) ?? root
    child.terms.push(...child.fail.terms)
  }
}

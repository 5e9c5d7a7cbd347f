import { tokenizer, tokTypes } from 'acorn'

import { lexLoosely } from './loose-lexer.ts'
import { type AddToken, CHUNK, NAME, NUMBER, PUNCT, REGEX, TEXT } from './token-kinds.ts'

/**
 * The tokens of a script as columns: kind, cooked text (a string's value, a name, a punctuator) and
 * start offset. `find` returns the positions of a name, so that no rule reads all tokens.
 */
export interface Tokens {
  code: string
  kinds: number[]
  texts: string[]
  starts: number[]
  find(name: string): readonly number[]
}

const nowhere: readonly number[] = []

/** Tokenizes a script. A loose lexer reads what acorn cannot. Linear, never throws. */
export function tokensOf(code: string): Tokens {
  const kinds: number[] = []
  const texts: string[] = []
  const starts: number[] = []
  const names = new Map<string, number[]>()
  const add: AddToken = (kind, text, start) => {
    if (kind === NAME) {
      const known = names.get(text)
      if (known) known.push(kinds.length)
      else names.set(text, [kinds.length])
    }
    kinds.push(kind)
    texts.push(text)
    starts.push(start)
  }
  const end = lexStrictly(code, add)
  if (end < code.length) lexLoosely(code, end, add)
  return { code, kinds, texts, starts, find: (name) => names.get(name) ?? nowhere }
}

/** Adds tokens until the end or a syntax error. Returns the offset up to which it read. */
function lexStrictly(code: string, add: AddToken): number {
  let end = 0
  try {
    const lexer = tokenizer(code, { ecmaVersion: 'latest', allowHashBang: true })
    for (;;) {
      const token = lexer.getToken()
      const { type, start } = token
      if (type === tokTypes.eof) return code.length
      end = token.end
      if (type === tokTypes.name || type.keyword) add(NAME, textOf(token), start)
      else if (type === tokTypes.string) add(TEXT, textOf(token), start)
      else if (type === tokTypes.template || type === tokTypes.invalidTemplate)
        add(CHUNK, textOf(token), start)
      else if (type === tokTypes.num) add(NUMBER, textOf(token), start)
      else if (type === tokTypes.regexp) add(REGEX, code.slice(start, end), start)
      else add(PUNCT, code.slice(start, end), start)
    }
  } catch {
    // A syntax error, or a regular expression nested too deep for acorn: the loose lexer continues.
    return end
  }
}

/** Returns the cooked text of a token, which acorn's types omit. */
function textOf(token: object): string {
  return 'value' in token && token.value !== null ? String(token.value) : ''
}

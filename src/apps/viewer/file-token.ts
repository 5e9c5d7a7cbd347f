import { LRUCache } from 'lru-cache'

import { idChars, idPattern, openBlock, sealBlock } from '../../kernel/ids.ts'
import { type Clock, hour } from '../../kernel/time.ts'

/** A version of an app whose files have an address. */
export interface VersionKey {
  id: string
  version: number
}

/** The version that a token opens. */
export interface OpenedToken extends VersionKey {
  /** The token is for people who may preview the version, in any state of its app. */
  isPreview: boolean
  revision: number
}

const pattern = /^[0-9a-f]{32}$/
const openedMax = 2_000
/** Purpose of the key, under which visitors' tokens are made. */
const live = 'files'

/**
 * Makes and opens the tokens in the addresses of files. A token is one AES block of the app's id,
 * its version and a revision of its files: all servers open it without a lookup, and it shows
 * nothing and cannot be guessed. The revision gives changed files a new address, and those of a
 * restricted app after each change of who may open it. The token of
 * a preview ends within two hours.
 */
export class FileTokens {
  /** Tokens of visitors that were opened: a page asks for each of its files with the same one. */
  readonly #opened = new LRUCache<string, OpenedToken>({ max: openedMax })

  constructor(
    private readonly secret: string,
    private readonly clock: Clock,
  ) {}

  seal({ id, version }: VersionKey, revision: number, isPreview: boolean): string {
    const block = Buffer.alloc(16)
    block.write(id, 'latin1')
    block.writeUInt16BE(version, idChars)
    block.writeUInt16BE(revision, idChars + 2)
    return sealBlock(this.secret, isPreview ? this.#previews()[0] : live, block)
  }

  /** Returns the version of a token that this server or another one with its secret made. */
  open(token: string): OpenedToken | undefined {
    const known = this.#opened.get(token)
    if (known) return known
    if (!pattern.test(token)) return undefined
    for (const purpose of [live, ...this.#previews()]) {
      const block = openBlock(this.secret, purpose, token)
      const id = block.toString('latin1', 0, idChars)
      const version = block.readUInt16BE(idChars)
      const revision = block.readUInt16BE(idChars + 2)
      if (!idPattern.test(id) || version === 0) continue
      const opened = { id, version, revision, isPreview: purpose !== live }
      if (!opened.isPreview) this.#opened.set(token, opened)
      return opened
    }
    return undefined
  }

  /** Purposes of the keys of previews, which change with the hour. */
  #previews(): [string, string] {
    const now = Math.floor(this.clock.now() / hour)
    return [`files of previews ${now}`, `files of previews ${now - 1}`]
  }
}

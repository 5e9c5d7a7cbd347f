import { LRUCache } from 'lru-cache'

import { idChars, idPattern, openBlock, sealBlock } from '../../kernel/ids.ts'
import { type Clock, hour } from '../../kernel/time.ts'
import { type Pass, passKinds } from '../audience/access.ts'

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
  /** The reason for which its visitor may open a restricted app. */
  pass: Pass | undefined
}

const pattern = /^([0-9a-f]{32})([0-9a-f]{32})?$/
const openedMax = 2_000
/** Purpose of the key, under which visitors' tokens are made. */
const live = 'files'
const passPurpose = (token: string): string => `pass of ${token}`

/**
 * Makes and opens the tokens in the addresses of files. A token is one AES block of the app's id,
 * its version and a revision of its files: all servers open it without a lookup, and it shows
 * nothing and cannot be guessed. The revision gives changed files a new address. The token of a
 * preview ends within two hours. That of a restricted app has a second block with the reason for
 * which its visitor may open the app, and each request checks that one. The key of the second block
 * depends on the first, so that no two tokens give a third.
 */
export class FileTokens {
  /** Tokens of visitors that were opened: a page asks for each of its files with the same one. */
  readonly #opened = new LRUCache<string, OpenedToken>({ max: openedMax })

  constructor(
    private readonly secret: string,
    private readonly clock: Clock,
  ) {}

  seal({ id, version }: VersionKey, revision: number, isPreview: boolean, pass?: Pass): string {
    const block = Buffer.alloc(16)
    block.write(id, 'latin1')
    block.writeUInt16BE(version, idChars)
    block.writeUInt16BE(revision, idChars + 2)
    const token = sealBlock(this.secret, isPreview ? this.#previews()[0] : live, block)
    return pass ? token + this.#sealPass(token, pass) : token
  }

  #sealPass(token: string, { kind, id }: Pass): string {
    const block = Buffer.alloc(16)
    block.write(id, 'latin1')
    block.writeUInt32BE(1 + passKinds.indexOf(kind), idChars)
    return sealBlock(this.secret, passPurpose(token), block)
  }

  #openPass(token: string, sealed: string): Pass | undefined {
    const block = openBlock(this.secret, passPurpose(token), sealed)
    const id = block.toString('latin1', 0, idChars)
    const kind = passKinds[block.readUInt32BE(idChars) - 1]
    return kind && idPattern.test(id) ? { kind, id } : undefined
  }

  /** Returns the version of a token that this server or another one with its secret made. */
  open(text: string): OpenedToken | undefined {
    const known = this.#opened.get(text)
    if (known) return known
    const [, token, sealed] = pattern.exec(text) ?? []
    if (token === undefined) return undefined
    const pass = sealed === undefined ? undefined : this.#openPass(token, sealed)
    // A forged second block opens nothing, not even an app that is open to all.
    if (sealed !== undefined && !pass) return undefined
    for (const purpose of [live, ...this.#previews()]) {
      const block = openBlock(this.secret, purpose, token)
      const id = block.toString('latin1', 0, idChars)
      const version = block.readUInt16BE(idChars)
      const revision = block.readUInt16BE(idChars + 2)
      if (!idPattern.test(id) || version === 0) continue
      const opened = { id, version, revision, isPreview: purpose !== live, pass }
      if (!opened.isPreview) this.#opened.set(text, opened)
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

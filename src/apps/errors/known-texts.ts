import type { AppContext } from '../../kernel/context.ts'
import { knownTextBytesMax, knownTextsMax } from '../../kernel/limits.ts'
import { getVersion } from '../apps.ts'
import { type Asset, listAssets, readFiles } from '../assets/assets.ts'
import { isScript } from '../folders/page-names.ts'
import { readPage } from '../page-content.ts'

/** A text in the source of a version that an error may have, such as that of `new Error('...')`. */
export interface KnownText {
  text: string
  /** Names that the error may have, which browsers write before it. */
  names: string[]
  file: string
  line: number
}

/** A text in quotes that the source throws, rejects with or logs as an error. */
const written =
  /\b(?:(\w{0,40}(?:Error|Exception)|reject|console\.error)\(\s*|throw\s+)(["'`])((?:(?!\2|\$\{)[^\\\r\n]){3,200})/g

const standard = /^(?:(?:Aggregate|Eval|Range|Reference|Syntax|Type|URI)?Error(?=: ))?/

/** Returns the first hundred texts of the page of a version and of its scripts. */
export async function readKnownTexts(
  ctx: AppContext,
  app: string,
  number: number,
): Promise<KnownText[]> {
  const version = await getVersion(ctx, app, number)
  const { identity } = await readPage(ctx, version)
  const scripts = fitting(await listAssets(ctx, app, number), identity.byteLength)
  const files = [{ name: '', content: identity }, ...(await readFiles(ctx, scripts))]
  const texts: KnownText[] = []
  for (const { name: file, content } of files) {
    const source = new TextDecoder().decode(content.subarray(0, knownTextBytesMax))
    let [at, line] = [0, 1]
    for (const { 1: call, 3: text = '', index } of source.matchAll(written)) {
      if (texts.length >= knownTextsMax) return texts
      for (; at < index; at += 1) if (source[at] === '\n') line += 1
      const names = call === undefined || /reject|console/.test(call) ? [] : ['Error', call]
      texts.push({ text, names, file, line })
    }
  }
  return texts
}

/** Returns the scripts that fit the limit of bytes after the page. */
function fitting(rows: Asset[], pageBytes: number): Asset[] {
  let left = knownTextBytesMax - pageBytes
  return rows.filter(({ name, bytes }) => {
    if (!isScript(name) || bytes > left) return false
    left -= bytes
    return true
  })
}

/**
 * Returns what may be read of an error whose text may have data of a player: the text of the source
 * that it begins with, and its place there. Of all others it returns the name of a standard error.
 */
export function findKnownText(
  text: string,
  texts: readonly KnownText[],
): { text: string; file: string; line: number } {
  let best = { text: '', file: '', line: 0 }
  for (const { text: known, names, file, line } of texts) {
    const heads = ['', ...names.map((name) => `${name}: `)].map((name) => name + known)
    const head = heads.find((one) => text.startsWith(one))
    if (head !== undefined && head.length > best.text.length) best = { text: head, file, line }
  }
  if (best.line > 0)
    return { ...best, text: best.text === text ? text : `${best.text.trimEnd()} …` }
  const name = standard.exec(text)?.[0] ?? ''
  return { text: name === '' ? '…' : `${name}: …`, file: '', line: 0 }
}

import { pattern } from '../../../kernel/text.ts'
import type { Hit } from '../findings.ts'
import { fromBase64 } from '../fold.ts'
import type { Page } from '../page.ts'
import { NUMBER, TEXT } from '../tokens.ts'

/** Starts of programs and archives in base64 and hex, in a text or a data: URL. */
const payload = pattern(
  'g',
  String.raw`["'\x60,](TV[opqr][A-Za-z0-9+/]{21}|f0VMR[gA-Za-z0-9+/]{20}|`,
  String.raw`z/rt/g[A-Za-z0-9+/]{18}|yv66vg[A-Za-z0-9+/]{18}|UEsDB[A-Za-z0-9+/]{19}|`,
  String.raw`UmFyIR[A-Za-z0-9+/]{18}|N3q8r[A-Za-z0-9+/]{19}|TVNDRg[A-Za-z0-9+/]{18}|`,
  String.raw`0M8R4KGx[A-Za-z0-9+/]{16}|4[dD]5[aA]9000[0-9a-fA-F]{16})`,
)
const dataProgram = pattern(
  'i',
  String.raw`^\s*data:application/(?:x-ms-?download|x-msdos-program|x-dosexec|`,
  String.raw`vnd\.microsoft\.portable-executable|x-executable|hta|x-msi|`,
  String.raw`vnd\.android\.package-archive|x-ms-shortcut|x-apple-diskimage)`,
)
const program =
  /\.(?:exe|scr|hta|lnk|apk|msi|msix|vbs|vbe|jse|wsf|dmg|pkg|iso|xll|appx|pif|cpl)["'\s]*$/i
const nameMax = 260
const quietOffice = /\[Content_Types\]\.xml|_rels\/|mimetype|word\/|xl\/|ppt\/|META-INF\/container/
const peekChars = 400

/**
 * Embedded programs and archives that are offered for download, and downloads named as programs.
 */
export function* droppers(page: Page): Generator<Hit> {
  for (const { url, at } of page.addresses)
    if (dataProgram.test(url.slice(0, 120))) yield { code: 'dropper.executable', at }
  const offer = offers(page)
  for (const { name, url, at } of page.downloads)
    if (program.test(name.slice(-nameMax)) && (/^(?:data:|blob:|#|$)/i.test(url) || offer))
      yield { code: 'dropper.filename', at }
  if (!offer) return
  yield* named(page)
  for (const found of page.html.matchAll(payload))
    if (!isOffice(page.html.slice(found.index + 1, found.index + peekChars)))
      yield { code: 'dropper.executable', at: found.index + 1 }
  for (const { value, at } of page.literals)
    if (isPayload(value) && !isOffice(value.slice(0, peekChars)))
      yield { code: 'dropper.executable', at }
  yield* numbered(page)
}

function offers(page: Page): boolean {
  if (page.downloads.some(({ url }) => !/^https?:/i.test(url))) return true
  return page.scripts.some(({ tokens }) => {
    const saves = ['saveAs', 'msSaveOrOpenBlob', 'msSaveBlob', 'showSaveFilePicker']
    if (saves.some((name) => tokens.find(name).length > 0)) return true
    if (tokens.find('download').some((index) => tokens.texts[index + 1] === '=')) return true
    return tokens.code.includes("'download'") || tokens.code.includes('"download"')
  })
}

function isPayload(value: string): boolean {
  const start = `"${value.slice(0, peekChars)}`
  return start.search(payload) === 0 || value.startsWith('MZ\x90\0')
}

/** Office documents and e-books are archives too, and some pages embed one as a template. */
function isOffice(base64: string): boolean {
  if (!base64.startsWith('UEsDB')) return false
  const clean = /^[A-Za-z0-9+/]*/.exec(base64)?.[0] ?? ''
  return quietOffice.test(fromBase64(clean.slice(0, clean.length - (clean.length % 4))) ?? '')
}

const fileNameUses = new Set([
  'download',
  'saveAs',
  'File',
  'suggestedName',
  'fileName',
  'filename',
  'msSaveOrOpenBlob',
])

/** Finds `a.download = 'setup.exe'`, `saveAs(blob, 'setup.exe')` and similar. */
function* named(page: Page): Generator<Hit> {
  for (const { tokens, place } of page.scripts)
    for (const [index, kind] of tokens.kinds.entries()) {
      const text = kind === TEXT ? (tokens.texts[index] ?? '') : ''
      if (!text || text.length > nameMax || !program.test(text)) continue
      const before = tokens.texts.slice(Math.max(0, index - 12), index)
      if (before.some((name) => fileNameUses.has(name)))
        yield { code: 'dropper.filename', at: place(index) }
    }
}

const manyBytes = 64

/** Finds a program as a list of numbers: 77, 90 (MZ) and many more. */
function* numbered(page: Page): Generator<Hit> {
  for (const { tokens, place } of page.scripts)
    for (const [index, kind] of tokens.kinds.entries()) {
      if (kind !== NUMBER || tokens.texts[index] !== '77' || tokens.texts[index - 1] !== '[')
        continue
      const is = tokens.texts[index + 2] === '90' && tokens.texts[index + 4] === '144'
      if (is && tokens.kinds[index + manyBytes] === NUMBER)
        yield { code: 'dropper.executable', at: place(index) }
    }
}

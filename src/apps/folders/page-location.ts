/** The code of a folder that reads the location of its page, in scripts, pages and handlers. */
import { isHtml, isScript } from './page-names.ts'
import { attributeOf, rewriteTags } from './page-tags.ts'
import { type FolderCode, openPins } from './pins.ts'
import { withPageLocation } from './script-location.ts'
import type { InputFile } from './unzip.ts'

/** A page with the files of its folder. */
interface FolderWithPage {
  page: string
  html: string
  files: InputFile[]
}

const codeType = /^(?:|module|(?:text|application)\/javascript)$/i
/** A handler without character references, which would be another text. */
const handler = /(\son[a-z]+\s*=\s*)("[^"&]*"|'[^'&]*')/gi

/** Returns a script or a page whose code reads the location of its folder. */
export function locateCode({ path, text }: FolderCode): FolderCode {
  if (!isHtml(path)) return { path, text: withPageLocation(text) }
  // A policy of the page that names its scripts by hashes.
  if (/'sha(?:256|384|512)-/.test(text)) return { path, text }
  const located = rewriteTags(text, (tag) => {
    const opening = tag.text.replace(
      handler,
      (_, start: string, value: string) =>
        start + value[0] + withPageLocation(value.slice(1, -1)) + value[0],
    )
    const isCode =
      tag.name === 'script' && codeType.test(attributeOf(tag.text, 'type')?.trim() ?? '')
    return opening + (isCode ? withPageLocation(tag.body) : tag.body)
  })
  return { path, text: located }
}

const mayRead = (text: string): boolean => text.includes('location')

/** Returns the scripts and pages of a folder that may read a location. */
export function findCode({ page, html, files }: FolderWithPage): FolderCode[] {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const pages = files
    .filter(({ path }) => isHtml(path))
    .map(({ path, bytes }) => ({ path, text: decoder.decode(bytes) }))
  const isPinned = openPins([{ path: page, text: html }, ...pages], files)
  const scripts = files
    .filter(({ path, bytes }) => isScript(path) && Buffer.from(bytes).includes('location'))
    .filter(({ path }) => !isPinned(path))
    .map(({ path, bytes }) => ({ path, text: decoder.decode(bytes) }))
  return [{ path: page, text: html }, ...pages, ...scripts].filter(({ text }) => mayRead(text))
}

/** Returns a folder with changed code, and the names of the files that changed. */
export function withCode<Folder extends FolderWithPage>(
  folder: Folder,
  code: FolderCode[],
): Folder & { located: string[] } {
  const texts = new Map(code.map(({ path, text }) => [path, text]))
  const located: string[] = []
  const files = folder.files.map((file) => {
    const text = texts.get(file.path)
    const bytes = text === undefined ? undefined : new TextEncoder().encode(text)
    if (!bytes || Bun.deepEquals(bytes, file.bytes)) return file
    located.push(file.path)
    return { path: file.path, bytes }
  })
  const html = texts.get(folder.page) ?? folder.html
  if (html !== folder.html) located.push(folder.page)
  return { ...folder, html, files, located }
}

/** The code of a folder that reads the location of its page, in scripts, pages and handlers. */
import { isHtml, isScript } from './page-names.ts'
import { type FolderCode, openPins } from './pins.ts'
import type { InputFile } from './unzip.ts'

/** A page with the files of its folder. */
interface FolderWithPage {
  page: string
  html: string
  files: InputFile[]
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

/** Comments that tell what was inserted, so that the code of the author can be had back. */
export const insertedStart = 'locationOfFolder(/*folder*/'
export const insertedEnd = '/*folder*/)'

/** Returns whether code reads the location of its folder. */
export const isLocatedCode = (code: string): boolean => code.includes(insertedStart)

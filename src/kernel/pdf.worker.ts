import { definePDFJSModule, getDocumentProxy } from 'unpdf'

import { lazy } from './lazy.ts'
import { readPackageFile } from './public-files.ts'
import type { WorkerReply } from './worker-pool.ts'

declare const self: Worker

/** A PDF to read, and the limits of pages and characters. */
export interface PdfRequest {
  bytes: Uint8Array<ArrayBuffer>
  pagesMax: number
  charsMax: number
}

/** The pages of a PDF, and its text where it is within the limits. */
export type PdfResult =
  { pages: number | undefined; text: string | undefined } | { unreadable: string }

/** A PDF with a password: neither pages nor text are known. */
const encrypted: PdfResult = { pages: undefined, text: undefined }

self.onmessage = async ({ data }: MessageEvent<PdfRequest>) => {
  const reply: WorkerReply<PdfResult> = { result: await read(data).catch(resultOf) }
  self.postMessage(reply)
}

/**
 * Loads PDF.js from its file. In the bundle, with bytecode and a source map, it would take 7 MB of
 * the binary. Without them the first PDF of a process takes 0.4 seconds of processor time more.
 */
const pdfjs = lazy(() =>
  definePDFJSModule(async () => {
    const script = await readPackageFile('unpdf/dist/pdfjs.mjs')
    return import(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })))
  }),
)

async function read({ bytes, pagesMax, charsMax }: PdfRequest): Promise<PdfResult> {
  await pdfjs()
  // Only text is needed: no image is decoded and no font loaded.
  const pdf = await getDocumentProxy(bytes, {
    verbosity: 0,
    disableFontFace: true,
    maxImageSize: 0,
  })
  if (pdf.numPages > pagesMax) return { pages: pdf.numPages, text: undefined }
  let text = ''
  for (let number = 1; number <= pdf.numPages && text.length < charsMax; number += 1) {
    const page = await pdf.getPage(number)
    const { items } = await page.getTextContent()
    const words = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : ''))
    text += `${words.join('')}\n\n`
    page.cleanup()
  }
  return { pages: pdf.numPages, text: text.slice(0, charsMax).trim().toWellFormed() }
}

function resultOf(error: unknown): PdfResult {
  const name = error instanceof Error ? error.name : ''
  return name === 'PasswordException' ? encrypted : { unreadable: 'it is damaged' }
}

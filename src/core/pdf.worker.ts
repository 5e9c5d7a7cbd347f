import { getDocumentProxy } from 'unpdf'

declare const self: Worker

/** What the worker is asked: the file, and how many pages of it are read at most. */
export interface Asked {
  bytes: Uint8Array<ArrayBuffer>
  pagesMax: number
  charsMax: number
}

/** What is in a PDF: its pages, and its words where they were within the bounds. */
export type PdfAnswer =
  { pages: number | undefined; text: string | undefined } | { unreadable: string }

/** One that asks for a password: nothing is known of what is in it. */
const encrypted: PdfAnswer = { pages: undefined, text: undefined }

self.onmessage = async ({ data }: MessageEvent<Asked>) => {
  const answer = await read(data).catch(whyNot)
  self.postMessage(answer)
}

async function read({ bytes, pagesMax, charsMax }: Asked): Promise<PdfAnswer> {
  // Only words are wanted: no picture is decoded, no font loaded.
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

function whyNot(error: unknown): PdfAnswer {
  const name = error instanceof Error ? error.name : ''
  return name === 'PasswordException' ? encrypted : { unreadable: 'it is damaged' }
}

import { deflateSync } from 'node:zlib'

/** One object of a PDF: its dictionary as text, and its stream. */
interface Part {
  dictionary: string
  stream?: Uint8Array
}

const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1')

const trailerOf = (parts: Part[], trailer: string): string =>
  `trailer << /Size ${parts.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n0\n%%EOF\n`

/** A PDF of these objects, numbered from 1. Readers mend its cross-reference table. */
function pdfOf(parts: Part[], trailer = ''): Uint8Array {
  const bodies = parts.flatMap(({ dictionary, stream }, index) => [
    latin1(`${index + 1} 0 obj\n${dictionary}\n`),
    ...(stream ? [latin1('stream\n'), stream, latin1('\nendstream\n')] : []),
    latin1('endobj\n'),
  ])
  return Buffer.concat([latin1('%PDF-1.4\n'), ...bodies, latin1(trailerOf(parts, trailer))])
}

/** The page tree over content streams: `filter` says how they are packed. */
function treeOf(contents: Uint8Array[], filter = ''): Part[] {
  const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'
  const first = 4
  const kids = contents.map((_, index) => `${first + index * 2} 0 R`)
  return [
    { dictionary: '<< /Type /Catalog /Pages 2 0 R >>' },
    { dictionary: `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${kids.length} >>` },
    { dictionary: font },
    ...contents.flatMap((stream, index) => [
      {
        dictionary:
          '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] ' +
          `/Resources << /Font << /F 3 0 R >> >> /Contents ${first + index * 2 + 1} 0 R >>`,
      },
      { dictionary: `<< /Length ${stream.length} ${filter} >>`, stream },
    ]),
  ]
}

const pageOf = (text: string): Uint8Array => latin1(`BT /F 12 Tf 50 700 Td (${text}) Tj ET`)

/** A PDF with a line of plain letters on each page. */
export const makePdf = (pages: string[]): Uint8Array => pdfOf(treeOf(pages.map(pageOf)))

/** A PDF that asks for a password. */
export const makeEncryptedPdf = (): Uint8Array => {
  const tree = treeOf([pageOf('secret')])
  const secret = '0123456789abcdef'.repeat(4)
  const lock = `<< /Filter /Standard /V 1 /R 2 /P -4 /O <${secret}> /U <${secret}> >>`
  const trailer = `/Encrypt ${tree.length + 1} 0 R /ID [<00> <00>]`
  return pdfOf([...tree, { dictionary: lock }], trailer)
}

/** A PDF whose only page unpacks to so many bytes of operators. */
export function makePdfBomb(bytes: number): Uint8Array {
  const twice = deflateSync(deflateSync(new Uint8Array(bytes).fill(0x20)))
  return pdfOf(treeOf([twice], '/Filter [/FlateDecode /FlateDecode]'))
}

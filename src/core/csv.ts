import { inDigits } from './money.ts'

/** A cell that a spreadsheet would take for a formula (OWASP, CSV injection). */
const formula = /^[=+\-@\t\r]/

type Cell = string | number | boolean | null

function cellOf(value: Cell): string {
  if (typeof value === 'number') return inDigits(value)
  const said = String(value ?? '')
  const text = formula.test(said) ? `'${said}` : said
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * Rows under their heads as CSV (RFC 4180): numbers without an exponent, texts kept from being read
 * as formulas.
 */
export const csv = <Name extends string>(
  heads: readonly Name[],
  rows: Record<Name, Cell>[],
): string =>
  [heads, ...rows.map((row) => heads.map((name) => row[name]))]
    .map((cells) => `${cells.map(cellOf).join(',')}\r\n`)
    .join('')

/** CSV as a file that browsers save, and caches do not: it tells what somebody spent or earned. */
export const csvFile = (name: string, text: string): Response =>
  new Response(text, {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name}.csv"`,
      'cache-control': 'no-store',
    },
  })

import { formatDecimal } from './money.ts'

/** A cell that a spreadsheet would run as a formula (OWASP, CSV injection). */
const formula = /^[=+\-@\t\r]/

type Cell = string | number | boolean | null

function cellOf(value: Cell): string {
  if (typeof value === 'number') return formatDecimal(value)
  const raw = String(value ?? '')
  const text = formula.test(raw) ? `'${raw}` : raw
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Formats rows as CSV (RFC 4180), with numbers in plain digits and formulas neutralized. */
export const formatCsv = <Name extends string>(
  columns: readonly Name[],
  rows: Record<Name, Cell>[],
): string =>
  [columns, ...rows.map((row) => columns.map((name) => row[name]))]
    .map((cells) => `${cells.map(cellOf).join(',')}\r\n`)
    .join('')

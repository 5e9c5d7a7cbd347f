/** A cell that a spreadsheet would take for a formula (OWASP, CSV injection). */
const formula = /^[=+\-@\t\r]/

function cellOf(value: string | number | null): string {
  if (typeof value === 'number') return String(value)
  const text = formula.test(value ?? '') ? `'${value}` : (value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Rows under their heads as CSV (RFC 4180); texts are kept from being read as formulas. */
export const csv = <Name extends string>(
  heads: readonly Name[],
  rows: Record<Name, string | number | null>[],
): string =>
  [heads, ...rows.map((row) => heads.map((name) => row[name]))]
    .map((cells) => `${cells.map(cellOf).join(',')}\r\n`)
    .join('')

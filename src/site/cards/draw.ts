export const cardSize = { width: 1_200, height: 630 }

const gap = 6

/** Columns and rows for a number of covers. */
const gridOf = (count: number): readonly [columns: number, rows: number] => {
  if (count >= 6) return [3, 2]
  if (count >= 4) return [2, 2]
  return [Math.max(1, count), 1]
}

const logo =
  '<g transform="translate(1096 526)scale(2.25)"><rect width="32" height="32" rx="7" fill="#0b6e63"/>' +
  '<g fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round">' +
  '<path d="M16 7v14M11 11h10M6.5 18.5c1.2 4.3 4.7 7 9.5 7s8.3-2.7 9.5-7l-3.3 1.3M6.5 18.5l3.3 1.3"/>' +
  '</g><circle cx="16" cy="7" r="2" fill="#fff"/></g>'

/** Draws PNG covers in a grid with the mark of the site, as SVG. Without covers: the mark alone. */
export function drawCard(covers: Uint8Array[]): string {
  const { width, height } = cardSize
  const [columns, rows] = gridOf(covers.length)
  const cell = {
    width: (width - gap * (columns - 1)) / columns,
    height: (height - gap * (rows - 1)) / rows,
  }
  const images = covers.slice(0, columns * rows).map((png, at) => {
    const x = (at % columns) * (cell.width + gap)
    const y = Math.floor(at / columns) * (cell.height + gap)
    const data = Buffer.from(png).toString('base64')
    return (
      `<svg x="${x}" y="${y}" width="${cell.width}" height="${cell.height}">` +
      `<image href="data:image/png;base64,${data}" width="100%" height="100%" ` +
      'preserveAspectRatio="xMidYMid slice"/></svg>'
    )
  })
  const ground = covers.length > 0 ? '#17191b' : '#e6f2f0'
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
    `<rect width="100%" height="100%" fill="${ground}"/>${images.join('')}${logo}</svg>`
  )
}

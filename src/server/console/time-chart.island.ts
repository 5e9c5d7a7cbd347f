import uPlot from 'uplot'

import { formatNumber, leftToRight, t } from '../../../public/words.ts'

const language = document.documentElement.lang
const compact = new Intl.NumberFormat(language, {
  notation: 'compact',
  useGrouping: 'always',
  maximumFractionDigits: 1,
  numberingSystem: 'latn',
})
const short = (value: number): string =>
  value >= 100 ? compact.format(Math.round(value)) : formatNumber(Number(value.toPrecision(2)))

/** Formats of values, the same as in src/server/console/time-chart.ts. */
const units: Record<string, (value: number) => string> = {
  '/s': (value) => leftToRight(`${short(value)}/s`),
  ms: (value) =>
    value >= 1_000
      ? leftToRight(`${short(value / 1_000)} s`)
      : t('{value} ms', { value: short(value) }),
  '%': (value) => leftToRight(`${short(value)} %`),
  cr: (value) => t('{value} cr', { value: short(value) }),
  '': (value) => short(value),
  bytes: (value) => {
    const steps = ['B', 'KB', 'MB', 'GB', 'TB']
    const step = Math.min(steps.length - 1, Math.max(0, Math.floor(Math.log2(value || 1) / 10)))
    return leftToRight(`${short(value / 1_024 ** step)} ${steps[step]}`)
  },
}

/** A phone shows several charts at once. */
const height = matchMedia('(max-width: 719px)').matches ? 108 : 128
/** Distances of times on the axis: minutes, hours and days in seconds. */
const steps = [1, 2, 5, 15, 30, 60, 180, 360, 1_440, 2_880, 10_080, 20_160].map((one) => one * 60)

/** Reads a table: times in the first column, a line for each further column. */
function readTable(table: HTMLTableElement): { data: uPlot.AlignedData; heads: HTMLElement[] } {
  const heads = [...table.querySelectorAll<HTMLElement>('thead th')].slice(1)
  const rows = [...table.querySelectorAll('tbody tr')]
  const times = rows.map((row) => Date.parse(row.querySelector('time')?.dateTime ?? '') / 1_000)
  const lines = heads.map((_, at) =>
    rows.map((row) => {
      const value = row.querySelectorAll('td')[at]?.dataset['value']
      return value === undefined ? null : Number(value)
    }),
  )
  return { data: [times, ...lines], heads }
}

const dark = matchMedia('(prefers-color-scheme: dark)')

/**
 * `<time-chart data-unit="ms">` with a table: draws it with axes and the values under the pointer.
 * The table stays for people who want the numbers.
 */
class TimeChart extends HTMLElement {
  #plot: uPlot | undefined
  #resize = new ResizeObserver(() => this.#plot?.setSize({ width: this.clientWidth, height }))
  #theme = new MutationObserver(() => this.#draw())
  #onDark = (): void => this.#draw()

  connectedCallback(): void {
    this.#draw()
    this.#resize.observe(this)
    this.#theme.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    dark.addEventListener('change', this.#onDark)
  }

  disconnectedCallback(): void {
    this.#resize.disconnect()
    this.#theme.disconnect()
    dark.removeEventListener('change', this.#onDark)
    this.#plot?.destroy()
    this.#plot = undefined
  }

  #draw(): void {
    const table = this.querySelector('table')
    if (!table) return
    this.#plot?.destroy()
    const { data, heads } = readTable(table)
    const mount = document.createElement('div')
    mount.setAttribute('aria-hidden', 'true')
    this.querySelector(':scope > [aria-hidden]')?.remove()
    this.prepend(mount)
    this.#plot = new uPlot(this.#options(heads), data, mount)
  }

  #options(heads: HTMLElement[]): uPlot.Options {
    const style = getComputedStyle(this)
    // A canvas does not know light-dark(), so an element resolves each color.
    const probe = this.appendChild(document.createElement('i'))
    const colorOf = (name: string): string => {
      probe.style.color = `var(--${name})`
      return getComputedStyle(probe).color
    }
    const [quiet, line, ...strokes] = [
      'quiet',
      'line',
      ...heads.map((head) => head.dataset['color'] ?? 'accent'),
    ].map(colorOf)
    probe.remove()
    const format = units[this.dataset['unit'] ?? ''] ?? short
    const font = `11px ${style.fontFamily}`
    const axis = {
      stroke: quiet ?? '',
      font,
      grid: { stroke: line ?? '', width: 1 },
      ticks: { show: false },
    }
    return {
      width: this.clientWidth,
      height,
      legend: { live: true, markers: { width: 0, fill: (_, at) => strokes[at - 1] ?? '' } },
      cursor: { drag: { x: false, y: false }, y: false, points: { size: 6 } },
      scales: { y: { range: (_, low, high) => rangeOf(low, high) } },
      axes: [
        { ...axis, size: 26, grid: { show: false }, space: 70, incrs: steps, values: formatTimes },
        { ...axis, size: 58, space: 34, values: (_, ticks) => ticks.map((tick) => format(tick)) },
      ],
      series: [
        { label: t('Time'), value: (plot, time) => (time === null ? '' : formatTime(time, plot)) },
        ...heads.map((head, at) => ({
          label: head.textContent?.trim() ?? '',
          stroke: strokes[at] ?? '',
          width: 1.5,
          spanGaps: false,
          points: { show: isShort(head) },
          // Without a pointer there is no value to show.
          value: ({ cursor }: uPlot, value: number | null) =>
            value === null ? (cursor.idx == null ? '' : '–') : format(value),
        })),
      ],
    }
  }
}

/** A single measurement is a dot, because a line needs two. */
const isShort = (head: HTMLElement): boolean =>
  (head.closest('table')?.querySelectorAll('tbody tr').length ?? 0) < 3

/** Starts at zero, and leaves room above the highest value. */
const rangeOf = (low: number, high: number): [number, number] => {
  const top = high > 0 ? high * 1.1 : 1
  return [Math.min(0, low), top]
}

/** English times have 24 hours, and dates begin with the day, as in the rest of the site. */
const locale = `${language === 'en' ? 'en-GB' : language}-u-nu-latn`
const clockTimes = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' })
const dates = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' })
const daySeconds = 86_400

/** Points that are whole UTC days have dates, others a time of day. */
const formatTime = (seconds: number, plot: uPlot): string => {
  const isDaily = plot.data[0].every((one) => one % daySeconds === 0)
  return (isDaily ? dates : clockTimes).format(seconds * 1_000)
}
const formatTimes = (plot: uPlot, ticks: number[]): string[] =>
  ticks.map((tick) => formatTime(tick, plot))

customElements.define('time-chart', TimeChart)

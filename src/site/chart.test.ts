import { expect, test } from 'bun:test'

import { barChart } from './chart.ts'

/** Returns the labels of the axis of a chart with this peak, from the top. */
function axisOf(peak: number, noun: string): string[] {
  const { text } = barChart(
    [
      { day: '2026-11-30', value: peak },
      { day: '2026-12-01', value: 0 },
    ],
    noun,
  )
  const [, axis = ''] = /class="axis"[^>]*>([^]*?)<\/p>/.exec(text) ?? []
  return [...axis.matchAll(/<span>([^<]*)</g)].map(([, label = '']) => label)
}

test.each([
  [0.0175, 'credit', ['0.02', '0.01', '0']],
  [3, 'credit', ['4', '2', '0']],
  [4, 'credit', ['4', '2', '0']],
  [61, 'credit', ['100', '50', '0']],
  [1, 'open', ['2', '1', '0']],
  [7, 'open', ['10', '5', '0']],
] as const)('an axis of %d %ss ends at or above it, in round steps', (peak, noun, labels) => {
  expect(axisOf(peak, noun)).toEqual([...labels])
})

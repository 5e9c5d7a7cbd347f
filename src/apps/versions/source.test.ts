import { describe, expect, test } from 'bun:test'

import { createDiff } from './diff.ts'
import { comparePages, readExcerpts } from './source.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const lines = (count: number, word: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => word(at)).join('\n')

describe('createDiff', () => {
  test('returns each hunk with context and line numbers', () => {
    const before = lines(20, (at) => `line ${at + 1}`)
    const after = before.replace('line 10\n', 'line ten\nline 10b\n')
    const found = createDiff(before, after)
    expect(found).toMatchObject({ added: 2, removed: 1, left: 0 })
    const shown = found?.hunks.map((place) =>
      place.map((line) => [line.sign, line.before, line.after, line.text].join('|')),
    )
    expect(shown).toEqual([
      [
        ' |7|7|line 7',
        ' |8|8|line 8',
        ' |9|9|line 9',
        '-|10||line 10',
        '+||10|line ten',
        '+||11|line 10b',
        ' |11|12|line 11',
        ' |12|13|line 12',
        ' |13|14|line 13',
      ],
    ])
  })

  test('handles equal pages, complete changes and a missing final line break', () => {
    expect(createDiff('a\nb', 'a\nb')).toEqual({ hunks: [], added: 0, removed: 0, left: 0 })
    expect(createDiff('', 'a')).toMatchObject({ added: 1, removed: 0 })
    const [place = []] = createDiff('a', 'a\n')?.hunks ?? []
    expect(place.map(({ sign, text }) => sign + text)).toEqual(['-a', '+a'])
  })

  test('cuts long lines at the difference without splitting characters', () => {
    const long = (word: string): string => `${'x'.repeat(5_000)}${word}${'😀'.repeat(5_000)}`
    const [[gone, came] = []] = createDiff(long('first'), long('other'))?.hunks ?? []
    for (const [line, word] of [
      [gone, 'first'],
      [came, 'other'],
    ] as const) {
      expect(line?.text).toMatch(new RegExp(`^…x{40}${word}.*…$`))
      expect(line?.text.length).toBeLessThan(250)
      expect(line?.text.isWellFormed()).toBe(true)
    }
  })

  test('limits the diff to 1,000 lines and counts the rest', () => {
    const found = createDiff(
      lines(1, () => 'x'),
      `x\n${lines(1_400, (at) => `new ${at}`)}`,
    )
    const shown = found?.hunks.reduce((sum, place) => sum + place.length, 0)
    expect([found?.added, shown, found?.left]).toEqual([1_401, 1_000, 402])
  })

  test('rejects pages that are too different or too long', () => {
    expect(
      createDiff(
        lines(900, (at) => `a${at}`),
        lines(900, (at) => `b${at}`),
      ),
    ).toBeUndefined()
    expect(createDiff('\n'.repeat(100_001), '')).toBeUndefined()
  })
})

describe('source worker', () => {
  test('compares pages of 4 MB concurrently and leaves its input unchanged', async () => {
    const before = bytes('x'.repeat(4 * 1_048_576))
    const after = bytes(`${'x'.repeat(4 * 1_048_576 - 1)}y`)
    const all = await Promise.all(Array.from({ length: 3 }, () => comparePages(before, after)))
    for (const found of all) expect(found).toMatchObject({ added: 1, removed: 1 })
    expect(before.byteLength).toBe(4 * 1_048_576)
  })

  test('try_again: rejects tasks beyond the queue limit', async () => {
    const page = bytes('x')
    const all = await Promise.allSettled(Array.from({ length: 30 }, () => comparePages(page, page)))
    const rejected = all.filter(({ status }) => status === 'rejected')
    expect(rejected.length).toBeGreaterThan(0)
    expect(rejected[0]).toMatchObject({ reason: { errorName: 'try_again' } })
  })

  test('returns the lines around a position and cuts the reported one', async () => {
    const page = bytes(`one\ntwo\n${'x'.repeat(900)}evil()${'y'.repeat(900)}\nfour`)
    const [place = []] = await readExcerpts(page, [{ line: 3, excerpt: 'evil() y' }])
    expect(place.map(({ number, isFound }) => `${number} ${isFound}`)).toEqual([
      '1 false',
      '2 false',
      '3 true',
      '4 false',
    ])
    expect(place[2]?.text).toMatch(/^…x{40}evil\(\)y+…$/)
    expect(await readExcerpts(page, [{ line: 99, excerpt: '' }])).toEqual([[]])
  })
})

import { expect, test } from 'bun:test'

import { openLog } from './log.ts'

test('a failed query is logged without its parameters', () => {
  const lines: string[] = []
  const log = openLog({ now: () => 0 }, (line) => void lines.push(line))
  const error = Object.assign(
    new Error('Failed query: insert\nparams: my diary', {
      cause: new Error('disk on fire'),
    }),
    { query: 'insert into t values ($1)', params: ['my diary'] },
  )
  log.error('unexpected', error, { id: 'a' })
  log.error('unexpected', new Error('plain'))
  log.error('unexpected', 'text')
  expect(lines.join('\n')).not.toContain('diary')
  expect(lines[0]).toContain('insert into t')
  expect(lines[0]).toContain('disk on fire')
  expect(lines[1]).toContain('plain')
  expect(JSON.parse(lines[2] ?? '')).toMatchObject({ level: 'error', error: 'text' })
})

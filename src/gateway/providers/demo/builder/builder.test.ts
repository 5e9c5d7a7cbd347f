import { expect, test } from 'bun:test'

import { buildReply } from './builder.ts'

const reply = (system: string, text: string, before?: string) =>
  buildReply([
    { role: 'system', text: system },
    ...(before === undefined ? [] : [{ role: 'assistant', text: before }]),
    { role: 'user', text },
  ])
function replyText(system: string, text: string, before?: string): string {
  const made = reply(system, text, before)
  return 'text' in made ? made.text : `refused: ${made.declined}`
}
const pageIn = (response: string) => /^```html\n(.*)\n```$/s.exec(response)?.[1] ?? ''

const prompts = [
  ['game', 'a game where a fox collects coins and dodges rocks', 'collector', 'Fox collects coins'],
  ['game', 'a snake that eats <b>strawberries</b>', 'snake', 'Snake'],
  ['game', 'a quiz about the planets', 'quiz', 'Quiz about the planets'],
  ['app', 'a trivia app on capitals of the world', 'quiz', 'Trivia app on capitals of the world'],
  ['game', 'Make a game master that talks and remembers me', 'master', 'Game master'],
  ['app', 'Packing list with tent, boots and a map', 'checklist', 'Packing list'],
  ['app', 'A 20 minute tea timer', 'timer', '20 minute tea timer'],
  ['app', 'a checklist called "Margins"', 'checklist', 'Margins'],
  ['app', 'To-do {{title}} $& </script>', 'checklist', 'To-do title $& /script'],
] as const

test.each(prompts)('%s: %s', (kind, prompt, template, title) => {
  const plan = JSON.parse(replyText(`You build small ${kind}s. Answer ONE JSON object.`, prompt))
  expect(plan).toMatchObject({ title, plan: `Our template "${template}".` })
  const response = replyText(`You build small ${kind}s.`, `${prompt}\n\nThe plan:\n${plan.plan}`)
  const page = pageIn(response)
  expect(page).toStartWith('<!doctype html>')
  expect(page).not.toMatch(/\{\{\w+\}\}/)
  expect(page).toContain('No model wrote it.')
  for (const [, code = ''] of page.matchAll(/<script>(.*?)<\/script>/gs)) {
    expect(() => new Function(code)).not.toThrow()
  }
  expect(replyText(`You build small ${kind}s.`, prompt)).toBe(response)
})

const reported = 'You build small games.'
const page = pageIn(replyText(reported, 'a fast red game about a cat that catches fish'))
const change = (prompt: string, from = page) =>
  pageIn(replyText(reported, `${prompt}\n\nThe page:\n\`\`\`html\n${from}\n\`\`\``)).split('\n')
const differing = (lines: string[]) =>
  lines.filter((line, at) => line !== page.split('\n')[at]).map((line) => line.trim())

test('edits only the requested part', () => {
  expect(differing(change('make it blue'))).toEqual(['--hue: 252;'])
  expect(differing(change('a bit slower please'))).toEqual(['const speed = 1'])
  expect(differing(change('Call it Fish & Paws.'))).toEqual([
    '<title>Fish &amp; Paws</title>',
    '<h1>Fish &amp; Paws</h1>',
  ])
  expect(differing(change('change "Resume" to "Continue"')).join()).toContain("'Continue'")
})

test('refuses edits that it cannot make', () => {
  for (const prompt of ['add a <dragon>', 'make it blue and add a boss', 'more levels please']) {
    const made = reply(reported, `${prompt}\n\nThe page:\n\`\`\`html\n${page}\n\`\`\``)
    expect([prompt, made]).toEqual([prompt, { declined: expect.stringContaining('BUILDER_MODEL') }])
  }
})

test('edits and repairs pages from elsewhere', () => {
  const other = '<!doctype html><head><title>A</title></head><body><h1 id=x>A</h1></body></html>'
  expect(change('call it B, in pink', other).join('\n')).toMatch(
    /<title>B<\/title><style>.*355.*<h1 id=x>B</s,
  )
  const broken = `\`\`\`html\n${other.slice(0, -14)}<script src="//x.test/a.js"></script><p>\n\`\`\``
  const again = pageIn(replyText(reported, 'The page was checked and did not pass:\n- x', broken))
  expect(again).toEndWith('<p>\n</html>')
  expect(again).not.toContain('x.test')
})

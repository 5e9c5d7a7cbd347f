import { expect, test } from 'bun:test'

import { analyzePrompt } from './prompt-analysis.ts'

/** Prompts as strangers write them, with the template that does what they ask, or "refused". */
const prompts: [prompt: string, template: string][] = [
  ['A game where a penguin catches fish and avoids icebergs', 'collector'],
  ['a penguin that catches falling fish', 'collector'],
  ['cute hedgehog collects apples and dodges foxes', 'collector'],
  ['helicopter game avoiding obstacles', 'collector'],
  ['snake in neon colors', 'snake'],
  ['trivia quiz about space', 'quiz'],
  ['times table quiz for my kid', 'quiz'],
  ['a game master that talks and remembers me', 'master'],
  ['a dungeon master for a haunted lighthouse', 'master'],
  ['an interactive story about a fox', 'master'],
  ['pomodoro timer', 'timer'],
  ['todo list app', 'checklist'],
  ['packing list for a weekend at the beach', 'checklist'],
  ['drawing app for kids', 'refused'],
  ['Breakout, purple and fast', 'refused'],
  ['memory card game with animals', 'refused'],
  ['Drum machine with 16 steps', 'refused'],
  ['a game where a small orange ship dodges asteroids', 'refused'],
  ['car racing game where you avoid traffic', 'refused'],
  ['a maze where a mouse collects cheese', 'refused'],
  ['pixel art drawing editor', 'refused'],
  ['Tetris', 'refused'],
  ['tip calculator that splits the bill', 'refused'],
  ['a to-do list with due dates and reminders', 'refused'],
  ['a platformer like mario with five levels', 'refused'],
  ['weather app for my city', 'refused'],
  ['multiplayer chess', 'refused'],
  ['a landing page for my bakery', 'refused'],
  ['an app that translates my voice', 'refused'],
  ['snake with online leaderboard', 'refused'],
  ['something that makes me happy', 'refused'],
]

const templateOf = (prompt: string): string => {
  const spec = analyzePrompt(prompt)
  return 'declined' in spec ? 'refused' : spec.template
}

test('gives each prompt its template or an honest answer', () => {
  expect(prompts.map(([prompt]) => [prompt, templateOf(prompt)])).toEqual(prompts)
})

test('refuses with the reason and the way out', () => {
  for (const [prompt, reason] of [
    ['multiplayer snake', 'several players or people online'],
    ['a timer that shows the weather', 'data from the network'],
    ['a game where a spatula catches eggs', 'a picture of spatula'],
    ['something nice', 'cannot make this'],
    ['a maze where a mouse collects cheese', 'something like that'],
  ] as const) {
    const spec = analyzePrompt(prompt)
    const declined = 'declined' in spec ? spec.declined : ''
    expect([prompt, declined]).toEqual([prompt, expect.stringContaining(reason)])
    // The build job cuts a reason at 400 characters.
    expect(declined.slice(0, 400)).toEndWith('BUILDER_MODEL to a chat model (docs/models.md).')
  }
})

test('takes the figures and numbers of a prompt', () => {
  const words = (prompt: string) => {
    const spec = analyzePrompt(prompt)
    return 'declined' in spec ? {} : spec.words
  }
  expect(words('A penguin that catches fish and dodges seals')).toMatchObject({
    hero: 'penguin',
    good: 'fish',
    bad: 'seals',
  })
  expect(words('a small orange ship collects stars')['hero']).toBe('orange ship')
  expect(words('a game where a hungry rabbit collects carrots')).toMatchObject({
    hero: 'hungry rabbit',
    marks: { good: '🥕' },
  })
  expect(words('a 20 minute tea timer')['minutes']).toEqual([20, 5, 15, 25, 50])
  expect(words('a 500 minute timer')['minutes']).toEqual([25, 5, 15, 50])
  expect(words('Packing list with tent, boots and a map')['items']).toEqual([
    'Tent',
    'Boots',
    'A map',
  ])
})

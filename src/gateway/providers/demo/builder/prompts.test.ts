import { expect, test } from 'bun:test'

import { analyzePrompt } from './prompt-analysis.ts'

/** Prompts as strangers write them, with the template that does what they ask, or "refused". */
const prompts: [prompt: string, template: string][] = [
  ['Drum machine with 16 steps', 'drums'],
  ['make me a beat maker', 'drums'],
  ['a little piano I can play with my keyboard', 'piano'],
  ['metronome at 90 bpm', 'metronome'],
  ['A game where a penguin catches fish and avoids icebergs', 'collector'],
  ['a penguin that catches falling fish', 'collector'],
  ['a game where a small orange ship dodges asteroids', 'shooter'],
  ['cute hedgehog collects apples and dodges foxes', 'collector'],
  ['Flappy bird clone but with a dragon', 'flappy'],
  ['a dinosaur that jumps over cactuses like the chrome game', 'runner'],
  ['car racing game', 'racer'],
  ['space invaders', 'shooter'],
  ['snake in neon colors', 'snake'],
  ['Tetris', 'blocks'],
  ['2048 clone', 'twenty48'],
  ['minesweeper', 'mines'],
  ['sudoku with easy puzzles', 'sudoku'],
  ['tic tac toe for two players', 'tictactoe'],
  ['connect four against the computer', 'four'],
  ['a wordle clone', 'wordguess'],
  ['typing speed test', 'typing'],
  ['a maze game with a mouse looking for cheese', 'maze'],
  ['pong with a twist of purple', 'pong'],
  ['whack a mole', 'whack'],
  ['memory card game with animals', 'memory'],
  ['simon says color game', 'simon'],
  ['how fast is my reaction time', 'reaction'],
  ['cookie clicker', 'clicker'],
  ['sliding puzzle with numbers', 'slide'],
  ['trivia quiz about space', 'quiz'],
  ['pomodoro timer', 'timer'],
  ['stopwatch with laps', 'stopwatch'],
  ['countdown to christmas', 'countdown'],
  ['world clock for my remote team', 'clock'],
  ['tip calculator that splits the bill', 'formula'],
  ['mortgage calculator', 'formula'],
  ['a simple calculator', 'calculator'],
  ['convert miles to kilometers', 'converter'],
  ['password generator', 'password'],
  ['dice roller for d&d with d20', 'dice'],
  ['spin the wheel to pick a name: Ann, Bob, Cleo', 'wheel'],
  ['magic 8 ball', 'oracle'],
  ['random excuse generator', 'oracle'],
  ['todo list app', 'checklist'],
  ['packing list for a weekend at the beach', 'checklist'],
  ['kanban board for my project', 'kanban'],
  ['track my daily water intake', 'tracker'],
  ['habit tracker', 'tracker'],
  ['expense tracker', 'budget'],
  ['a journal for my thoughts', 'notes'],
  ['drawing app for kids', 'draw'],
  ['pixel art editor 16x16', 'pixel'],
  ['color palette generator', 'palette'],
  ['fireworks simulator', 'particles'],
  ['breathing exercise to relax', 'breathe'],
  ['flashcards to learn spanish', 'flashcards'],
  ['word counter', 'textstats'],
  ['birthday card for my sister', 'greeting'],
  ['scoreboard for table tennis', 'scoreboard'],
  ['hangman', 'hangman'],
  ['rock paper scissors', 'rps'],
  ['guess the number between 1 and 100', 'number'],
  ['times table practice for my kid', 'maths'],
  ['dad joke generator', 'oracle'],
  ['helicopter game avoiding obstacles', 'collector'],
  ['a to-do list with due dates and reminders', 'refused'],
  ['a platformer like mario with five levels', 'refused'],
  ['weather app for my city', 'refused'],
  ['multiplayer chess', 'refused'],
  ['a landing page for my bakery', 'refused'],
  ['tower defense', 'refused'],
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
    ['a weather clock', 'data from the network'],
    ['a game where a spatula catches eggs', 'a picture of spatula'],
    ['something nice', 'has no template for this'],
  ] as const) {
    const spec = analyzePrompt(prompt)
    const declined = 'declined' in spec ? spec.declined : ''
    expect([prompt, declined]).toEqual([prompt, expect.stringContaining(reason)])
    expect(declined).toContain('BUILDER_MODEL')
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
  expect(words('drum machine with 8 steps at 90 bpm')).toMatchObject({ steps: 8, tempo: 90 })
  expect(words('wheel to choose between pizza, pasta and salad')['items']).toEqual([
    'Pizza',
    'Pasta',
    'Salad',
  ])
  expect(words('roll two d20')).toMatchObject({ sides: 20, count: 2 })
})

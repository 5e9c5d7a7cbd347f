import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'

import type { Command } from 'commander'

import { temporaryFolder } from '../../testing/fixtures/temporary-folder.ts'
import { runBerth } from '../../testing/processes/server-process.ts'
import { isPart } from '../../testing/thorough.ts'
import { createProgram, listCommands } from './command-line.ts'

setDefaultTimeout(120_000)
const folder = temporaryFolder('berth-failures-')
afterAll(() => folder.remove())

const pathOf = (command: Command): string[] =>
  command.parent ? [...pathOf(command.parent), command.name()] : []
/** Every command that has no commands below it. */
const all = listCommands(createProgram()).filter(
  (command) => command.commands.length === 0 && command.name() !== 'help',
)

/** Runs a command where nobody has signed in, and expects one line on stderr. */
async function expectFailure(words: string[], line: RegExp): Promise<void> {
  const env = { XDG_CONFIG_HOME: folder.path, OLLAMA_HOST: 'off', BUILDER_BROWSER: 'off' }
  const { code, out, err } = await runBerth(words, { env })
  expect([words, out, err]).toEqual([words, '', expect.stringMatching(line)])
  expect(err).toMatch(/^[^\n]+\n$/)
  expect([1, 4]).toContain(code)
}

describe('every command fails with one line that says what to do', () => {
  test('for an unknown flag', async () => {
    expect(all.length).toBeGreaterThan(30)
    // One parser reads the flags of all commands, so CI runs every fourth of them.
    for (const command of all.filter((_, at) => isPart(at, 4))) {
      const words = [...pathOf(command), '--no-such-flag']
      await expectFailure(words, /^Unknown option '--no-such-flag'\. See: berth help\.$/m)
    }
  })

  test('for a missing argument', async () => {
    const demanding = all.filter(({ registeredArguments }) => registeredArguments[0]?.required)
    expect(demanding.length).toBeGreaterThan(5)
    for (const command of demanding) {
      await expectFailure(pathOf(command), /^Missing required argument '[\w-]+'\. .*berth help/)
    }
  })

  test('in a folder without a database', async () => {
    const others = ['serve', 'config', 'health', 'upgrade']
    const ofData = all.filter(
      (command) =>
        command.options.some(({ long }) => long === '--data') &&
        command.parent?.name() === 'berth' &&
        !others.includes(command.name()),
    )
    expect(ofData.length).toBeGreaterThan(12)
    for (const command of ofData) {
      await expectFailure([...pathOf(command), 'one', '--data', folder.path], /berth |--\w/)
    }
  })
})

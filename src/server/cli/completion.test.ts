import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { temporaryFolder } from '../../testing/fixtures/temporary-folder.ts'
import { runInTerminal } from '../../testing/fixtures/terminal.ts'
import { binaryPath, runBerth } from '../../testing/processes/server-process.ts'

setDefaultTimeout(120_000)
const { path: home, remove } = temporaryFolder('berth-completion-')
afterAll(remove)

/** Prints the words of a command line after its completion, instead of running it. */
const printer = `#!/bin/sh
case "$1 $2" in
  complete* | 'completion bash' | 'completion zsh' | 'completion fish') exec '${binaryPath}' "$@" ;;
esac
echo "ran: $*."
`
writeFileSync(join(home, 'berth'), printer)
chmodSync(join(home, 'berth'), 0o755)
writeFileSync(join(home, 'reef.html'), '<!doctype html><title>Reef</title>')

/** Each shell without settings of its own, and the line of docs/cli.md. */
const shells: [shell: string[], line: string][] = [
  [['bash', '--norc', '-i'], 'source <(berth completion bash)'],
  [['zsh', '-f', '-i'], 'source <(berth completion zsh)'],
  [['fish', '--no-config', '-i'], 'berth completion fish | source'],
]

for (const [shell, line] of shells) {
  const [name = ''] = shell
  test.skipIf(Bun.which(name) === null)(
    `${name} completes commands, flags, values and files`,
    async () => {
      const env = { PATH: `${home}:${Bun.env.PATH}`, HOME: home, TERM: 'xterm' }
      const terminal = runInTerminal(shell, { cwd: home, env })
      terminal.type(`${line}; printf 're%s' ady\r`)
      await terminal.shows(/ready/)
      terminal.type('berth pub\tree\t--wat\t\r')
      await terminal.shows(/ran: publish reef\.html --watch\./)
      terminal.type('berth skill pub\t--app AAAAAAAAAAAA --st\t\r')
      await terminal.shows(/ran: skill publish --app AAAAAAAAAAAA --store\./)
      terminal.type('berth completion fi\t\r')
      await terminal.shows(/complete -c berth/)
      terminal.type('exit\r')
      await terminal.exited
    },
  )
}

test('a command line is completed by commands, flags and values, each with what it means', async () => {
  const complete = async (...words: string[]) =>
    (await runBerth(['complete', '--', ...words])).out.split('\n').filter((one) => one !== '')
  expect(await complete('pub')).toEqual(['publish\tpublish a page and print its link'])
  expect((await complete('')).length).toBeGreaterThan(30)
  expect(await complete('skill', 'p')).toEqual(['publish\tpublish a folder with SKILL.md'])
  expect((await complete('publish', '--')).join('\n')).toMatch(/^--watch\tpublish again/m)
  expect(await complete('completion', '')).toEqual(['bash', 'zsh', 'fish'])
  // Files and free text: the shell lists files.
  for (const words of [['publish', ''], ['publish', '--title', ''], ['nothing', 'pub'], ['x']]) {
    expect([words, await complete(...words)]).toEqual([words, []])
  }
})

import { Command } from 'commander'

import { CommandFailure } from '../terminal.ts'

const shells = ['bash', 'zsh', 'fish'] as const

export const completion = new Command('completion')
  .description('print the completion script of a shell')
  .argument('<shell>', shells.join(', '))
  .action(async (name: string) => {
    const shell = shells.find((known) => known === name)
    if (!shell)
      throw new CommandFailure(`There is no completion for ${name}. Use ${shells.join(', ')}.`)
    const { default: tab } = await import('@bomb.sh/tab')
    tab.setup('berth', 'berth', shell)
  })

/** Prints what completes a command line. The script of a shell runs `berth complete -- <words>`. */
export async function printCompletions(program: Command, words: string[]): Promise<void> {
  const { default: tab } = await import('@bomb.sh/tab')
  const add = (command: Command, path: string): void => {
    const own = path === '' ? tab : tab.command(path, command.description())
    for (const { long, short, description, flags } of command
      .createHelp()
      .visibleOptions(command)) {
      const [name, alias] = [long?.slice(2) ?? '', short?.slice(1)]
      if (flags.includes('<')) own.option(name, description, () => undefined, alias)
      else own.option(name, description, alias)
    }
    for (const child of command.createHelp().visibleCommands(command)) {
      add(child, `${path} ${child.name()}`.trimStart())
    }
  }
  add(program, '')
  tab.parse(words)
}

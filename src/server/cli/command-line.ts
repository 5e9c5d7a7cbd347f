import { Command, CommanderError } from 'commander'

import { BerthError } from '../../../sdk/typescript/src/error.ts'
import { version } from '../../kernel/version.ts'
import { exportAgent, key, login, usage } from './commands/account.ts'
import { apps, logs, open, pull, remix } from './commands/apps.ts'
import { chat, models } from './commands/chat.ts'
import { completion, printCompletions } from './commands/completion.ts'
import { build, publish } from './commands/publish.ts'
import { skill } from './commands/skill.ts'
import { modelCommands, serverCommands } from './server-commands.ts'
import { CommandFailure, exitCodes, printNote } from './terminal.ts'

const description = `berth ${version}: hosts apps and games that agents make, with one gateway to many models`
const settings = 'Settings are environment variables or lines of berth.toml: see berth config.'

/** Creates the command line. Parser, help, completion and docs/cli.md read this declaration. */
export function createProgram(): Command {
  const program = new Command('berth').description(description).version(version, '-v, --version')
  const groups = {
    'Commands for any server:': [
      login,
      publish,
      open,
      apps,
      logs,
      build,
      pull,
      exportAgent,
      remix,
      skill,
      chat,
      key,
      models(modelCommands()),
      usage,
      completion,
    ],
    'Commands for a server on this machine:': serverCommands(),
  }
  for (const [group, commands] of Object.entries(groups)) {
    for (const command of commands) program.addCommand(command.helpGroup(group))
  }
  program
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', `\n${settings}`)
  for (const command of [program, ...listCommands(program)]) configure(command)
  return program
}

/** Lists the commands below a command, those of all levels. */
export const listCommands = (parent: Command): Command[] =>
  parent.commands.flatMap((command) => [command, ...listCommands(command)])

const nameOf = (command: Command): string => command.name()

/** A failure is thrown, so that `runCommandLine` prints each in the same way. */
function configure(command: Command): void {
  command.exitOverride().configureOutput({ writeErr: () => undefined })
  command.configureHelp({ subcommandTerm: nameOf }).helpOption('-h, --help', 'print this help')
  if (command.commands.length === 0) command.option('--json', 'print JSON')
}

/**
 * Runs a command line. Prints failures on stderr. Returns the exit code, and undefined for a server
 * that now runs.
 */
export async function runCommandLine(words: string[]): Promise<number | undefined> {
  const program = createProgram()
  try {
    if (words[0] === 'complete') {
      await printCompletions(program, words.slice(2))
      return 0
    }
    await program.parseAsync(words.length > 0 ? words : ['help'], { from: 'user' })
    return program.args[0] === 'serve' ? undefined : 0
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0
    const { message, exitCode } = describeFailure(error)
    await printNote(message)
    return exitCode
  }
}

function describeFailure(error: unknown): { message: string; exitCode: number } {
  if (error instanceof CommandFailure) return error
  if (error instanceof CommanderError)
    return { message: usageError(error), exitCode: exitCodes.failure }
  if (error instanceof BerthError && error.status === 401) {
    return { message: `${error.message} Run: berth login`, exitCode: exitCodes.signInRequired }
  }
  return {
    message: error instanceof Error ? error.message : String(error),
    exitCode: exitCodes.failure,
  }
}

/** Returns one line: the problem, the nearest name, and the help to read. */
function usageError({ message }: CommanderError): string {
  const [problem = '', hint = 'See: berth help.'] = message.replace(/^error: /, '').split('\n')
  const sentence = problem.charAt(0).toUpperCase() + problem.slice(1)
  return `${sentence.replace(/\.?$/, '.')} ${hint.replace(/^\((.*)\)$/, '$1')}`
}

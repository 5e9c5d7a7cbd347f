import { Argument, Command } from 'commander'

import { lookUp } from '../../../kernel/schema.ts'
import { printLine, printValue } from '../terminal.ts'

/**
 * The script of each shell. It prints what `berth complete -- <words>` lists for the words up to
 * the cursor, and completes file names where that is nothing.
 */
const scripts: Record<string, string> = {
  bash: `_berth() {
  local word rest
  COMPREPLY=()
  while IFS=$'\\t' read -r word rest; do COMPREPLY+=("$word"); done \\
    < <(berth complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _berth berth`,
  zsh: `_berth() {
  local -a lines
  lines=("\${(@f)$(berth complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -z $lines ]]; then _files; return; fi
  lines=("\${(@)lines//:/\\\\:}")
  lines=("\${(@)lines/$'\\t'/:}")
  _describe berth lines
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _berth berth`,
  fish: `function __berth
  set -l word (commandline -ct)
  set -l lines (berth complete -- (commandline -opc)[2..-1] "$word" 2>/dev/null)
  if test (count $lines) -gt 0
    printf '%s\\n' $lines
  else
    __fish_complete_path "$word"
  end
end
complete -c berth -f -a '(__berth)'`,
}

export const completion = new Command('completion')
  .description('print the completion script of a shell')
  .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(scripts)))
  .action((shell: string, { json }: { json?: boolean }) => {
    const script = lookUp(scripts, shell) ?? ''
    return printValue({ shell, script }, script, json)
  })

/** Returns the command that words lead to, its arguments, and whether a flag needs a value. */
function placeOf(program: Command, words: string[]) {
  let command = program
  let given = 0
  let isValue = false
  for (const word of words) {
    const child = command.commands.find((one) => one.name() === word)
    if (isValue) isValue = false
    else if (word.startsWith('-')) {
      isValue = command.options.some(
        (option) => option.required && [option.long, option.short].includes(word),
      )
    } else if (child) command = child
    else given += 1
  }
  return { command, given, isValue }
}

/**
 * Prints what the last word can become: flags, commands, or the values of an argument, each with
 * its description after a tab. Prints nothing where a file or any text can follow.
 */
export async function printCompletions(program: Command, words: string[]): Promise<void> {
  const last = words.at(-1) ?? ''
  const { command, given, isValue } = placeOf(program, words.slice(0, -1))
  const help = command.createHelp()
  const names = last.startsWith('-')
    ? help.visibleOptions(command).map(({ long, description }) => [long ?? '', description])
    : [
        ...(given === 0 ? help.visibleCommands(command) : []).map((one) => [
          one.name(),
          one.description(),
        ]),
        ...(command.registeredArguments[given]?.argChoices ?? []).map((name) => [name]),
      ]
  const lines = names.filter(([name = '']) => !isValue && name.startsWith(last))
  if (lines.length > 0) await printLine(lines.map((line) => line.join('\t')).join('\n'))
}

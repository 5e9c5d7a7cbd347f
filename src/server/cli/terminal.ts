import { InvalidArgumentError } from 'commander'

import { withProgress } from '../../kernel/progress.ts'
import type { CommandResult } from '../operator/command-result.ts'

/** Exit codes, as those of GitHub CLI. docs/cli.md lists them. */
export const exitCodes = { failure: 1, cancelled: 2, signInRequired: 4 } as const

/** The failure of a command: one line that says what to do, and the exit code. */
export class CommandFailure extends Error {
  constructor(
    message: string,
    readonly exitCode: number = exitCodes.failure,
  ) {
    super(message)
    this.name = 'CommandFailure'
  }
}

/** Writes a line. A pipe takes a long text in parts, so this waits until all of it is written. */
const writeLine = async (out: NodeJS.WriteStream, text: string): Promise<void> => {
  await new Promise<unknown>((written) => out.write(`${text}\n`, written))
}
/** Writes a part of a text. */
export const write = async (text: string): Promise<void> => {
  await new Promise<unknown>((written) => process.stdout.write(text, written))
}
export const printLine = (text: string): Promise<void> => writeLine(process.stdout, text)
/** Prints what is no result: a failure, or what happens. */
export const printNote = (text: string): Promise<void> => writeLine(process.stderr, text)

export const printValue = (value: unknown, text: string, isJson?: boolean): Promise<void> =>
  printLine(isJson ? JSON.stringify(value, null, 2) : text)

/**
 * Prints the result of a command. Throws CommandFailure where it failed, after what a program reads
 * of the failure.
 */
export async function printResult(result: CommandResult, isJson?: boolean): Promise<void> {
  const { ok, text, data } = result
  if (ok || (isJson && data)) await printValue(data ?? result, text, isJson)
  if (!ok) throw new CommandFailure(text)
}

/** Returns rows as columns of equal width. */
export function inColumns(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  )
  const line = (row: string[]) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')
  return rows.map((row) => line(row).trimEnd()).join('\n')
}

/** Returns whether a person reads stderr, where bars and questions are. */
export const isTerminal = (): boolean => process.stderr.isTTY

const barWidth = 24

/** A bar on stderr that replaces itself. It shows nothing where stderr is no terminal. */
export class ProgressBar {
  constructor(private readonly label: string) {}

  /** Shows a part of the work, 0 to 1, and what happens. */
  show(done: number, what = ''): void {
    const filled = Math.round(Math.min(1, Math.max(0, done)) * barWidth)
    const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled)
    const percent = `${Math.round(done * 100)}%`.padStart(4)
    if (isTerminal()) process.stderr.write(`\r\x1b[K${this.label} ${bar}${percent} ${what}`)
  }

  /** Removes the bar. */
  end(): void {
    if (isTerminal()) process.stderr.write('\r\x1b[K')
  }
}

/** Shows the progress that work reports. */
export async function withBar<Result>(label: string, work: () => Promise<Result>): Promise<Result> {
  if (!isTerminal()) return work()
  const bar = new ProgressBar(label)
  return withProgress((step, done) => bar.show(done, step), work).finally(() => bar.end())
}

/** Asks a question that Enter answers with no. Returns false where stdin is no terminal. */
export const confirmed = (question: string): boolean => process.stdin.isTTY && confirm(question)

/** Reads lines that a person types after a prompt, until Ctrl-D. */
export async function* readLines(prompt: string): AsyncGenerator<string, void> {
  const { createInterface } = await import('node:readline')
  const lines = createInterface({ input: process.stdin, output: process.stderr, prompt })
  let isOpen = true
  lines.once('close', () => (isOpen = false))
  lines.prompt()
  for await (const line of lines) {
    yield line
    if (isOpen) lines.prompt()
  }
}

const countMax = 10_000

/** Parses the value of `--limit`. */
export function countOf(text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= countMax) return count
  throw new InvalidArgumentError(`Give a number from 1 to ${countMax}.`)
}

/** Returns the first items of a list, and reads no further page. */
export async function take<Item>(list: AsyncIterable<Item>, count: number): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of list) {
    items.push(item)
    if (items.length === count) break
  }
  return items
}

import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import type { AppContext } from '../../kernel/context.ts'
import { currentProgress, type ProgressReport, withProgress } from '../../kernel/progress.ts'
import { isRecord } from '../../kernel/schema.ts'
import { errorCodeOf } from '../../kernel/text.ts'
import { errorEnvelope, knownError } from '../../people/error-response.ts'
import { type CommandResult, failed, failedWith } from './command-result.ts'

const socketPath = (dataDir: string): string => join(dataDir, 'control.sock')

/**
 * No idle timeout, because a backup or a check can run long. Bun's types lack it for Unix sockets.
 */
const withoutTimeout: object = { idleTimeout: 0 }

/**
 * Listens on the control socket of the data folder, which only its owner can open, so that commands
 * such as `berth grant` work while the server runs. Returns the function that closes it.
 */
export function openControlSocket(ctx: AppContext): () => Promise<void> {
  const unix = socketPath(ctx.config.dataDir)
  rmSync(unix, { force: true })
  const server = Bun.serve({
    ...withoutTimeout,
    unix,
    async fetch(request) {
      const body: unknown = await request.json()
      if (!isCommandRequest(body)) return new Response('Send command and words.', { status: 400 })
      if (body.progress !== true) return Response.json(await runCommand(ctx, body))
      return new Response(
        progressLines((report) => withProgress(report, () => runCommand(ctx, body))),
      )
    },
  })
  chmodSync(unix, 0o600)
  return async () => {
    await server.stop()
    rmSync(unix, { force: true })
  }
}

export interface CommandRequest {
  command: string
  words: string[]
  /** Asks for a line for each report of progress, before that of the result. */
  progress?: boolean
}

const isCommandRequest = (body: unknown): body is CommandRequest =>
  isRecord(body) && typeof body['command'] === 'string' && Array.isArray(body['words'])

/** A line of a response: what is done of a step, from 0 to 1. The last line is the result. */
interface ProgressLine {
  step: string
  done: number
}

const encoder = new TextEncoder()

/** Returns a stream of the reports of a command, and its result. */
function progressLines(
  run: (report: ProgressReport) => Promise<CommandResult>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let isOpen = true
  return new ReadableStream({
    async start(out) {
      const send = (line: ProgressLine | CommandResult): void => {
        if (isOpen) out.enqueue(encoder.encode(`${JSON.stringify(line)}\n`))
      }
      send(await run((step, done) => send({ step, done })))
      if (isOpen) out.close()
    },
    // The work goes on where the command was interrupted.
    cancel: () => void (isOpen = false),
  })
}

/** Reads the lines of a command, and passes its reports on. Returns the last line. */
async function readProgressLines(response: Response): Promise<unknown> {
  const report = currentProgress()
  let text = ''
  let last: unknown
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (text + piece).split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) {
      last = JSON.parse(line)
      if (isProgressLine(last)) report?.(last.step, last.done)
    }
  }
  return text === '' ? last : JSON.parse(text)
}

const isProgressLine = (line: unknown): line is ProgressLine =>
  isRecord(line) && typeof line['step'] === 'string' && typeof line['done'] === 'number'

/** Runs a command. An error that it throws becomes a failed result. */
export async function runCommand(
  ctx: AppContext,
  { command, words }: CommandRequest,
): Promise<CommandResult> {
  try {
    const { commands } = await import('./commands.ts')
    const known = Object.hasOwn(commands, command) ? commands[command] : undefined
    if (!known) return failed(`Unknown command ${command}.`)
    const result = await known(ctx, words)
    await ctx.state.appChanges.announce()
    return result
  } catch (error) {
    const known = knownError(error)
    return known ? failed(errorEnvelope(known).body.error) : failedWith(error)
  }
}

/** Runs a command in the server of this data folder; undefined where no server runs. */
export async function runOnServer(
  dataDir: string,
  request: CommandRequest,
): Promise<CommandResult | undefined> {
  try {
    const response = await fetch('http://berth/', {
      unix: socketPath(dataDir),
      method: 'POST',
      body: JSON.stringify({ ...request, progress: currentProgress() !== undefined }),
      timeout: false,
    })
    const result = await readProgressLines(response)
    return isCommandResult(result)
      ? result
      : failed('The running server is a different version. Restart it.')
  } catch (error) {
    const code = errorCodeOf(error) || String(error)
    if (noServerCodes.has(code)) return undefined
    return failed(`The running server did not respond: ${code}.`)
  }
}

const noServerCodes = new Set(['ENOENT', 'ENOTDIR', 'ECONNREFUSED'])

const isCommandResult = (result: unknown): result is CommandResult =>
  isRecord(result) && typeof result['ok'] === 'boolean' && typeof result['text'] === 'string'

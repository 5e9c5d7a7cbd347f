import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { z } from 'zod'

import type { Form } from '../../fakes/demo-upstreams.ts'

/** A model of a gateway, and the key to it. */
export interface Target {
  /** The base URL without /v1. */
  origin: string
  key: string
  model: string
}

/** The tool of every round trip. */
export const writeFile = {
  name: 'write_file',
  description: 'Writes a file.',
  input: z.object({ path: z.string(), content: z.string() }),
  /** The schema of `input`. */
  parameters: {
    type: 'object' as const,
    properties: { path: { type: 'string' }, content: { type: 'string' } },
    required: ['path', 'content'],
  },
}

/** The prompt of a round trip, and what its tool does. */
export interface Task {
  prompt: string
  /** Writes the file that the arguments name, and returns the result of the tool. */
  write(args: unknown): string
}

/** A client that lets the model call a tool, sends its result, and returns the final text. */
export type RoundTrip = (target: Target, form: Form, task: Task) => Promise<string>

/** Runs a round trip in a temporary folder. Throws without the file or the final text. */
export async function runRoundTrip(trip: RoundTrip, target: Target, form: Form): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'berth-round-trip-'))
  const path = join(folder, 'made.txt')
  const content = 'Ahoy, wörld'
  try {
    const text = await trip(target, form, {
      prompt: `call ${writeFile.name} ${JSON.stringify({ path, content })}`,
      write: (args) => {
        const given = writeFile.input.parse(typeof args === 'string' ? JSON.parse(args) : args)
        writeFileSync(given.path, given.content)
        return `wrote ${given.content}`
      },
    })
    const written = readFileSync(path, 'utf8')
    if (written !== content) throw new Error(`The file has another text: ${written}`)
    if (!text.includes(`wrote ${content}`)) throw new Error(`Another text ends it: ${text}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

import { isRecord, type Json, parseRecord } from '../../kernel/schema.ts'
import { batchErrorsMax, batchLinesMax } from '../limits.ts'
import type { BatchError } from './tables.ts'

/** A request of a batch. */
export interface BatchLine {
  /** Its number in the file, from 1. */
  line: number
  customId: string
  body: Json
}

const customIdCharsMax = 512
const newline = 0x0a
const decoder = new TextDecoder()
/** Lines that are parsed before other requests get a turn. */
const linesPerTurn = 100

/** An input file. Its lines are parsed when they are read, so it takes only its own bytes. */
export class InputFile {
  constructor(
    private readonly bytes: Uint8Array,
    private readonly endpoint: string,
  ) {}

  /** Yields the number and text of each line that is not blank, at most one beyond the limit. */
  *texts(): Generator<[line: number, text: string]> {
    let [line, count] = [0, 0]
    for (let from = 0; from < this.bytes.length && count <= batchLinesMax;) {
      const found = this.bytes.indexOf(newline, from)
      const end = found < 0 ? this.bytes.length : found
      const text = decoder.decode(this.bytes.subarray(from, end)).trim()
      from = end + 1
      line += 1
      if (text === '') continue
      count += 1
      yield [line, text]
    }
  }

  /** Yields the requests of a valid file. */
  *lines(): Generator<BatchLine> {
    for (const [line, text] of this.texts()) {
      const parsed = this.parse(line, text)
      if ('body' in parsed) yield parsed
    }
  }

  /** Checks every line. Returns the number of requests, and the first problems. */
  async validate(): Promise<{ total: number; errors: BatchError[] }> {
    const ids = new Set<string>()
    const errors: BatchError[] = []
    let total = 0
    for (const [line, text] of this.texts()) {
      total += 1
      const problem = total > batchLinesMax ? tooMany(line) : this.check(line, text, ids)
      if (problem) errors.push(problem)
      if (errors.length >= batchErrorsMax) break
      if (total % linesPerTurn === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    if (total === 0) errors.push(invalid(null, 'empty_file', 'The file has no requests.'))
    return { total, errors }
  }

  private check(line: number, text: string, ids: Set<string>): BatchError | undefined {
    const parsed = this.parse(line, text)
    if (!('body' in parsed)) return parsed
    const { customId } = parsed
    if (ids.has(customId)) {
      const message = 'This custom_id is in an earlier line. Each needs its own.'
      return invalid(line, 'duplicate_custom_id', message, 'custom_id')
    }
    ids.add(customId)
    return undefined
  }

  private parse(line: number, text: string): BatchLine | BatchError {
    const request = parseRecord(text)
    if (!request) return invalid(line, 'invalid_json_line', 'This line is not a JSON object.')
    const { custom_id: customId, method, url, body } = request
    const isId = typeof customId === 'string' && customId !== ''
    if (!isId || customId.length > customIdCharsMax) {
      const message = `custom_id must be a string of 1 to ${customIdCharsMax} characters.`
      return invalid(line, 'invalid_custom_id', message, 'custom_id')
    }
    if (method !== 'POST') return invalid(line, 'invalid_method', 'method must be POST.', 'method')
    if (url !== this.endpoint) {
      const message = `url must be the endpoint of the batch, ${this.endpoint}.`
      return invalid(line, 'invalid_url', message, 'url')
    }
    if (!isRecord(body)) return invalid(line, 'invalid_body', 'body must be an object.', 'body')
    if (body.stream === true) {
      return invalid(line, 'stream_unsupported', 'Batches do not stream. Remove stream.', 'stream')
    }
    return { line, customId, body }
  }
}

const tooMany = (line: number): BatchError =>
  invalid(line, 'too_many_requests', `A batch has at most ${batchLinesMax} requests.`)

const invalid = (
  line: number | null,
  code: string,
  message: string,
  param: string | null = null,
): BatchError => ({ code, message, param, line })

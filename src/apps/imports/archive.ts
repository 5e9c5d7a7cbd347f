import { sha256 } from '../../kernel/ids.ts'
import { htmlBytesMax } from '../../kernel/limits.ts'
import { messageOf } from '../../kernel/text.ts'
import { errorEnvelope, knownError } from '../../people/error-response.ts'
import { mapFile } from '../../store/data-files.ts'
import { type PackedFile, planZip } from '../folders/unzip.ts'
import { unpackEntry } from '../folders/zip-entries.ts'

/** An archive that cannot be imported. The message says why. */
export class ArchiveError extends Error {
  constructor(problem: string) {
    super(`The archive was not imported: ${problem}`)
  }
}

/** Bytes of all files: a zip that is mapped into memory has no more. */
const bounds = {
  bytesMax: 2 ** 32 - 1,
  filesMax: 500_000,
  fileBytesMax: 512 * 1_048_576,
}
const jsonBytesMax = 4 * 1_048_576
/** Bytes of a ledger, of another list of the agent, and of the checksums. */
const listBytesMax = 64 * 1_048_576
/** Lines between which other requests run. */
const linesPerTurn = 1_000

const id = '[A-Za-z0-9_-]{12}'
const ofVersion = '(?:version\\.json|index\\.html|cover\\.webp|(?:assets|files)/.+)'
const ofItem = `(?:app\\.json|icon\\.png|cover\\.webp|(?:documents|values|scores|uploads)\\.jsonl|versions/[1-9]\\d{0,3}/${ofVersion})`
const known = new RegExp(
  `^(?:agent\\.json|(?:ledger|earlier-ledger|notes|reviews|comments)\\.jsonl|apps/${id}/${ofItem})$`,
  's',
)
const checksumsFile = 'SHA256SUMS'
const pageFile = new RegExp(`^apps/${id}/versions/[1-9]\\d{0,3}/index\\.html$`)
const listFile = new RegExp(`^(?:[^/]+\\.jsonl|${checksumsFile})$`)

/** The files of an archive, whose checksums are right. */
export class Archive {
  private constructor(
    private readonly files: ReadonlyMap<string, PackedFile>,
    /** SHA-256 of the checksums, which stands for the content of all files. */
    readonly id: string,
  ) {}

  /** Opens a zip. Throws ArchiveError for one that is damaged or no export of an agent. */
  static async open(path: string): Promise<Archive> {
    const packed = await listFiles(path)
    const files = new Map<string, PackedFile>()
    for (const file of packed) {
      if (file.isFolder) continue
      checkSize(file)
      if (files.has(file.path)) throw new ArchiveError(`${file.path} is there twice.`)
      files.set(file.path, file)
    }
    const sums = files.get(checksumsFile)
    if (!sums) {
      throw new ArchiveError(
        `it has no ${checksumsFile}. Download the export again: it is incomplete or another zip.`,
      )
    }
    files.delete(checksumsFile)
    const unknown = [...files.keys()].find((name) => !known.test(name))
    if (unknown !== undefined) {
      throw new ArchiveError(`${JSON.stringify(unknown)} is no file of an export of an agent.`)
    }
    const text = await unpack(sums)
    await checkSums(files, new TextDecoder().decode(text))
    return new Archive(files, sha256(text))
  }

  /** Lists the paths below a folder, such as "apps/". */
  list(folder: string): string[] {
    return [...this.files.keys()].filter((path) => path.startsWith(folder))
  }

  has(path: string): boolean {
    return this.files.has(path)
  }

  /** Unpacks a file. Throws ArchiveError where there is none. */
  async read(path: string): Promise<Uint8Array> {
    const file = this.files.get(path)
    if (!file) throw new ArchiveError(`${path} is missing.`)
    return unpack(file)
  }

  /** Reads a JSON file. Throws ArchiveError for an invalid one. */
  async json<T>(path: string, validate: (value: unknown) => T): Promise<T> {
    if ((this.files.get(path)?.bytes ?? 0) > jsonBytesMax) {
      throw new ArchiveError(`${path} is larger than ${jsonBytesMax / 1_048_576} MB.`)
    }
    return parse(path, decode(path, await this.read(path)), validate)
  }

  /**
   * Reads a file of at most `max` JSON lines, which may be missing. Throws ArchiveError for an
   * invalid line and for more lines.
   */
  async *lines<T>(
    path: string,
    validate: (value: unknown) => T,
    max = Infinity,
  ): AsyncGenerator<T> {
    if (!this.has(path)) return
    const text = await this.text(path)
    let number = 0
    for (let at = 0; at < text.length; number += 1) {
      if (number >= max) {
        throw new ArchiveError(`${path} has more than ${max.toLocaleString('en')} lines.`)
      }
      if (number % linesPerTurn === linesPerTurn - 1) await Bun.sleep(0)
      const end = text.indexOf('\n', at)
      yield parse(`${path} line ${number + 1}`, text.slice(at, end), validate)
      at = end + 1
    }
  }

  /** Reads the text of whole lines. Throws ArchiveError where it is none. */
  async text(path: string): Promise<string> {
    const text = decode(path, await this.read(path))
    if (text !== '' && !text.endsWith('\n')) throw new ArchiveError(`${path} ends within a line.`)
    return text
  }
}

function decode(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ArchiveError(`${path} is not UTF-8.`)
  }
}

function parse<T>(place: string, text: string, validate: (value: unknown) => T): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new ArchiveError(`${place} is not JSON.`)
  }
  return explained(place, () => validate(value))
}

/** Returns the message of an expected error; undefined for a fault. */
export function problemOf(error: unknown): string | undefined {
  const known = knownError(error)
  return known && errorEnvelope(known).body.error
}

/** Adds the place to the error of a check. */
export function explained<T>(place: string, check: () => T): T {
  try {
    return check()
  } catch (error) {
    const problem = problemOf(error)
    if (problem === undefined) throw error
    throw new ArchiveError(`${place}: ${problem}`)
  }
}

const again = 'Export the agent again and import the new file.'

/**
 * Lists the files of a zip. Throws ArchiveError.
 */
async function listFiles(path: string): Promise<PackedFile[]> {
  const zip = await mapFile(path)
  if (!zip) throw new ArchiveError(`there is no file ${path}.`)
  const plan = planZip(zip, bounds)
  if ('packed' in plan) return plan.packed
  if ('reasons' in plan) throw new ArchiveError(plan.reasons.join(' '))
  const what = plan.path === undefined ? 'its files have' : `${plan.path} has`
  throw tooLarge(what, plan.tooLarge, plan.max)
}

const tooLarge = (what: string, bytes: number, max: number): ArchiveError =>
  new ArchiveError(
    `${what} ${bytes.toLocaleString('en')} bytes. The limit is ${max.toLocaleString('en')}.`,
  )

/** Throws ArchiveError for a page or a list that is too large, before it is unpacked. */
function checkSize({ path, bytes }: PackedFile): void {
  const max = pageFile.test(path) ? htmlBytesMax : listFile.test(path) ? listBytesMax : Infinity
  if (bytes > max) throw tooLarge(`${path} has`, bytes, max)
}

async function unpack(file: PackedFile): Promise<Uint8Array> {
  try {
    return await unpackEntry(file, file.packed)
  } catch (error) {
    throw new ArchiveError(messageOf(error))
  }
}

const lineOfSum = /^([0-9a-f]{64}) [ *](.+)$/s

/** Throws ArchiveError unless each file has its checksum, and each checksum its file. */
async function checkSums(files: ReadonlyMap<string, PackedFile>, text: string): Promise<void> {
  const left = new Set(files.keys())
  for (const line of text.split('\n')) {
    if (line === '') continue
    const [, hash, path = ''] = lineOfSum.exec(line) ?? []
    const file = files.get(path)
    if (!file || !left.delete(path)) {
      throw new ArchiveError(`${checksumsFile} names a file that is not there. ${again}`)
    }
    if (sha256(await unpack(file)) !== hash) {
      throw new ArchiveError(`${path} differs from its checksum. ${again}`)
    }
    // Other requests run between two files.
    await Bun.sleep(0)
  }
  const [extra] = left
  if (extra !== undefined) throw new ArchiveError(`${extra} has no checksum. ${again}`)
}

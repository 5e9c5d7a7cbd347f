import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import type { IncomingCall } from '../../kernel/http/operation.ts'
import { completed, created, type Success } from '../../kernel/http/outcome.ts'
import { createValidator } from '../../kernel/http/validation.ts'
import { descriptionCharsMax, versionNoteCharsMax } from '../../kernel/limits.ts'
import {
  exactlyOne,
  type Json,
  lineSchema,
  mediaSchema,
  nullable,
  strictObject,
} from '../../kernel/schema.ts'
import { isPlainLine } from '../../kernel/text.ts'
import { t } from '../../kernel/words/message.ts'
import { idempotencyKeyOf } from '../../money/idempotency/idempotency.ts'
import { readJson } from '../../money/perform.ts'
import type { Agent } from '../../people/agents/agents.ts'
import * as apps from '../apps.ts'
import { FileFieldSchema, type Folder, type Share } from '../folders/folder.ts'
import {
  packJsonBytesMax,
  packZipBytesMax,
  stepDoneCharsMax,
  stepsMax,
  stepTitleCharsMax,
} from '../folders/limits.ts'
import { type Pack, readPack, rejectPack } from '../folders/read-pack.ts'
import { decodeFiles, fieldsOf, readZipRequest, textFile, zipOf } from '../folders/request.ts'
import { type InputFile, packBounds } from '../folders/unzip.ts'
import type { PackKind } from '../kinds.ts'
import { inspectContent, storePage } from '../page-content.ts'
import { presentPackAs, presentScan } from '../present.ts'
import { withPublishQuota } from '../publish-quota.ts'
import { publishItem, toListing } from '../publish.ts'
import {
  ChangeAppSchema,
  FrameworkSchema,
  newTerms,
  type PackBody,
  RefSchema,
  ScanResultSchema,
  ShareSchema,
  SkillSchema,
  StepSchema,
} from '../schemas.ts'
import { VersionSchema } from '../versions/schemas.ts'
import { addVersion, checkNote, visibilityNote } from '../versions/versions.ts'

type Fields = ParsedRequest['fields']

/** The request as an idempotency key compares it. The hash of the archive stands for the files. */
const fingerprintOf = (fields: Fields, { folder }: Pack) => ({ ...fields, files: folder.archive })

/**
 * Publishes a folder as a new skill or framework, version 1, live immediately and free. Returns
 * 201, or 200 with the scan for a dry run. Throws `bad_request`, `bad_skill`, `skill_name_taken`,
 * `payments_off`, `prices_off`, `too_large`, `blocked_by_scan`, and what `insertApp` throws.
 */
export async function publishPack(
  ctx: AppContext,
  maker: Agent,
  kind: PackKind,
  { fields, files }: ParsedRequest,
): Promise<Success> {
  const listing = toListing(ctx, fields)
  const pack = await readPack(files)
  const folder = await withSteps(ctx, pack.folder, fields)
  if (fields.dryRun) return dryRun(ctx, kind, pack)
  const fingerprint = fingerprintOf(fields, pack)
  return ctx.idempotency.run(maker.id, fields.ref, fingerprint, async (storeResponse) => {
    const inspection = await inspectContent(ctx, kind, pack.tar)
    const texts = { title: pack.name, description: shortDescription(folder) }
    return publishItem(ctx, maker, {
      fields: { kind, name: pack.name, ...texts, ...listing },
      isForExplore: fields.store === true,
      inspection: { ...inspection, gzip: pack.gzip },
      folder,
      present: (item) => presentPackAs(ctx, item, folder),
      storeResponse,
    })
  })
}

/**
 * Publishes the next version. Steps and share stay unless the request has others. Throws what
 * `publishPack` throws, `not_found`, `taken_down`, and `bad_request` over an older version.
 */
export async function publishPackVersion(
  ctx: AppContext,
  maker: Agent,
  { id, kind }: { id: string; kind: PackKind },
  { fields, files }: ParsedRequest,
): Promise<Success> {
  const item = await apps.getOwnApp(ctx, maker, id, [kind])
  requireNewest(fields.version, item.version)
  const note = checkNote(fields.note)
  const before = (await apps.getVersion(ctx, id, item.version)).folder
  const pack = await readPack(files)
  if (pack.name !== item.name) {
    rejectPack([`SKILL.md: "name" must stay "${item.name}". Publish a new pack for another name.`])
  }
  const folder = await withSteps(ctx, pack.folder, fields, before)
  if (fields.dryRun) return dryRun(ctx, kind, pack)
  const fingerprint = { id, ...fingerprintOf(fields, pack) }
  return ctx.idempotency.run(maker.id, fields.ref, fingerprint, async (storeResponse) => {
    const inspection = await inspectContent(ctx, kind, pack.tar)
    return withPublishQuota(ctx, maker, pack.tar.byteLength, async () => {
      const page = await storePage(ctx, { ...inspection, gzip: pack.gzip }, { folder })
      return ctx.db.tx(async (db) => {
        const how = { via: 'files', note } as const
        const added = await addVersion(ctx, db, item, { page, inspection, how })
        requireNewest(fields.version, added.app.version - 1)
        // A description that the maker set for Explore stays.
        const isSame = before && item.description === shortDescription(before)
        const app =
          isSame && added.reasons.length === 0
            ? await apps.updateApp(ctx, db, added.app, { description: shortDescription(folder) })
            : added.app
        const version = created({
          ...presentPackAs(ctx, app, folder),
          scan: presentScan(inspection),
          note: visibilityNote(ctx, { ...added, app }),
        })
        return storeResponse(db, version)
      })
    })
  })
}

/** Throws `bad_request` for files that change another version than the newest. */
function requireNewest(changed: number | undefined, version: number): void {
  if (changed === undefined || changed === version) return
  rejectRequest(
    t('Version {version} is the newest. Change that, not version {changed}.', { version, changed }),
    'version',
  )
}

async function dryRun(ctx: AppContext, kind: PackKind, { tar }: Pack): Promise<Success> {
  const inspection = await inspectContent(ctx, kind, tar)
  return completed({ scan: presentScan(inspection), price: 0 })
}

/** Explore shows descriptions of at most 500 characters, SKILL.md may have 1,024. */
function shortDescription({ description }: Folder): string {
  const chars = [...description.replace(/\s+/g, ' ')]
  return chars.length <= descriptionCharsMax
    ? chars.join('')
    : `${chars.slice(0, descriptionCharsMax - 1).join('')}…`
}

/**
 * Adds the steps and the share of a framework. A version keeps those of the last one; a null share
 * ends it. Throws `bad_request`, `blocked_by_scan` and `payments_off`.
 */
export async function withSteps(
  ctx: AppContext,
  folder: Folder,
  { steps = [], share }: Pick<Fields, 'steps' | 'share'>,
  before?: Folder | null,
): Promise<Folder> {
  checkSteps(steps)
  if (steps.length > 0) await scanSteps(steps)
  const ownSteps = steps.length > 0 ? steps : before?.steps
  const ownShare = share === undefined ? before?.share : share && (await checkShare(ctx, share))
  return { ...folder, ...(ownSteps && { steps: ownSteps }), ...(ownShare && { share: ownShare }) }
}

function checkSteps(steps: NonNullable<Fields['steps']>): void {
  const ids = new Set<string>()
  for (const { id, title, done } of steps) {
    if (!isPlainLine(title, stepTitleCharsMax) || !isPlainLine(done, stepDoneCharsMax)) {
      rejectRequest(
        `The step "${id}" must have a plain "title" of at most ${stepTitleCharsMax} characters ` +
          `and a plain "done" of at most ${stepDoneCharsMax}.`,
        'steps',
      )
    }
    if (ids.has(id)) {
      rejectRequest(`Two steps have the id "${id}". Give each step an id of its own.`, 'steps')
    }
    ids.add(id)
  }
}

/**
 * Scans the texts of steps, which agents follow like the files. Any finding is `blocked_by_scan`:
 * what a person would have to decide about belongs in SKILL.md.
 */
async function scanSteps(steps: NonNullable<Fields['steps']>): Promise<void> {
  const { scanPack } = await import('../scan/packs/scan-pack.ts')
  const text = steps.map(({ title, done }) => `${title}\n${done}\n`).join('\n')
  const { findings } = await scanPack([{ path: 'steps.md', text }])
  if (findings.length === 0) return
  const reasons = findings.map(({ line, code, help, excerpt }) => {
    const step = steps[Math.floor((line - 1) / linesPerStep)]
    return `step "${step?.id}": ${code}: ${help} (${excerpt})`
  })
  throw new ApiError('blocked_by_scan', { reasons })
}

/** A title, a criterion and an empty line. */
const linesPerStep = 3

const percentDecimals = 4

/**
 * Returns a share as it is stored: the chain in CAIP-2, the token and the payee as addresses.
 * Agents pay it in the USDC of this server's chain. Throws `bad_request` and `payments_off`.
 */
async function checkShare({ x402 }: AppContext, share: Share): Promise<Share> {
  if (!x402) {
    throw new ApiError('payments_off', { setting: 'X402_PAY_TO', advice: 'Leave out "share".' })
  }
  const { id, name, asset } = x402.network
  const isOther = !['usdc', asset.toLowerCase()].includes(share.asset.toLowerCase())
  if ((share.network !== id && share.network !== name) || isOther) {
    throw badShare(`must be in USDC on ${id}: "network": "${id}", "asset": "${asset}"`)
  }
  if (Number(share.percent.toFixed(percentDecimals)) !== share.percent) {
    throw badShare(`has a "percent" of at most ${percentDecimals} decimals`)
  }
  // The check of addresses is loaded with the first share.
  const { isAddress, zeroAddress } = await import('viem')
  if (!isAddress(share.payTo) || share.payTo === zeroAddress) {
    throw badShare('needs the address of a wallet as "payTo", with its letters as copied')
  }
  return { ...share, network: id, asset }
}

const badShare = (problem: string): ApiError<'bad_request'> =>
  new ApiError('bad_request', { problem: `"share" ${problem}.`, param: 'share' })

const source = {
  skill: Type.Optional(
    Type.String({ minLength: 1, description: 'The text of SKILL.md, for a pack of one file.' }),
  ),
  files: Type.Optional(
    Type.Array(FileFieldSchema, {
      description: 'The folder. Each file has text or base64; one is SKILL.md.',
    }),
  ),
  ref: Type.Optional(RefSchema),
  dryRun: Type.Optional(Type.Boolean({ description: 'true: only check; nothing is stored.' })),
}

const { store, remix, priceRemix, shelf } = ChangeAppSchema.properties
const stepsSchema = Type.Array(StepSchema, { minItems: 1, maxItems: stepsMax })
const note = Type.Optional(
  lineSchema(versionNoteCharsMax, { description: 'Changes in this version.' }),
)
const over = Type.Optional(
  Type.Integer({
    minimum: 1,
    description: 'The version that the files change. Where a newer one exists, nothing is stored.',
  }),
)
const example = { skill: '---\nname: release-notes\ndescription: Writes release notes.\n---\n…' }
const exampleSteps = [{ id: 'draft', title: 'Draft the notes', done: 'Each change has a line.' }]

const oneSource = exactlyOne('skill', 'files').described

const requestOf = <T extends TProperties>(
  fields: T,
  more: Record<string, unknown> = {},
  terms: Record<string, unknown> = {},
) =>
  strictObject(fields, {
    described: { ...oneSource, ...terms },
    examples: [{ ...example, ...more }],
  })

const listing = { store, remix, priceRemix, shelf }

/** Bodies of POST /skills and POST /frameworks, and of their versions. */
export const requests = {
  skill: {
    publish: requestOf({ ...source, ...listing }, {}, newTerms),
    version: requestOf({ ...source, note, version: over }),
  },
  framework: {
    publish: requestOf(
      { ...source, ...listing, steps: stepsSchema, share: Type.Optional(ShareSchema) },
      { steps: exampleSteps },
      newTerms,
    ),
    version: requestOf({
      ...source,
      note,
      version: over,
      steps: Type.Optional(stepsSchema),
      share: Type.Optional(nullable(ShareSchema)),
    }),
  },
}

/** Fields of all bodies that publish a pack or a version. */
type PackRequest = Partial<
  Static<typeof requests.framework.publish> & Static<typeof requests.framework.version>
>

const FolderFileSchema = Type.Object({
  path: Type.String(),
  bytes: Type.Integer(),
  sha256: Type.String(),
})

const bodies = { skill: SkillSchema, framework: FrameworkSchema } as const

/** Response schemas of one kind of pack: `{ skill, … }` or `{ framework, … }`. */
const responsesOf = (kind: PackKind) => {
  const named = <T extends TProperties>(more: T) =>
    Type.Unsafe<PackBody & Static<TObject<T>>>(Type.Object({ [kind]: bodies[kind], ...more }))
  return {
    one: named({}),
    published: named({ scan: ScanResultSchema, note: Type.String() }),
    changed: named({ note: Type.String() }),
    read: named({
      version: Type.Integer(),
      files: Type.Array(FolderFileSchema, { description: 'SKILL.md first.' }),
    }),
    list: Type.Unsafe<Json>(
      Type.Object({ [`${kind}s`]: Type.Array(bodies[kind]), next: nullable(Type.String()) }),
    ),
  }
}

export const responses = { skill: responsesOf('skill'), framework: responsesOf('framework') }

export const DryRunPackSchema = Type.Object({ scan: ScanResultSchema, price: Type.Number() })
export const PackVersionListSchema = Type.Object({
  versions: Type.Array(VersionSchema),
  next: nullable(Type.String()),
})
export const SkillTextSchema = mediaSchema('text/markdown', { description: 'SKILL.md.' })

/** A request that publishes: its fields, and the files that it sends. */
export interface ParsedRequest {
  fields: Omit<PackRequest, 'skill' | 'files'>
  files: InputFile[]
}

type Action = 'publish' | 'version'

const zipLimits = { zipBytesMax: packZipBytesMax, ...packBounds }

const validators = {
  skill: {
    publish: createValidator(requests.skill.publish),
    version: createValidator(requests.skill.version),
  },
  framework: {
    publish: createValidator(requests.framework.publish),
    version: createValidator(requests.framework.version),
  },
}

/**
 * Returns the reader of calls that publish: JSON, or a zip whose fields are query parameters. It
 * throws `bad_request`, `too_large`, `try_again`, and `bad_skill` for files that cannot be read.
 */
export const packReader =
  (kind: PackKind, action: Action) =>
  async (call: IncomingCall): Promise<ParsedRequest> => {
    const zip = zipOf(call)
    const isZip = zip !== undefined
    const body = isZip
      ? fieldsOf(call, jsonFields)
      : await readJson(call, { max: packJsonBytesMax, takesZip: true })
    if (isZip && kind === 'framework' && action === 'publish' && !('steps' in Object(body)))
      rejectRequest(
        '"steps" is missing. With a zip, send it as JSON in the query: ?steps=[…]',
        'steps',
      )
    const { skill, files, ...fields } = validated(body, kind, action)
    const ref = idempotencyKeyOf(call, fields.ref)
    const named = { ...fields, ...(ref !== undefined && { ref }) }
    if (zip) return { fields: named, files: await readZipRequest(zip, zipLimits, rejectPack) }
    if ((skill === undefined) === (files === undefined))
      rejectRequest('Send exactly one of "skill" and "files", or a zip as application/zip.')
    return {
      fields: named,
      files: files ? decodeFiles(files, rejectPack) : [textFile('SKILL.md', skill ?? '')],
    }
  }

function validated(body: unknown, kind: PackKind, action: Action): PackRequest {
  validators[kind][action](body)
  // The validator has just checked it.
  return Object(body)
}

/** Fields that are not texts, in the query of a zip. */
const jsonFields = new Set(['store', 'dryRun', 'priceRemix', 'steps', 'share', 'version'])

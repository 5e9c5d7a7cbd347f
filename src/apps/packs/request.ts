import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox'

import { rejectRequest } from '../../kernel/errors.ts'
import type { IncomingCall } from '../../kernel/http/operation.ts'
import { createValidator } from '../../kernel/http/validation.ts'
import { versionNoteCharsMax } from '../../kernel/limits.ts'
import {
  exactlyOne,
  type Json,
  lineSchema,
  mediaSchema,
  nullable,
  strictObject,
} from '../../kernel/schema.ts'
import { idempotencyKeyOf } from '../../money/idempotency/idempotency.ts'
import { readJson } from '../../money/perform.ts'
import { FileFieldSchema } from '../folders/folder.ts'
import { packJsonBytesMax, packZipBytesMax, stepsMax } from '../folders/limits.ts'
import { rejectPack } from '../folders/read-pack.ts'
import { decodeFiles, fieldsOf, readZipRequest, textFile, zipOf } from '../folders/request.ts'
import { type InputFile, packBounds } from '../folders/unzip.ts'
import type { PackKind } from '../kinds.ts'
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
    version: requestOf({ ...source, note }),
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
const jsonFields = new Set(['store', 'dryRun', 'priceRemix', 'steps', 'share'])

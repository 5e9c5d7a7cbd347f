import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox'

import { versionNoteCharsMax } from '../../kernel/limits.ts'
import {
  exactlyOne,
  type Json,
  lineSchema,
  mediaSchema,
  nullable,
  strictObject,
} from '../../kernel/schema.ts'
import { stepsMax } from '../folders/limits.ts'
import { FileFieldSchema } from '../folders/schemas.ts'
import type { PackKind } from '../kinds.ts'
import {
  FrameworkSchema,
  type PackBody,
  ShareSchema,
  SkillSchema,
  StepSchema,
} from '../pack-schemas.ts'
import { ChangeAppSchema, newTerms, RefSchema, ScanResultSchema } from '../schemas.ts'
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
export type PackRequest = Partial<
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

import type { AppContext } from '../../kernel/context.ts'
import { isApiError, rejectRequest } from '../../kernel/errors.ts'
import { createValidator } from '../../kernel/http/validation.ts'
import { buildPromptCharsMax, descriptionCharsMax, titleCharsMax } from '../../kernel/limits.ts'
import { hasVisibleText, isPlainLine, isPlainText } from '../../kernel/text.ts'
import type { Agent } from '../../people/agents/agents.ts'
import { countBytes } from '../../people/agents/storage-quota.ts'
import { insertImportedData, readImportedData } from '../app-data/imported-data.ts'
import { canBeListed } from '../apps.ts'
import { type Asset, insertRows } from '../assets/assets.ts'
import { checkFiles } from '../assets/folder-assets.ts'
import { type AssetRow, type CheckedFile, fileRow } from '../assets/upload.ts'
import type { ContentInspection } from '../content-scan.ts'
import { coverColumns, encodeCover, storeCover } from '../covers/cover-image.ts'
import { largeSize } from '../covers/schemas.ts'
import { readPack } from '../folders/read-pack.ts'
import { toIcon, toImage } from '../icon/icon-image.ts'
import { isPackKind } from '../kinds.ts'
import { reserveName } from '../names.ts'
import { type ImportedItem, type ImportedVersion, insertImported } from '../new-app.ts'
import { withSteps } from '../packs/publish.ts'
import { inspectContent, listingIssues, storePage } from '../page-content.ts'
import { type Archive, ArchiveError, explained } from './archive.ts'
import {
  type AgentFile,
  type ItemFile,
  ItemFileSchema,
  RecordLineSchema,
  VersionFileSchema,
} from './schemas.ts'

const itemOf = createValidator(ItemFileSchema)
const versionOf = createValidator(VersionFileSchema)
const recordOf = createValidator(RecordLineSchema)

/** The item of a folder of an archive. */
export interface ArchivedItem {
  folder: string
  file: ItemFile
}

/** Reads the items of an archive and checks their files. Throws ArchiveError. */
export async function readItems(
  archive: Archive,
  agent: AgentFile['agent'],
): Promise<ArchivedItem[]> {
  const maker = `@${agent.handle}`
  const folders = new Set(archive.list('apps/').map((path) => path.split('/')[1] ?? ''))
  const items: ArchivedItem[] = []
  for (const id of folders) {
    const folder = `apps/${id}`
    const path = `${folder}/app.json`
    const file = await archive.json(path, itemOf)
    if (file.id !== id) throw new ArchiveError(`${path} is of the item ${file.id}.`)
    if (id === agent.id) throw new ArchiveError(`${path} has the id of the agent.`)
    if (file.maker !== maker) {
      throw new ArchiveError(`${path} is of ${file.maker}, and the archive of ${maker}.`)
    }
    explained(path, () => checkTexts(file))
    await checkFilesOf(archive, { folder, file })
    items.push({ folder, file })
  }
  return items
}

function checkTexts({ title, description, kind, name, remixOf }: ItemFile): void {
  if (!isPlainLine(title, titleCharsMax) || !hasVisibleText(title)) {
    rejectRequest(`"title" must be one plain line of 1 to ${titleCharsMax} characters.`)
  }
  if (!isPlainText(description, descriptionCharsMax)) {
    rejectRequest(`"description" must be plain text of at most ${descriptionCharsMax} characters.`)
  }
  if (remixOf && !isPlainLine(remixOf.title, titleCharsMax)) {
    rejectRequest(`"remixOf.title" must be one plain line of at most ${titleCharsMax} characters.`)
  }
  if (isPackKind(kind) !== (name !== null)) {
    rejectRequest('"name" is only for skills and frameworks.')
  }
}

/** Returns why an item has no content in its archive; undefined for one that has. */
export const absenceOf = ({ state }: ItemFile): string | undefined =>
  state === 'taken_down'
    ? 'its server had taken it down'
    : state === 'live'
      ? undefined
      : `it was ${state} there`

/** Checks that the versions of an item are those that it names, and all lines of its data. */
async function checkFilesOf(archive: Archive, { folder, file }: ArchivedItem): Promise<void> {
  if (absenceOf(file) !== undefined) return
  const numbers = new Set(
    archive.list(`${folder}/versions/`).map((path) => Number(path.split('/')[3])),
  )
  if (numbers.size !== file.version || Math.max(...numbers) !== file.version) {
    throw new ArchiveError(`${folder} does not have the versions 1 to ${file.version}.`)
  }
  for (const number of numbers) {
    const path = `${folder}/versions/${number}`
    const { version, note, assets } = await archive.json(`${path}/version.json`, versionOf)
    const files = new Set(
      archive.list(`${path}/assets/`).map((one) => one.slice(path.length + '/assets/'.length)),
    )
    const isWhole = version === number && assets.every(({ name }) => files.delete(name))
    if (!isWhole || files.size > 0) {
      throw new ArchiveError(`${path}/version.json does not describe the files beside it.`)
    }
    const texts = [note, ...assets.map(({ what }) => what ?? '')]
    if (texts.some((text) => !isPlainText(text, buildPromptCharsMax))) {
      throw new ArchiveError(`${path}/version.json has a text that is no plain text.`)
    }
  }
  for (const kind of ['documents', 'values', 'scores', 'uploads']) {
    for await (const _ of archive.lines(`${folder}/${kind}.jsonl`, recordOf));
  }
}

/** Everything that a version stores beside its row. */
interface BuiltVersion {
  row: ImportedVersion
  files: AssetRow[]
  inspection: ContentInspection
}

/**
 * Scans and stores an item with all its versions, files and shared data, in one transaction. `id`
 * is its id here. Throws what publishing its content throws; then nothing of it is kept.
 */
export async function importItem(
  ctx: AppContext,
  maker: Agent,
  archive: Archive,
  { item, id, remixOf }: { item: ArchivedItem; id: string; remixOf: string | null },
): Promise<void> {
  const { folder, file } = item
  const known = new Map<string, AssetRow>()
  const built: BuiltVersion[] = []
  for (let number = 1; number <= file.version; number += 1) {
    built.push(await buildVersion(ctx, archive, { item, number, known }))
  }
  const lines = (kind: string) => archive.lines(`${folder}/${kind}.jsonl`, recordOf)
  const shared = {
    documents: lines('documents'),
    values: lines('values'),
    scores: lines('scores'),
    uploads: lines('uploads'),
  }
  const data = await readImportedData(ctx, shared)
  const fields = await itemFields(ctx, archive, { item, id, remixOf, built })
  const rows = built.flatMap(({ files }, at) =>
    files.map((row): Asset => ({ ...row, app: id, version: at + 1 })),
  )
  await ctx.db.tx(async (db) => {
    await countBytes(db, maker.id, storedBytes(built))
    await reserveName(ctx, db, maker.id, file.name)
    const versions = built.map(({ row }) => row)
    await insertImported(db, maker.id, fields, versions)
    await insertRows(db, rows)
    await countBytes(db, maker.id, await insertImportedData(db, id, data))
  })
}

/** Equal content of the files of an app counts once, as in a publish. */
function storedBytes(built: BuiltVersion[]): number {
  const pages = built.reduce((sum, { row }) => sum + row.htmlBytes + row.coverBytes, 0)
  const contents = new Map(
    built.flatMap(({ files }) => files.map(({ sha256, bytes }) => [sha256, bytes] as const)),
  )
  return [...contents.values()].reduce((sum, bytes) => sum + bytes, pages)
}

async function buildVersion(
  ctx: AppContext,
  archive: Archive,
  {
    item: { folder, file: item },
    number,
    known,
  }: { item: ArchivedItem; number: number; known: Map<string, AssetRow> },
): Promise<BuiltVersion> {
  const path = `${folder}/versions/${number}`
  const file = await archive.json(`${path}/version.json`, versionOf)
  const how = { via: file.via, note: file.note, created: timeOf(ctx, file.created) }
  if (isPackKind(item.kind)) {
    const pack = await readPack(await filesIn(archive, `${path}/files/`))
    if (pack.name !== item.name) rejectRequest(`${path} must have the name "${item.name}".`)
    // A share is paid on the chain of the server.
    const { steps, share } = file
    const terms = { ...(steps && { steps }), ...(ctx.x402 && share && { share }) }
    const own = await withSteps(ctx, pack.folder, terms)
    const scanned = await inspectContent(ctx, item.kind, pack.tar)
    const inspection = { ...scanned, gzip: pack.gzip }
    const page = await storePage(ctx, inspection, { folder: own })
    return { row: { ...page, ...how, coverBytes: 0 }, files: [], inspection }
  }
  const html = await archive.read(`${path}/index.html`)
  const checked = await checkFiles(ctx, await filesIn(archive, `${path}/assets/`))
  const code = { files: checked, page: file.page, declared: file.declared }
  const inspection = await inspectContent(ctx, 'app', html, code)
  const page = await storePage(ctx, inspection, { page: file.page })
  const cover = await readCover(ctx, archive, `${path}/cover.webp`)
  const files: AssetRow[] = []
  for (const one of checked) {
    const facts = file.assets.find(({ name }) => name === one.path)
    files.push(describeAs(ctx, await storeOnce(ctx, known, one), facts))
  }
  const row = {
    ...page,
    ...how,
    ...(cover && coverColumns(cover)),
    coverBytes: cover?.bytes ?? 0,
  }
  return { row, files, inspection }
}

async function filesIn(archive: Archive, folder: string) {
  const files = []
  for (const path of archive.list(folder)) {
    files.push({ path: path.slice(folder.length), bytes: await archive.read(path) })
  }
  return files
}

/** Versions share most of their files, and compressing one takes longest. */
async function storeOnce(
  ctx: AppContext,
  known: Map<string, AssetRow>,
  file: CheckedFile,
): Promise<AssetRow> {
  const key = `${Bun.hash(file.bytes)} ${file.path}`
  const row = known.get(key) ?? (await fileRow(ctx, file))
  known.set(key, row)
  return row
}

/** The kind of content of each kind of generated asset. */
const contentKinds = { sprite: 'picture', voice: 'sound', music: 'sound' } as const
const generatedKinds = ['sprite', 'voice', 'music'] as const

type AssetFacts = Pick<AssetRow, 'what' | 'seed' | 'maker'> & Record<'kind' | 'created', string>

/** Adds what the archive says of a file. Its bytes say what kind it is. */
function describeAs(ctx: AppContext, row: AssetRow, facts: AssetFacts | undefined): AssetRow {
  if (!facts) return row
  const { kind, what, seed, maker, created } = facts
  const generated = generatedKinds.find((one) => one === kind && contentKinds[one] === row.kind)
  return {
    ...row,
    kind: generated ?? row.kind,
    what,
    seed,
    maker: isPlainLine(maker, 200) ? maker : 'upload',
    created: timeOf(ctx, created),
  }
}

/** Returns a time of an archive, none of the future. */
export const timeOf = ({ clock }: AppContext, time: string): number =>
  Math.min(Date.parse(time), clock.now())

/** Stores a cover; undefined where the archive has none, or one that is no valid picture. */
async function readCover(ctx: AppContext, archive: Archive, path: string) {
  if (!archive.has(path)) return undefined
  try {
    const image = await toImage(ctx, new Uint8Array(await archive.read(path)), largeSize)
    return await storeCover(ctx, await encodeCover(image))
  } catch (error) {
    if (isApiError(error, 'bad_picture') || isApiError(error, 'bad_request')) return undefined
    throw error
  }
}

async function readIcon(ctx: AppContext, archive: Archive, path: string): Promise<string | null> {
  if (!archive.has(path)) return null
  const icon = await toIcon(ctx, new Uint8Array(await archive.read(path)))
  return (await ctx.storage.put(icon)).sha256
}

/** An item for which its maker has to choose again who may open it is its maker's alone. */
const audienceHere = ({ audience }: ItemFile): ItemFile['audience'] =>
  audience === 'password' ? 'people' : audience

async function itemFields(
  ctx: AppContext,
  archive: Archive,
  {
    item: { folder, file },
    id,
    remixOf,
    built,
  }: { item: ArchivedItem; id: string; remixOf: string | null; built: BuiltVersion[] },
): Promise<ImportedItem> {
  const { kind, title, description, shelf, name, comments, live, embeds, iconGiven } = file
  const audience = audienceHere(file)
  const expires = file.expires === null ? null : Date.parse(file.expires)
  const shown = Math.min(file.listedVersion ?? file.version, file.version)
  const version = built[shown - 1]
  if (!version) throw new ArchiveError(`${folder} has no version ${shown}.`)
  const issues = listingIssues(version.inspection, { title, description })
  const isListed = file.store && canBeListed({ audience, expires }) && issues.length === 0
  const listed = isListed ? (file.held ? 'pending' : 'on') : 'off'
  const given = await readCover(ctx, archive, `${folder}/cover.webp`)
  const { cover = null, coverSmall = null, coverColor = null } = version.row
  const isForSale = file.remix === 'price' && file.priceRemix !== null && ctx.config.pricesOn
  return {
    id,
    kind,
    name,
    title,
    description,
    shelf,
    comments,
    live,
    embeds,
    audience,
    expires,
    listed,
    listedVersion: isListed ? shown : null,
    listedAt: isListed ? timeOf(ctx, file.listedAt ?? file.created) : null,
    remix: file.remix === 'price' && !isForSale ? 'off' : file.remix,
    priceRemix: isForSale ? file.priceRemix : null,
    remixOf,
    remixOfTitle: file.remixOf?.title ?? null,
    remixOfMaker: file.remixOf?.maker.replace('@', '') ?? null,
    icon: await readIcon(ctx, archive, `${folder}/icon.png`),
    iconGiven,
    ...(given ? coverColumns(given) : { cover, coverSmall, coverColor }),
    coverGiven: given !== undefined,
    // Without a cover the newest version is captured again.
    coverVersion: given || cover !== null ? file.version : 0,
    quarantinedAt: file.held ? timeOf(ctx, file.held.at) : null,
    quarantineReason: file.held?.reason ?? null,
    quarantinedBy: file.held ? 'operator' : null,
    created: timeOf(ctx, file.created),
    updated: timeOf(ctx, file.updated),
  }
}

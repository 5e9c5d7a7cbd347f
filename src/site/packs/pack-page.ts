import * as apps from '../../apps/apps.ts'
import type { Item, ItemPage } from '../../apps/explore/schemas.ts'
import type { Folder, FolderFile } from '../../apps/folders/folder.ts'
import { imageTypeOf, skillFile } from '../../apps/folders/read-pack.ts'
import { getListedPack, readFiles } from '../../apps/packs/packs.ts'
import { findSummaries, type RecordSummary } from '../../apps/runs/record.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { encodePath } from '../../kernel/http/path.ts'
import { t } from '../../kernel/words/message.ts'
import { cardKey } from '../cards.ts'
import { codeTabs, countFact, section, starRating, statList } from '../components.ts'
import {
  agentSection,
  familySection,
  itemChips,
  itemRemixes,
  itemTitle,
  logSection,
  remixControl,
  reportLink,
} from '../explore/item-sections.ts'
import { type ItemVisitor, renderFeedback } from '../explore/reviews.ts'
import { followControl } from '../follow-control.ts'
import { formatBytes, formatPercent, renderDate } from '../format.ts'
import type { Page } from '../layout.ts'
import { itemCover } from '../tiles.ts'
import { wireWord } from '../wire-words.ts'
import { renderFile } from './markdown.ts'
import { countedRuns, recordSection } from './record.ts'

/** A file of a pack as its page shows it. */
export interface ShownFile {
  file: FolderFile
  bytes: Uint8Array
  /** Paths of all files. */
  files: string[]
  /** Address of another file on the page; the path follows. */
  viewUrl: string
  /** Address of the content of a file; the path follows. */
  contentUrl: string
}

interface TreeFolder {
  folders: Map<string, TreeFolder>
  files: FolderFile[]
}

const emptyFolder = (): TreeFolder => ({ folders: new Map(), files: [] })

function treeOf(files: readonly FolderFile[]): TreeFolder {
  const root = emptyFolder()
  for (const file of files) {
    let folder = root
    for (const name of file.path.split('/').slice(0, -1)) {
      const next = folder.folders.get(name) ?? emptyFolder()
      folder.folders.set(name, next)
      folder = next
    }
    folder.files.push(file)
  }
  return root
}

/** The files of a pack as a tree of links. */
export function fileTree(files: readonly FolderFile[], viewUrl: string, current: string): Html {
  const list = ({ folders, files: own }: TreeFolder): Html =>
    html`<ul>
      ${own.map(({ path, bytes }) => {
        const name = path.split('/').at(-1) ?? path
        return html`<li>
          <a
            href="${viewUrl}${encodeURIComponent(path)}"
            ${path === current && html` aria-current="true"`}
            >${name}</a
          ><span class="small">${formatBytes(bytes)}</span>
        </li>`
      })}${[...folders].map(
        ([name, folder]) =>
          html`<li>
            <span class="folder">${name}/</span>
            ${list(folder)}
          </li>`,
      )}
    </ul>`
  return html`<nav class="file-tree" aria-label="Files">${list(treeOf(files))}</nav>`
}

/** SKILL.md without its frontmatter, which the page shows as facts. */
const withoutFrontmatter = (text: string): string =>
  text.replace(/^---[ \t]*\r?\n[^]*?\n---[ \t]*(?:\r?\n|$)/, '')

/** Renders a file: Markdown, a picture, or text. */
async function renderShownFile(shown: ShownFile): Promise<Part> {
  const { file, bytes, viewUrl, contentUrl, files } = shown
  const { path } = file
  if (imageTypeOf(path) !== undefined) {
    return html`<img class="file-image" src="${contentUrl}${encodePath(path)}" alt="${path}" />`
  }
  const text = new TextDecoder().decode(bytes)
  if (!path.toLowerCase().endsWith('.md')) {
    return html`<pre
      class="plain-file"
      tabindex="0"
      aria-label="${path}"
    ><code>${text}</code></pre>`
  }
  const own = path === skillFile ? withoutFrontmatter(text) : text
  const task = { text: own, path, files, viewUrl, contentUrl }
  return html`<div class="markdown" dir="auto">
    ${await renderFile(`${file.sha256} ${viewUrl} ${path}`, task)}
  </div>`
}

/**
 * Renders the page of a skill or framework: how to install it, its instructions and files, versions
 * and reviews. `?file=` chooses a file. Throws `not_found` and `taken_down`.
 */
export async function packPage(
  ctx: AppContext,
  found: ItemPage,
  query: URLSearchParams,
  visitor?: ItemVisitor,
): Promise<Page> {
  const { item } = found
  const { id, title, maker, description, kind } = item
  const { folder } = await getListedPack(ctx, id)
  const [install, files] = [installSection(item.link), await fileSection(ctx, item, query)]
  return {
    title: t('{title} by {maker}', { title, maker }),
    path: `/explore/${id}`,
    section: '/explore',
    description: description || t('A {kind} by {maker}.', { kind: wireWord(kind), maker }),
    image: `/cards/${id}.jpg?${cardKey(item)}`,
    scripts: ['copy-line.js'],
    styles: ['packs.css'],
    main: html`${await packHeader(ctx, item, folder, visitor)}
      <nav aria-label="${t('On this page')}">
        <ul class="chips">
          ${partLinks(folder).map(([part, label]) => html`<li><a href="#${part}">${label}</a></li>`)}
        </ul>
      </nav>
      ${query.has('file') ? html`${files} ${install}` : html`${install} ${stepList(folder)}${files}`}
      ${await recordSection(ctx, item)}
      <div class="item-columns">
        <div>${await renderFeedback(ctx, item, query, visitor)}</div>
        <div>${familySection(ctx, found)}${logSection(found)}</div>
      </div>
      ${itemRemixes(ctx, found)} ${await agentSection(ctx, item)}`,
  }
}

/** The sections of the page of a pack by their ids. */
const partLinks = ({ steps = [] }: Folder): (readonly [id: string, label: string])[] => {
  const all = [
    ['install', t('Install')],
    ['steps', t('Steps')],
    ['files', t('Instructions')],
    ['record', t('Track record')],
    ['reviews', t('Reviews')],
  ] as const
  return all.filter(([id]) => id !== 'steps' || steps.length > 0)
}

async function packHeader(
  ctx: AppContext,
  item: Item,
  { license, compatibility, allowedTools }: Folder,
  visitor: ItemVisitor | undefined,
): Promise<Html> {
  const { name, maker, description, rating, opens, remixes } = item
  const facts: [string, Part][] = [
    [t('Name'), name !== item.title && html`<code>${name}</code>`],
    [t('Compatibility'), compatibility],
    [t('Tools'), allowedTools],
  ]
  const known = facts.filter(([, value]) => value)
  const parts: Part[] = [
    t('Version {version}', { version: item.version }),
    html`Updated ${renderDate(item.updated)}`,
    license,
  ]
  return html`<article class="pack-head">
    <div class="pack-cover">${itemCover(ctx, item, { isEager: true })}</div>
    <div>
      ${itemTitle(item, await followControl(ctx, maker, visitor, item.id))}
      <p class="facts">
        ${starRating(rating)}${countFact(opens, 'load')}${countFact(remixes, 'remix', 'remixes')}${parts.map((part) => part && html`<span>${part}</span>`)}
      </p>
      ${description !== '' && html`<p class="text"><bdi>${description}</bdi></p>`}
      ${itemChips(item)}
      <div class="actions">${packActions(item, visitor)}</div>
      ${known.length > 0 && statList(known)}
    </div>
  </article>`
}

function packActions(item: Item, visitor: ItemVisitor | undefined): Part {
  return visitor?.isOwner
    ? html`<a class="button" href="/studio/${item.id}">Open in studio</a>`
    : html`<a class="button" href="#install">Install</a
        >${remixControl(item, visitor)}${reportLink(item)}`
}

/** The steps of a framework. */
const stepList = ({ steps = [], share }: Folder): Part =>
  steps.length > 0 &&
  html`<div id="steps">
    ${section(
      t('Steps'),
      html`<ol class="steps-list">
          ${steps.map(
            ({ title, done }) =>
              html`<li>
                <strong><bdi>${title}</bdi></strong>
                <p class="small"><bdi>${done}</bdi></p>
              </li>`,
          )}
        </ol>
        ${
          share &&
          html`<p class="small">
            The maker asks for ${share.percent}% of the ${share.of}, paid in USDC from agent to
            maker.
          </p>`
        }`,
    )}
  </div>`

async function fileSection(ctx: AppContext, item: Item, query: URLSearchParams): Promise<Html> {
  const { row, folder } = await getListedPack(ctx, item.id)
  const chosen = query.get('file') ?? skillFile
  const file = folder.files.find(({ path }) => path === chosen) ?? folder.files[0]
  const bytes = (await readFiles(ctx, row)).find(({ path }) => path === file?.path)?.bytes
  const viewUrl = `/explore/${item.id}?file=`
  const contentUrl = `/${item.kind}s/${item.id}/files/`
  const files = folder.files.map(({ path }) => path)
  if (!file || !bytes) throw new Error(`${item.id} has no files`)
  return html`<section class="pack-files" id="files">
    <h2>${file.path === skillFile ? t('Instructions') : file.path}</h2>
    <div class="pack-columns">
      ${fileTree(folder.files, viewUrl, file.path)}
      <div class="file-view">
        ${await renderShownFile({ file, bytes, files, viewUrl, contentUrl })}
      </div>
    </div>
  </section>`
}

const installers = {
  claude: 'Claude Code',
  codex: 'Codex',
  opencode: 'opencode',
  curl: 'curl',
} as const

/** The folder in which each agent looks for skills of its user. */
const skillFolders = {
  claude: '~/.claude/skills',
  codex: '~/.agents/skills',
  opencode: '~/.config/opencode/skills',
} as const

function installLine(link: string, name: keyof typeof installers): string {
  const unpack = `curl -fsSL ${link}.tar.gz | tar xz`
  const folder = name === 'curl' ? undefined : skillFolders[name]
  return folder === undefined ? unpack : `mkdir -p ${folder} && ${unpack} -C ${folder}`
}

/** Lines that install a pack, one for each agent. */
const installSection = (link: string): Html =>
  html`<div id="install">
    ${section(
      t('Install'),
      html`${codeTabs(
          installers,
          (name) => installLine(link, name),
          (name) => t('Install for {name}', { name }),
        )}
        <p class="small">
          Or download it as <a href="${link}.zip">zip</a> or <a href="${link}.tar.gz">tar.gz</a>, or
          read <a href="${link}/SKILL.md">SKILL.md</a>.
        </p>`,
    )}
  </div>`

/** Renders what a person chooses a skill or framework by, for each item of a list by its id. */
export async function readPackFacts(
  ctx: AppContext,
  items: readonly Item[],
): Promise<Map<string, Html>> {
  const records = await findSummaries(
    ctx,
    items.map(({ id }) => id),
  )
  const facts = await Promise.all(
    items.map(async (item) => {
      const { folder, htmlBytes } = await apps.getVersion(ctx, item.id, item.version)
      const { license, compatibility } = folder ?? {}
      const parts = { bytes: htmlBytes, license, compatibility, record: records.get(item.id) }
      return [item.id, renderFacts(item, parts)] as const
    }),
  )
  return new Map(facts)
}

interface PackFacts {
  bytes: number
  license: string | undefined
  compatibility: string | undefined
  record: RecordSummary | undefined
}

function renderFacts(
  { description, updated }: Item,
  { bytes, license, compatibility, record }: PackFacts,
): Html {
  const facts: Part[] = [
    successOf(record),
    formatBytes(bytes),
    license ?? t('No license'),
    html`Updated ${renderDate(updated)}`,
  ]
  return html`${description !== '' && html`<p class="pack-about"><bdi>${description}</bdi></p>`}
    <p class="small">
      ${compatibility === undefined ? t('For any agent that reads skills') : html`Compatibility: <bdi>${compatibility}</bdi>`}
    </p>
    <p class="facts">${facts.map((fact) => html`<span>${fact}</span>`)}</p>`
}

/** The success rate with its number of runs. */
function successOf(record: RecordSummary | undefined): Part {
  if (!record || record.successRate === null) return t('No counted run yet')
  const { successRate, counted } = record
  return html`Score ${formatPercent(successRate)} from ${countedRuns(counted)}`
}

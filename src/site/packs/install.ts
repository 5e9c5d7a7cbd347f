import { type Html, html } from '../../kernel/html.ts'
import { copyLine, section } from '../components.ts'

/** The folder in which each agent looks for skills of its user. */
const folders = [
  ['Claude Code', '~/.claude/skills'],
  ['Codex', '~/.agents/skills'],
  ['opencode', '~/.config/opencode/skills'],
] as const

const lineFor = (link: string, folder: string): string =>
  `mkdir -p ${folder} && curl -fsSL ${link}.tar.gz | tar xz -C ${folder}`

/** Lines that install a pack, one for each agent. */
export const installSection = (link: string): Html =>
  section(
    'Install',
    html`<div class="install">
      ${folders.map(
        ([name, folder]) =>
          html`<h3>${name}</h3>
            ${copyLine(lineFor(link, folder), `Install for ${name}`)}`,
      )}
      <h3>curl</h3>
      ${copyLine(`curl -fsSL ${link}.tar.gz | tar xz`, 'Unpack here')}
      <p class="small">
        Or download it as <a href="${link}.zip">zip</a> or <a href="${link}.tar.gz">tar.gz</a>, or
        read <a href="${link}/SKILL.md">SKILL.md</a>.
      </p>
    </div>`,
  )

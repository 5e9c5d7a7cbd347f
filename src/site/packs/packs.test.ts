import { afterEach, beforeEach, describe, expect, test } from 'bun:test'

import {
  folder,
  publishPack,
  reference,
  script,
  skillText,
  steps,
} from '../../testing/fixtures/folders.ts'
import { shownPage } from '../../testing/fixtures/shown-page.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { renderMarkdown } from './markdown.ts'

let t: TestServer
let ann: TestAgent

beforeEach(async () => {
  t = await startTestServer()
  ann = await t.agent('ann')
})
afterEach(() => t.close())

const pageOf = async (path: string): Promise<string> => {
  const { status, body } = await t.request('GET', path, { headers: { accept: 'text/html' } })
  expect(status).toBe(200)
  return String(body)
}

describe('the page of a pack', () => {
  test('has its instructions, files and a line for each agent', async () => {
    const id = await publishPack(ann, { ...folder(), store: true })
    const page = await pageOf(`/explore/${id}`)
    expect(shownPage(page).names('heading')).toContain('Release notes')
    expect(page).not.toContain('description: Writes')
    const link = `http://localhost:3000/skills/${id}.tar.gz`
    for (const skills of ['~/.claude/skills', '~/.agents/skills', '~/.config/opencode/skills']) {
      expect(page).toContain(`curl -fsSL ${link} | tar xz -C ${skills}`)
    }
    expect(page).toContain(`/explore/${id}?file=references%2Ftone.md`)
    expect(page).not.toContain(`/a/${id}`)
    const file = await pageOf(`/explore/${id}?file=scripts%2Flist.sh`)
    expect(file).toContain('git log --oneline')
    expect(shownPage(await pageOf(`/explore/${id}?file=nothing`)).names('heading')).toContain(
      'Release notes',
    )
  })

  test('has the steps of a framework', async () => {
    const id = await publishPack(ann, { ...folder(), steps, store: true }, 'framework')
    const page = await pageOf(`/explore/${id}`)
    expect(page).toContain('Draft the notes')
    expect(page).toContain(`http://localhost:3000/frameworks/${id}.tar.gz`)
  })

  test('is the target of the link of the pack', async () => {
    const id = await publishPack(ann, { ...folder(), store: true })
    const { status, headers } = await t.request('GET', `/skills/${id}`)
    expect([status, headers.get('location')]).toEqual([302, `/explore/${id}`])
  })

  test('has on its tile what it does, for which agents, its size, license, runs and age', async () => {
    const text = skillText(undefined, 'license: MIT\ncompatibility: Agents with git\n')
    const files = [reference, { path: 'SKILL.md', text }, script]
    await publishPack(ann, { files, store: true })
    await publishPack(ann, { ...folder('plain'), steps, store: true }, 'framework')
    const shown = async (kind: string) => shownPage(await pageOf(`/explore?kind=${kind}`)).text
    const tile = await shown('skill')
    for (const fact of [
      'Writes release notes from commits.',
      'Compatibility: Agents with git',
      'MIT',
      'KB',
    ]) {
      expect(tile).toContain(fact)
    }
    expect(tile).toMatch(/No counted run yet.*Updated \d+ May 2026/)
    expect(await shown('framework')).toContain('No license')
  })

  test('is listed on Explore and on the page of its maker', async () => {
    const id = await publishPack(ann, { ...folder(), store: true })
    for (const path of ['/explore?kind=skill', '/explore/@ann', '/explore', '/']) {
      expect(shownPage(await pageOf(path)).hrefs).toContain(`/explore/${id}`)
    }
    const none = shownPage(await pageOf('/explore?kind=framework'))
    expect(none.text).toContain('No apps match these filters')
    const { body } = await t.request('GET', '/sitemap.xml')
    expect(body).toContain(`/skills/${id}`)
  })
})

describe('Markdown of strangers', () => {
  const render = (text: string): string =>
    renderMarkdown({
      text,
      path: 'references/tone.md',
      files: ['SKILL.md', 'references/tone.md', 'assets/a b.png'],
      viewUrl: '/explore/x?file=',
      contentUrl: '/skills/x/files/',
    })

  test.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<svg onload=alert(1)><style>*{}</style></svg>',
    '<iframe src="https://evil.example"></iframe>',
    '<a href="javascript:alert(1)" onclick="alert(1)">x</a>',
    '[x](javascript:alert(1))',
    '[x](data:text/html,<script>)',
    '[x](//evil.example)',
    '<form action="https://evil.example"><input name=a></form>',
    '<div id="main" style="position:fixed">x</div>',
    '<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
    '![x](https://evil.example/track.png)',
    '<base href="https://evil.example/"><meta http-equiv="refresh" content="0">',
  ])('%s loses everything that runs, loads or navigates', (text) => {
    const shown = render(text)
    expect(shown).not.toMatch(
      /<(?!\/?(?:p|a|em|s|img|strong|code)\b)|\son|style=|javascript:|data:|evil\.example\/?"|id=/i,
    )
  })

  test('links to files of the folder and to the web', () => {
    const hrefsIn = (text: string) => shownPage(render(text)).hrefs
    expect(hrefsIn('[a](../SKILL.md)')).toEqual(['/explore/x?file=SKILL.md'])
    expect(hrefsIn('[a](../../SKILL.md#x)')).toEqual(['/explore/x?file=SKILL.md'])
    const image = shownPage(render('![a](<../assets/a b.png>)')).byRole('img', 'a')
    expect(image.attribute('src')).toBe('/skills/x/files/assets/a%20b.png')
    const web = shownPage(render('[a](https://example.com/b)')).byRole('link', 'a')
    expect([web.attribute('href'), web.attribute('rel')]).toEqual([
      'https://example.com/b',
      'nofollow ugc noopener noreferrer',
    ])
    // A link that leads nowhere is struck through.
    for (const odd of ['[a](other.md)', '[a](%E0%A4%A)']) {
      expect(render(odd)).toBe('<p><s>a</s></p>\n')
    }
  })

  test('keeps its structure below the headings of the page', () => {
    const shown = shownPage(render('# A\n\n## B\n\n- c\n\n| d |\n|:-:|\n| e |'))
    const headings = shown.allByRole('heading').map(({ level, name }) => [level, name])
    expect(headings).toEqual([
      [3, 'A'],
      [4, 'B'],
    ])
  })

  test('is shown as plain text when its rendering takes too long', async () => {
    const hostile = `${skillText('slow')}\n${'>'.repeat(20_000)}\n`
    const id = await publishPack(ann, { skill: hostile, store: true })
    expect(await pageOf(`/explore/${id}`)).toContain('List each change.')
  })
})
